//! Two hosts that stripe, or one, and a plain one at a bridge whose cables can be pulled.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_daemon::TeamStatus;
use nicteam_dataplane::Kind;
use nicteam_netlink::mptcp::PathManager;
use nicteam_netlink::shape::{self, Granularity};
use nicteam_netlink::{Learned, Netlink};
use nicteam_sys::netns;
use nicteam_testnet::{Host, Switch, datagrams, loose_cable};

use crate::failure::Failure;
use crate::product::{Product, TeamProcess};
use crate::scratch::Scratch;

use super::stream::Ends;

/// Links of each team.
pub(in crate::accept) const LINKS: usize = 4;
/// Rate of every link, bit/s.
pub(in crate::accept) const RATE_BPS: u64 = 100_000_000;

const TEAM: &str = "team0";
const STRIPE: &str = "stripe";
/// Until all paths are there. Generous: it guards against paths that never come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::accept) enum Side {
    /// The one that sends.
    Near,
    /// The one that receives.
    Far,
}

/// What a link can suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::accept) enum Fault {
    /// Its cable is pulled, at the switch.
    Pulled,
    /// It is up, and nothing passes the switch's port.
    Silent,
}

/// How the two hosts use the links between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::accept) enum Way {
    /// By teams of this mode with these options.
    Team(Options),
    /// By such a team at the near end; the far host has one link of the sum of the rates, and no team.
    OneSided(Options),
    /// By multipath TCP over bare links, each with a subnet of its own.
    Multipath,
}

/// Mode and further options of a team.
pub(in crate::accept) type Options = (&'static str, &'static [(&'static str, &'static str)]);

/// The hosts, the switch and the teams; all of it goes with this value.
pub(in crate::accept) struct Network<'a> {
    product: &'a Product,
    state: PathBuf,
    way: Way,
    hosts: [Host; 2],
    plain: Host,
    switch: Switch,
    processes: [Option<TeamProcess>; 2],
}

impl<'a> Network<'a> {
    /// Hosts that know all paths between them.
    pub(in crate::accept) fn new(product: &'a Product, scratch: &Scratch, way: Way) -> Result<Network<'a>, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut network = Network {
            product,
            state: scratch.path().join(format!("stripe-{number}")),
            way,
            hosts: [Host::quiet(), Host::quiet()],
            plain: Host::quiet(),
            switch: Switch::new(),
            processes: [None, None],
        };
        network.cable()?;
        for side in [Side::Near, Side::Far] {
            network.start(side)?;
        }
        network.wait_for_paths(LINKS)?;
        network.address()?;
        Ok(network)
    }

    fn address(&mut self) -> Result<(), Failure> {
        self.plain.address("eth0", &[("10.5.0.3", 24)]);
        for (n, (side, host)) in (1..).zip([Side::Near, Side::Far].into_iter().zip(&mut self.hosts)) {
            if self.way != Way::Multipath {
                let device = if self.way.team(side).is_some() { TEAM } else { "eth0" };
                host.address(device, &[(&format!("10.5.0.{n}"), 24)]);
                continue;
            }
            let mut paths = host.netns.run(|| {
                // All links lead into one switch: each answers for its own address alone.
                netns::sysctl("ipv4/conf/all/arp_ignore", "1")?;
                netns::sysctl("ipv4/conf/all/arp_announce", "2")?;
                PathManager::open()
            })??;
            paths.set_limits(LINKS as u32 - 1)?;
            for link in 0..LINKS {
                let device = format!("eth{link}");
                let address = Ipv4Addr::new(10, 5, link as u8, n);
                host.address(&device, &[(&address.to_string(), 24)]);
                if n == 2 && link > 0 {
                    paths.announce(address.into(), host.index(&device))?;
                }
            }
        }
        Ok(())
    }

    fn cable(&mut self) -> Result<(), Failure> {
        let [near, far] = &mut self.hosts;
        let far = match self.way {
            Way::OneSided(_) => (far, 1, LINKS as u64 * RATE_BPS),
            Way::Team(_) | Way::Multipath => (far, LINKS, RATE_BPS),
        };
        let ends = [(near, LINKS, RATE_BPS), far, (&mut self.plain, 1, RATE_BPS)];
        for (prefix, (host, links, rate_bps)) in ["near", "far", "plain"].into_iter().zip(ends) {
            for n in 0..links {
                let (device, port) = (format!("eth{n}"), format!("{prefix}{n}"));
                let switch = &mut self.switch.host;
                let [near, far] = loose_cable(host, &device, switch, &port, Some(1));
                shape::shape(&mut host.netlink, near, rate_bps, Granularity::Packets)?;
                shape::shape(&mut switch.netlink, far, rate_bps, Granularity::Packets)?;
                host.netlink.set_up(near, true)?;
                switch.netlink.set_up(far, true)?;
                self.switch.set_passing(&port, true);
            }
        }
        Ok(())
    }

