//! What is shown, from two looks at the host.

use nicteam_bundles::{Bundle, Member, Rate, Rates, state};
use nicteam_daemon::TeamStatus;
use serde::{Deserialize, Serialize};

use crate::metrics::kind_name;
use crate::snapshot::{Happening, Snapshot};

/// All that is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// What it shows, where that is not this host: a run of the lab.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// When, milliseconds of Unix time.
    pub unix_ms: u64,
    /// Between the two looks, seconds; 0 of a first look, which has no rates.
    pub seconds: f64,
    /// The bundles, by name.
    pub bundles: Vec<BundleRow>,
    /// What happened lately, the oldest first.
    pub events: Vec<Happening>,
    /// What could not be read.
    pub unseen: Vec<String>,
}

/// A bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BundleRow {
    /// Its name.
    pub name: String,
    /// Who runs it: `nicteam`, `kernel`, `openvswitch`, `teamd`.
    pub kind: String,
    /// Its mode.
    pub mode: String,
    /// What it hashes; empty if nothing.
    pub hash_policy: String,
    /// It can carry frames.
    pub carrier: bool,
    /// Members whose link is up.
    pub up: usize,
    /// LACP in words; empty where it is not spoken.
    pub lacp: String,
    /// The sum of its members.
    pub rate: Rate,
    /// Its members, in its own order.
    pub members: Vec<MemberRow>,
    /// stripe: its peers in words, a line each.
    pub peers: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// A member of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemberRow {
    /// Its device.
    pub name: String,
    /// `sends`, `standby`, `down`, `no carrier`; in the lab also `idle`.
    pub state: String,
    /// What its link carries.
    pub rate: Rate,
    /// Its part of what the bundle sends, 0 to 1.
    pub tx_share: f64,
    /// Its part of what the bundle receives.
    pub rx_share: f64,
    /// Mbit/s, if the driver says.
    pub speed_mbps: Option<u32>,
    /// Frames lost between the two looks: errors and drops, both ways.
    pub lost: u64,
    /// How often its link failed.
    pub failures: Option<u64>,
    /// Its LACP port in words; empty if it has none.
    pub lacp: String,
}

/// What there is to show: of all bundles, or of the one of this name. Rates are those between the two looks.
pub fn rows(before: Option<&Snapshot>, now: &Snapshot, only: Option<&str>) -> View {
    let rates = before.and_then(|before| Rates::between(&before.sample, &now.sample)).unwrap_or_default();
    let wanted =
        |bundle: &&Bundle| only.is_none_or(|only| bundle.name == only || bundle.device.as_deref() == Some(only));
    let bundles: Vec<BundleRow> =
        now.host.bundles.iter().filter(wanted).map(|bundle| row(bundle, now.team(bundle), &rates)).collect();
    let of_shown = |event: &&Happening| bundles.iter().any(|bundle| bundle.name == event.team);
    View {
        title: String::new(),
        unix_ms: u64::try_from(now.unix.as_millis()).unwrap_or(u64::MAX),
        seconds: rates.seconds,
        events: now.happenings.iter().filter(of_shown).cloned().collect(),
        unseen: now.host.unseen.clone(),
        bundles,
    }
}

fn row(bundle: &Bundle, status: Option<&TeamStatus>, rates: &Rates) -> BundleRow {
    let mut rate = Rate::default();
    for member in &bundle.members {
        let of = rates.of(&member.name);
        rate.tx_bps += of.tx_bps;
        rate.rx_bps += of.rx_bps;
        rate.tx_pps += of.tx_pps;
        rate.rx_pps += of.rx_pps;
    }
    let problems = bundle.problems.iter().map(|problem| problem.text.clone());
    BundleRow {
        name: bundle.name.clone(),
        kind: kind_name(bundle.kind).to_owned(),
        mode: bundle.mode.clone(),
        hash_policy: bundle.hash_policy.clone().unwrap_or_default(),
        carrier: bundle.carrier,
        up: bundle.members.iter().filter(|member| member.up).count(),
        lacp: lacp(bundle),
        members: bundle.members.iter().map(|member| member_row(member, rates.of(&member.name), &rate)).collect(),
        rate,
        peers: status.map(peers).unwrap_or_default(),
        problems: problems.chain(bundle.unseen.iter().map(|what| format!("not seen: {what}"))).collect(),
    }
}

fn member_row(member: &Member, rate: Rate, all: &Rate) -> MemberRow {
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    let state = match member {
        Member { admin_up: false, .. } => "set down",
        Member { carrier: false, .. } => "no carrier",
        Member { up: false, .. } => "down",
        Member { active: false, .. } => "standby",
        _ => "sends",
    };
    MemberRow {
        name: member.name.clone(),
        state: state.to_owned(),
        tx_share: share(rate.tx_bps, all.tx_bps),
        rx_share: share(rate.rx_bps, all.rx_bps),
        speed_mbps: member.speed_mbps,
        lost: rate.counted.rx_lost().saturating_add(rate.counted.tx_lost()),
        failures: member.link_failures,
        lacp: port(member),
        rate,
    }
}

fn lacp(bundle: &Bundle) -> String {
    let Some(lacp) = &bundle.lacp else { return String::new() };
    match (lacp.negotiated, &lacp.partner) {
        (_, Some(partner)) => {
            let ports = lacp.ports.map_or(String::new(), |ports| format!("{ports} ports with "));
            format!("LACP: {ports}{partner}")
        }
        (Some(true), None) => "LACP: a partner answers".to_owned(),
        (Some(false), None) => "LACP: no partner answers".to_owned(),
        (None, None) => "LACP: unknown".to_owned(),
    }
}

fn port(member: &Member) -> String {
    let Some(port) = &member.lacp else { return String::new() };
    let churned = [&port.actor_churn, &port.partner_churn].into_iter().any(|churn| churn == "churned");
    let words = match &port.actor {
        _ if !port.attached => "not aggregated",
        Some(actor) if actor.has(state::EXPIRED) => "expired",
        Some(actor) if actor.has(state::DEFAULTED) => "no partner",
        Some(actor) if actor.has(state::COLLECTING | state::DISTRIBUTING) => "aggregated",
        Some(_) => "attached",
        None => "aggregated",
    };
    if churned { format!("{words}, churned") } else { words.to_owned() }
}

/// stripe: a line for each peer.
fn peers(status: &TeamStatus) -> Vec<String> {
    let line = |peer: &nicteam_daemon::PeerState| {
        let times = peer.paths.iter().filter(|path| path.works).filter_map(|path| path.round_trip_us);
        let slowest = times.max().map_or(String::new(), |micros| format!(", probes take up to {micros} us"));
        format!("peer {}: {} of {} paths work{slowest}", peer.team, peer.working(), peer.paths.len())
    };
    status.peers.iter().map(line).collect()
}
