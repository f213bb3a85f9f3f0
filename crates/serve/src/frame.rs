//! What all pages have in common: the way to the others.

use maud::{Markup, html};
use nicteam_report::{Frame, document, framed};

/// The navigation, and the script. `live` is the bundle whose change the page follows, empty: every bundle's.
pub(crate) fn frame(live: Option<&str>) -> Frame {
    Frame {
        head: html! {
            link rel="stylesheet" href="/serve.css";
            script src="/serve.js" defer {}
        },
        top: html! {
            nav.serve aria-label="nicteam serve" {
                a href="/" { "Bundles" }
                a href="/predict" { "Predictions" }
                @if let Some(live) = live { span #live data-live=(live) role="status" {} }
            }
        },
    }
}

/// A page of our own.
pub(crate) fn page(title: &str, live: Option<&str>, main: &Markup) -> String {
    framed(&frame(live), title, main, &html! {})
}

/// A page that says what is wrong. It has no navigation where the client may not go on.
pub(crate) fn wrong(title: &str, why: &str, live: Option<&str>) -> String {
    let main = html! { header { p.eyebrow { "nicteam serve" } h1 { (title) } } p.error { (why) } };
    page(title, live, &main)
}

/// The same without the navigation.
pub(crate) fn plain(title: &str, why: &str) -> String {
    document(title, &html! { header { p.eyebrow { "nicteam serve" } h1 { (title) } } p { (why) } }, &html! {})
}
