//! The packet dataplane, live: namespaces, veth pairs, real sockets.
//!
//! Needs the right to make network namespaces (root, or `unshare -Urn`).

mod once;
mod receive;
mod send;
mod tag;
mod tcp;
