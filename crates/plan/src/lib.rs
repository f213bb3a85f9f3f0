//! What happens for each frame: a dataplane executes a [`Plan`] by what stands here.
//!
//! Frames go in ([`Plan::choose`] for one from the stack, [`Plan::receive`] for one from a member), with the [`PlanState`]
//! in which the time is; what to do with each comes out. The crate knows nothing of the team, which makes the plans. What is
//! mirrored in `bpf/` is all here.
#![forbid(unsafe_code)]

mod action;
pub mod balance;
pub mod buckets;
mod choosing;
mod failover;
pub mod hash;
mod plan;
mod receiving;
mod sources;
mod state;
pub mod stripe;
mod tagged;
mod takeover;

pub use action::{Action, Leg, Verdict};
pub use balance::{Balance, Loads, MAX_BUCKETS};
pub use buckets::Buckets;
pub use failover::{Failover, FailoverState};
pub use plan::{Choose, Plan, PlanMember, Receive, Rewrite};
pub use sources::{MAX_SOURCES, Sources};
pub use state::PlanState;
