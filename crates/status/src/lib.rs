//! A team at one moment, as values and as people and other programs expect to read it.
//!
//! [`TeamStatus`] is made from a [`nicteam_team::Team`] and from what the daemon knows of its devices; [`show`] writes it: our
//! own text and JSON, the kernel's `/proc/net/bonding`, `teamdctl`, `ovs-appctl`. Nothing here asks a device or a clock.
#![forbid(unsafe_code)]

mod aggregation;
mod bond;
mod one_sided;
mod repair;
pub mod show;
mod status;
mod striping;

pub use aggregation::{Aggregation, Aggregator, PortState};
pub use bond::{BondLacp, BondMemberState, BondState, BucketLoad};
pub use nicteam_bundles::{PortEnd, Problem};
pub use one_sided::{OneSidedState, PlainHostState, PlainMemberState};
pub use repair::RepairState;
pub use status::{ControlFrames, DeviceFacts, MemberState, PagpState, STATUS_SCHEMA, TeamStatus, problems};
pub use striping::{HelloState, PathState, PeerState, RedundantState, segments, striping_problems};
