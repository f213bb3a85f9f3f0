//! Engine `nicteam`: a team in a thread of the agent.

use std::time::{Duration, Instant};

use nicteam_daemon::{
    BondMemberState, BucketLoad, Notice, OneSidedState, PagpState, PlainHostState, PlainMemberState, RunningTeam,
    TeamSpec,
};
use nicteam_dataplane::{Choice, Kind};
use nicteam_record::{BucketMember, EventKind, MemberSample, OneSided, PagpHeard, PlainHost, PlainMember, Port};
use nicteam_sys::netlink::Netlink;
use nicteam_sys::shape;
use nicteam_team::lacp::MuxState;
use nicteam_team::{Config, Event, MemberStatus};

use super::terms::{Engine, Running};
use crate::error::Failure;
use crate::protocol::AddTeam;
use crate::say::Output;

/// The engine.
#[derive(Debug)]
pub(super) struct Nicteam;

impl Engine for Nicteam {
    fn name(&self) -> &'static str {
        "nicteam"
    }

    fn add(&self, team: &AddTeam, output: &Output) -> Result<Box<dyn Running>, Failure> {
        let mut config = Config::default();
        for (name, value) in &team.options {
            config.set(name, value)?;
        }
        // What the cables carry, less room for a tag.
        let mtu = team.mtu.saturating_sub(config.tag_bytes());
        let spec = TeamSpec {
            name: team.device.clone(),
            config,
            members: team.members.clone(),
            mac: team.mac.as_deref().map(str::parse).transpose()?,
            mtu: Some(mtu),
            dataplane: match team.dataplane.as_deref() {
                None => Choice::Auto,
                Some("bpf") => Choice::Force(Kind::Bpf),
                Some("packet") => Choice::Force(Kind::Packet),
                Some(other) => return Err(format!("no dataplane `{other}`: bpf or packet").into()),
            },
        };
        let (device, output) = (team.device.clone(), output.clone());
        let notify = move |notice| match notice {
            Notice::Event(event) => {
                let member = match &event {
                    Event::Member { name, .. } => Some(name.as_str()),
                    _ => None,
                };
                output.notice(EventKind::Team, Some(&device), member, format!("{device}: {event}"));
            }
            Notice::Trouble(error) => output.trouble(Some(&device), None, format!("{device}: {error}")),
        };
        Ok(Box::new(Team(RunningTeam::start(spec, Box::new(notify))?)))
    }
}

/// A team that runs.
struct Team(RunningTeam);

impl Running for Team {
    fn device(&self) -> &str {
        self.0.name()
    }

    fn dataplane(&self) -> String {
        self.0.dataplane().to_string()
    }

    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        let mut samples = Vec::new();
        for member in self.0.report()?.members {
            let counters = member.counters;
            // The link's queue reports a drop to a packet socket, which has counted it, and not to eBPF.
            let queue_drops = match self.0.dataplane() {
                Kind::Bpf => shape::drops(netlink, member.index)?,
                Kind::Packet => 0,
            };
            samples.push(MemberSample {
                team: self.0.name().to_owned(),
                member: member.status.name,
                tx_frames: counters.tx_frames,
                tx_bytes: counters.tx_bytes,
                tx_drops: counters.tx_drops + queue_drops,
                rx_frames: counters.rx_frames,
                rx_bytes: counters.rx_bytes,
                rx_drops: counters.rx_drops,
            });
        }
        Ok(samples)
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        let members = self.0.report()?.members.into_iter().map(|member| member.status);
        let port = |member: MemberStatus| {
            let port = member.lacp?;
            Some(Port {
                host: String::new(),
                team: self.0.name().to_owned(),
                member: member.name,
                aggregates: port.mux == MuxState::Distributing,
                partner: (!port.defaulted).then(|| port.partner.system.to_string()),
                why_not: port.why_not.map(|reason| reason.to_string()),
            })
        };
        Ok(members.filter_map(port).collect())
    }

    fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        let heard = self.0.report()?.pagp.into_iter();
        let of_team = |PagpState { member, switch, port, mode }| PagpHeard {
            host: String::new(),
            team: self.0.name().to_owned(),
            member,
            switch,
            port,
            mode,
        };
        Ok(heard.map(of_team).collect())
    }

    fn buckets(&self) -> Result<Vec<BucketMember>, Failure> {
        let members = self.0.handle().status()?.openvswitch.map(|bond| bond.members).unwrap_or_default();
        let of = |member: BondMemberState| {
            let one = move |load: BucketLoad| BucketMember {
                host: String::new(),
                team: self.0.name().to_owned(),
                bucket: load.bucket,
                member: member.name.clone(),
            };
            member.buckets.into_iter().map(one)
        };
        Ok(members.into_iter().flat_map(of).collect())
    }

    fn one_sided(&self) -> Result<Option<OneSided>, Failure> {
        let host = |it: PlainHostState| PlainHost {
            mac: it.mac,
            width: it.width.into(),
            delivered_mbps: it.delivered_mbps,
            held_ms: it.held_ms,
        };
        let member = |it: PlainMemberState| PlainMember {
            member: it.member,
            sent: it.sent,
            resent: it.resent,
            state: it.state,
            why: it.why,
        };
        Ok(self.0.handle().status()?.one_sided.map(|OneSidedState { hosts, members }| OneSided {
            host: String::new(),
            team: self.0.name().to_owned(),
            hosts: hosts.into_iter().map(host).collect(),
            members: members.into_iter().map(member).collect(),
        }))
    }

    fn settle(&self, output: &Output) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let report = self.0.report()?;
            let members = report.members.into_iter().map(|member| member.status);
            let waiting: Vec<MemberStatus> = members.filter(is_waiting).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > patience(&report.config) {
                waiting.iter().for_each(|member| does_not_aggregate(self.0.name(), member, output));
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// True for a port that has carrier and does not aggregate.
fn is_waiting(member: &MemberStatus) -> bool {
    member.link.carrier && member.lacp.is_some_and(|port| port.mux != MuxState::Distributing)
}

/// How long agreeing may take: the time that ports wait for each other, the 3 s
/// that a port listens for its partner, and as much again for a busy machine.
fn patience(config: &Config) -> Duration {
    let wait_ms = config.lacp.aggregate_wait_ms.saturating_add(config.updelay_ms).min(10_000);
    Duration::from_millis(u64::from(wait_ms) + 6000)
}

fn does_not_aggregate(team: &str, member: &MemberStatus, output: &Output) {
    let reason = member.lacp.and_then(|port| port.why_not).map_or_else(String::new, |reason| format!(": {reason}"));
    let text = format!("{team}: member {} does not aggregate{reason}", member.name);
    output.trouble(Some(team), Some(&member.name), text);
}
