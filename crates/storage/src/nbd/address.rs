//! Where an export is served.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where an export is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket; it goes with the server.
    Unix(PathBuf),
    /// A TCP port; the usual one is 10809.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "{}", path.display()),
            Address::Tcp(address) => write!(f, "{address}"),
        }
    }
}
