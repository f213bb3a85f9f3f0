//! A team whose process can be stopped and killed, cabled to a partner.

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_dataplane::Kind as Dataplane;
use nicteam_sys::process;
use nicteam_team::lacp::LacpRate;
use nicteam_testnet::{Host, OpenVSwitch, cables, datagrams};
use nix::sys::signal::Signal;

use super::partner::{Kind, Partner};
use super::setup::{MEMBERS, TEAM, options};
use crate::accept::probe::{self, Course};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::product::{Product, TeamProcess};
use crate::scratch::Scratch;

/// Until LACP has agreed, or nothing more changes.
const SETTLED: Duration = Duration::from_secs(20);
/// In which a partner would notice something late.
const QUIET: Duration = Duration::from_secs(4);

/// The team and its partner; everything goes with this value.
pub(super) struct Bench<'a> {
    product: &'a Product,
    state: PathBuf,
    rate: LacpRate,
    process: TeamProcess,
    near: Host,
    pub(super) partner: Partner,
    /// A socket of each end; of a switch there is none.
    sockets: Option<[UdpSocket; 2]>,
}

/// What something cost the partner.
pub(super) struct Lost {
    ports: usize,
    frames: Option<Course>,
}

impl<'a> Bench<'a> {
    /// Both ends aggregate.
    pub(super) fn new(
        product: &'a Product,
        scratch: &Scratch,
        kind: Kind,
        rate: LacpRate,
    ) -> Result<Bench<'a>, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let state = scratch.path().join(format!("state-{number}"));
        let mut near = Host::quiet();
        let partner = partner(&mut near, kind, rate)?;
        let process = start(product, &state, &near, rate)?;
        let mut bench = Bench { product, state, rate, process, near, partner, sockets: None };
        bench.wait_for("the ends to agree", |bench| bench.partner.aggregating() == MEMBERS.len())?;
        if let Partner::Own(_, far, _) = &mut bench.partner {
            bench.near.address(TEAM, &[("10.4.0.1", 24)]);
            far.address(TEAM, &[("10.4.0.2", 24)]);
            let address = |host: u8| SocketAddr::from(([10, 4, 0, host], 7000));
            bench.sockets = Some(datagrams((&bench.near, address(1)), (far, address(2))).into());
            // The first frames wait for addresses to be resolved.
            bench.frames(|bench| {
                thread::sleep(Duration::from_millis(300));
                Ok(bench)
            })?;
        }
        thread::sleep(QUIET);
        Ok(bench)
    }

    /// What it costs the partner that something happens, and for a while after.
    pub(super) fn during(&mut self, happens: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<Lost, Failure> {
        let before = self.partner.lost();
        let frames = self.frames(|bench| {
            happens(bench)?;
            thread::sleep(QUIET);
            Ok(bench)
        })?;
        let ports = self.partner.lost() - before;
        Ok(Lost { ports, frames })
    }

    /// The process stands still for so long.
    pub(super) fn stop(&mut self, time: Duration) -> Result<(), Failure> {
        self.process.signal(Signal::SIGSTOP)?;
        process::sleep_or_termination(time);
        self.process.signal(Signal::SIGCONT)
    }

    /// The process ends as by a crash.
    pub(super) fn kill(&mut self) -> Result<(), Failure> {
        self.process.kill()
    }

    /// It ends, and another one takes over after so long.
    pub(super) fn replace(&mut self, time: Duration) -> Result<(), Failure> {
        self.kill()?;
        thread::sleep(time);
        self.process = start(self.product, &self.state, &self.near, self.rate)?;
        Ok(())
    }

    /// How many frames leave by the members of the dead team, and how many its stack wants to send.
    pub(super) fn sent_by_the_dead(&mut self, time: Duration) -> Result<(u64, u64), Failure> {
        // It is told three times, a second apart, that the members are not in sync.
        thread::sleep(QUIET);
        let before = self.sent()?;
        let asked = match self.frames(|bench| {
            thread::sleep(time);
            Ok(bench)
        })? {
            Some(course) => course.sent() as u64,
            None => 0,
        };
        Ok((self.sent()? - before, asked))
    }

    /// Frames that left by the members.
    fn sent(&self) -> Result<u64, Failure> {
        let devices = self.near.netns.run(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let devices = devices.map_err(Failure::failed)?;
        let sent = MEMBERS.iter().filter_map(|member| packets_sent(&devices, member)).sum();
        Ok(sent)
    }

    /// Sends to the partner, where there are sockets, while something goes on.
    fn frames(
        &mut self,
        during: impl FnOnce(&mut Self) -> Result<&mut Self, Failure>,
    ) -> Result<Option<Course>, Failure> {
        let Some(sockets) = self.sockets.take() else {
            during(self)?;
            return Ok(None);
        };
        let watched = probe::watch(&sockets, || during(self).map(drop));
        self.sockets = Some(sockets);
        watched.map(|(course, ())| Some(course))
    }

    fn wait_for(&mut self, what: &str, holds: impl Fn(&Self) -> bool) -> Result<(), Failure> {
        let start = Instant::now();
        while !holds(self) {
            if start.elapsed() > SETTLED {
                return Err(Failure::failed(format!("waited in vain for {what}")));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Lost {
    pub(super) fn figures(self, what: &str) -> Vec<Figure> {
        let ports =
            Figure::count(format!("{what}: ports lost by the partner"), self.ports as u64, self.ports.to_string());
        let frames = self.frames.map(|course| {
            let lost = course.lost();
            let measured = format!("{lost} of {}", course.sent());
            Figure::count(format!("{what}: frames lost"), lost as u64, measured)
        });
        [Some(ports), frames].into_iter().flatten().collect()
    }
}

/// `tx_packets` of a device in `/proc/net/dev`.
fn packets_sent(devices: &str, device: &str) -> Option<u64> {
    const TX_PACKETS: usize = 9;
    let (_, columns) =
        devices.lines().filter_map(|line| line.trim().split_once(':')).find(|(name, _)| *name == device)?;
    columns.split_whitespace().nth(TX_PACKETS)?.parse().ok()
}

/// A partner cabled to the host.
fn partner(near: &mut Host, kind: Kind, rate: LacpRate) -> Result<Partner, Failure> {
    match kind {
        Kind::Own => {
            let mut far = Host::quiet();
            cables(near, &mut far, MEMBERS.len());
            Partner::own(far, rate)
        }
        Kind::OpenVSwitch if !OpenVSwitch::is_installed() => {
            Err(Failure::Missing("no Open vSwitch; hint: apt-get install openvswitch-switch".to_owned()))
        }
        Kind::OpenVSwitch => {
            let mut switch = OpenVSwitch::start();
            cables(near, &mut switch.host, MEMBERS.len());
            Ok(Partner::switch(switch, rate))
        }
    }
}

/// A process that runs the team.
fn start(product: &Product, state: &Path, host: &Host, rate: LacpRate) -> Result<TeamProcess, Failure> {
    product.start_team(&host.netns, state, TEAM, &MEMBERS.map(str::to_owned), &options(rate), Dataplane::Bpf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read() {
        let devices = "Inter-|   Receive  |  Transmit\n face |bytes packets ... |bytes packets ...\n\
                         lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n\
                       eth0: 1000 7 0 0 0 0 0 0 2000 12 0 0 0 0 0 0\n";
        assert_eq!(packets_sent(devices, "eth0"), Some(12));
        assert_eq!(packets_sent(devices, "eth1"), None);
    }
}
