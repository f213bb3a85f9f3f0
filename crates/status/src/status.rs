//! A team at one moment, for those who look at it.
//!
//! [`TeamStatus`] is what `nicteam team show --format json` prints
//! (docs/team.md) and what every other format is made from.

use std::collections::BTreeMap;

use nicteam_bundles::Problem;
use nicteam_team::mode::Sends;
use nicteam_team::{Config, Duplex, LinkState, MemberLink, MemberStatus, Mode};
use serde::{Deserialize, Serialize};

use crate::{Aggregation, BondState, HelloState, OneSidedState, PeerState, PortState, RepairState};

/// Number of the format. It changes when a field goes or means something else.
pub const STATUS_SCHEMA: u32 = 1;

/// A team at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamStatus {
    /// [`STATUS_SCHEMA`].
    pub schema: u32,
    /// Version of the program that runs the team.
    pub nicteam: String,
    /// Its name.
    pub team: String,
    /// How its device is called, if a user has renamed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Interface index of its device.
    pub index: u32,
    /// Its address.
    pub mac: String,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// True if its device is set up.
    pub admin_up: bool,
    /// True if its stack sees a carrier.
    pub carrier: bool,
    /// Its mode, by the kernel's name.
    pub mode: String,
    /// Every option by the kernel's name, with its value.
    pub options: BTreeMap<String, String>,
    /// active-backup: the member that carries the traffic, if one does.
    pub active: Option<String>,
    /// 802.3ad: the actor system and its active aggregator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacp: Option<Aggregation>,
    /// Open vSwitch's modes: what `bond/show` and `lacp/show` print about a bond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openvswitch: Option<BondState>,
    /// stripe: the teams that stripe, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerState>,
    /// stripe: what is done towards hosts that do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_sided: Option<OneSidedState>,
    /// stripe: the members that hear each other; first of each segment the one by which
    /// group-addressed frames leave and are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Vec<String>>,
    /// stripe: the hellos by which they are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hellos: Option<HelloState>,
    /// Frames for the control side, by kind, if it listens to any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control_frames: Vec<ControlFrames>,
    /// The members at whose other end a port speaks PAgP, which no team answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pagp: Vec<PagpState>,
    /// What executes its plan: `bpf` or `packet`.
    pub dataplane: String,
    /// Number of the plan in force.
    pub generation: u64,
    /// Number of the last event; 0: none yet. Absent: a process of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<u64>,
    /// How long this process has run it, milliseconds.
    pub uptime_ms: u64,
    /// The process.
    pub pid: u32,
    /// The capabilities of its process, by the names of capabilities(7) without `CAP_`.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Frames from the stack that no member could send.
    pub unsent_frames: u64,
    /// In stripe: acknowledgements that were not sent, for all they told was a gap younger than `sack_delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_acks: Option<u64>,
    /// True if its dataplane leaves a member without carrier by itself (`carrier_failover`), also while this process
    /// does not run.
    #[serde(default)]
    pub failover_in_kernel: bool,
    /// Its members, by place.
    pub members: Vec<MemberState>,
    /// Members whose devices were not there when the team was taken over; they join when they appear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What other programs took away from the team's devices, and this process put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RepairState>,
    /// What is wrong, and what to do.
    pub problems: Vec<Problem>,
}

/// A member at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberState {
    /// Its place in the team.
    pub place: usize,
    /// Its device.
    pub name: String,
    /// Interface index of its device.
    pub index: u32,
    /// `up`, `going down`, `down` or `going back`.
    pub state: String,
    /// True if frames are sent by it.
    pub active: bool,
    /// True if its device is set up.
    pub admin_up: bool,
    /// True if its driver sees a carrier.
    pub carrier: bool,
    /// Mbit/s, if its driver says.
    pub speed_mbps: Option<u32>,
    /// `full` or `half`, if its driver says.
    pub duplex: Option<String>,
    /// The address it had before it joined, and gets back.
    pub permanent_mac: String,
    /// The address it has now.
    pub mac: String,
    /// How often it went down since it joined.
    pub link_failures: u32,
    /// Frames sent. A GSO frame counts as one.
    pub tx_frames: u64,
    /// Bytes sent, from the destination address to the end of the payload.
    pub tx_bytes: u64,
    /// Frames that could not be sent.
    pub tx_drops: u64,
    /// Frames received for the team.
    pub rx_frames: u64,
    /// Bytes received for the team.
    pub rx_bytes: u64,
    /// Frames received and dropped: the member is a standby.
    pub rx_drops: u64,
    /// 802.3ad: the member as a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacp: Option<PortState>,
}

