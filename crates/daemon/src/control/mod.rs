//! How a running team is talked to.
//!
//! Here belong the sockets, the protocol, both its ends, and the list of teams that can be reached. A request is handed to the
//! team's thread ([`crate::TeamHandle`]); nothing here touches the team or its devices.
//!
//! The process of a team listens on two Unix stream sockets in the folder of its network namespace
//! (`/run/nicteam/netns-COOKIE`, 0750, root's):
//!
//! - `NAME.control` (0600): for its own user and root. What changes the team is done only for a process with
//!   `CAP_NET_ADMIN` in effect: on the host's network a process of user 0 may have been stripped of its capabilities.
//! - `NAME.status` (0660, of the group `nicteam` if there is one): how it is and what happens, and nothing else.
//!
//! A client speaks only to a process of root or of its own user (`SO_PEERCRED`).
//!
//! A JSON value a line: the process speaks first ([`Answer::Hello`]), then
//! answers each [`Request`] by one [`Answer`], in order.

mod client;
mod directory;
mod protocol;
mod refusal;
mod server;
mod sockets;

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;

pub use client::{Client, Events, wait_until_free};
pub use directory::{Listed, TeamState, meant, teams};
pub use protocol::{Answer, Done, PROTOCOL, Request};
pub use refusal::{Refusal, RefusalKind};
pub(crate) use server::Server;
pub(crate) use sockets::Sockets;

/// The process at the other end.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// Its process id, in this process's terms; 0 if it has none here.
    pid: i32,
    /// Its user, in this process's terms.
    uid: u32,
}

impl Peer {
    /// Who connected, or listens, at the other end of a stream.
    fn of(stream: &impl AsFd) -> io::Result<Peer> {
        let credentials = getsockopt(stream, sockopt::PeerCredentials)?;
        Ok(Peer { pid: credentials.pid(), uid: credentials.uid() })
    }

    /// True for root and for this process's own user.
    fn is_trusted(self) -> bool {
        self.uid == 0 || self.uid == geteuid().as_raw()
    }
}
