//! Engine `kernel`: a bond of Linux' own driver.

use std::time::{Duration, Instant};

use nicteam_experiment::KERNEL_OPTIONS;
use nicteam_netlink::{BondMember, Netlink};
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::AddTeam;
use nicteam_record::{MemberSample, Port};
use nicteam_sys::netns::{self, NetNs};
use nicteam_team::Config;
use nicteam_wire::Mac;
use nix::errno::Errno;

use super::terms::{Absent, Engine, Running};
use crate::counters;

/// Options that name a member, which has to be there first.
const OF_MEMBERS: [&str; 2] = ["primary", "active_slave"];
/// How long agreeing may take beside `updelay`: ports of LACP wait 2 s for each other and 3 s for their partner; and as much
/// again for a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The engine.
#[derive(Debug)]
pub(super) struct Kernel;

impl Engine for Kernel {
    fn name(&self) -> &'static str {
        "kernel"
    }

    fn is_there(&self) -> Result<(), Absent> {
        // Made and forgotten in a namespace of its own, by which the kernel also loads its module.
        let probe = || NetNs::new()?.run(|| Netlink::open()?.add_bond("probe", None, &[]))?;
        let reason = |error: nicteam_sys::Error| match error.errno().map(Errno::from_raw) {
            Some(Errno::EOPNOTSUPP) => "this kernel has no bonding driver".to_owned(),
            _ => format!("this kernel's bonding driver cannot be used: {error}"),
        };
        probe().map_err(|error| Absent { reason: reason(error), hint: None })
    }

    fn add(&self, team: &AddTeam, _output: &Output) -> Result<Box<dyn Running>, Failure> {
        let mut config = Config::default();
        for (name, value) in &team.options {
            config.set(name, value)?;
        }
        let told = told(&config);
        let told = |of_members: bool| {
            let these = told.iter().filter(move |(name, _)| OF_MEMBERS.contains(name) == of_members);
            these.map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()
        };
        let mac = team.mac.as_deref().map(str::parse::<Mac>).transpose()?;
        let mut netlink = Netlink::open()?;
        netlink.add_bond(&team.device, mac.map(|mac| mac.0), &told(false))?;
        let index = index(&mut netlink, &team.device)?;
        netlink.set_mtu(index, team.mtu)?;
        for member in &team.members {
            netns::sysctl(&format!("ipv6/conf/{member}/disable_ipv6"), "1")?;
            let member = netlink.link(member)?.ok_or_else(|| format!("{member} is gone"))?;
            // What a member takes is cut before the bond, not behind it.
            netlink.set_gso_max(index, member.gso_max_size, member.gso_max_segs)?;
            // The driver takes no device that is up, and sets it up itself.
            netlink.set_up(member.index, false)?;
            netlink.set_master(member.index, Some(index))?;
        }
        netlink.set_up(index, true)?;
        let later = told(true);
        if !later.is_empty() {
            netlink.set_bond(index, &later)?;
        }
        Ok(Box::new(Bond { config, index, device: team.device.clone(), members: team.members.clone() }))
    }
}

/// What the driver is told: the mode, and what differs from the defaults of a team here. Its own default of `miimon` is another, so
/// that is always told.
fn told(config: &Config) -> Vec<(&'static str, String)> {
    let by_default = Config { mode: config.mode, ..Config::default() }.options_and_wish();
    let named = |pair: &(&str, String)| ["mode", "miimon"].contains(&pair.0) || !by_default.contains(pair);
    config.options_and_wish().into_iter().filter(|pair| KERNEL_OPTIONS.contains(&pair.0) && named(pair)).collect()
}

/// A bond that runs; it goes with the namespace.
struct Bond {
    config: Config,
    device: String,
    index: u32,
    members: Vec<String>,
}

impl Bond {
    /// Its members, as the driver says.
    fn states(&self) -> Result<Vec<(&String, BondMember)>, Failure> {
        let mut netlink = Netlink::open()?;
        let mut states = Vec::new();
        for member in &self.members {
            let index = index(&mut netlink, member)?;
            states.push((member, netlink.bond_member(index)?.unwrap_or_default()));
        }
        Ok(states)
    }

    /// Whether the driver sends by a member.
    fn works(&self, member: BondMember) -> bool {
        member.up && (member.distributes || !self.aggregates())
    }

    fn aggregates(&self) -> bool {
        self.config.mode.traits().aggregates(&self.config)
    }
}

impl Running for Bond {
    fn device(&self) -> &str {
        &self.device
    }

    fn dataplane(&self) -> String {
        "bonding".to_owned()
    }

    fn version(&self) -> String {
        let uname = nix::sys::utsname::uname();
        uname.map_or_else(|_| String::new(), |name| format!("Linux {}", name.release().to_string_lossy()))
    }

    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure> {
        counters::of_members(netlink, &self.device, &self.members)
    }

    fn ports(&self) -> Result<Vec<Port>, Failure> {
        if !self.aggregates() {
            return Ok(Vec::new());
        }
        let in_force = Netlink::open()?.bond_aggregate(self.index)?.unwrap_or_default();
        let port = |(member, state): (&String, BondMember)| {
            let is_in_force = state.aggregate == Some(in_force.number);
            let aggregates = self.works(state) && is_in_force;
            let why_not = match () {
                () if aggregates => None,
                () if !state.up => Some("its link is down"),
                () if !is_in_force => Some("it is in another aggregate than the one in force"),
                () => Some("the kernel's driver does not distribute by it"),
            };
            Port {
                host: String::new(),
                team: self.device.clone(),
                member: member.clone(),
                aggregates,
                partner: in_force.partner.filter(|_| is_in_force).map(|mac| Mac(mac).to_string()),
                why_not: why_not.map(str::to_owned),
            }
        };
        Ok(self.states()?.into_iter().map(port).collect())
    }

    fn settle(&self, output: &Output) -> Result<(), Failure> {
        let patience = PATIENCE + Duration::from_millis(u64::from(self.config.updelay_ms));
        let begun = Instant::now();
        loop {
            let waiting: Vec<_> = self.states()?.into_iter().filter(|(_, state)| !self.works(*state)).collect();
            if waiting.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > patience {
                for (member, _) in waiting {
                    let text = format!("{}: the kernel's driver does not send by member {member}", self.device);
                    output.trouble(Some(&self.device), Some(member), text);
                }
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The index of a device that must be there.
fn index(netlink: &mut Netlink, device: &str) -> Result<u32, Failure> {
    Ok(netlink.link(device)?.ok_or_else(|| format!("{device} is gone"))?.index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_told_what_differs_and_how_often_to_look() {
        let mut config = Config::default();
        [("mode", "active-backup"), ("primary", "eth1"), ("downdelay", "300")]
            .into_iter()
            .for_each(|(name, value)| config.set(name, value).unwrap());
        let told = told(&config);
        let told: Vec<_> = told.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(told, [("mode", "active-backup"), ("miimon", "100"), ("downdelay", "300"), ("primary", "eth1")]);
    }
}
