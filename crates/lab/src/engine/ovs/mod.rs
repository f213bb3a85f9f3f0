//! Engine `ovs`: a bond of a real Open vSwitch, which is started for it, with the userspace datapath.
//!
//! The team's device is the local port of a bridge whose other port is the bond. A host with guests has that bridge under the
//! name that the lab asks for, and the guests' veths are ports of it, so that the switch itself learns their addresses.

mod daemons;
mod status;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::terms::{Absent, Engine, Running};
use crate::counters;

use daemons::Daemons;
use nicteam_experiment::openvswitch_settings;
use nicteam_netlink::Netlink;
use nicteam_netlink::nft;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::lock;
use nicteam_node::protocol::AddTeam;
use nicteam_record::{BucketMember, MemberSample, Port};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netns;
use nicteam_team::Config;

/// How long members may take to be enabled: as long as ports of LACP wait for each other, and as much again for a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(8);

/// The engine.
#[derive(Debug)]
pub(super) struct OpenVSwitch;

impl Engine for OpenVSwitch {
    fn name(&self) -> &'static str {
        "ovs"
    }

    fn is_there(&self) -> Result<(), Absent> {
        daemons::are_there()
    }

    // It reads packet sockets without the header for offloads, unless userspace-tso-enable is set, which it is not.
    fn takes_finished_frames_alone(&self) -> bool {
        true
    }

    fn makes_bridges(&self) -> bool {
        true
    }

    fn add(&self, team: &AddTeam, output: &Output) -> Result<Box<dyn Running>, Failure> {
        let mut config = Config::default();
        for (name, value) in &team.options {
            config.set(name, value)?;
        }
        let settings = openvswitch_settings(&config).map_err(|error| format!("Open vSwitch {}", error.reason))?;
        for member in &team.members {
            keep_from_stack(member)?;
        }
        let daemons = of_this_process(output)?;
        let port = format!("{}-bond", team.device);
        daemons.set(&words(team, &port, &settings).iter().map(String::as_str).collect::<Vec<_>>())?;
        let bond = Bond {
            config,
            device: team.device.clone(),
            members: team.members.clone(),
            bridge: bridge(team).clone(),
            takes_ports: team.bridge.is_some(),
            port,
            daemons,
        };
        let missing = bond.show()?.members.len() != team.members.len();
        if missing || Netlink::open()?.link(&bond.bridge)?.is_none() {
            let words = bond.daemons.complaint().unwrap_or_default();
            return Err(format!("Open vSwitch did not take every port of {}: {words}", team.device).into());
        }
        Ok(Box::new(bond))
    }
}

/// Packet sockets get copies; the host's stack must not answer for what comes by a port.
fn keep_from_stack(port: &str) -> Result<(), Failure> {
    nft::drop_ingress(port)?;
    Ok(netns::sysctl(&format!("ipv6/conf/{port}/disable_ipv6"), "1")?)
}

/// The bridge of a team, and its local port.
fn bridge(team: &AddTeam) -> &String {
    team.bridge.as_ref().unwrap_or(&team.device)
}

/// The daemons of this process: one switch a network namespace.
fn of_this_process(output: &Output) -> Result<Arc<Daemons>, Failure> {
    static DAEMONS: Mutex<Weak<Daemons>> = Mutex::new(Weak::new());
    let mut known = lock(&DAEMONS);
    if let Some(running) = known.upgrade() {
        return Ok(running);
    }
    let started = Arc::new(Daemons::start(output)?);
    *known = Arc::downgrade(&started);
    Ok(started)
}

/// What `ovs-vsctl` is told to make the bridge and its bond.
fn words(team: &AddTeam, port: &str, settings: &[String]) -> Vec<String> {
    let device = bridge(team);
    let mut words: Vec<String> =
        ["add-br", device, "--", "set", "bridge", device, "datapath_type=netdev"].map(str::to_owned).into();
    words.extend(team.mac.as_ref().map(|mac| format!("other_config:hwaddr=\"{mac}\"")));
    words.extend(["--", "set", "interface", device].map(str::to_owned));
    words.push(format!("mtu_request={}", team.mtu));
    words.extend(["--", "add-bond", device, port].map(str::to_owned));
    words.extend(team.members.iter().cloned());
    words.extend(["--", "set", "port", port].map(str::to_owned));
    words.extend(settings.iter().cloned());
    words
}

/// A bond that runs.
struct Bond {
    config: Config,
    device: String,
    members: Vec<String>,
    /// Its bridge, and the local port of that.
    bridge: String,
    /// Whether the bridge is one for guests.
    takes_ports: bool,
    /// What Open vSwitch calls it.
    port: String,
    daemons: Arc<Daemons>,
}

impl Bond {
    fn show(&self) -> Result<status::Bond, Failure> {
        Ok(status::Bond::read(&self.daemons.ask("bond/show", &[&self.port])?))
    }
}

impl Running for Bond {
    fn device(&self) -> &str {
        &self.device
    }

    fn dataplane(&self) -> String {
        "netdev".to_owned()
    }

    fn version(&self) -> String {
        self.daemons.version().to_owned()
    }

    fn offloads(&self) -> BTreeMap<String, Vec<String>> {
        let ports = || self.members.iter().chain(std::iter::once(&self.bridge));
        let Ok(ethtool) = Ethtool::open() else { return BTreeMap::new() };
        ports().filter_map(|port| Some((port.clone(), ethtool.offloads(port).ok()?))).collect()
    }

    fn processes(&self) -> Vec<u32> {
        self.daemons.pids()
    }

    fn plug(&self, port: &str) -> Result<bool, Failure> {
        if self.takes_ports {
            keep_from_stack(port)?;
            self.daemons.set(&["add-port", &self.bridge, port])?;
        }
        Ok(self.takes_ports)
    }

    fn unplug(&self, port: &str) -> Result<bool, Failure> {
        if self.takes_ports {
            self.daemons.set(&["del-port", &self.bridge, port])?;
        }
        Ok(self.takes_ports)
    }

    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        counters::of_members(netlink, &self.device, &self.members)
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        let shown = self.show()?;
        if shown.lacp == "off" {
            return Ok(Vec::new());
        }
        Ok(status::ports(&self.daemons.ask("lacp/show", &[&self.port])?, &shown, &self.device))
    }

    fn buckets(&self) -> Result<Vec<BucketMember>, Failure> {
        Ok(self.show()?.buckets(&self.device))
    }

    fn settle(&self, output: &Output) -> Result<(), Failure> {
        let patience = PATIENCE + Duration::from_millis(u64::from(self.config.updelay_ms));
        let begun = Instant::now();
        loop {
            let shown = self.show()?;
            let waiting: Vec<&status::Member> = shown.members.iter().filter(|member| !member.enabled).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > patience {
                for member in waiting {
                    let text = format!("{}: Open vSwitch does not enable member {}", self.device, member.name);
                    output.trouble(Some(&self.device), Some(&member.name), text);
                }
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
