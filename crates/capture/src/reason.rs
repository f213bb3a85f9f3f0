//! Why a frame leaves by the member by which it leaves.

use nicteam_options::HashPolicy;
use nicteam_options::mode::{Eligible, Sends};
use nicteam_plan::balance::{Balance, Number};
use nicteam_plan::buckets::{Buckets, Key};
use nicteam_plan::{balance, buckets, hash};
use nicteam_wire::{Frame, ethertype};

use crate::bundle::{Bundle, Link};
use crate::pcapng::Direction;

/// What a chooser says of a frame.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    /// The member, if the frame alone tells.
    member: Option<String>,
    /// By which rule.
    why: String,
}

impl Choice {
    fn open(why: impl Into<String>) -> Choice {
        Choice { member: None, why: why.into() }
    }
}

impl Bundle {
    /// The comment on a frame that was heard on a member, or on the bundle's own device (`None`).
    pub fn comment(&self, on: Option<&Link>, direction: Direction, frame: &Frame<'_>) -> String {
        let mode = self.config.mode.name();
        match (on, direction) {
            (None, Direction::Out) => match self.choice(frame) {
                Choice { member: Some(member), why } => format!("to {member}: {mode}, {why}"),
                Choice { member: None, why } => format!("{mode}, {why}"),
            },
            (Some(member), Direction::Out) => match own_frame(frame) {
                Some(what) => format!("by {}: {mode}, {what}, sent by the bundle itself on this member", member.name),
                None => self.sent_by(member, frame),
            },
            (None, _) => format!("delivered to the stack of {}", self.name),
            (Some(member), _) => {
                let role =
                    if member.sends { "" } else { ", which does not send now (standby, down or not aggregated)" };
                format!("received by {}{role}; the other end chose this link", member.name)
            }
        }
    }

    fn sent_by(&self, member: &Link, frame: &Frame<'_>) -> String {
        let (mode, name) = (self.config.mode.name(), &member.name);
        match self.choice(frame) {
            Choice { member: Some(chosen), why } if chosen != *name => format!(
                "by {name}: {mode}; the rule names {chosen} now ({why}): members changed, or a program sent the frame on {name} itself"
            ),
            Choice { why, .. } => format!("by {name}: {mode}, {why}"),
        }
    }

    fn choice(&self, frame: &Frame<'_>) -> Choice {
        let config = &self.config;
        match config.mode.traits().sends {
            Sends::InTurn if hash::is_igmp(frame) => Choice::open("IGMP leaves by the first member"),
            Sends::InTurn => Choice::open(match config.packets_per_slave {
                0 => "a member at random".to_owned(),
                1 => "in turn, a frame each".to_owned(),
                frames => format!("in turn, {frames} frames each"),
            }),
            Sends::ByActive => match &self.active {
                Some(active) => Choice { member: Some(active.clone()), why: format!("{active} is the active member") },
                None => Choice::open("there is no active member"),
            },
            Sends::ByAll => Choice::open("a copy by every member"),
            Sends::ByHash => self.hashed(frame, config.xmit_hash_policy),
            Sends::ByBuckets(eligible) => self.balanced(eligible, frame),
            Sends::Striped => self.striped(frame),
            Sends::BySource => {
                self.bucket(Key::Source { basis: config.bond.hash_basis }, "source address and VLAN", frame)
            }
            Sends::ByFlow => self.bucket(Key::Flow { basis: config.bond.hash_basis }, "addresses and ports", frame),
        }
    }

    fn hashed(&self, frame: &Frame<'_>, policy: HashPolicy) -> Choice {
        let (hash, senders, buckets) = (hash::hash(policy, frame), self.senders(), self.config.hash_buckets);
        let Some(place) = hash::place(hash, buckets, senders.len()) else {
            return Choice::open(format!("{policy}, hash {hash:#010x}, but no member may send"));
        };
        let count = senders.len();
        let why = match buckets {
            0 => format!("{policy}, hash {hash:#010x} modulo {count} members is {place}"),
            _ => format!("{policy}, hash {hash:#010x} modulo {buckets} buckets is {}", hash % buckets),
        };
        Choice { member: senders.get(place).map(|member| member.name.clone()), why }
    }

    /// balance-tlb, balance-alb: where the load decides, the frame alone tells the bucket and not its member.
    fn balanced(&self, eligible: Eligible, frame: &Frame<'_>) -> Choice {
        let config = &self.config;
        let number = match eligible {
            Eligible::Alb if config.tlb_dynamic_lb => Number::Destination,
            Eligible::Alb | Eligible::Tlb => Number::Hash(config.xmit_hash_policy),
        };
        let Some(found) = Balance::number_of(eligible, number, frame) else {
            let why = match &self.active {
                Some(active) => format!("a frame that is not balanced leaves by the active member {active}"),
                None => "a frame that is not balanced leaves by the active member".to_owned(),
            };
            return Choice { member: self.active.clone(), why };
        };
        if !config.tlb_dynamic_lb {
            return self.hashed(frame, config.xmit_hash_policy);
        }
        let made_of = match number {
            Number::Hash(policy) => policy.to_string(),
            Number::Destination => "destination address".to_owned(),
        };
        let bucket = found as usize % balance::MAX_BUCKETS;
        Choice::open(format!("{made_of}, hash {found:#04x}, bucket {bucket}, which load gave its member"))
    }

    fn striped(&self, frame: &Frame<'_>) -> Choice {
        let dst = frame.dst();
        if dst.is_multicast() {
            return Choice::open("to a group: by the first member of the segment");
        }
        let earliest = "the path by which it arrives first";
        for peer in &self.peers {
            if peer.team == dst {
                let count = peer.paths.len();
                return Choice::open(format!("{earliest}, of {count} that work to the team {dst}"));
            }
            if let Some((member, to)) = peer.paths.iter().find(|(_, to)| *to == dst) {
                let why = format!("{earliest}: to {to} of the team {}", peer.team);
                // A peer's member may be reached by several of ours.
                let only = peer.paths.iter().filter(|(_, other)| other == to).count() == 1;
                return Choice { member: only.then(|| member.clone()), why };
            }
        }
        Choice::open(format!("{dst} is no team that stripes: by buckets, as in balance-alb, or over several members"))
    }

    fn bucket(&self, key: Key, made_of: &str, frame: &Frame<'_>) -> Choice {
        let chooser = Buckets { key, table: Box::new([None; buckets::BUCKETS]), enabled: Vec::new() };
        let bucket = chooser.bucket(frame);
        let member = self.buckets.iter().find(|(of, _)| *of == bucket).map(|(_, member)| member.clone());
        Choice { member, why: format!("{made_of}, bucket {bucket} of {}", buckets::BUCKETS) }
    }
}

/// What the bundle sends by itself, on one member and by no choice.
fn own_frame(frame: &Frame<'_>) -> Option<&'static str> {
    match frame.ethertype() {
        ethertype::SLOW => Some("LACPDU or marker"),
        ethertype::HELLO => Some("hello or probe of a path"),
        ethertype::LOOPBACK => Some("learning packet"),
        _ => None,
    }
}
