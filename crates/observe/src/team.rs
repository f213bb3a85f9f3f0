//! Teams of nicteam, by their control sockets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nicteam_bundles::{Bundle, Kind, Lacp, Member, Port, Problem};
use nicteam_daemon::control::{Client, Listed, Refusal, TeamState, teams};
use nicteam_daemon::{Aggregation, Entry, MemberState, PortState, TeamStatus, team_of};
use nicteam_netlink::Link;
use nicteam_options::Mode;

use crate::host::Host;

/// The teams of a network namespace, with connections that are kept from one look to the next.
#[derive(Debug, Default)]
pub struct Teams {
    listed: Vec<Listed>,
    /// The devices of the namespace when the teams were listed: a team has one.
    devices: Vec<(u32, String)>,
    clients: BTreeMap<String, Client>,
}

impl Teams {
    /// The process of a team that has answered.
    pub fn pid(&self, team: &str) -> Option<u32> {
        self.clients.get(team).map(Client::pid)
    }

    /// The events with a greater number that a team keeps, and perhaps earlier ones, if it answers.
    pub fn events_after(&mut self, team: &str, number: u64) -> Option<Vec<Entry>> {
        let mut client = self.clients.remove(team)?;
        let events = client.events_after(number).or_else(|_| {
            // A process of an earlier version does not know this request, and hangs up.
            client = Client::watch(team)?;
            client.events_after(0)
        });
        let events = events.ok()?;
        self.clients.insert(team.to_owned(), client);
        Some(events)
    }

    /// Lists the teams, if they may be others than at the last look.
    fn list(&mut self, links: &[Link]) -> Result<(), nicteam_daemon::Error> {
        let devices = || links.iter().map(|link| (link.index, link.name.as_str()));
        let is_same = self.devices.iter().map(|(index, name)| (*index, name.as_str())).eq(devices());
        if !is_same || self.listed.iter().any(|of| !self.clients.contains_key(&of.team)) {
            self.listed = teams()?;
            self.devices = devices().map(|(index, name)| (index, name.to_owned())).collect();
            self.clients.retain(|team, _| self.listed.iter().any(|of| of.team == *team));
        }
        Ok(())
    }

    /// Asks every team that has a connection how it is: they answer at once, and not one after the other.
    fn ask(&mut self) {
        // A process that has ended is asked for by a new connection.
        self.clients.retain(|_, client| client.ask_status().is_ok());
    }

    /// How a team is: its answer to the question that was put to all, or to one by a new connection.
    fn status(&mut self, team: &str) -> Result<TeamStatus, Refusal> {
        let begun = Instant::now();
        if let Some(mut client) = self.clients.remove(team) {
            match client.hear_status() {
                Ok(status) => {
                    self.clients.insert(team.to_owned(), client);
                    return Ok(status);
                }
                // It has ended, and another one may run the team; one that hangs is not waited for twice.
                Err(_) if begun.elapsed() < PROMPT => {}
                Err(refusal) => return Err(refusal),
            }
        }
        let mut client = Client::watch(team)?;
        let status = client.status()?;
        self.clients.insert(team.to_owned(), client);
        Ok(status)
    }
}

/// A connection whose process has ended fails in less.
const PROMPT: Duration = Duration::from_secs(2);

/// Reads the teams; beside the bundles what else each team has said, by its name.
pub(super) fn read(host: &mut Host, links: &[Link], teams: &mut Teams) -> BTreeMap<String, TeamStatus> {
    let mut statuses = BTreeMap::new();
    if let Err(error) = teams.list(links) {
        let why = error.to_string();
        let (why, _) = why.split_once("; hint: ").unwrap_or((&why, ""));
        host.unseen.push(format!("the teams of nicteam: {why}"));
        return statuses;
    }
    teams.ask();
    for of in teams.listed.clone() {
        match teams.status(&of.team) {
            Ok(status) => {
                host.bundles.push(bundle(&status));
                statuses.insert(of.team, status);
            }
            Err(refusal) => host.bundles.push(silent(&of, links, &refusal.to_string())),
        }
    }
    statuses
}

