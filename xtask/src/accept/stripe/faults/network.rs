//! Two striping hosts and a plain one at a bridge whose cables can be pulled.

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_daemon::control::Client;
use nicteam_sys::netlink::{Learned, Netlink};
use nicteam_sys::process;
use nicteam_sys::shape::{self, Granularity};
use nicteam_testnet::{Host, loose_cable};

use crate::accept::probe;
use crate::failure::Failure;
use crate::product::Product;
use crate::scratch::Scratch;

/// Links of each team.
pub(super) const LINKS: usize = 4;
/// Rate of every link, bit/s.
pub(super) const RATE_BPS: u64 = 100_000_000;

const TEAM: &str = "team0";
const BRIDGE: &str = "br0";
/// Until all paths are there. Generous: it guards against paths that never come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The one that sends.
    Near,
    /// The one that receives.
    Far,
}

/// The hosts, the switch and the teams; all of it goes with this value.
pub(super) struct Network<'a> {
    product: &'a Product,
    state: PathBuf,
    options: Vec<(String, String)>,
    hosts: [Host; 2],
    plain: Host,
    switch: Host,
    processes: [Option<Child>; 2],
}

impl<'a> Network<'a> {
    /// Teams with these options beside `mode=stripe`, that know all paths between them.
    pub(super) fn new(
        product: &'a Product,
        scratch: &Scratch,
        options: &[(&str, &str)],
    ) -> Result<Network<'a>, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let state = scratch.path().join(format!("stripe-{number}"));
        let rates: Vec<String> = (0..LINKS).map(|n| format!("eth{n}:{}", RATE_BPS / 1_000_000)).collect();
        let own = [("mode", "stripe"), ("miimon", "10"), ("stripe_rate", &rates.join(","))];
        let options = own.iter().chain(options).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut network = Network {
            product,
            state,
            options: options.collect(),
            hosts: [Host::quiet(), Host::quiet()],
            plain: Host::quiet(),
            switch: Host::quiet(),
            processes: [None, None],
        };
        network.cable()?;
        for side in [Side::Near, Side::Far] {
            network.start(side)?;
        }
        network.wait_for_paths(LINKS)?;
        for (n, host) in (1..).zip(&mut network.hosts) {
            host.address(TEAM, &[(&format!("10.5.0.{n}"), 24)]);
        }
        network.plain.address("eth0", &[("10.5.0.3", 24)]);
        Ok(network)
    }

    fn cable(&mut self) -> Result<(), Failure> {
        self.switch.netlink.add_bridge(BRIDGE)?;
        let bridge = self.switch.index(BRIDGE);
        let [near, far] = &mut self.hosts;
        let ends = [(near, LINKS), (far, LINKS), (&mut self.plain, 1)];
        let mut index = 1000;
        for (prefix, (host, links)) in ["near", "far", "plain"].into_iter().zip(ends) {
            for n in 0..links {
                let (device, port) = (format!("eth{n}"), format!("{prefix}{n}"));
                loose_cable(host, &device, &mut self.switch, &port, index, Some(1));
                shape::shape(&mut host.netlink, index, RATE_BPS, Granularity::Packets)?;
                shape::shape(&mut self.switch.netlink, index + 1, RATE_BPS, Granularity::Packets)?;
                self.switch.netlink.set_master(index + 1, Some(bridge))?;
                host.netlink.set_up(index, true)?;
                self.switch.netlink.set_up(index + 1, true)?;
                index += 2;
            }
        }
        self.switch.set_up(BRIDGE, true);
        Ok(())
    }

    /// Pulls or plugs in the cable of a member, at the switch.
    pub(super) fn plug(&mut self, side: Side, member: usize, in_place: bool) {
        self.switch.set_up(&side.port(member), in_place);
    }

    /// Sets the cable of a member in place or pulls it, while the network is in use.
    pub(super) fn cutter(
        &mut self,
        side: Side,
        member: usize,
    ) -> Result<impl FnMut(bool) -> Result<(), Failure> + use<>, Failure> {
        let port = self.switch.index(&side.port(member));
        let mut netlink = self.switch.netns.run(Netlink::open)??;
        Ok(move |in_place| Ok(netlink.set_up(port, in_place)?))
    }

    /// Lets nothing pass by a member's port any more, or again, while its link stays up.
    pub(super) fn pass(&mut self, side: Side, member: usize, passes: bool) -> Result<(), Failure> {
        let (port, bridge) = (self.switch.index(&side.port(member)), self.switch.index(BRIDGE));
        Ok(self.switch.netlink.set_master(port, passes.then_some(bridge))?)
    }

    /// The process of a team ends as by a crash.
    pub(super) fn kill(&mut self, side: Side) -> Result<(), Failure> {
        let Some(mut process) = self.processes[side as usize].take() else { return Ok(()) };
        process.kill().and_then(|()| process.wait()).map(drop).map_err(Failure::failed)
    }

    /// A process runs a team, or takes it over.
    pub(super) fn start(&mut self, side: Side) -> Result<(), Failure> {
        let mut command = self.product.team_run(TEAM);
        let members: Vec<String> = (0..LINKS).map(|n| format!("eth{n}")).collect();
        command.args(["--members", &members.join(","), "--dataplane", "bpf"]);
        for (name, value) in &self.options {
            match name.as_str() {
                "mode" => command.args(["--mode", value]),
                _ => command.arg("-o").arg(format!("{name}={value}")),
            };
        }
        command.env("NICTEAM_STATE_DIR", &self.state);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_netns(&mut command, &self.hosts[side as usize].netns);
        process::die_with_parent(&mut command);
        let process = command.spawn().map_err(|error| Failure::failed(format!("cannot run nicteam: {error}")))?;
        self.processes[side as usize] = Some(process);
        Ok(())
    }

    /// Waits until both ends have so many paths to the other that work.
    pub(super) fn wait_for_paths(&self, count: usize) -> Result<(), Failure> {
        let start = Instant::now();
        while !self.hosts.iter().all(|host| working_paths(host) == Some(count)) {
            if start.elapsed() > PATIENCE {
                return Err(Failure::failed(format!("waited in vain for {count} paths between the teams")));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// A socket at each end, connected to the other's.
    pub(super) fn datagrams(&self) -> Result<[UdpSocket; 2], Failure> {
        let [near, far] = self.hosts.each_ref();
        probe::sockets([(near, address(1, 7000)), (far, address(2, 7000))])
    }

    /// The hosts between which a stream goes, and where it goes to.
    pub(super) fn stream_ends(&self) -> (&Host, &Host, SocketAddr) {
        (&self.hosts[0], &self.hosts[1], address(2, 7001))
    }

    /// The same from and to the plain host.
    pub(super) fn plain_ends(&self) -> [(&Host, &Host, SocketAddr); 2] {
        let server = &self.hosts[0];
        [(server, &self.plain, address(3, 7002)), (&self.plain, server, address(1, 7003))]
    }

    /// Watches what the switch learns from now on.
    pub(super) fn learned(&self) -> Result<Learned, Failure> {
        Ok(self.switch.netns.run(Learned::open)??)
    }
}

impl Side {
    fn port(self, member: usize) -> String {
        match self {
            Side::Near => format!("near{member}"),
            Side::Far => format!("far{member}"),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Near => "sender's",
            Side::Far => "receiver's",
        }
    }
}

impl Drop for Network<'_> {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().flatten() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 5, 0, host], port))
}

/// Paths that work to the one peer of a host's team; none while there is no team or no peer.
fn working_paths(host: &Host) -> Option<usize> {
    let status = host.netns.run(|| Client::connect(TEAM).ok()?.status().ok()).ok()??;
    status.peers.first().map(nicteam_daemon::PeerState::working)
}
