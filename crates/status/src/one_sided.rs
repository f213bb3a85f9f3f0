//! One-sided striping at one moment, for those who look at it.

use nicteam_bundles::Problem;
use nicteam_team::{PlainHostStatus, PlainMemberStatus, PlainState, Team, Time};
use serde::{Deserialize, Serialize};

/// What a team that stripes does towards hosts that do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneSidedState {
    /// The hosts that were sent to lately.
    pub hosts: Vec<PlainHostState>,
    /// The members that can send, by place.
    pub members: Vec<PlainMemberState>,
}

/// A host, or a gateway, without nicteam.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainHostState {
    /// Its Ethernet address.
    pub mac: String,
    /// Its IP addresses that the team has spoken to by ARP or neighbour discovery.
    pub addresses: Vec<String>,
    /// Members that are used towards it.
    pub width: u8,
    /// What it acknowledged lately, Mbit/s.
    pub delivered_mbps: u32,
    /// True if more than one member sent to it since the report before.
    pub striped: bool,
    /// More members were tried and nothing gained: until the next trial, milliseconds.
    pub held_ms: u32,
    /// True if members are judged by what it answers to ARP probes.
    pub asked: bool,
}

/// A member, towards such hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainMemberState {
    /// Its device.
    pub member: String,
    /// Segments of TCP with data that it sent to such hosts.
    pub sent: u64,
    /// Of these sent again.
    pub resent: u64,
    /// `used`, `silent` or `lossy`.
    pub state: String,
    /// Why it is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl OneSidedState {
    /// That of a team; none where nothing is striped one-sidedly.
    pub fn of(team: &Team, now: Time) -> Option<OneSidedState> {
        let status = team.plain_status(now)?;
        let names = team.members();
        let name = |of: &PlainMemberStatus| {
            let member = names.iter().find(|member| member.id == of.id);
            member.map_or_else(|| format!("the member at place {}", of.id), |member| member.name.clone())
        };
        let members = status.members.iter().map(|of| PlainMemberState::of(name(of), of));
        Some(OneSidedState { members: members.collect(), hosts: status.hosts.iter().map(PlainHostState::of).collect() })
    }

    /// What is wrong with members that are left.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        self.members.iter().filter_map(PlainMemberState::problem)
    }
}

impl PlainHostState {
    fn of(status: &PlainHostStatus) -> PlainHostState {
        let host = status.host;
        PlainHostState {
            mac: host.mac.to_string(),
            addresses: status.addresses.iter().map(ToString::to_string).collect(),
            width: host.width,
            delivered_mbps: host.delivered_mbps,
            striped: host.striped,
            held_ms: host.held_ms,
            asked: status.asked,
        }
    }

    /// Its IP addresses, or where none is known its Ethernet address.
    pub fn name(&self) -> String {
        if self.addresses.is_empty() {
            self.mac.clone()
        } else {
            format!("{} ({})", self.addresses.join(", "), self.mac)
        }
    }
}

impl PlainMemberState {
    fn of(member: String, status: &PlainMemberStatus) -> PlainMemberState {
        let (state, why) = match status.state {
            PlainState::Used => ("used", None),
            PlainState::Silent { lasts, host, ip } => {
                let why = format!(
                    "for {:.1} s {ip} ({host}) has answered ARP probes by other members, and none by this one",
                    lasts.as_secs_f64()
                );
                ("silent", Some(why))
            }
            PlainState::Lossy { rest, sent, resent } => {
                let why = format!(
                    "of {sent} segments in a second or so {resent} were sent again; it is tried again in {} s",
                    rest.as_secs_f64().ceil()
                );
                ("lossy", Some(why))
            }
        };
        let (sent, resent, state) = (status.sent, status.resent, state.to_owned());
        PlainMemberState { member, sent, resent, state, why }
    }

    fn problem(&self) -> Option<Problem> {
        let PlainMemberState { member, state, why, .. } = self;
        let why = why.as_ref()?;
        Some(match state.as_str() {
            "silent" => Problem {
                text: format!("{member} is left towards hosts without nicteam: {why}"),
                hint: format!(
                    "look where the cable of {member} ends; port security, dynamic ARP inspection or 802.1X at that port stop frames from its own address"
                ),
            },
            _ => Problem {
                text: format!("{member} sends no connection's segments to hosts without nicteam: {why}"),
                hint: format!(
                    "look at the cable and the port of {member}, and at their counters: `ethtool -S {member}` and the switch's"
                ),
            },
        })
    }
}