/// A team whose process does not answer: its devices say a little.
fn silent(of: &Listed, links: &[Link], why: &str) -> Bundle {
    let device = of.device.clone().unwrap_or_else(|| of.team.clone());
    let link = links.iter().find(|link| link.name == device);
    let is_member = |link: &&Link| team_of(&link.alias) == Some(of.team.as_str());
    let member = |link: &Link| Member { name: link.name.clone(), up: link.carrier, ..Member::default() };
    let mut bundle = Bundle {
        name: of.team.clone(),
        carrier: link.is_some_and(|link| link.carrier),
        device: link.map(|_| device),
        members: links.iter().filter(is_member).map(member).collect(),
        unseen: vec![format!("the mode and the state of {}: {why}", of.team)],
        ..Bundle::default()
    };
    if of.state == TeamState::Stopped {
        bundle.problems.push(Problem {
            text: format!("the process of team {} ended without taking the team down", of.team),
            hint: format!("nicteam team restart {}", of.team),
        });
    }
    bundle
}

/// The bundle that a status describes.
fn bundle(status: &TeamStatus) -> Bundle {
    let mode: Option<Mode> = status.mode.parse().ok();
    let hash_policy = mode.filter(|mode| mode.hashes()).and_then(|_| status.options.get("xmit_hash_policy").cloned());
    let lacp = status.lacp.as_ref().map(lacp);
    let aggregator = lacp.as_ref().and_then(|lacp| lacp.aggregator);
    Bundle {
        device: Some(status.device.clone().unwrap_or_else(|| status.team.clone())),
        name: status.team.clone(),
        kind: Kind::Nicteam,
        index: Some(status.index),
        mode: status.mode.clone(),
        hash_policy,
        options: status.options.clone(),
        mac: Some(status.mac.clone()),
        mtu: Some(status.mtu),
        admin_up: status.admin_up,
        carrier: status.carrier,
        active: status.active.clone(),
        members: status.members.iter().cloned().map(|of| member(of, aggregator)).collect(),
        lacp,
        problems: status.problems.clone(),
        ..Bundle::default()
    }
}

fn lacp(of: &Aggregation) -> Lacp {
    let active = of.active.as_ref();
    let has_partner = of.has_partner();
    Lacp {
        system: Some(of.system.clone()),
        system_priority: Some(of.system_priority),
        aggregator: active.map(|active| active.id.into()),
        ports: active.and_then(|active| u32::try_from(active.ports).ok()),
        actor_key: active.map(|active| active.actor_key),
        partner_key: active.map(|active| active.partner_key).filter(|_| has_partner),
        partner: active.map(|active| active.partner_system.clone()).filter(|_| has_partner),
        negotiated: Some(has_partner),
    }
}

fn member(of: MemberState, aggregator: Option<u32>) -> Member {
    Member {
        up: of.is_up(),
        index: Some(of.index),
        admin_up: of.admin_up,
        carrier: of.carrier,
        active: of.active,
        speed_mbps: of.speed_mbps,
        full_duplex: of.duplex.as_deref().map(|duplex| duplex == "full"),
        mtu: None,
        mac: Some(of.mac),
        permanent_mac: Some(of.permanent_mac),
        link_failures: Some(of.link_failures.into()),
        lacp: of.lacp.map(|of| port(of, aggregator)),
        name: of.name,
        ..Member::default()
    }
}

fn port(of: PortState, aggregator: Option<u32>) -> Port {
    Port {
        aggregator: of.aggregator.map(Into::into),
        attached: of.aggregator.is_some() && of.aggregator.map(u32::from) == aggregator,
        actor: Some(of.actor),
        partner: Some(of.partner),
        actor_churn: of.actor_churn,
        partner_churn: of.partner_churn,
        why_not: of.why_not,
    }
}
