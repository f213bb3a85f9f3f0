//! stripe at one moment, for those who look at it.

use std::time::Duration;

use nicteam_bundles::Problem;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Discovery, MAX_ADDRESSES, MAX_PEERS, Neighbour, PathStatus, Refused};
use nicteam_team::{MemberId, MemberSet, Team, Time};
use nicteam_wire::Mac;
use serde::{Deserialize, Serialize};

/// A team that stripes, too, and the paths to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerState {
    /// Its team's address.
    pub team: String,
    /// The paths that are used or tried, by our members' places.
    pub paths: Vec<PathState>,
    /// Frames that went twice, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant: Option<RedundantState>,
}

/// Numbered frames to and from a peer (`redundant`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedundantState {
    /// Sent, each by two paths, or by the only one.
    pub sent: u64,
    /// Received and handed on.
    pub received: u64,
    /// Second copies that were dropped.
    pub duplicates: u64,
}

/// A way from a member of ours to one of a peer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathState {
    /// Our member's device.
    pub member: String,
    /// The address of the peer's member.
    pub to: String,
    /// True if it carries frames: probes come back.
    pub works: bool,
    /// How long the last probe took, microseconds.
    pub round_trip_us: Option<u64>,
}

/// The hellos by which teams that stripe find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloState {
    /// True if there is a `stripe_key`: nobody without it is believed.
    pub authenticated: bool,
    /// Refused, for they were not authenticated.
    pub untagged: u64,
    /// Refused, for they were authenticated by another key.
    pub wrong_key: u64,
    /// Refused, for they had come before.
    pub replayed: u64,
    /// Refused, for they were authenticated, and there is no key.
    pub unexpected_key: u64,
    /// Refused, for they came from, or announced, addresses that are this team's, another's or nobody's.
    #[serde(default)]
    pub impossible: u64,
    /// While keys are changed (`stripe_key_old`): how many of the teams that are known have the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub have_new_key: Option<usize>,
    /// Of teams for which there was no room.
    pub overlooked: u64,
}

impl HelloState {
    /// Those of a team; none if its mode is another one.
    pub fn of(team: &Team) -> Option<HelloState> {
        let discovery = team.discovery()?;
        let Refused { untagged, wrong, replayed, keyed, impossible, .. } = discovery.refused();
        Some(HelloState {
            authenticated: discovery.has_key(),
            untagged,
            wrong_key: wrong,
            replayed,
            unexpected_key: keyed,
            impossible,
            have_new_key: discovery.have_new_key(),
            overlooked: discovery.overlooked(),
        })
    }
}

impl PeerState {
    /// Those of a team; none if its mode is another one. `stream` says what was counted of the frames to a peer.
    ///
    /// # Errors
    /// Those of `stream`.
    pub fn all<E>(team: &Team, stream: impl Fn(Mac) -> Result<StreamCounters, E>) -> Result<Vec<PeerState>, E> {
        let neighbours = team.discovery().map(Discovery::neighbours).into_iter().flatten();
        let state = |neighbour: &Neighbour| {
            let redundant = RedundantState::of(stream(neighbour.team)?);
            Ok(PeerState { redundant, ..PeerState::of(neighbour, team) })
        };
        neighbours.map(state).collect()
    }

    /// How many of the paths carry frames.
    pub fn working(&self) -> usize {
        self.paths.iter().filter(|path| path.works).count()
    }

    fn of(neighbour: &Neighbour, team: &Team) -> PeerState {
        let names = team.members();
        let state = |path: PathStatus| {
            let member = names.iter().find(|member| member.id == path.member)?;
            let to = neighbour.members.iter().find(|member| member.place == path.place)?;
            let round_trip_us = path.round_trip.and_then(|time| u64::try_from(time.as_micros()).ok());
            Some(PathState { member: member.name.clone(), to: to.mac.to_string(), works: path.works, round_trip_us })
        };
        let paths = neighbour.paths().filter_map(state).collect();
        PeerState { team: neighbour.team.to_string(), paths, redundant: None }
    }
}

impl RedundantState {
    /// Nothing of a peer with whom there were none.
    fn of(counters: StreamCounters) -> Option<RedundantState> {
        let StreamCounters { sent, passed: received, duplicates } = counters;
        let any = counters != StreamCounters::default();
        any.then_some(RedundantState { sent, received, duplicates })
    }
}

/// The members that hear each other, by device, as [`crate::TeamStatus::segments`] has them.
pub fn segments(team: &Team) -> Vec<Vec<String>> {
    let found = team.discovery().map(Discovery::segments).unwrap_or_default();
    let names = |&(listener, members): &(MemberId, MemberSet)| {
        let others = members.iter().filter(|member| *member != listener);
        std::iter::once(listener).chain(others).map(|id| device(team, id)).collect()
    };
    found.iter().map(names).collect()
}

/// A hello that was refused counts as a problem for this long; its team says another each second.
const RECENTLY: Duration = Duration::from_secs(5);

