//! The teams of an agent's host, and its devices without a team.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nicteam_daemon::{Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_record::{MemberSample, Port};
use nicteam_sys::netlink::Netlink;
use nicteam_sys::shape;
use nicteam_team::{Config, MemberStatus};

use crate::Failure;
use crate::agent::Output;
use crate::lock::lock;
use crate::protocol::{AddTeam, Message};

/// What is measured on a host.
#[derive(Debug, Default)]
pub(crate) struct Teams {
    running: Mutex<Vec<RunningTeam>>,
    watched: Mutex<Vec<String>>,
}

impl Teams {
    /// Runs a team.
    pub(crate) fn add(&self, team: &AddTeam, output: &Output) -> Result<Kind, Failure> {
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
        let notify = move |notice| {
            let message = match notice {
                Notice::Event(event) => Message::Event { text: format!("{device}: {event}") },
                Notice::Trouble(error) => Message::Trouble { text: format!("{device}: {error}") },
            };
            // A closed pipe ends the agent by its standard input, not here.
            let _ = output.say(&message);
        };
        let running = RunningTeam::start(spec, Box::new(notify))?;
        let kind = running.dataplane();
        lock(&self.running).push(running);
        Ok(kind)
    }

    /// Waits until every member of the teams of mode 802.3ad that has carrier
    /// aggregates, and tells of those that do not in time.
    pub(crate) fn settle(&self, output: &Output) -> Result<(), Failure> {
        let begun = Instant::now();
        for team in lock(&self.running).iter() {
            loop {
                let report = team.report()?;
                let waiting: Vec<MemberStatus> =
                    report.members.into_iter().map(|member| member.status).filter(is_waiting).collect();
                if waiting.is_empty() {
                    break;
                }
                if begun.elapsed() > patience(&report.config) {
                    waiting.iter().try_for_each(|member| output.say(&does_not_aggregate(team.name(), member)))?;
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }

    /// How the members of the teams of mode 802.3ad are.
    pub(crate) fn ports(&self) -> Result<Vec<Port>, Failure> {
        let mut ports = Vec::new();
        for team in lock(&self.running).iter() {
            let members = team.report()?.members.into_iter().map(|member| member.status);
            ports.extend(members.filter_map(|member| {
                let port = member.lacp?;
                Some(Port {
                    host: String::new(),
                    team: team.name().to_owned(),
                    member: member.name,
                    aggregates: member.active,
                    partner: (!port.defaulted).then(|| port.partner.system.to_string()),
                    why_not: port.why_not.map(|reason| reason.to_string()),
                })
            }));
        }
        Ok(ports)
    }

    /// Measures these devices, too.
    pub(crate) fn watch(&self, devices: Vec<String>) {
        lock(&self.watched).extend(devices);
    }

    /// What every member and every watched device carried.
    pub(crate) fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        let mut samples = Vec::new();
        for team in lock(&self.running).iter() {
            for member in team.report()?.members {
                let counters = member.counters;
                // A packet socket is told of a drop by the link's queue and has counted it; eBPF is not.
                let queue_drops = match team.dataplane() {
                    Kind::Bpf => shape::drops(netlink, member.index)?,
                    Kind::Packet => 0,
                };
                samples.push(MemberSample {
                    team: team.name().to_owned(),
                    member: member.status.name,
                    tx_frames: counters.tx_frames,
                    tx_bytes: counters.tx_bytes,
                    tx_drops: counters.tx_drops + queue_drops,
                    rx_frames: counters.rx_frames,
                    rx_bytes: counters.rx_bytes,
                    rx_drops: counters.rx_drops,
                });
            }
        }
        for device in lock(&self.watched).iter() {
            let link = netlink.link(device)?.ok_or_else(|| format!("{device} is gone"))?;
            samples.push(MemberSample {
                team: String::new(),
                member: device.clone(),
                tx_frames: link.stats.tx_frames,
                tx_bytes: link.stats.tx_bytes,
                tx_drops: link.stats.tx_drops + shape::drops(netlink, link.index)?,
                rx_frames: link.stats.rx_frames,
                rx_bytes: link.stats.rx_bytes,
                rx_drops: link.stats.rx_drops,
            });
        }
        Ok(samples)
    }
}

/// True for a port that has carrier and does not aggregate.
fn is_waiting(member: &MemberStatus) -> bool {
    member.link.carrier && member.lacp.is_some() && !member.active
}

/// How long agreeing may take: the time that ports wait for each other, the 3 s
/// that a port listens for its partner, and as much again for a busy machine.
fn patience(config: &Config) -> Duration {
    let wait_ms = config.lacp.aggregate_wait_ms.saturating_add(config.updelay_ms).min(10_000);
    Duration::from_millis(u64::from(wait_ms) + 6000)
}

fn does_not_aggregate(team: &str, member: &MemberStatus) -> Message {
    let reason = member.lacp.and_then(|port| port.why_not).map_or_else(String::new, |reason| format!(": {reason}"));
    Message::Trouble { text: format!("{team}: member {} does not aggregate{reason}", member.name) }
}
