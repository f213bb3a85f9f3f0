//! What a team did, as a number that is the same on every machine and in every version.

use std::fmt;

use nicteam_events::{Effect, TeamError};
use nicteam_machine::{MemberId, MemberSet};
use nicteam_plan::balance::{Eligible, Number, Punt};
use nicteam_plan::buckets::Key;
use nicteam_plan::stripe::{Path, Peer, Plain, Receiver, Sender, Stripe};
use nicteam_plan::{Balance, Buckets, Choose, Failover, Plan, PlanMember, Receive, Rewrite};
use nicteam_wire::Mac;

use super::encode;

/// Takes in numbers and bytes. Not made against somebody who wants two plans to have the same digest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// All that was taken in; never 0.
    pub(super) fn value(self) -> u64 {
        let folded = (self.0 ^ self.0 >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (folded ^ folded >> 32).max(1)
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.number(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.number(u64::from_le_bytes(last));
    }

    fn text(&mut self, text: impl fmt::Display) {
        self.bytes(text.to_string().as_bytes());
    }

    fn mac(&mut self, mac: Mac) {
        let Mac([a, b, c, d, e, f]) = mac;
        self.number(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
    }

    fn flag(&mut self, flag: bool) {
        self.number(flag.into());
    }

    fn member(&mut self, member: MemberId) {
        self.number(member.index() as u64);
    }

    fn set(&mut self, set: MemberSet) {
        self.number(set.bits().into());
    }

    fn option<T>(&mut self, option: Option<T>, take: impl FnOnce(&mut Digest, T)) {
        self.flag(option.is_some());
        if let Some(value) = option {
            take(self, value);
        }
    }

    fn list<T>(&mut self, list: &[T], mut take: impl FnMut(&mut Digest, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|one| take(self, one));
    }

    fn members(&mut self, members: &[MemberId]) {
        self.list(members, |digest, member| digest.member(*member));
    }

    fn duration(&mut self, duration: std::time::Duration) {
        self.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// A plan without the tokens in it, which follow from keys.
pub fn of_plan(plan: &Plan) -> u64 {
    let Plan { generation, choose, members, lease, failover, notes_sources } = plan;
    let mut digest = Digest::new();
    digest.number(*generation);
    choosing(&mut digest, choose);
    digest.list(members, |digest, PlanMember { id, receive, rewrite: Rewrite { src, dst }, queue_id }| {
        digest.member(*id);
        receiving(digest, *receive);
        [src, dst].into_iter().for_each(|mac| digest.option(*mac, Digest::mac));
        digest.number((*queue_id).into());
    });
    digest.option(*lease, Digest::duration);
    digest.option(failover.as_ref(), |digest, Failover { order, downdelay, updelay }| {
        digest.members(order);
        digest.duration(*downdelay);
        digest.duration(*updelay);
    });
    digest.flag(*notes_sources);
    digest.value()
}

fn choosing(digest: &mut Digest, choose: &Choose) {
    match choose {
        Choose::Nobody => digest.number(0),
        Choose::One(member) => {
            digest.number(1);
            digest.member(*member);
        }
        Choose::Hash { policy, table } => {
            digest.number(2);
            digest.text(policy);
            digest.members(table);
        }
        Choose::HashOrAll { policy, table } => {
            digest.number(3);
            digest.text(policy);
            digest.members(table);
        }
        Choose::RoundRobin { members, packets_per_member, igmp } => {
            digest.number(4);
            digest.members(members);
            digest.number((*packets_per_member).into());
            digest.member(*igmp);
        }
        Choose::All(members) => {
            digest.number(5);
            digest.set(*members);
        }
        Choose::Balance(of) => {
            digest.number(6);
            balance(digest, of);
        }
        Choose::Buckets(of) => {
            digest.number(7);
            buckets(digest, of);
        }
        Choose::Stripe(of) => {
            digest.number(8);
            stripe(digest, of);
        }
    }
}

fn receiving(digest: &mut Digest, receive: Receive) {
    match receive {
        Receive::Deliver => digest.number(0),
        Receive::Drop => digest.number(1),
        Receive::DeliverAnd { own, team } => {
            digest.number(2);
            [own, team].into_iter().for_each(|mac| digest.mac(mac));
        }
        Receive::Own { own, team } => {
            digest.number(3);
            [own, team].into_iter().for_each(|mac| digest.mac(mac));
        }
        Receive::DropIfMoved { active } => {
            digest.number(4);
            digest.flag(active);
        }
    }
}

fn balance(digest: &mut Digest, balance: &Balance) {
    let Balance { eligible, number, table, active, counted, punt } = balance;
    digest.number(match eligible {
        Eligible::Tlb => 0,
        Eligible::Alb => 1,
    });
    match number {
        Number::Hash(policy) => digest.text(policy),
        Number::Destination => digest.number(1),
    }
    digest.members(table);
    digest.member(*active);
    digest.flag(*counted);
    digest.option(*punt, |digest, Punt { from, neighbours }| {
        digest.mac(from);
        digest.flag(neighbours);
    });
}

fn buckets(digest: &mut Digest, buckets: &Buckets) {
    let Buckets { key, table, enabled } = buckets;
    match key {
        Key::Source { basis } => digest.number(u64::from(*basis) << 1),
        Key::Flow { basis } => digest.number(u64::from(*basis) << 1 | 1),
    }
    digest.list(&table[..], |digest, member| digest.option(*member, Digest::member));
    digest.members(enabled);
}

fn stripe(digest: &mut Digest, stripe: &Stripe) {
    let Stripe { team, senders, peers, group, redundant, sack_delay, plain, other } = stripe;
    digest.mac(*team);
    digest.list(senders, |digest, Sender { id, mac, rate_mbps, lost_token: _ }| {
        digest.member(*id);
        digest.mac(*mac);
        digest.number((*rate_mbps).into());
    });
    digest.list(peers, peer);
    digest.set(*group);
    digest.text(redundant);
    digest.duration(*sack_delay);
    let Plain { kind, members } = plain;
    digest.number(kind.number().into());
    digest.set(*members);
    balance(digest, other);
}

fn peer(digest: &mut Digest, peer: &Peer) {
    let Peer { team, system, takes_rtags, keeps_flows, sharers, group_from, receivers, others, paths } = peer;
    digest.mac(*team);
    digest.number(*system);
    digest.flag(*takes_rtags);
    digest.flag(*keeps_flows);
    digest.number((*sharers).into());
    digest.option(*group_from, Digest::member);
    digest.list(receivers, |digest, Receiver { mac, rate_mbps, share_mbps, lost_token: _ }| {
        digest.mac(*mac);
        digest.number(u64::from(*rate_mbps) << 32 | u64::from(*share_mbps));
    });
    digest.list(others, |digest, mac| digest.mac(*mac));
    digest.list(paths, |digest, Path { sender, receiver, delay_us }| {
        digest.number((*sender as u64) << 32 | (*receiver as u64) << 16 | u64::from(*delay_us));
    });
}

/// What a team wants, but for plans, and what it tells people.
pub(super) fn take_effect(digest: &mut Digest, effect: &Effect) {
    match effect {
        Effect::Apply(_) | Effect::Event(_) => {}
        Effect::SetCarrier(carrier) => digest.number(u64::from(*carrier) << 8 | 1),
        Effect::Transmit { member, frame } => {
            digest.number(2);
            digest.member(*member);
            match encode::tags(frame) {
                // They follow from keys.
                Some(tags) => {
                    digest.bytes(&frame[..tags.start]);
                    digest.bytes(&frame[tags.end..]);
                }
                None => digest.bytes(frame),
            }
        }
        Effect::SetMac { member, mac } => {
            digest.number(3);
            digest.option(*member, Digest::member);
            digest.mac(*mac);
        }
        Effect::TakeAll { member, on } => {
            digest.number(u64::from(*on) << 8 | 4);
            digest.member(*member);
        }
        Effect::ReadGroups => digest.number(5),
        Effect::ReadLinks => digest.number(6),
        Effect::ReadTraffic => digest.number(7),
        Effect::ReadLoads => digest.number(8),
        Effect::ReadSources => digest.number(9),
        Effect::ReadNotes => digest.number(10),
        Effect::ReadPlain => digest.number(12),
    }
}

/// That a change was refused.
pub(super) fn take_error(digest: &mut Digest, error: &TeamError) {
    digest.number(11);
    digest.text(error);
}
