//! What libiscsi logs, as far as nothing else says it.

use std::ffi::c_int;

/// Levels of the log: what the target answered at login, what becomes of the connection, errors.
pub const LOGIN: c_int = 6;
pub const CONNECTION: c_int = 2;
const ERRORS: c_int = 1;

/// How it logs that it could not bind to the interface, after which it goes on without.
pub const NOT_BOUND: &str = "failed to bind to interface";
/// How it logs a key of the target's answer.
const KEY: &str = "TargetLoginReply: ";
/// How it logs that it lost the connection; the other one says no reason.
const LOST: &str = "reconnect deferred";
const NO_REASON: &str = "Can not reconnect right now";

/// A line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A key of the target's answer to the login, with its value.
    Key(&'a str),
    /// The connection is lost.
    Lost,
    /// An error, in its words.
    Error(&'a str),
    /// What nobody needs.
    Other,
}

impl Line<'_> {
    /// What a line of this level says. Each ends in the target's name.
    pub fn of(level: c_int, line: &str) -> Line<'_> {
        let text = line.rsplit_once(" [").map_or(line, |(text, _)| text);
        match text.strip_prefix(KEY) {
            Some(pair) => Line::Key(pair),
            None if text.starts_with(LOST) => Line::Lost,
            None if level <= ERRORS && !text.contains(NO_REASON) => Line::Error(text.trim()),
            None => Line::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_it_says() {
        assert_eq!(Line::of(6, "TargetLoginReply: MaxBurstLength=4096 [iqn.x]"), Line::Key("MaxBurstLength=4096"));
        assert_eq!(Line::of(2, "reconnect deferred, not loggedin [iqn.x]"), Line::Lost);
        assert_eq!(Line::of(1, "Failed to connect [iqn.x]"), Line::Error("Failed to connect"));
        assert_eq!(Line::of(1, "Can not reconnect right now, wait 1 seconds [iqn.x]"), Line::Other);
        assert_eq!(Line::of(2, "connection established [iqn.x]"), Line::Other);
    }
}
