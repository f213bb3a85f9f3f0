//! A value without its quotes and escapes that still knows where each of its bytes stands: what is embedded in it, as
//! teamd's JSON in a file of NetworkManager's, has places in the file.

use std::ops::Range;

/// A value and the places of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unescaped {
    /// The value.
    pub text: String,
    /// Of each of its bytes, the bytes of the source that stand for its character.
    pub spans: Vec<Range<usize>>,
}

impl Unescaped {
    /// Adds a character that these bytes of the source stand for.
    pub fn push(&mut self, c: char, span: Range<usize>) {
        self.text.push(c);
        self.spans.resize(self.text.len(), span);
    }

    /// Adds another value.
    pub fn append(&mut self, other: Unescaped) {
        self.text.push_str(&other.text);
        self.spans.extend(other.spans);
    }

    /// The same at another place of the source, so many bytes further down.
    pub fn moved(mut self, by: usize) -> Unescaped {
        self.spans.iter_mut().for_each(|span| *span = span.start + by..span.end + by);
        self
    }
}

/// The bytes of the source that stand for these bytes of the value.
pub fn in_source(spans: &[Range<usize>], of: &Range<usize>) -> Range<usize> {
    let end = spans.last().map_or(0, |last| last.end);
    let start = spans.get(of.start).map_or(end, |span| span.start);
    let last = of.end.checked_sub(1).filter(|last| *last >= of.start);
    start..last.map_or(start, |last| spans.get(last).map_or(end, |span| span.end)).max(start)
}
