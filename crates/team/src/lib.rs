//! Link aggregation without I/O, clock or threads.
//!
//! Two halves share one value, the [`Plan`]:
//! the control side ([`Team`]) turns configuration, link events and the
//! passing of time into plans; a dataplane executes the plan frame by frame
//! ([`Plan::choose`], [`Plan::receive`]). Every mode reduces to a plan.
//!
//! Nothing here opens a socket, reads a clock or keeps a secret: time is an
//! argument, randomness a seed, and the shell that does the I/O lives in
//! `nicteam-daemon`.
#![forbid(unsafe_code)]

pub mod balance;
mod config;
mod control;
mod failover;
pub mod hash;
pub mod lacp;
mod member;
pub mod mode;
mod plan;
pub mod stripe;
mod time;
mod timers;
mod token_bucket;

pub use balance::{Balance, Loads};
pub use config::{ActiveSlave, ArpAllTargets, ArpMonitoring, ArpValidate, FailOverMac, MAX_ARP_TARGETS, MAX_QUEUE_ID};
pub use config::{
    AggrLayers, Config, ConfigError, ConfigOption, HashPolicy, LacpOptions, PrimaryReselect, StripeKey, Values, nearest,
};
pub use control::{Duplex, Effect, Event, LinkState, MemberLink, MemberStatus, Team, TeamError, TimerReason};
pub use control::{Group, Identity, Listen, Subnet, Traffic};
pub use failover::{Failover, FailoverState};
pub use member::{MAX_MEMBERS, MemberId, MemberSet};
pub use mode::{Mode, Traits};
pub use plan::{Action, Choose, Leg, MAX_BUCKETS, Plan, PlanMember, PlanState, Receive, Rewrite, Verdict};
pub use stripe::Stripe;
pub use time::Time;
pub use token_bucket::TokenBucket;
