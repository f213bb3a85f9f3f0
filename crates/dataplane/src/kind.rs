//! The two dataplanes, and what the user says of them.

use std::fmt;
use std::str::FromStr;

/// Which dataplane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// eBPF at tc.
    Bpf,
    /// Packet sockets.
    Packet,
}

/// The priority (tc's `pref`) of the filter by which [`Kind::Bpf`] takes what a member receives: other programs' filters
/// come ahead of it, or behind.
pub const MEMBER_PREF: u16 = 0xc000;

/// What the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// eBPF where it can be had, else packet sockets.
    #[default]
    Auto,
    /// This one or an error.
    Force(Kind),
}

/// No dataplane has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no dataplane `{0}`")]
pub struct UnknownKind(String);

impl Kind {
    /// All of them. What users write and read follows from it.
    pub const ALL: [Kind; 2] = [Kind::Bpf, Kind::Packet];

    /// The name by which users and files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Bpf => "bpf",
            Kind::Packet => "packet",
        }
    }

    /// All names, for messages: "`bpf` or `packet`".
    pub fn names() -> String {
        Kind::ALL.map(|kind| format!("`{kind}`")).join(" or ")
    }
}

impl Choice {
    /// What is wanted where a dataplane may be named.
    ///
    /// # Errors
    /// No dataplane has this name.
    pub fn of(name: Option<&str>) -> Result<Choice, UnknownKind> {
        name.map_or(Ok(Choice::Auto), |name| name.parse().map(Choice::Force))
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Kind, UnknownKind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dataplane_has_a_name_that_is_read_again() {
        for kind in Kind::ALL {
            assert_eq!(Choice::of(Some(&kind.to_string())), Ok(Choice::Force(kind)));
        }
        assert_eq!(Choice::of(None), Ok(Choice::Auto));
        assert_eq!(Choice::of(Some("ebpf")).unwrap_err().to_string(), "no dataplane `ebpf`");
        assert_eq!(Kind::names(), "`bpf` or `packet`");
    }
}