    /// A function that breaks a member's link by this fault (`false`) and repairs it (`true`) while the network is in
    /// use.
    pub(in crate::accept) fn breaker(
        &mut self,
        fault: Fault,
        side: Side,
        member: usize,
    ) -> Result<impl FnMut(bool) -> Result<(), Failure> + use<>, Failure> {
        let (port, bridge) = (self.switch.host.index(&side.port(member)), self.switch.bridge());
        let mut netlink = self.switch.host.netns.run(Netlink::open)??;
        Ok(move |works: bool| match fault {
            Fault::Pulled => Ok(netlink.set_up(port, works)?),
            Fault::Silent => Ok(netlink.set_master(port, works.then_some(bridge))?),
        })
    }

    /// The process of a team ends as by a crash.
    pub(in crate::accept) fn kill(&mut self, side: Side) -> Result<(), Failure> {
        self.processes[side as usize].take().map_or(Ok(()), |mut process| process.kill())
    }

    /// A process runs the team of an end, if that has one, or takes it over.
    pub(in crate::accept) fn start(&mut self, side: Side) -> Result<(), Failure> {
        let Some((mode, options)) = self.way.team(side) else { return Ok(()) };
        let members: Vec<String> = (0..LINKS).map(|n| format!("eth{n}")).collect();
        let rates: Vec<String> = members.iter().map(|name| format!("{name}:{}", RATE_BPS / 1_000_000)).collect();
        let rates = rates.join(",");
        let mut all = vec![("mode", mode), ("miimon", "10")];
        all.extend((mode == STRIPE).then_some(("stripe_rate", rates.as_str())));
        all.extend(options);
        let netns = &self.hosts[side as usize].netns;
        let process = self.product.start_team(netns, &self.state, TEAM, &members, &all, Kind::Bpf)?;
        self.processes[side as usize] = Some(process);
        Ok(())
    }

    /// Waits until the teams have so many paths to the other that work, or members where they know no paths.
    pub(in crate::accept) fn wait_for_paths(&self, count: usize) -> Result<(), Failure> {
        let working = match self.way {
            Way::Team((STRIPE, _)) => working_paths,
            Way::Team(_) | Way::OneSided(_) | Way::Multipath => working_members,
        };
        let teams = || [Side::Near, Side::Far].into_iter().filter(|side| self.way.team(*side).is_some());
        let start = Instant::now();
        while !teams().all(|side| self.status(side).and_then(working) == Some(count)) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::failed(format!("waited in vain for {count} paths between the hosts")));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// What the team of an end says; nothing while there is none.
    fn status(&self, side: Side) -> Option<TeamStatus> {
        let said = self.product.status(&self.hosts[side as usize].netns, &self.state, TEAM).ok()?;
        serde_json::from_value(said).ok()
    }

    /// Frames that each of the near host's links has sent so far.
    pub(in crate::accept) fn sent_frames(&mut self) -> [u64; LINKS] {
        std::array::from_fn(|member| self.hosts[Side::Near as usize].link(&format!("eth{member}")).stats.tx_frames)
    }

    /// A socket at each end, connected to the other's.
    pub(in crate::accept) fn datagrams(&self) -> [UdpSocket; 2] {
        let [near, far] = self.hosts.each_ref();
        datagrams((near, address(1, 7000)), (far, address(2, 7000))).into()
    }

    /// Where a stream goes from and to.
    pub(in crate::accept) fn stream_ends(&self) -> Ends<'_> {
        let multipath = (self.way == Way::Multipath).then_some(LINKS);
        Ends { from: &self.hosts[0], to: &self.hosts[1], address: address(2, 7001), multipath }
    }

    /// The same from and to the plain host.
    pub(in crate::accept) fn plain_ends(&self) -> [Ends<'_>; 2] {
        let (server, plain) = (&self.hosts[0], &self.plain);
        [
            Ends { from: server, to: plain, address: address(3, 7002), multipath: None },
            Ends { from: plain, to: server, address: address(1, 7003), multipath: None },
        ]
    }

    /// Watches what the switch learns from now on.
    pub(in crate::accept) fn learned(&self) -> Result<Learned, Failure> {
        Ok(self.switch.host.netns.run(Learned::open)??)
    }
}

impl Way {
    /// The team of an end; none if it has none.
    fn team(self, side: Side) -> Option<Options> {
        match (self, side) {
            (Way::Team(options), _) | (Way::OneSided(options), Side::Near) => Some(options),
            (Way::OneSided(_), Side::Far) | (Way::Multipath, _) => None,
        }
    }
}

impl Side {
    fn port(self, member: usize) -> String {
        match self {
            Side::Near => format!("near{member}"),
            Side::Far => format!("far{member}"),
        }
    }

    pub(in crate::accept) fn name(self) -> &'static str {
        match self {
            Side::Near => "sender's",
            Side::Far => "receiver's",
        }
    }
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 5, 0, host], port))
}

/// Paths that work to the one peer; none while there is none.
fn working_paths(team: TeamStatus) -> Option<usize> {
    team.peers.first().map(nicteam_daemon::PeerState::working)
}

fn working_members(team: TeamStatus) -> Option<usize> {
    Some(team.members.iter().filter(|member| member.state == "up").count())
}
