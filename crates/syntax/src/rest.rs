//! A text while it is read, character by character.

/// The part of a text that is yet to be read. Each format adds what it reads to it.
pub struct Rest<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The byte at which the rest begins.
    pub at: usize,
}

impl<'a> Rest<'a> {
    pub fn of(text: &'a str) -> Rest<'a> {
        Rest { text, at: 0 }
    }

    pub fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    pub fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }
}
