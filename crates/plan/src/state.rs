//! What changes from frame to frame.

use nicteam_machine::{Time, split_mix};

use super::balance::Loads;
use super::failover::FailoverState;
use super::sources::Sources;
use super::stripe::redundant::Streams;
use super::stripe::state::StripeState;

/// What a dataplane remembers from frame to frame.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// Frames that took part in the round robin so far.
    pub round_robin: u32,
    /// When the next frame is chosen for; a dataplane keeps it up to date.
    pub now: Time,
    /// Whose wires are taken how long, of stripe.
    pub stripe: StripeState,
    /// Redundancy tags sent and received, of stripe.
    pub streams: Streams,
    /// The members' carrier, of plans with a [`Plan::failover`](crate::Plan::failover).
    pub failover: FailoverState,
    /// Bytes and members by bucket, of the plans that count ([`Balance::counted`](crate::Balance::counted), [`Buckets`](crate::Buckets)).
    pub loads: Loads,
    /// How often a bucket was given a member, of plans that choose by [`Buckets`](crate::Buckets).
    pub turn: u32,
    /// The sources that the stack sent, of the plans that note them ([`Plan::notes_sources`](crate::Plan::notes_sources)).
    pub sources: Sources,
    /// State of the generator behind `packets_per_slave=0`.
    random: u64,
}

impl PlanState {
    /// A fresh state; the seed decides the random choices alone.
    pub fn new(seed: u64) -> PlanState {
        PlanState {
            round_robin: 0,
            now: Time::ZERO,
            stripe: StripeState::default(),
            streams: Streams::default(),
            failover: FailoverState::default(),
            loads: Loads::default(),
            turn: 0,
            sources: Sources::default(),
            random: seed,
        }
    }

    /// Any number.
    pub(super) fn next_random(&mut self) -> u32 {
        split_mix(&mut self.random) as u32
    }
}
