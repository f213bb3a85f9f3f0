//! A strict HTTP/1.1 server whose costs are bounded: one request a connection, `GET` alone, nothing with a body.
//!
//! A [`Site`] decides what is answered. [`Server`] runs one thread for all connections, which never waits for one of them.
//! What takes time is done by [`Work`] in threads of its own.
#![forbid(unsafe_code)]

mod connection;
mod request;
mod response;
mod server;
mod work;

pub use request::{LONGEST, Parsed, Request, decode, encode, read};
pub use response::{Reply, Response};
pub use server::{CONNECTIONS, STREAMS, Server, Site};
pub use work::{Full, Job, MOST_WANTED, Work};
