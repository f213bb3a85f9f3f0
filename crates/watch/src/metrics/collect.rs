//! Values from a snapshot.

use indexmap::IndexMap;
use indexmap::map::Entry;
use nicteam_bundles::{Bundle, Kind, Member, Port, PortEnd, state};
use nicteam_daemon::{MemberState, TeamStatus};

use super::escape::escape;
use super::registry::{self as all, Metric};
use crate::snapshot::{Snapshot, Tally};

/// Values of metrics.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// By name of metric, then by labels as they are written: `{bundle="team0"}`; in the order in which they came.
    samples: IndexMap<&'static str, IndexMap<String, f64>>,
    left_out: u64,
}

/// What the exporter says of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exporter {
    /// Requests that were refused.
    pub refused: u64,
    /// The text becomes a part of node_exporter's, which has the kernel's bonds itself, and takes no metric twice.
    pub beside_node_exporter: bool,
}

impl Values {
    /// The values of a metric, each with its labels as they are written.
    pub fn of(&self, metric: &Metric) -> impl Iterator<Item = (&str, f64)> {
        let samples = self.samples.get(metric.name);
        samples.into_iter().flatten().map(|(labels, value)| (labels.as_str(), *value))
    }

    /// Adds a value; a second one with the same labels is counted and left out, for it would make the whole text invalid.
    pub fn add(&mut self, metric: &'static Metric, labels: &[&str], value: f64) {
        debug_assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        // As they are written, two that differ in what is cut off are one.
        match self.samples.entry(metric.name).or_default().entry(written(metric, labels)) {
            Entry::Vacant(free) => drop(free.insert(value)),
            Entry::Occupied(_) => self.left_out += 1,
        }
    }

    fn flag(&mut self, metric: &'static Metric, labels: &[&str], value: bool) {
        self.add(metric, labels, f64::from(u8::from(value)));
    }

    fn count(&mut self, metric: &'static Metric, labels: &[&str], value: u64) {
        self.add(metric, labels, value as f64);
    }
}

/// Labels as both formats want them; nothing of a metric that has none.
fn written(metric: &Metric, labels: &[&str]) -> String {
    let mut text = String::with_capacity(32 * labels.len());
    for (at, (label, of)) in metric.labels.iter().zip(labels).enumerate() {
        text.push(if at == 0 { '{' } else { ',' });
        text.push_str(label);
        text.push_str("=\"");
        escape(of, &mut text);
        text.push('"');
    }
    if !metric.labels.is_empty() {
        text.push('}');
    }
    text
}

/// The values of a snapshot.
pub fn collect(snapshot: &Snapshot, exporter: &Exporter) -> Values {
    let mut values = Values::default();
    for bundle in &snapshot.host.bundles {
        let twice = exporter.beside_node_exporter && bundle.kind == Kind::Kernel;
        bundle_values(&mut values, bundle, twice);
        for member in &bundle.members {
            member_values(&mut values, bundle, member);
            traffic(&mut values, bundle, member, snapshot);
        }
        if let Some(status) = snapshot.team(bundle) {
            let tally = snapshot.tallies.get(&bundle.name).copied().unwrap_or_default();
            team_values(&mut values, status, tally);
        }
    }
    values.flag(&all::EXPORTER_INFO, &[env!("CARGO_PKG_VERSION")], true);
    values.add(&all::EXPORTER_LOOK, &[], snapshot.took.as_secs_f64());
    values.count(&all::EXPORTER_UNSEEN, &[], snapshot.host.unseen.len() as u64);
    values.count(&all::EXPORTER_REFUSED, &[], exporter.refused);
    let left_out = values.left_out;
    values.count(&all::EXPORTER_LEFT_OUT, &[], left_out);
    values
}

/// The label `kind`.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Nicteam => "nicteam",
        Kind::Kernel => "kernel",
        Kind::OpenVSwitch => "openvswitch",
        Kind::Teamd => "teamd",
    }
}

