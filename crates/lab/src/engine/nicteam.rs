//! Engine `nicteam`: a team in a thread of the agent, or in a process of its own for faults that need one.

use std::time::{Duration, Instant};

use nicteam_daemon::{
    BondMemberState, BucketLoad, MemberState, Notice, OneSidedState, PagpState, PlainHostState, PlainMemberState,
    RunningTeam, TeamSpec, TeamStatus,
};
use nicteam_dataplane::{Choice, Counters, Kind};
use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::{AddTeam, ProcessAct};
use nicteam_record::{BucketMember, EventKind, MemberSample, OneSided, PagpHeard, PlainHost, PlainMember, Port};
use nicteam_team::lacp::MuxState;
use nicteam_team::{Config, Event};

use super::process::TeamProcess;
use super::terms::{Engine, Running};
use crate::counters;

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
            dataplane: Choice::of(team.dataplane.as_deref())
                .map_err(|error| format!("{error}: it is {}", Kind::names()))?,
        };
        if team.own_process {
            return Ok(Box::new(Team::Process(Box::new(TeamProcess::start(&spec, output)?))));
        }
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
        Ok(Box::new(Team::Thread(RunningTeam::start(spec, Box::new(notify))?)))
    }
}

/// A team that runs.
enum Team {
    /// In a thread of the agent.
    Thread(RunningTeam),
    /// In a process of its own.
    Process(Box<TeamProcess>),
}

impl Team {
    fn status(&self) -> Result<TeamStatus, Failure> {
        match self {
            Team::Thread(team) => Ok(team.handle().status()?),
            Team::Process(process) => process.status(),
        }
    }

    /// What its members carried, with their interface indices.
    fn counted(&self) -> Result<Vec<(u32, String, Counters)>, Failure> {
        let of_process = |it: MemberState| {
            let MemberState { tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops, .. } = it;
            (it.index, it.name, Counters { tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops })
        };
        Ok(match self {
            // Quicker than a status.
            Team::Thread(team) => {
                let members = team.report()?.members.into_iter();
                members.map(|it| (it.index, it.status.name, it.counters)).collect()
            }
            Team::Process(process) => process.status()?.members.into_iter().map(of_process).collect(),
        })
    }
}

/// The bit of an actor's state that says: nobody is heard, and the partner is assumed (IEEE 802.1AX, `Defaulted`).
const DEFAULTED: u8 = 0x40;

impl Running for Team {
    fn device(&self) -> &str {
        match self {
            Team::Thread(team) => team.name(),
            Team::Process(process) => process.name(),
        }
    }

    fn dataplane(&self) -> String {
        match self {
            Team::Thread(team) => team.dataplane().to_string(),
            Team::Process(process) => process.dataplane(),
        }
    }

    fn processes(&self) -> Vec<u32> {
        match self {
            Team::Thread(_) => Vec::new(),
            Team::Process(process) => process.pid().into_iter().collect(),
        }
    }

    fn act(&self, act: ProcessAct, output: &Output) -> Result<(), Failure> {
        match self {
            Team::Thread(team) => Err(format!("{} runs in no process of its own: {act:?}", team.name()).into()),
            Team::Process(process) => process.act(act, output),
        }
    }

    fn remove(self: Box<Self>) -> Result<(), Failure> {
        match *self {
            Team::Thread(team) => Ok(team.remove()?),
            Team::Process(process) => process.remove(),
        }
    }

    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        let is_bpf = self.dataplane() == Kind::Bpf.to_string();
        let of_member = |(index, member, counters): (u32, String, Counters)| {
            // The link's queue reports a drop to a packet socket, which has counted it, and not to eBPF.
            let queue_drops = if is_bpf { counters::shape_drops(netlink, index)? } else { 0 };
            let Counters { tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops } = counters;
            let (team, tx_drops) = (self.device().to_owned(), tx_drops + queue_drops);
            Ok(MemberSample { team, member, tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops })
        };
        self.counted()?.into_iter().map(of_member).collect()
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        let port = |member: MemberState| {
            let port = member.lacp?;
            Some(Port {
                host: String::new(),
                team: self.device().to_owned(),
                member: member.name,
                aggregates: port.mux == MuxState::Distributing.to_string(),
                partner: (port.actor.state & DEFAULTED == 0).then_some(port.partner.system),
                why_not: port.why_not.map(|reason| reason.text),
            })
        };
        Ok(self.status()?.members.into_iter().filter_map(port).collect())
    }

    fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        let of_team = |PagpState { member, switch, port, mode }| PagpHeard {
            host: String::new(),
            team: self.device().to_owned(),
            member,
            switch,
            port,
            mode,
        };
        Ok(self.status()?.pagp.into_iter().map(of_team).collect())
    }

    fn buckets(&self) -> Result<Vec<BucketMember>, Failure> {
        let members = self.status()?.openvswitch.map(|bond| bond.members).unwrap_or_default();
        let of = |member: BondMemberState| {
            let one = move |load: BucketLoad| BucketMember {
                host: String::new(),
                team: self.device().to_owned(),
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
        Ok(self.status()?.one_sided.map(|OneSidedState { hosts, members }| OneSided {
            host: String::new(),
            team: self.device().to_owned(),
            hosts: hosts.into_iter().map(host).collect(),
            members: members.into_iter().map(member).collect(),
        }))
    }

    fn settle(&self, output: &Output) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let status = self.status()?;
            let waiting: Vec<&MemberState> = status.members.iter().filter(|member| is_waiting(member)).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > patience(&status) {
                waiting.into_iter().for_each(|member| does_not_aggregate(self.device(), member, output));
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// True for a port that has carrier and does not aggregate.
fn is_waiting(member: &MemberState) -> bool {
    let distributing = MuxState::Distributing.to_string();
    member.carrier && member.lacp.as_ref().is_some_and(|port| port.mux != distributing)
}

/// How long agreeing may take: the time that ports wait for each other, the 3 s
/// that a port listens for its partner, and as much again for a busy machine.
fn patience(status: &TeamStatus) -> Duration {
    let option = |name: &str| status.option(name).parse::<u64>().unwrap_or(0);
    Duration::from_millis((option("aggregate_wait") + option("updelay")).min(10_000) + 6000)
}

fn does_not_aggregate(team: &str, member: &MemberState, output: &Output) {
    let reason = member.lacp.as_ref().and_then(|port| port.why_not.as_ref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", reason.text));
    let text = format!("{team}: member {} does not aggregate{reason}", member.name);
    output.trouble(Some(team), Some(&member.name), text);
}
