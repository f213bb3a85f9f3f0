//! The packet dataplane, live: namespaces, veth pairs, real sockets.
//!
//! Needs the right to make network namespaces (root, or `unshare -Urn`).

mod choice;
mod frames;
mod lab;
mod once;
mod receive;
mod tag;
mod tcp;
