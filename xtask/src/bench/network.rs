//! Two hosts joined by unlimited cables: raw, or with a team at both ends.

use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_dataplane::{Choice, Dataplane, Kind, Port, Programs, TeamDevice};
use nicteam_netlink::Netlink;
use nicteam_netlink::shape::Granularity;
use nicteam_sys::netns;
use nicteam_sys::tap::Tap;
use nicteam_team::{Config, MemberLink, Team, Time};
use nicteam_testnet::{Host, cable};
use nicteam_wire::Mac;

use crate::failure::Failure;
use crate::product::{Product, TeamProcess};
use crate::scratch::Scratch;

/// A team's options: the kernel's names and values.
pub(crate) type Options = [(&'static str, &'static str)];

/// Address of the far host.
pub(crate) const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 2));

/// Two hosts; everything goes with this value.
pub(crate) struct Pair {
    // Ahead of the hosts, so that they end in namespaces that still are.
    _teams: Vec<Running>,
    /// The host that connects.
    pub(crate) near: Host,
    /// The host that listens.
    pub(crate) far: Host,
}

/// What makes teams.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    /// The program that runs them.
    pub(crate) product: &'a Product,
    /// A folder for their state.
    pub(crate) scratch: &'a Scratch,
}

/// Something that runs a team.
pub(super) enum Running {
    /// The product, on a veth end.
    Process { _process: TeamProcess },
    /// The product's eBPF dataplane on a TAP.
    Tap { _tap: Tap, _dataplane: Box<dyn Dataplane> },
}

/// Members of each team.
const MEMBERS: usize = 4;
/// Generous: it guards against a program that does not start.
const PATIENCE: Duration = Duration::from_secs(20);
const TEAM: &str = "team0";

impl Pair {
    /// One cable, no team.
    pub(crate) fn raw(granularity: Granularity) -> Result<Pair, Failure> {
        let (near, far) = cabled(&["eth0".to_owned()], granularity)?;
        Ok(Pair::address(near, far, "eth0", Vec::new()))
    }

    /// A team at both ends with these options, run by the product.
    pub(crate) fn team(
        maker: Maker<'_>,
        options: &Options,
        kind: Kind,
        granularity: Granularity,
    ) -> Result<Pair, Failure> {
        let (mut near, mut far) = cabled(&members(), granularity)?;
        let state = maker.scratch.path().join("state");
        let start = |host: &mut Host| {
            let process = maker.product.start_team(&host.netns, &state, TEAM, &members(), options, kind)?;
            wait_for_team(host)?;
            Ok(Running::Process { _process: process })
        };
        let teams = [&mut near, &mut far].into_iter().map(start).collect::<Result<_, Failure>>()?;
        Ok(Pair::address(near, far, TEAM, teams))
    }

    /// The same on a TAP instead of a veth end, with the eBPF dataplane and GSO frames.
    pub(crate) fn team_on_tap(options: &Options) -> Result<Pair, Failure> {
        let (near, far) = cabled(&members(), Granularity::WHOLE)?;
        let config = config(options)?;
        let start = |host: &Host| host.netns.run(|| start_on_tap(&config))?;
        let teams = [&near, &far].into_iter().map(start).collect::<Result<_, Failure>>()?;
        Ok(Pair::address(near, far, TEAM, teams))
    }

    /// Gives the hosts their addresses.
    pub(super) fn address(mut near: Host, mut far: Host, device: &str, teams: Vec<Running>) -> Pair {
        near.address(device, &[("10.9.0.1", 24)]);
        far.address(device, &[(&FAR.to_string(), 24)]);
        Pair { _teams: teams, near, far }
    }
}

/// Waits until the team of a host has all its members, and so runs.
fn wait_for_team(host: &mut Host) -> Result<(), Failure> {
    let start = Instant::now();
    // The members have its address then.
    let runs = |host: &mut Host| -> Result<bool, Failure> {
        let Some(team) = host.netlink.link(TEAM)?.filter(|team| team.carrier) else { return Ok(false) };
        let members = host.netlink.links()?.into_iter().filter(|link| link.mac == team.mac && link.index != team.index);
        Ok(members.count() >= MEMBERS)
    };
    while !runs(host)? {
        if start.elapsed() > PATIENCE {
            return Err(Failure::failed("waited in vain for a team; hint: try `nicteam team run` by hand"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Two hosts joined by these cables.
pub(super) fn cabled(names: &[String], granularity: Granularity) -> Result<(Host, Host), Failure> {
    let (mut near, mut far) = (Host::new(), Host::new());
    for host in [&near, &far] {
        host.netns.run(prepare)??;
    }
    for name in names {
        cable(&mut near, name, &mut far, name);
        if granularity == Granularity::Packets {
            for host in [&mut near, &mut far] {
                let link = host.link(name);
                host.netlink.set_gso_max(link.index, link.gso_max_size, 1)?;
            }
        }
    }
    Ok((near, far))
}

/// Makes the caller's namespace a fit place for measuring.
fn prepare() -> Result<(), nicteam_sys::Error> {
    netns::sysctl("ipv4/tcp_no_metrics_save", "1")?;
    // No router solicitations in between the measured traffic.
    netns::sysctl("ipv6/conf/default/disable_ipv6", "1")?;
    netns::sysctl("ipv6/conf/all/disable_ipv6", "1")
}

/// Runs a team on a TAP in the caller's namespace: what the daemon does, as
/// far as a team whose links never change needs it.
fn start_on_tap(config: &Config) -> Result<Running, Failure> {
    let mut netlink = Netlink::open()?;
    let tap = Tap::open(TEAM)?;
    let index = index(&mut netlink, TEAM)?;
    let device = TeamDevice { name: TEAM.to_owned(), index, peer_name: TEAM.to_owned(), peer_index: index };
    let mut dataplane = nicteam_dataplane::open(&device, Choice::Force(Kind::Bpf), Programs::of(config.mode))?;
    let mac = netlink.link("eth0")?.map(|link| Mac(link.mac)).ok_or_else(|| Failure::failed("no eth0"))?;
    let mut team = Team::new(config.clone(), mac, Time::ZERO).map_err(Failure::failed)?;
    for name in members() {
        let up = MemberLink { carrier: true, speed_mbps: None, duplex: None };
        let id = team.add_member(&name, up, Time::ZERO).map_err(Failure::failed)?;
        while team.poll_effect().is_some() {}
        let member = self::index(&mut netlink, &name)?;
        netlink.set_mac(member, mac.0)?;
        dataplane.attach(&Port { id, name, index: member })?;
    }
    dataplane.apply(team.plan())?;
    netlink.set_mac(index, mac.0)?;
    netlink.set_up(index, true)?;
    Ok(Running::Tap { _tap: tap, _dataplane: dataplane })
}

fn members() -> Vec<String> {
    (0..MEMBERS).map(|number| format!("eth{number}")).collect()
}

fn config(options: &Options) -> Result<Config, Failure> {
    let mut config = Config::default();
    options.iter().try_for_each(|(name, value)| config.set(name, value)).map_err(Failure::failed)?;
    Ok(config)
}

fn index(netlink: &mut Netlink, device: &str) -> Result<u32, Failure> {
    Ok(netlink.link(device)?.ok_or_else(|| Failure::failed(format!("no device {device}")))?.index)
}