/// Frames of a kind that members received for the control side, since the team began to listen to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFrames {
    /// The kind: `hellos`, `echoes`, `LACPDUs`, `markers`, `ARP`, `neighbour discovery` or `PAgP`.
    pub kind: String,
    /// Frames that were handled.
    pub handled: u64,
    /// Frames of a legal form that were not, for there were too many: an estimate, for the kernel drops most unseen.
    pub dropped: u64,
    /// The members to which more come than are handled, now or some seconds ago.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flooded: Vec<String>,
}

/// What the port at the other end of a member says by PAgP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagpState {
    /// The member.
    pub member: String,
    /// The switch, by the name or the address that it says.
    pub switch: String,
    /// Its port, if it says.
    pub port: String,
    /// Mode of the port: `auto` or `desirable`.
    pub mode: String,
}

/// What the system says of a member's device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFacts<'a> {
    /// Interface index.
    pub index: u32,
    /// True if it is set up.
    pub admin_up: bool,
    /// The address it had before it joined.
    pub permanent_mac: &'a str,
    /// The address it has now.
    pub mac: &'a str,
}

impl TeamStatus {
    /// The options whose value is not the default, as `name value`, in the
    /// kernel's order; the mode is not among them.
    pub fn chosen_options(&self) -> Vec<(&str, &str)> {
        let mode = self.mode.parse().unwrap_or_default();
        let defaults = Config { mode, ..Config::default() }.options();
        let chosen = |(name, default): (&'static str, String)| {
            let value = self.options.get(name)?.as_str();
            let shown = value != default && !matches!(name, "mode" | "num_unsol_na");
            shown.then_some((name, value))
        };
        defaults.into_iter().filter_map(chosen).collect()
    }

    /// The queue whose frames leave by a member; 0: none.
    pub fn queue_id(&self, member: &str) -> u16 {
        let entries = self.option("queue_id").split(',').filter_map(|entry| entry.rsplit_once(':'));
        let queue = entries.filter(|(name, _)| *name == member).find_map(|(_, queue)| queue.parse().ok());
        queue.unwrap_or(0)
    }

    /// An option's value; empty if there is no such option.
    pub fn option(&self, name: &str) -> &str {
        self.options.get(name).map_or("", String::as_str)
    }
}

impl MemberState {
    /// That of a member of which nothing was counted yet.
    pub fn of(status: &MemberStatus, device: DeviceFacts<'_>) -> MemberState {
        let MemberLink { carrier, speed_mbps, duplex } = status.link;
        MemberState {
            place: status.id.index(),
            name: status.name.clone(),
            index: device.index,
            state: status.state.to_string(),
            active: status.active,
            admin_up: device.admin_up,
            carrier,
            speed_mbps,
            duplex: duplex.map(|duplex| if duplex == Duplex::Full { "full" } else { "half" }.to_owned()),
            permanent_mac: device.permanent_mac.to_owned(),
            mac: device.mac.to_owned(),
            link_failures: status.link_failures,
            tx_frames: 0,
            tx_bytes: 0,
            tx_drops: 0,
            rx_frames: 0,
            rx_bytes: 0,
            rx_drops: 0,
            lacp: status.lacp.as_ref().map(PortState::of),
        }
    }

    /// True if the team counts on it.
    pub fn is_up(&self) -> bool {
        self.state == LinkState::Up.to_string() || self.state == LinkState::Fail.to_string()
    }
}

