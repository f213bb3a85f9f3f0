//! A run's teams with their links and counters side by side.

use nicteam_record::{Impairments, Link, LinkEnd, Member, Port, Record, Run, Topology};

use crate::team::Team;
use crate::units::{link_rate, share};

/// Bytes of a full frame that the counters see, beside its IP packet: the Ethernet header.
const COUNTED_BYTES: f64 = 14.0;
/// Bytes of a full frame that the wire carries, beside its IP packet: header,
/// check sequence, preamble and gap.
const WIRE_BYTES: f64 = 38.0;

/// A team and what its members carried.
#[derive(Clone, Debug)]
pub struct TeamView<'a> {
    /// The team.
    pub team: Team<'a>,
    /// Its members, in their order.
    pub members: Vec<MemberView<'a>>,
}

/// A member: its link and its counters.
#[derive(Clone, Debug)]
pub struct MemberView<'a> {
    /// Its device.
    pub device: &'a str,
    /// Rate of its wire, bit/s; 0 if its link is not in the topology.
    pub rate_bps: f64,
    /// What its counters can show at most, bit/s.
    pub capacity_bps: f64,
    /// Sent, bit/s.
    pub tx_bps: f64,
    /// Received, bit/s.
    pub rx_bps: f64,
}

impl MemberView<'_> {
    /// Sent, as a part of what the link can carry.
    pub fn tx_load(&self) -> f64 {
        share(self.tx_bps, self.capacity_bps)
    }

    /// Received, as a part of what the link can carry.
    pub fn rx_load(&self) -> f64 {
        share(self.rx_bps, self.capacity_bps)
    }
}

/// The hosts' teams whose host sends or receives payload, in the order of the
/// topology; all hosts' teams if no connection is recorded.
pub fn busy_host_teams(run: &Run) -> Vec<TeamView<'_>> {
    let busy = |name: &str| {
        run.connections.is_empty()
            || run
                .connections
                .iter()
                .flat_map(|connection| [&connection.from, &connection.to])
                .any(|end| run.topology.links_of(end) == name)
    };
    let hosts = run.topology.hosts.iter().filter(|host| busy(&host.name));
    hosts
        .flat_map(|host| run.topology.teams.iter().filter(|team| team.node == host.name))
        .map(|team| view(run, Team::read(team)))
        .collect()
}

/// One team's members.
pub fn view<'a>(run: &'a Run, team: Team<'a>) -> TeamView<'a> {
    let members = team.members.iter().map(|device| {
        let link = link_at(&run.topology, team.node, device).map(|(link, _)| link);
        let counters = counters(run, team.node, device);
        MemberView {
            device,
            rate_bps: link.map_or(0.0, |link| link.rate_bps as f64),
            capacity_bps: link.map_or(0.0, capacity_bps),
            tx_bps: counters.map_or(0.0, |member| member.tx_bps),
            rx_bps: counters.map_or(0.0, |member| member.rx_bps),
        }
    });
    TeamView { team, members: members.collect() }
}

/// Of each maker's switch that had groups, that its choice of a link is assumed in part.
pub fn assumed_models(record: &Record) -> Vec<String> {
    let switches = record.runs.iter().flat_map(|run| &run.topology.switches);
    let bundling = switches.filter(|switch| switch.spread.is_some() && switch.pagp.is_none());
    let mut lines: Vec<String> = bundling
        .filter_map(|switch| {
            let title = &switch.model.as_ref()?.title;
            Some(format!(
                "{} is modelled on {title}; which link an address takes there is assumed in part.",
                switch.name
            ))
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

/// One line on a rate that the lab lowered by itself.
pub fn lowered_rate(record: &Record) -> Option<String> {
    let rate = link_rate(record.experiment.rate_lowered_bps?);
    Some(format!(
        "The lab lowered the links to {rate}, the most at which this machine carries MTU-sized packets; --rate chooses another."
    ))
}

/// What a link's counters can show at most, bit/s: full frames without check
/// sequence, preamble and gap.
pub fn capacity_bps(link: &Link) -> f64 {
    let mtu = f64::from(link.mtu);
    link.rate_bps as f64 * (mtu + COUNTED_BYTES) / (mtu + WIRE_BYTES)
}

/// The link at a node's device, and its far end.
pub fn link_at<'a>(topology: &'a Topology, node: &str, device: &str) -> Option<(&'a Link, &'a LinkEnd)> {
    let is = |end: &LinkEnd| end.node == node && end.device == device;
    topology.links.iter().find_map(|link| match link {
        _ if is(&link.a) => Some((link, &link.b)),
        _ if is(&link.b) => Some((link, &link.a)),
        _ => None,
    })
}

/// What a link is declared to do to the frames that an end of it sends; nothing if it is a plain cable.
pub fn declared<'a>(link: &'a Link, end: &LinkEnd) -> Option<&'a Impairments> {
    let impaired = link.impaired.as_ref()?;
    if *end == link.a { Some(&impaired.a_to_b) } else { Some(&impaired.b_to_a) }
}

/// A member as a port; none where its team's mode is not 802.3ad.
pub fn port<'a>(run: &'a Run, node: &str, device: &str) -> Option<&'a Port> {
    run.ports.iter().find(|port| port.host == node && port.member == device)
}

/// A member's counters.
pub fn counters<'a>(run: &'a Run, node: &str, device: &str) -> Option<&'a Member> {
    run.members.iter().find(|member| member.host == node && member.member == device)
}
