//! What is wrong with a file, or with files that belong together, all of it at once.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};
use serde::Serialize;

/// Everything that is wrong with a file, or with several, in the order of the files and of their lines.
///
/// `Display` renders it for a terminal without colour;
/// [`Diagnostics::render`] can colour it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    files: Vec<File>,
}

/// A file that something is wrong with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: String,
    text: String,
    problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The file, as it is shown.
    pub path: String,
    /// Line, counted from 1; absent if the fault is the command line's.
    pub line: Option<usize>,
    /// Column in characters, counted from 1; absent if the fault is the command line's.
    pub column: Option<usize>,
    /// What is wrong, on what.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostics {
    /// Sorts the problems and drops repetitions (each run checks the topology anew).
    pub fn new(path: &str, text: &str, mut problems: Vec<Problem>) -> Diagnostics {
        problems.sort_by(|a, b| (a.start(), &a.message).cmp(&(b.start(), &b.message)));
        problems.dedup_by(|a, b| (a.start(), &a.message) == (b.start(), &b.message));
        Diagnostics { files: vec![File { path: path.to_owned(), text: text.to_owned(), problems }] }
    }

    /// These, and behind them those of other files.
    pub fn and(mut self, others: Diagnostics) -> Diagnostics {
        self.files.extend(others.files);
        self
    }

    /// One entry a problem, in the order of the files; never empty.
    pub fn entries(&self) -> Vec<Diagnostic> {
        self.files.iter().flat_map(|file| file.problems.iter().map(|problem| file.entry(problem))).collect()
    }

    /// The text for a terminal, with the offending text underlined, ending in a line that counts the errors.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut out = self.render_at(&Level::ERROR, &renderer);
        let count: usize = self.files.iter().map(|file| file.problems.len()).sum();
        let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        let place = match self.files.as_slice() {
            [file] => file.path.clone(),
            files => format!("{} files", files.len()),
        };
        out.push_str(&format!("{errors} in {}\n", normalize_untrusted_str(&place)));
        out
    }

    /// The same problems as warnings, without colour and uncounted: for what
    /// can be shown and could not be run.
    pub fn warnings(&self) -> String {
        self.render_at(&Level::WARNING, &Renderer::plain())
    }

    fn render_at(&self, level: &Level<'static>, renderer: &Renderer) -> String {
        let render = |file: &File, problem| renderer.render(&[file.group(problem, level.clone())]) + "\n\n";
        self.files.iter().flat_map(|file| file.problems.iter().map(move |problem| render(file, problem))).collect()
    }
}

impl File {
    fn entry(&self, problem: &Problem) -> Diagnostic {
        let place = problem.span.as_ref().map(|span| Place::of(&self.text, span));
        Diagnostic {
            path: self.path.clone(),
            line: place.as_ref().map(|place| place.line),
            column: place.as_ref().map(|place| place.column),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        }
    }

    fn group<'a>(&'a self, problem: &'a Problem, level: Level<'static>) -> Group<'a> {
        let mut group = Group::with_title(level.primary_title(problem.message.as_str()));
        if let Some(span) = &problem.span {
            group = group.element(self.snippet(AnnotationKind::Primary, span, problem.label.as_deref()));
        }
        if let Some((span, label)) = problem.also.as_deref() {
            group = group.element(self.snippet(AnnotationKind::Context, span, Some(label)));
        }
        if let Some(hint) = &problem.hint {
            group = group.element(Level::HELP.with_name("hint").message(normalize_untrusted_str(hint)));
        }
        group
    }

    /// The line of a span with the span underlined; of a longer span only its first line.
    fn snippet<'a>(
        &'a self,
        kind: AnnotationKind,
        span: &Range<usize>,
        label: Option<&'a str>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let place = Place::of(&self.text, span);
        Snippet::source(place.line_text(&self.text))
            .path(self.path.as_str())
            .line_start(place.line)
            .annotation(kind.span(place.in_line).label(label))
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// One thing that is wrong, while such things are collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text.
    pub span: Option<Range<usize>>,
    /// What is wrong, on what.
    pub message: String,
    /// Words beside the underlined text.
    pub label: Option<String>,
    /// A second place and what it has to do with the first.
    pub also: Option<Box<(Range<usize>, String)>>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Something is not there, as opposed to wrong.
    pub is_missing_key: bool,
}

impl Problem {
    /// A problem of these bytes of the text.
    pub fn at(span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem { span: Some(span.clone()), ..Problem::outside(message) }
    }

    /// A problem of the command line.
    pub fn outside(message: impl Into<String>) -> Problem {
        Problem { span: None, message: message.into(), label: None, also: None, hint: None, is_missing_key: false }
    }

    /// The same, with words beside the underlined text.
    pub fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = Some(label.into());
        self
    }

    /// The same, with a second place and what that has to do with the first.
    pub fn also(mut self, span: &Range<usize>, label: impl Into<String>) -> Problem {
        self.also = Some(Box::new((span.clone(), label.into())));
        self
    }

    /// The same, with what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    fn start(&self) -> Option<usize> {
        self.span.as_ref().map(|span| span.start)
    }
}

/// Line and column, in characters, both counted from 1, of the first byte of a span.
pub fn line_and_column(text: &str, span: &Range<usize>) -> (usize, usize) {
    let place = Place::of(text, span);
    (place.line, place.column)
}

/// Where a span begins.
struct Place {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// Byte at which the line begins.
    line_start: usize,
    /// Bytes of the span within its line; at least one character where the line has one.
    in_line: Range<usize>,
}

impl Place {
    fn of(text: &str, span: &Range<usize>) -> Place {
        let start = floor_char_boundary(text, span.start);
        let end = floor_char_boundary(text, span.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let place = Place {
            line: 1 + text[..start].matches('\n').count(),
            column: 1 + text[line_start..start].chars().count(),
            line_start,
            in_line: 0..0,
        };
        let line = place.line_text(text);
        let from = (start - line_start).min(line.len());
        let next = line[from..].chars().next().map_or(from, |c| from + c.len_utf8());
        Place { in_line: from..(end - line_start).min(line.len()).max(next), ..place }
    }

    fn line_text<'a>(&self, text: &'a str) -> &'a str {
        let rest = &text[self.line_start..];
        rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r')
    }
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
