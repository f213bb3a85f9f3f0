//! Open vSwitch's bonds: which members may send, which one is the active one, and which buckets each has.
//!
//! The rules are those of Open vSwitch 3.1 ofproto/bond.c; the files beside this one name the functions and the
//! differences. What concerns all:
//!
//! - A member is *enabled* or not: here [`LinkState::Up`](crate::LinkState) and `Fail`, and `Down` and `Back`. It follows what
//!   its link and LACP together say, after `updelay` or `downdelay` (`bond_link_status_update`).
//! - LACP hears of each member's carrier at once, and not after the delays as in 802.3ad.
//! - LACP that is configured and found no partner stops everything, or with `lacp-fallback-ab` leaves one member.
//! - Open vSwitch acts when its thread runs next, up to half a second later; here each event is acted on at once.

mod buckets;
mod learning;
mod members;
pub(super) mod planning;
mod rebalance;
mod status;

use std::fmt;

use nicteam_lacp::{Lacp, PortStatus, ReceiveState};
use nicteam_machine::MemberId;
use nicteam_machine::state;
use nicteam_options::mode::{Sends, Traits};

pub use self::rebalance::{Bucket, Move, interval, moves, settle};
pub use self::status::{BondMember, BondStatus};

use crate::Config;
use crate::balance::Loads;
use crate::hash::slb::BUCKETS;

/// How far LACP has come on a bond (`enum lacp_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negotiation {
    /// It is not spoken.
    Off,
    /// It is spoken, and no partner answers.
    Configured,
    /// A partner answers.
    Negotiated,
}

/// What a team keeps whose mode is one of Open vSwitch's.
#[derive(Clone, Debug)]
pub(super) struct Bond {
    buckets: Box<[Bucket; BUCKETS]>,
    /// What the dataplane had counted when it was read last; none before the first reading. A dataplane that was taken
    /// over has counted before.
    read: Option<Box<Loads>>,
    /// A member was enabled: buckets that have carried nothing yet are to be given members anew.
    spreads: bool,
    /// The loads that are read next decide which buckets change members.
    rebalances: bool,
    /// The members that may send, in the order in which they were enabled.
    enabled: Vec<MemberId>,
    /// How often a bucket was given a member here.
    turn: u32,
    /// Switches have to learn where the sources are now (`send_learning_packets`).
    teaches: bool,
    /// The active member of an earlier process of this team, by its device, until all members have joined.
    last_active: Option<String>,
    /// State of the generator that gives balance-tcp's buckets their members.
    random: u64,
}

state!(struct Bond { buckets, read, spreads, rebalances, enabled, turn, teaches, last_active, random });

impl Bond {
    /// A bond without members. The seed decides the random choices alone.
    pub(super) fn new(seed: u64) -> Bond {
        Bond {
            buckets: Box::new([Bucket::default(); BUCKETS]),
            read: None,
            spreads: false,
            rebalances: false,
            enabled: Vec::new(),
            turn: 0,
            teaches: false,
            last_active: None,
            random: seed,
        }
    }

    /// Another seed for the random choices to come.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.random = seed;
    }
}

/// How far LACP has come on a team of this mode. As long as every member waits for its first LACPDU that counts as an
/// answer (`lacp_update_attached`). In one thing other than there: one that waits keeps no others, which have given up, from
/// falling back.
pub(super) fn negotiation(config: &Config, traits: &Traits, lacp: Option<&Lacp>) -> Negotiation {
    if !traits.aggregates(config) {
        return Negotiation::Off;
    }
    let ports = lacp.map(Lacp::ports).unwrap_or_default();
    let is = |state| ports.iter().any(|port: &PortStatus| port.receive == state);
    let lost = ports.iter().any(|port| port.receive == ReceiveState::Expired && !port.defaulted);
    let waits = is(ReceiveState::Expired) && !is(ReceiveState::Defaulted);
    match is(ReceiveState::Current) || lost || waits {
        true => Negotiation::Negotiated,
        false => Negotiation::Configured,
    }
}

/// True if one member carries all because LACP found no partner (`bond_is_falling_back_to_ab`).
pub(super) fn falls_back(config: &Config, negotiation: Negotiation) -> bool {
    negotiation == Negotiation::Configured && config.bond.lacp_fallback_ab
}

/// True if frames go by buckets, as things are with LACP (`choose_output_member`).
pub(super) fn uses_buckets(traits: &Traits, negotiation: Negotiation) -> bool {
    match (traits.sends, negotiation) {
        (Sends::BySource, Negotiation::Off | Negotiation::Negotiated) => true,
        (Sends::ByFlow, negotiation) => negotiation == Negotiation::Negotiated,
        _ => false,
    }
}

impl fmt::Display for Negotiation {
    /// As `bond/show` says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Negotiation::Off => "off",
            Negotiation::Configured => "configured",
            Negotiation::Negotiated => "negotiated",
        })
    }
}
