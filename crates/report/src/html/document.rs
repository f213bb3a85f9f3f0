//! What every page is made of: the document, its sections, its tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Light, dark and print. Member colours are told apart by people with every
/// common colour vision, on both grounds; each plot labels its members as well.
pub const STYLE: &str = include_str!("style.css");

/// What charts do where a browser runs scripts.
pub const SCRIPT: &str = include_str!("script.js");

/// What a program that hands out pages puts around them.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The last part of the head.
    pub head: Markup,
    /// Ahead of everything that is shown.
    pub top: Markup,
}

/// A whole page of this title in the report's style.
pub fn document(title: &str, main: &Markup, footer: &Markup) -> String {
    framed(&Frame::default(), title, main, footer)
}

/// The same in a frame.
pub fn framed(frame: &Frame, title: &str, main: &Markup, footer: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · nicteam" }
                style { (PreEscaped(STYLE)) }
                (frame.head)
            }
            body {
                (frame.top)
                main { (main) }
                (footer)
                // A page without a chart needs none.
                @if main.0.contains("<svg") {
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    };
    page.into_string()
}

/// A section that its heading names.
pub fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (body) } }
}

/// A column's name, and the class of its heading.
pub type Column<'a> = (&'a str, Option<&'a str>);
/// The class of a column of words: none.
pub const WORDS: Option<&str> = None;
/// The class of a column of numbers.
pub const NUMBER: Option<&str> = Some("num");

/// A table in small type, which scrolls where it is wider than the page.
pub fn plain_table(columns: &[Column<'_>], rows: &Markup) -> Markup {
    html! {
        div.scroll {
            table.plain {
                thead { tr { @for (name, class) in columns { th scope="col" class=[class] { (name) } } } }
                tbody { (rows) }
            }
        }
    }
}