/// What keeps teams that stripe from using each other.
pub fn striping_problems(team: &Team, now: Time) -> Vec<Problem> {
    let Some(discovery) = team.discovery() else { return Vec::new() };
    let peers = discovery.neighbours().filter_map(|neighbour| unreached(team, neighbour));
    let deaf = discovery.deaf().iter().map(|id| deaf(&device(team, id)));
    let looped = discovery.looped().iter().map(|id| looped(&device(team, id)));
    other_key(team, discovery, now)
        .into_iter()
        .chain(impossible(team, discovery, now))
        .chain(crowded(discovery))
        .chain(peers)
        .chain(deaf)
        .chain(looped)
        .collect()
}

/// More teams than there is room for.
fn crowded(discovery: &Discovery) -> Option<Problem> {
    let (known, overlooked) = (discovery.neighbours().count(), discovery.overlooked());
    let left_out = discovery.left_out();
    (left_out > 0 || overlooked > 0).then(|| Problem {
        text: format!(
            "{known} other teams stripe here, and {overlooked} hellos were of more; there is room for {MAX_PEERS} that have {MAX_ADDRESSES} addresses together, those that answer probes and have traffic first; frames go to {left_out} as in balance-alb"
        ),
        hint: "give the teams several segments or VLANs of their own".to_owned(),
    })
}

/// A team is heard, and not all that is tried reaches it.
fn unreached(team: &Team, neighbour: &Neighbour) -> Option<Problem> {
    let paths: Vec<PathStatus> = neighbour.paths().collect();
    let dead: Vec<&PathStatus> = paths.iter().filter(|path| !path.works).collect();
    let (first, of) = (dead.first()?, neighbour.team);
    if dead.len() == paths.len() {
        return Some(Problem {
            text: format!("hellos of {of} arrive, but no path to it works: no probe is answered"),
            hint: "multicast hellos pass, but unicast frames to the members' addresses do not: look for port security, dynamic ARP inspection, 802.1X, or a hypervisor that lets its guests send from one address only".to_owned(),
        });
    }
    let member = device(team, first.member);
    let to = neighbour.members.iter().find(|member| member.place == first.place).map(|member| member.mac)?;
    Some(Problem {
        text: format!("{} of {} paths to {of} do not work, {member} to {to} among them", dead.len(), paths.len()),
        hint: format!(
            "both ends have a carrier: look at what lies between {member} and {to}, and for filters of addresses there"
        ),
    })
}

/// A member hears nobody, though others do.
fn deaf(member: &str) -> Problem {
    Problem {
        text: format!("{member} receives no hellos of other teams, but other members do"),
        hint: format!(
            "look where the cable of {member} ends; a router on the way, 802.1X, or a switch that does not flood multicast frames stops hellos"
        ),
    }
}

/// A member hears itself.
fn looped(member: &str) -> Problem {
    Problem {
        text: format!("{member} receives the frames that it sends: the network has a loop"),
        hint: format!("look where the cable of {member} ends, and whether the switch runs a spanning tree"),
    }
}

/// Somebody is heard who has another key, or none, or the only one.
fn other_key(team: &Team, discovery: &Discovery, now: Time) -> Option<Problem> {
    let Refused { untagged, wrong, keyed, last, .. } = discovery.refused();
    let last = last.filter(|last| now.since(last.at) < RECENTLY)?;
    let (from, member) = (last.from, device(team, last.member));
    let (text, hint) = match discovery.has_key() {
        false => (
            format!(
                "{from}, received on {member}, authenticates its hellos, but this team has no stripe_key ({keyed} hellos refused)"
            ),
            "give both teams the same key",
        ),
        true => (
            format!(
                "{from}, received on {member}, has another stripe_key than this team, or none ({wrong} hellos refused with a wrong key, {untagged} without a key)"
            ),
            "give both teams the same key; if that team is not yours, identify its host by its address",
        ),
    };
    Some(Problem { text, hint: format!("{hint}: `nicteam team set NAME stripe_key=file:PATH`") })
}

/// Somebody announces addresses that are not his.
fn impossible(team: &Team, discovery: &Discovery, now: Time) -> Option<Problem> {
    let Refused { impossible, last_impossible, .. } = discovery.refused();
    let last = last_impossible.filter(|last| now.since(last.at) < RECENTLY)?;
    Some(Problem {
        text: format!(
            "{}, received on {}, announces addresses that belong to this team or to another one ({impossible} hellos refused)",
            last.from,
            device(team, last.member)
        ),
        hint: "two teams have the same address (a cloned host?), or a host forges hellos: with `stripe_key` only hosts that have the key are accepted".to_owned(),
    })
}

/// A member's device.
fn device(team: &Team, id: MemberId) -> String {
    let name = team.members().into_iter().find(|member| member.id == id).map(|member| member.name);
    name.unwrap_or_else(|| format!("the member at place {id}"))
}