/// What is wrong with a team, the worst first.
pub fn problems(status: &TeamStatus, config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |text: String, hint: String| problems.push(Problem { text, hint });
    let TeamStatus { team, members, .. } = status;
    let live = members.iter().filter(|member| member.is_up()).count();
    let has_carrier = |name: &str| members.iter().any(|member| member.name == name && member.carrier);
    let needs_lacp = config.mode.traits().sends == Sends::ByFlow;
    let of_bond = status.openvswitch.as_ref().and_then(|bond| bond.problem(team, needs_lacp, has_carrier));
    let needed = config.min_links.max(1) as usize;
    if members.is_empty() {
        say(format!("{team} has no members and carries nothing"), format!("nicteam team member add {team} DEVICE"));
    } else if let Some(Problem { text, hint }) = of_bond {
        say(text, hint);
    } else if live == 0 {
        say(format!("no member is up, so {team} carries nothing"), "look at each member below".to_owned());
    } else if live < needed {
        say(
            format!("{live} of {} members are up and min_links is {needed}, so {team} has no carrier", members.len()),
            format!("bring members up, or `nicteam team set {team} min_links={live}`"),
        );
    }
    for flood in status.control_frames.iter().filter(|frames| !frames.flooded.is_empty()) {
        let ControlFrames { kind, dropped, flooded, .. } = flood;
        say(
            format!("a flood of {kind} comes to {}: about {dropped} were dropped", flooded.join(", ")),
            format!("find their sender: `tcpdump -e -c 20 -i {}`", flooded[0]),
        );
    }
    if !status.admin_up {
        say(format!("{team} is set down, so its stack sends nothing"), format!("ip link set {team} up"));
    }
    for member in members {
        let name = &member.name;
        if !member.admin_up {
            say(format!("member {name} is set down"), format!("ip link set {name} up"));
        } else if !member.carrier {
            say(
                format!("member {name} has no carrier"),
                "look at its cable and at the port at the other end".to_owned(),
            );
        }
        if member.duplex.as_deref() == Some("half") {
            say(
                format!("member {name} runs at half duplex"),
                format!("let both ends of {name} negotiate, or set both alike"),
            );
        }
    }
    problems.extend(members.iter().filter(|member| member.carrier).filter_map(not_aggregating));
    problems.extend(speaks_pagp(status, config.mode));
    problems.extend(unlike_speeds(status, config.mode));
    if let Some(primary) = &config.primary
        && members.iter().all(|member| member.name != *primary)
    {
        problems.push(Problem {
            text: format!("primary {primary} is no member"),
            hint: format!("`nicteam team member add {team} {primary}`, or name another with `nicteam team set {team} primary=DEVICE`"),
        });
    }
    if config.miimon_ms == 0 && !config.arp.is_on() && members.len() > 1 {
        problems.push(Problem {
            text: "miimon is 0: links are not monitored, so a failed member keeps its share of the frames".to_owned(),
            hint: format!("nicteam team set {team} miimon=100"),
        });
    }
    problems
}

/// 802.3ad: what keeps a member that has carrier from aggregating, or is wrong though it does.
fn not_aggregating(member: &MemberState) -> Option<Problem> {
    let Problem { text, hint } = member.lacp.as_ref()?.why_not.clone()?;
    let name = &member.name;
    let text = if member.active {
        format!("member {name} {text}")
    } else {
        format!("member {name} does not aggregate: {text}")
    };
    Some(Problem { text, hint })
}

