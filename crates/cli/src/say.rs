//! Words to the user: data on standard output, talk on standard error.
//!
//! A reader who has seen enough (`nicteam lab list | head -1`) is no failure,
//! and talk that nobody hears must not end an experiment.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Writes data, as it is.
pub(crate) fn data(text: impl Display) -> Result<(), Failure> {
    data_to_reader(text).map(drop)
}

/// The same; false if the reader has seen enough, for those who could write for ever.
pub(crate) fn data_to_reader(text: impl Display) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("cannot write to standard output: {error}"))),
    }
}

/// Says something, as it is, without a line end.
pub(crate) fn talk(text: impl Display) {
    // There is nobody left to tell that nobody listens.
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Escapes control characters, which would steer a terminal (from a device's name, or a record of another machine).
/// Line ends and tabs stay.
pub(crate) fn visible(text: impl Display) -> String {
    let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    let text = text.to_string();
    if !text.contains(steers) {
        return text;
    }
    let written = |character: char| match steers(character) {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    text.chars().map(written).collect()
}

/// Says a line.
pub(crate) fn line(text: impl Display) {
    talk(format_args!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(visible("a\u{1b}[31m\u{9b}b\tc\n"), "a\\u{1b}[31m\\u{9b}b\tc\n");
        assert_eq!(visible("t\u{e9}am"), "t\u{e9}am");
    }
}
