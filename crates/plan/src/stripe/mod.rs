//! How stripe chooses: the path by which a frame arrives first.
//!
//! Towards a peer that stripes, too, a *path* leads from a member of ours to a
//! member of the peer's. Each end of a path is busy until it has sent, or
//! received, what was given to it. When it is through, a frame is under way for as long
//! as the path's delay. It takes the path by which it would arrive first, and of
//! equal ones the next in turn. Ends of unlike rate so get their share by rate, a
//! longer way serves when the shorter ones have longer queues, and a frame never
//! waits for longer than it must: frames of one flow arrive in order, or nearly so.
//! What was tried, and what it is worth: `docs/ordering.md`. Where queues grow that the
//! sender does not see, flows that need no second path keep the one they have (`flows.rs`).
//!
//! All peers use our members, so the transmit backlogs of our members are common to all peers. Those of receiving
//! members belong to their peer. Nobody knows what other teams send there. The peer says how many teams send, and a
//! frame adds as much to its members' backlogs as if each team had an equal share. Otherwise every team that cannot
//! fill the peer's fastest member alone would use that member only. Where the computed backlogs are wrong, the
//! queueing-delay estimate corrects them by probes. Mirrored in `bpf/stripe.h`; a change here is a change there.

pub(super) mod choosing;
mod echoes;
mod flows;
mod gaps;
mod limits;
mod lost;
mod notes;
mod peer;
mod peers;
pub(super) mod plain;
pub(super) mod plan;
mod queueing_delay;
pub(super) mod receiving;
pub mod redundant;
mod retransmissions;
mod senders;
pub(super) mod state;

pub use limits::{MAX_ADDRESSES, MAX_PATHS, MAX_PEERS};
pub use notes::{Note, Notes};
pub use peer::{Path, Peer, Receiver, Sender};
pub use peers::Peers;
pub use plain::{PlainHost, PlainMember, PlainReport};
pub use plan::{Plain, Stripe};
pub use state::StripeState;
