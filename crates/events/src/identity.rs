//! What is random of a process that runs a team.

use std::fmt;

/// What is random of a process that runs a team. Its `Debug` does not show the secret.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity {
    /// From this stripe takes the number that no other team has and
    /// no earlier run of this one ([`nicteam_wire::Hello::system`]), and balance-tcp which bucket has which member first.
    /// Everybody may see it.
    pub number: u64,
    /// From this come the stamps of probes; nobody sees it.
    pub secret: [u8; 32],
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({:#x})", self.number)
    }
}
