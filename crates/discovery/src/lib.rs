//! Which other teams stripe, and which paths to them work.
//!
//! Every member announces its team to a group address. A path is used once a
//! probe that went along it came back, and until it is found dead
//! (`probing.rs` says when). Peers with traffic are probed often, others seldom:
//! what the dataplane notes of peers' frames decides. Time is an argument; what
//! is to be sent is collected by [`Discovery::take_frames`].
//!
//! Events in: members ([`Discovery::set_own`]), hellos ([`Discovery::handle_frame`]), what the dataplane noted of traffic
//! ([`Discovery::handle_notes`]), time ([`Discovery::handle_timeout`]). Out: frames ([`Discovery::take_frames`]), the wish for
//! notes ([`Discovery::take_look`]), and, if [`Discovery::take_changed`], what a plan is to have of it
//! ([`Discovery::senders`], [`Discovery::peers`], [`Discovery::group`]). It knows no team.
#![forbid(unsafe_code)]

mod announcing;
mod answers;
mod auth;
mod delay;
mod discovery;
mod found;
mod hearing;
mod neighbour;
mod neighbours;
mod own;
mod pace;
mod paths;
mod plan_pace;
mod probing;
mod segments;
mod sequences;
mod speaking;
mod stamps;
mod tagger;

pub use auth::{Refused, RefusedLast};
pub use discovery::{Discovery, MAX_NEIGHBOURS};
pub use neighbour::{Neighbour, PathStatus};
pub use own::Own;