fn bundle_values(values: &mut Values, bundle: &Bundle, has_node_exporter: bool) {
    let of = [bundle.name.as_str(), kind_name(bundle.kind)];
    let up = bundle.members.iter().filter(|member| member.up).count() as u64;
    let members = bundle.members.len() as u64;
    if !has_node_exporter {
        values.count(&all::BONDING_SLAVES, &of[..1], members);
        // The kernel calls a slave active whose link is up.
        values.count(&all::BONDING_ACTIVE, &of[..1], up);
    }
    let device = bundle.device.as_deref().unwrap_or("");
    let policy = bundle.hash_policy.as_deref().unwrap_or("");
    values.flag(&all::BUNDLE_INFO, &[of[0], of[1], device, &bundle.mode, policy], true);
    values.flag(&all::BUNDLE_UP, &of, bundle.carrier);
    values.count(&all::BUNDLE_MEMBERS, &of, members);
    values.count(&all::BUNDLE_MEMBERS_UP, &of, up);
    let active = bundle.members.iter().filter(|member| member.active).count();
    values.count(&all::BUNDLE_MEMBERS_ACTIVE, &of, active as u64);
    values.count(&all::BUNDLE_PROBLEMS, &of, bundle.problems.len() as u64);
    values.count(&all::BUNDLE_UNSEEN, &of, bundle.unseen.len() as u64);
    let Some(lacp) = &bundle.lacp else { return };
    if let Some(negotiated) = lacp.negotiated {
        values.flag(&all::LACP_NEGOTIATED, &of, negotiated);
    }
    if let Some(ports) = lacp.ports {
        values.count(&all::LACP_PORTS, &of, ports.into());
    }
    if let Some(partner) = &lacp.partner {
        let keys = [lacp.actor_key, lacp.partner_key].map(|key| key.map_or(String::new(), |key| key.to_string()));
        values.flag(&all::LACP_PARTNER_INFO, &[of[0], of[1], partner, &keys[0], &keys[1]], true);
    }
}

fn member_values(values: &mut Values, bundle: &Bundle, member: &Member) {
    let of = [bundle.name.as_str(), kind_name(bundle.kind), member.name.as_str()];
    values.flag(&all::MEMBER_INFO, &[of[0], of[1], of[2], member.mac.as_deref().unwrap_or("")], true);
    values.flag(&all::MEMBER_UP, &of, member.up);
    values.flag(&all::MEMBER_CARRIER, &of, member.carrier);
    values.flag(&all::MEMBER_ACTIVE, &of, member.active);
    if let Some(mbps) = member.speed_mbps {
        values.count(&all::MEMBER_SPEED, &of, u64::from(mbps) * 1_000_000 / 8);
    }
    if let Some(mtu) = member.mtu {
        values.count(&all::MEMBER_MTU, &of, mtu.into());
    }
    if let Some(failures) = member.link_failures {
        values.count(&all::MEMBER_FAILURES, &of, failures);
    }
    if let Some(port) = &member.lacp {
        port_values(values, of, port);
    }
}

fn port_values(values: &mut Values, of: [&str; 3], port: &Port) {
    let [bundle, kind, member] = of;
    values.flag(&all::MEMBER_ATTACHED, &of, port.attached);
    if let Some(aggregator) = port.aggregator {
        values.count(&all::MEMBER_AGGREGATOR, &of, aggregator.into());
    }
    if let Some(partner) = port.partner.as_ref().filter(|partner| !partner.is_unknown()) {
        let (key, number) = (partner.key.to_string(), partner.port.to_string());
        values.flag(&all::MEMBER_PARTNER_INFO, &[bundle, kind, member, &partner.system, &key, &number], true);
    }
    let ends = [("actor", &port.actor, &port.actor_churn), ("partner", &port.partner, &port.partner_churn)];
    for (name, end, churn) in ends {
        if let Some(end) = end {
            state_values(values, of, name, end);
        }
        if !churn.is_empty() {
            values.flag(&all::MEMBER_CHURNED, &[bundle, kind, member, name], churn == "churned");
        }
    }
}

fn state_values(values: &mut Values, [bundle, kind, member]: [&str; 3], name: &str, end: &PortEnd) {
    for (bit, flag) in state::NAMES.into_iter().enumerate() {
        values.flag(&all::MEMBER_LACP_STATE, &[bundle, kind, member, name, flag], end.has(1 << bit));
    }
}

