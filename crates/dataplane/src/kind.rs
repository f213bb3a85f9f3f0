//! The two dataplanes, and what the user says of them.

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

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Bpf => "bpf",
            Kind::Packet => "packet",
        })
    }
}
