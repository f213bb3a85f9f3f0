//! How a running team is talked to.
//!
//! The process of a team listens on the abstract Unix socket
//! `@nicteam-control-NAME`. Such a name belongs to a network namespace, as the
//! team does, needs no folder, and goes with the process. Only root and the
//! process's own user are answered, and a client speaks only to a process of
//! root or of its own user (`SO_PEERCRED`, both ways).
//!
//! A JSON value a line: the process speaks first ([`Answer::Hello`]), then
//! answers each [`Request`] by one [`Answer`], in order.

mod client;
mod directory;
mod protocol;
mod refusal;
mod server;

use std::io;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;

use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;

pub use client::{Client, Events, wait_until_free};
pub use directory::{Listed, TeamState, teams};
pub use protocol::{Answer, Done, PROTOCOL, Request};
pub use refusal::{Refusal, RefusalKind};
pub use server::Server;

/// What begins the name of the socket; the team's name follows.
const PREFIX: &str = "nicteam-control-";

/// The address of a team's process.
fn address(team: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{PREFIX}{team}"))
}

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
