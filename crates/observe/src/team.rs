//! Teams of nicteam, by their control sockets.

use nicteam_bundles::{Bundle, Kind, Lacp, Member, Port, Problem};
use nicteam_daemon::control::{Client, Listed, TeamState, teams};
use nicteam_daemon::{Aggregation, MemberState, PortState, TeamStatus, team_of};
use nicteam_netlink::Link;
use nicteam_options::Mode;

use crate::host::{Host, named};

pub(super) fn read(host: &mut Host, links: &[Link]) {
    let listed = match teams() {
        Ok(listed) => listed,
        Err(error) => {
            let why = error.to_string();
            let (why, _) = why.split_once("; hint: ").unwrap_or((&why, ""));
            host.unseen.push(format!("the teams of nicteam: {why}"));
            return;
        }
    };
    for of in listed {
        match Client::watch(&of.team).and_then(|mut client| client.status()) {
            Ok(status) => host.bundles.push(bundle(status)),
            Err(refusal) => host.bundles.push(silent(&of, links, &refusal.to_string())),
        }
    }
}

/// A team whose process does not answer: its devices say a little.
fn silent(of: &Listed, links: &[Link], why: &str) -> Bundle {
    let device = of.device.clone().unwrap_or_else(|| of.team.clone());
    let link = named(links, &device);
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
fn bundle(status: TeamStatus) -> Bundle {
    let mode: Option<Mode> = status.mode.parse().ok();
    let hash_policy = mode.filter(|mode| mode.hashes()).and_then(|_| status.options.get("xmit_hash_policy").cloned());
    let lacp = status.lacp.as_ref().map(lacp);
    let aggregator = lacp.as_ref().and_then(|lacp| lacp.aggregator);
    Bundle {
        device: Some(status.device.clone().unwrap_or_else(|| status.team.clone())),
        name: status.team,
        kind: Kind::Nicteam,
        index: Some(status.index),
        mode: status.mode,
        hash_policy,
        options: status.options,
        mac: Some(status.mac),
        mtu: Some(status.mtu),
        admin_up: status.admin_up,
        carrier: status.carrier,
        active: status.active,
        members: status.members.into_iter().map(|of| member(of, aggregator)).collect(),
        lacp,
        problems: status.problems,
        unseen: Vec::new(),
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