/// The switch waits for a partner that it does not get, and keeps its ports single.
fn speaks_pagp(status: &TeamStatus, mode: Mode) -> Option<Problem> {
    let first = status.pagp.first()?;
    let members: Vec<&str> = status.pagp.iter().map(|heard| heard.member.as_str()).collect();
    let PagpState { switch, port, .. } = first;
    let port = match (port.as_str(), members.len()) {
        ("", 1) => "its port".to_owned(),
        ("", _) => "its ports".to_owned(),
        (port, 1) => port.to_owned(),
        (port, _) => format!("{port} and the others"),
    };
    let hint = match mode.traits().channel_group(status.lacp.is_some()) {
        Some(group) => format!("at {switch}, on {port}: `channel-group N mode {group}`"),
        None => format!("at {switch}, on {port}: `no channel-group`, since mode {mode} wants single ports"),
    };
    let text = format!(
        "the switch {switch} speaks PAgP (mode {}) on {}; no team answers it, so its ports form no group",
        first.mode,
        members.join(", ")
    );
    Some(Problem { text, hint })
}

/// Members that share the load evenly share it by the slowest one's measure.
fn unlike_speeds(status: &TeamStatus, mode: Mode) -> Option<Problem> {
    let up = status.members.iter().filter(|member| member.is_up());
    let speeds: Vec<u32> = up.filter_map(|member| member.speed_mbps).collect();
    let (slowest, fastest) = (speeds.iter().min()?, speeds.iter().max()?);
    (slowest != fastest && mode.traits().sends == Sends::InTurn).then(|| Problem {
        text: format!("members run at {slowest} to {fastest} Mbit/s, and {mode} gives each the same number of frames"),
        hint: "use links of one speed, or a mode that fits: balance-xor, active-backup with the fastest as primary"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A team of this mode with two members, as a process reports it.
    fn status(mode: Mode, pagp: &[PagpState]) -> TeamStatus {
        let member = |place: usize| {
            serde_json::json!({
                "place": place, "name": format!("eth{place}"), "index": 1, "state": "up", "active": true, "admin_up": true,
                "carrier": true, "speed_mbps": 1000, "duplex": "full", "permanent_mac": "", "mac": "", "link_failures": 0,
                "tx_frames": 0, "tx_bytes": 0, "tx_drops": 0, "rx_frames": 0, "rx_bytes": 0, "rx_drops": 0,
            })
        };
        let status = serde_json::json!({
            "schema": STATUS_SCHEMA, "nicteam": "", "team": "team0", "index": 1, "mac": "", "mtu": 1500, "admin_up": true,
            "carrier": true, "mode": mode.name(), "options": {}, "active": null, "dataplane": "bpf", "generation": 1,
            "uptime_ms": 0, "pid": 1, "unsent_frames": 0, "members": [member(0), member(1)], "pagp": pagp, "problems": [],
        });
        serde_json::from_value(status).unwrap()
    }

    #[test]
    fn a_switch_that_speaks_pagp_is_a_problem_whose_cure_is_the_mode_s() {
        let heard = |member: &str, port: &str| {
            let (switch, mode) = ("sw1".to_owned(), "desirable".to_owned());
            PagpState { member: member.to_owned(), switch, port: port.to_owned(), mode }
        };
        let said = |mode, pagp: &[PagpState]| problems(&status(mode, pagp), &Config { mode, ..Config::default() });
        assert_eq!(said(Mode::BalanceXor, &[]), []);
        for (mode, cure) in [
            (Mode::BalanceRr, "`channel-group N mode on`"),
            (Mode::Ad, "`channel-group N mode active`"),
            (Mode::ActiveBackup, "`no channel-group`, since mode active-backup wants single ports"),
        ] {
            let problems = said(mode, &[heard("eth0", "Gi0/1"), heard("eth1", "Gi0/2")]);
            let [Problem { text, hint }] = problems.as_slice() else { panic!("{problems:?}") };
            let wanted = "the switch sw1 speaks PAgP (mode desirable) on eth0, eth1; no team answers it, so its ports form no group";
            assert_eq!(text, wanted);
            assert_eq!(*hint, format!("at sw1, on Gi0/1 and the others: {cure}"));
        }
        let [Problem { hint, .. }] = &said(Mode::BalanceXor, &[heard("eth1", "")])[..] else { panic!() };
        assert_eq!(hint, "at sw1, on its port: `channel-group N mode on`");
    }
}
