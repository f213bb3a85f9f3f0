//! Why a session cannot begin.

use std::net::SocketAddr;

/// Why a session cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that libiscsi would cut off or refuse.
    #[error("{what} {value:?} is not one that iSCSI takes: it has 1 to {most} bytes, none of them zero")]
    Name {
        /// What the name names: `the initiator's name`.
        what: &'static str,
        /// The name.
        value: String,
        /// How many bytes it may have.
        most: usize,
    },
    /// libiscsi refused to begin.
    #[error("cannot log in to {target} at {portal}: {reason}")]
    Begin {
        /// The target.
        target: String,
        /// Its portal.
        portal: SocketAddr,
        /// The error of libiscsi.
        reason: String,
    },
}
