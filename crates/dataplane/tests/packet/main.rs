//! The packet dataplane, live: namespaces, veth pairs, real sockets.
//!
//! Needs the right to make network namespaces (root, or `unshare -Urn`).

#[path = "../common/mod.rs"]
mod common;
mod once;
mod receive;
mod send;
mod tag;
mod tcp;
