//! Facts from the angles that rules look from.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nicteam_bundles::traffic::{FlowKey, Seen};
use nicteam_bundles::{Bundle, Kind, Member};
use nicteam_options::Mode;
use nicteam_options::mode::{Receives, Sends, Traits};
use nicteam_wire::Mac;

use crate::facts::Facts;

/// A direction, as this host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    In,
    /// Sent.
    Out,
}

/// A flow in one direction, and the member that its frames use.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Its ends.
    pub key: FlowKey,
    /// The address at the other end of its frames.
    pub mac: Option<Mac>,
    /// The member of most of its frames.
    pub member: &'a str,
    /// Bytes of the frames that were looked at.
    pub bytes: u64,
    /// The beginning of a frame that was sent; empty if none was seen.
    pub head: &'a [u8],
}

/// Facts, and what follows from them.
#[derive(Debug)]
pub struct View<'a> {
    /// The facts.
    pub facts: &'a Facts<'a>,
    /// What is true of its mode; none for a mode that is not known.
    pub traits: Option<&'static Traits>,
}

/// From this share of its speed on a link is full. Headers and gaps are the rest.
const FULL: f64 = 0.9;
/// Fewer packets say nothing.
const IDLE_PACKETS: u64 = 20;

impl<'a> View<'a> {
    /// A view of these facts.
    pub fn of(facts: &'a Facts<'a>) -> View<'a> {
        View { facts, traits: traits(facts.bundle) }
    }

    /// The bundle.
    pub fn bundle(&self) -> &'a Bundle {
        self.facts.bundle
    }

    /// The members that it sends by.
    pub fn active(&self) -> Vec<&'a Member> {
        self.facts.bundle.members.iter().filter(|member| member.active).collect()
    }

    /// True if its mode spreads flows over members, so that more than one can carry something.
    pub fn spreads(&self) -> bool {
        self.traits.is_some_and(|of| !matches!(of.sends, Sends::ByActive | Sends::ByAll))
    }

    /// True if one connection may use several members at once.
    pub fn splits_connections(&self) -> bool {
        self.traits.is_some_and(|of| matches!(of.sends, Sends::InTurn | Sends::Striped))
    }

    /// True if one member carries everything, by its mode.
    pub fn uses_one(&self) -> bool {
        self.traits.is_some_and(|of| of.sends == Sends::ByActive)
    }

    /// True if frames for the host may come by any member.
    pub fn receives_by_all(&self) -> bool {
        self.traits.is_some_and(|of| of.receives == Receives::ByAll)
    }

    /// Bit/s of a member.
    pub fn bps(&self, member: &str, direction: Direction) -> f64 {
        let rate = self.facts.rates.of(member);
        if direction == Direction::In { rate.rx_bps } else { rate.tx_bps }
    }

    /// Packets of a member in the time.
    pub fn packets(&self, member: &str, direction: Direction) -> u64 {
        let counted = self.facts.rates.of(member).counted;
        if direction == Direction::In { counted.rx_packets } else { counted.tx_packets }
    }

    /// The part of its speed that a member carried; none if its speed is not known.
    pub fn load(&self, member: &Member, direction: Direction) -> Option<f64> {
        let speed = f64::from(member.speed_mbps?) * 1e6;
        (speed > 0.0).then(|| self.bps(&member.name, direction) / speed)
    }

    /// True if a member carries as much as it can.
    pub fn is_full(&self, member: &Member, direction: Direction) -> bool {
        self.load(member, direction).is_some_and(|load| load >= FULL)
    }

    /// Bit/s of all members.
    pub fn total_bps(&self, direction: Direction) -> f64 {
        self.facts.bundle.members.iter().map(|member| self.bps(&member.name, direction)).sum()
    }

    /// True if there is too little to say anything of a direction.
    pub fn is_idle(&self, direction: Direction) -> bool {
        self.packets_of_all(direction) < IDLE_PACKETS
    }

    /// Packets of all members in the time.
    pub fn packets_of_all(&self, direction: Direction) -> u64 {
        let members = self.facts.bundle.members.iter();
        members.fold(0, |sum, of| sum.saturating_add(self.packets(&of.name, direction)))
    }

    /// The member that carries most of a direction, and its share.
    pub fn top(&self, direction: Direction) -> Option<(&'a Member, f64)> {
        let total = self.total_bps(direction);
        let bps = |member: &&Member| self.bps(&member.name, direction);
        let top = self.facts.bundle.members.iter().max_by(|one, other| bps(one).total_cmp(&bps(other)))?;
        (total > 0.0).then(|| (top, bps(&top) / total))
    }

    /// Flows whose member is known, in a direction.
    pub fn flows(&self, direction: Direction) -> Vec<Placed<'a>> {
        let headers = self.facts.headers.into_iter().flat_map(|headers| &headers.flows);
        let placed = |(key, seen): (&FlowKey, &'a Seen)| {
            let (members, bytes) = match direction {
                Direction::In => (&seen.received, seen.bytes[0]),
                Direction::Out => (&seen.sent, seen.bytes[1]),
            };
            let member = Seen::main(members)?;
            Some(Placed { key: *key, mac: seen.remote_mac, member, bytes, head: &seen.head })
        };
        headers.filter_map(placed).collect()
    }

    /// TCP connections by this bundle's addresses that carried something.
    pub fn busy_connections(&self) -> impl Iterator<Item = &'a nicteam_bundles::traffic::Connection> {
        let is_ours = |address: IpAddr| self.facts.addresses.contains(&address);
        let connections = self.facts.connections.iter();
        connections.filter(move |of| of.sent_bytes.max(of.received_bytes) > 0 && is_ours(of.key.local.ip()))
    }

    /// True if the far end of the links is the host that all these flows come from: there is no switch between.
    pub fn is_direct(&self, flows: &[Placed<'_>]) -> bool {
        let partner = self.facts.bundle.lacp.as_ref().and_then(|lacp| lacp.partner.as_deref());
        let macs: BTreeSet<Option<Mac>> = flows.iter().map(|flow| flow.mac).collect();
        partner.is_some() && macs.iter().all(|mac| mac.map(|mac| mac.to_string()).as_deref() == partner)
    }
}

/// Flows by what `key` says of them.
pub(crate) fn grouped<'f, 'a, K: Ord>(
    flows: &'f [Placed<'a>],
    key: impl Fn(&Placed<'a>) -> K,
) -> BTreeMap<K, Vec<&'f Placed<'a>>> {
    let mut groups: BTreeMap<K, Vec<&Placed<'a>>> = BTreeMap::new();
    flows.iter().for_each(|flow| groups.entry(key(flow)).or_default().push(flow));
    groups
}

/// True if the flows of each group use one member.
pub(crate) fn is_constant<K>(groups: &BTreeMap<K, Vec<&Placed<'_>>>) -> bool {
    groups.values().all(|flows| flows.windows(2).all(|pair| pair[0].member == pair[1].member))
}

/// The members that flows use.
pub(crate) fn members<'a>(flows: &[Placed<'a>]) -> BTreeSet<&'a str> {
    flows.iter().map(|flow| flow.member).collect()
}

fn traits(bundle: &Bundle) -> Option<&'static Traits> {
    if bundle.kind == Kind::Teamd {
        let runs = |of: &&'static Traits| of.runner.is_some_and(|(runner, _)| runner == bundle.mode);
        // teamd's loadbalance and lacp spread by a hash, as the modes do that it stands for.
        return Mode::ALL.into_iter().map(Mode::traits).find(runs);
    }
    bundle.mode.parse().ok().map(Mode::traits)
}
