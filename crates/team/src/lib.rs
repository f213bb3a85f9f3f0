//! Link aggregation without I/O, clock or threads.
//!
//! Two halves share one value, the [`Plan`]:
//! the control side ([`Team`]) turns configuration, link events and the
//! passing of time into plans; a dataplane executes the plan frame by frame
//! ([`Plan::choose`], [`Plan::receive`], in `nicteam-plan`). Every mode reduces to a plan, and what differs
//! from mode to mode is a line of [`mode`], in `nicteam-options`.
//!
//! The parts are crates that know no [`Team`]; this one composes them, and re-exports what users of a team need of them
//! (`docs/design/team-crates.md`).
//!
//! Nothing here opens a socket, reads a clock or keeps a secret: time is an
//! argument, randomness a seed, and the shell that does the I/O lives in
//! `nicteam-daemon`.
#![forbid(unsafe_code)]

mod control;
pub mod replay;

pub use control::openvswitch;
pub use control::{Listen, MemberStatus, Team, TimerReason};
pub use control::{PlainHostStatus, PlainMemberStatus, PlainState, PlainStatus};
pub use nicteam_events::{
    Effect, Event, Group, Identity, LinkState, PagpHeard, PlainEvent, Subnet, TeamError, Traffic,
};
pub use nicteam_lacp as lacp;
pub use nicteam_machine::{Duplex, MAX_MEMBERS, MemberId, MemberLink, MemberSet, Time, TokenBucket, constants};
pub use nicteam_options::{
    ActiveSlave, AggrLayers, ArpAllTargets, ArpMonitoring, ArpValidate, BondOptions, Config, ConfigError, ConfigOption,
    DetectMode, FailOverMac, HashPolicy, LacpMode, LacpOptions, MAX_ARP_TARGETS, MAX_QUEUE_ID, Mode, PrimaryReselect,
    StripeKey, StripePlain, Traits, Values, mode, nearest,
};
pub use nicteam_plan::{
    Action, Balance, Buckets, Choose, Failover, FailoverState, Leg, Loads, MAX_BUCKETS, MAX_SOURCES, Plan, PlanMember,
    PlanState, Receive, Rewrite, Sources, Verdict, balance, buckets, hash,
};
pub use stripe::Stripe;

/// Mode stripe: what it does with each frame, and who else it finds.
pub mod stripe {
    pub use nicteam_discovery::{Discovery, MAX_NEIGHBOURS, Neighbour, Own, PathStatus, Refused, RefusedLast};
    pub use nicteam_options::MAX_SACK_DELAY;
    pub use nicteam_plan::stripe::*;
}
