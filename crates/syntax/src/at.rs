//! Bytes of one of several texts.

use std::ops::Range;

/// Bytes of one of the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Its place among the sources.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// Byte behind the last.
    pub end: usize,
}

impl At {
    /// Bytes of a source.
    pub fn new(source: usize, span: Range<usize>) -> At {
        At { source, start: span.start, end: span.end }
    }

    /// Its bytes, without the source.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}
