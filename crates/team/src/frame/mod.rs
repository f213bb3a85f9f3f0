//! What happens for each frame: a dataplane executes a plan by what stands here.
//!
//! This half knows nothing of the other one (`control`), which makes the plans, and no two of its files
//! need each other; a test (`tests/sources/halves.rs`) sees to both. What is mirrored in `bpf/` is all here.

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
pub use failover::{Failover, FailoverState};
pub use plan::{Choose, Plan, PlanMember, Receive, Rewrite};
pub use sources::{MAX_SOURCES, Sources};
pub use state::PlanState;