fn traffic(values: &mut Values, bundle: &Bundle, member: &Member, snapshot: &Snapshot) {
    let Some((_, counters)) = snapshot.sample.devices.get(&member.name) else { return };
    let of = [bundle.name.as_str(), kind_name(bundle.kind), member.name.as_str()];
    for (metric, value) in [
        (&all::MEMBER_RX_BYTES, counters.rx_bytes),
        (&all::MEMBER_TX_BYTES, counters.tx_bytes),
        (&all::MEMBER_RX_PACKETS, counters.rx_packets),
        (&all::MEMBER_TX_PACKETS, counters.tx_packets),
        (&all::MEMBER_RX_DROPS, counters.rx_drops),
        (&all::MEMBER_TX_DROPS, counters.tx_drops),
        (&all::MEMBER_RX_ERRORS, counters.rx_errors),
        (&all::MEMBER_TX_ERRORS, counters.tx_errors),
    ] {
        values.count(metric, &of, value);
    }
}

fn team_values(values: &mut Values, status: &TeamStatus, tally: Tally) {
    let team = status.team.as_str();
    values.add(&all::TEAM_UPTIME, &[team], status.uptime_ms as f64 / 1000.0);
    values.count(&all::TEAM_PLANS, &[team], status.generation);
    values.count(&all::TEAM_FAILOVERS, &[team], tally.failovers);
    values.count(&all::TEAM_MEMBER_DOWNS, &[team], tally.member_downs);
    values.count(&all::TEAM_CARRIER_LOSSES, &[team], tally.carrier_losses);
    values.count(&all::TEAM_UNSENT, &[team], status.unsent_frames);
    for member in &status.members {
        team_member_values(values, team, member);
    }
    if let Some(hellos) = &status.hellos {
        values.count(&all::TEAM_PEERS, &[team], status.peers.len() as u64);
        for (reason, count) in [
            ("untagged", hellos.untagged),
            ("wrong key", hellos.wrong_key),
            ("replayed", hellos.replayed),
            ("unexpected key", hellos.unexpected_key),
            ("impossible", hellos.impossible),
        ] {
            values.count(&all::TEAM_HELLOS_REFUSED, &[team, reason], count);
        }
        values.count(&all::TEAM_HELLOS_OVERLOOKED, &[team], hellos.overlooked);
    }
    for peer in &status.peers {
        values.count(&all::TEAM_PATHS, &[team, &peer.team], peer.paths.len() as u64);
        values.count(&all::TEAM_PATHS_WORKING, &[team, &peer.team], peer.working() as u64);
        for path in &peer.paths {
            if let Some(micros) = path.round_trip_us {
                let of = [team, &peer.team, &path.member, &path.to];
                values.add(&all::TEAM_PATH_ROUND_TRIP, &of, micros as f64 / 1e6);
            }
        }
    }
    for frames in &status.control_frames {
        values.count(&all::TEAM_CONTROL_FRAMES, &[team, &frames.kind], frames.handled);
        values.count(&all::TEAM_CONTROL_DROPS, &[team, &frames.kind], frames.dropped);
    }
    for repair in &status.repairs {
        values.count(&all::TEAM_REPAIRS, &[team, &repair.device, &repair.what], repair.times);
    }
}

fn team_member_values(values: &mut Values, team: &str, member: &MemberState) {
    let of = [team, member.name.as_str()];
    values.count(&all::TEAM_MEMBER_TX_FRAMES, &of, member.tx_frames);
    values.count(&all::TEAM_MEMBER_RX_FRAMES, &of, member.rx_frames);
    values.count(&all::TEAM_MEMBER_TX_DROPS, &of, member.tx_drops);
    values.count(&all::TEAM_MEMBER_RX_DROPS, &of, member.rx_drops);
    if let Some(port) = &member.lacp {
        values.count(&all::TEAM_LACPDUS_RX, &of, port.lacpdus_received);
        values.count(&all::TEAM_LACPDUS_TX, &of, port.lacpdus_sent);
        values.count(&all::TEAM_CHURNS, &[of[0], of[1], "actor"], port.actor_churned.into());
        values.count(&all::TEAM_CHURNS, &[of[0], of[1], "partner"], port.partner_churned.into());
    }
}
