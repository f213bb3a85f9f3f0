//! Looks at this host: the one place where the doctor asks the system.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use nicteam_daemon::Notes;
use nicteam_daemon::control::{Client, TeamState, teams};
use nicteam_dataplane::Kind;
use nicteam_netlink::{Link, Netlink};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netns;

use super::facts::{Bundle, Device, HostFacts, Kernel, Owner};
use super::hear;
use crate::journal::{self, Journal};
use crate::managers::Host;
use crate::obstacles::team_of;

/// What to look at, beside all that costs no time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How long to listen to what the ports at the other ends say; zero: not at all.
    pub listen: Duration,
}

/// Settings of the kernel that rules look at.
const SYSCTLS: &[&str] = &[
    "core/bpf_jit_enable",
    "core/bpf_jit_harden",
    "core/netdev_max_backlog",
    "ipv4/ip_forward",
    "ipv4/conf/all/rp_filter",
    "ipv4/conf/all/arp_ignore",
    "ipv4/conf/all/arp_announce",
    "bridge/bridge-nf-call-iptables",
];

/// What a team needs, with the bit of each (Linux include/uapi/linux/capability.h).
const CAPABILITIES: [(&str, u32); 4] =
    [("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];
const SYS_ADMIN: u32 = 21;

/// Looks at the host of the calling thread's network namespace.
///
/// # Errors
/// The kernel does not list its devices. What else cannot be seen is noted, and the rest goes on.
pub fn gather(options: &Options) -> nicteam_sys::Result<HostFacts> {
    let mut netlink = Netlink::open()?;
    let links = netlink.links()?;
    let host = Host::look(Path::new("/"), &links);
    let mut facts = HostFacts { kernel: kernel(), listened: options.listen, ..HostFacts::default() };
    facts.bundles = kernel_bonds(&links);
    our_teams(&mut facts, &links);
    facts.half_way = half_way(&facts.bundles);
    let in_bundle = |link: &Link| facts.bundles.iter().any(|bundle| bundle.members.contains(&link.name));
    let looked_at = links.iter().filter(|link| is_hardware(link) || in_bundle(link));
    let ethtool = Ethtool::open()?;
    facts.devices = looked_at.map(|link| device(&host, &ethtool, &mut netlink, link)).collect();
    for path in SYSCTLS {
        facts.sysctls.extend(netns::read_sysctl(path).ok().map(|value| ((*path).to_owned(), value)));
    }
    facts.shared_networks = shared_networks(&netlink.all_addresses()?, &links);
    facts.unseen.extend(host.unread().into_iter().map(|path| format!("{path} may not be read by this user")));
    if !options.listen.is_zero() {
        hear::listen(&mut facts, options.listen);
    }
    Ok(facts)
}

/// True for a device that hardware, or a hypervisor, is behind.
fn is_hardware(link: &Link) -> bool {
    link.kind.is_empty() && link.name != "lo" && link.mac != [0; 6]
}

fn kernel() -> Kernel {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|of| u64::from_str_radix(of.trim(), 16).ok()).unwrap_or(0);
    let has = |bit: u32| effective & (1 << bit) != 0;
    // Who may administer the system may what the two newer ones allow.
    let lacks = CAPABILITIES.into_iter().filter(|(_, bit)| !(has(*bit) || *bit >= 38 && has(SYS_ADMIN)));
    Kernel {
        release,
        no_bpf: nicteam_dataplane::probe().1,
        has_btf: Path::new("/sys/kernel/btf/vmlinux").exists(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        lacks: lacks.map(|(name, _)| name).collect(),
    }
}

fn kernel_bonds(links: &[Link]) -> Vec<Bundle> {
    let bond = |link: &Link| {
        let option = |name: &str| {
            let text = fs::read_to_string(format!("/sys/class/net/{}/bonding/{name}", link.name)).ok()?;
            // `balance-rr 0`: the word, then its number.
            Some((name.to_owned(), text.split_whitespace().next()?.to_owned()))
        };
        let names = ["mode", "miimon", "arp_interval", "xmit_hash_policy", "lacp_rate", "primary", "ad_partner_mac"];
        let options: BTreeMap<String, String> = names.iter().filter_map(|name| option(name)).collect();
        let members = links.iter().filter(|member| member.master == Some(link.index)).map(|of| of.name.clone());
        Bundle {
            name: link.name.clone(),
            owner: Owner::Kernel,
            mode: options.get("mode").cloned().unwrap_or_default(),
            options,
            members: members.collect(),
            is_on_bpf: false,
            mtu: link.mtu,
            is_bridged: is_bridged(links, link),
            problems: Vec::new(),
        }
    };
    links.iter().filter(|link| link.kind == "bond").map(bond).collect()
}

fn our_teams(facts: &mut HostFacts, links: &[Link]) {
    let listed = match teams() {
        Ok(listed) => listed,
        Err(error) => {
            let why = error.to_string();
            let (why, _) = why.split_once("; hint: ").unwrap_or((&why, ""));
            facts.unseen.push(format!("which teams there are: {why}"));
            return;
        }
    };
    for of in listed {
        let link = links.iter().find(|link| link.name == *of.device.as_ref().unwrap_or(&of.team));
        let mut bundle = Bundle {
            name: of.team.clone(),
            owner: Owner::TeamAlone,
            mtu: link.map_or(0, |link| link.mtu),
            is_bridged: link.is_some_and(|link| is_bridged(links, link)),
            // As their devices say, for a team that nobody runs.
            members: links
                .iter()
                .filter(|member| team_of(&member.alias) == Some(of.team.as_str()))
                .map(|member| member.name.clone())
                .collect(),
            ..Bundle::default()
        };
        if of.state == TeamState::Running {
            match Client::watch(&of.team).and_then(|mut client| client.status()) {
                Ok(status) => {
                    bundle.owner = Owner::Team;
                    bundle.is_on_bpf = status.dataplane == Kind::Bpf.to_string();
                    bundle.mode = status.mode;
                    bundle.options = status.options;
                    bundle.problems = status.problems.into_iter().map(|problem| (problem.text, problem.hint)).collect();
                    bundle.members = status.members.into_iter().map(|member| member.name).collect();
                }
                Err(refusal) => facts.unseen.push(format!("team {}: {refusal}", of.team)),
            }
        }
        facts.bundles.push(bundle);
    }
}

/// What `up` noted of a team that is not up.
fn half_way(bundles: &[Bundle]) -> Vec<String> {
    let is_up = |team: &String| {
        let journal = Notes::of(team).map_err(Into::into).and_then(|notes| Journal::read(team, &notes));
        bundles.iter().any(|bundle| bundle.name == *team) && journal.is_ok_and(|of| of.is_none_or(|of| of.is_up))
    };
    // Who may not look has been told so.
    journal::teams().unwrap_or_default().into_iter().filter(|team| !is_up(team)).collect()
}

fn is_bridged(links: &[Link], link: &Link) -> bool {
    let master = link.master.and_then(|index| links.iter().find(|of| of.index == index));
    master.is_some_and(|of| of.kind == "bridge")
}

fn device(host: &Host, ethtool: &Ethtool, netlink: &mut Netlink, link: &Link) -> Device {
    let name = link.name.as_str();
    // A device that is gone meanwhile, or whose driver does not say: unknown.
    let settings = ethtool.settings(name).unwrap_or_default();
    let counter = |of: &str| {
        let text = fs::read_to_string(format!("/sys/class/net/{name}/statistics/{of}")).unwrap_or_default();
        text.trim().parse::<u64>().unwrap_or(0)
    };
    let seen = host.device(name);
    Device {
        link: link.clone(),
        driver: seen.driver,
        is_wireless: seen.kind_of_type == "wlan",
        speed_mbps: settings.speed_mbps,
        full_duplex: settings.full_duplex,
        negotiates: ethtool.negotiates(name).ok().flatten(),
        features: ethtool.features(name).unwrap_or_default(),
        rx_ring: ethtool.rx_ring(name).ok().flatten(),
        rx_queues: ethtool.rx_queues(name).ok().flatten(),
        rx_missed: counter("rx_missed_errors") + counter("rx_fifo_errors"),
        macvlan_mode: link.macvlan_mode.clone(),
        claims: host.claims(name),
        filters: netlink.ingress_filters(link.index).unwrap_or_default(),
        heard: super::facts::Heard::default(),
    }
}

/// IPv4 networks in which several devices have addresses.
fn shared_networks(addresses: &[(u32, IpAddr, u8)], links: &[Link]) -> Vec<(String, Vec<String>)> {
    let mut networks: BTreeMap<(u32, u8), Vec<String>> = BTreeMap::new();
    for (index, address, prefix) in addresses {
        let IpAddr::V4(address) = address else { continue };
        let Some(link) = links.iter().find(|link| link.index == *index) else { continue };
        // An address of its own, not a network.
        if !(1..31).contains(prefix) || link.name == "lo" {
            continue;
        }
        let network = u32::from(*address) & (u32::MAX << (32 - u32::from(*prefix)));
        let devices = networks.entry((network, *prefix)).or_default();
        if !devices.contains(&link.name) {
            devices.push(link.name.clone());
        }
    }
    let shared = networks.into_iter().filter(|(_, devices)| devices.len() > 1);
    shared.map(|((network, prefix), devices)| (format!("{}/{prefix}", Ipv4Addr::from(network)), devices)).collect()
}
