//! What a capture has to know of a team, or of a bond of the kernel's driver.

use nicteam_capture::{Bundle, Link, Peer};
use nicteam_daemon::TeamStatus;
use nicteam_daemon::control::{Client, RefusalKind};
use nicteam_netlink::Netlink;
use nicteam_netlink::object::Device;
use nicteam_sys::ethtool::Ethtool;
use nicteam_team::Config;
use nicteam_team::mode::Agrees;
use nicteam_wire::Mac;

use crate::failure::Failure;

/// Who is asked.
pub(super) enum Source {
    /// The process of a team.
    Team(Client),
    /// The kernel, about a bond of this name.
    Kernel(Netlink, String),
}

impl Source {
    /// A team of this name, else a bond of the kernel's.
    pub(super) fn open(name: &str) -> Result<Source, Failure> {
        match Client::watch(name) {
            Ok(client) => Ok(Source::Team(client)),
            Err(refusal) if matches!(refusal.kind, RefusalKind::NoTeam | RefusalKind::NotRunning) => {
                let mut netlink = Netlink::open()?;
                let is_bond = netlink.devices()?.iter().any(|device| device.name() == name && device.kind() == "bond");
                if is_bond { Ok(Source::Kernel(netlink, name.to_owned())) } else { Err(refusal.into()) }
            }
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// How it is now.
    pub(super) fn look(&mut self) -> Result<Bundle, Failure> {
        match self {
            Source::Team(client) => Ok(of_team(&client.status()?)),
            Source::Kernel(netlink, name) => of_kernel(netlink, name),
        }
    }
}

fn of_team(status: &TeamStatus) -> Bundle {
    let members = status.members.iter().map(|member| Link {
        name: member.name.clone(),
        index: member.index,
        mac: member.mac.parse().ok(),
        speed_mbps: member.speed_mbps,
        sends: member.active,
    });
    let peers = status.peers.iter().filter_map(|peer| {
        let working = peer.paths.iter().filter(|path| path.works);
        let paths = working.filter_map(|path| Some((path.member.clone(), path.to.parse().ok()?))).collect();
        Some(Peer { team: peer.team.parse().ok()?, paths })
    });
    let of_bond = status.openvswitch.iter().flat_map(|bond| &bond.members);
    let buckets =
        of_bond.flat_map(|member| member.buckets.iter().map(|load| (load.bucket, member.name.clone()))).collect();
    Bundle {
        name: status.team.clone(),
        device: Link {
            name: status.device.clone().unwrap_or_else(|| status.team.clone()),
            index: status.index,
            mac: status.mac.parse().ok(),
            speed_mbps: None,
            sends: true,
        },
        config: config(status.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))),
        active: status.active.clone(),
        members: members.collect(),
        peers: peers.collect(),
        buckets,
    }
}

/// What the choice of a member follows from; options that this does not know do not matter for it.
fn config<'a>(options: impl Iterator<Item = (&'a str, &'a str)>) -> Config {
    const CHOICE: [&str; 6] =
        ["mode", "xmit_hash_policy", "hash_buckets", "tlb_dynamic_lb", "packets_per_slave", "bond_hash_basis"];
    let mut config = Config::default();
    for (name, value) in options.filter(|(name, _)| CHOICE.contains(name)) {
        let _ = config.set(name, value);
    }
    config
}

fn of_kernel(netlink: &mut Netlink, name: &str) -> Result<Bundle, Failure> {
    let devices = netlink.devices()?;
    let gone = || Failure::failed(format!("bond {name} is gone"));
    let bond = devices.iter().find(|device| device.name() == name && device.kind() == "bond").ok_or_else(gone)?;
    let name_of = |index| devices.iter().find(|device| device.index() == index).map(|device| device.name().to_owned());
    let options = bond.bond_options(&name_of);
    let config = config(options.iter().map(|(name, value)| (*name, value.as_str())));
    let active = options.iter().find(|(name, _)| *name == "active_slave").map(|(_, value)| value.clone());
    let aggregates = config.mode.traits().agrees == Agrees::Always;
    let aggregate = netlink.bond_aggregate(bond.index())?.map(|aggregate| aggregate.number);
    let mut members = Vec::new();
    for device in devices.iter().filter(|device| device.master() == Some(bond.index())) {
        let Some(member) = netlink.bond_member(device.index())? else { continue };
        let sends = match aggregates {
            true => member.up && member.distributes && member.aggregate == aggregate,
            false => member.up,
        };
        members.push(link(device, sends));
    }
    Ok(Bundle { name: name.to_owned(), device: link(bond, true), config, active, members, ..Bundle::default() })
}

fn link(device: &Device, sends: bool) -> Link {
    let speed_mbps = speed(device.name());
    Link { name: device.name().to_owned(), index: device.index(), mac: device.mac().map(Mac), speed_mbps, sends }
}

fn speed(device: &str) -> Option<u32> {
    Ethtool::open().and_then(|ethtool| ethtool.settings(device)).ok()?.speed_mbps
}
