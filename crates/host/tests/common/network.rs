//! A host whose member carries all that can stand on a device, and a team that is brought up on it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Mutex;
use std::thread::JoinHandle;

use nicteam_daemon::{PersistedTeam, Service};
use nicteam_formats::Team;
use nicteam_host::{Error, down, up};
use nicteam_sys::netns;
use nicteam_testnet::{Host, Switch, eventually};

/// A host with `eth0` and `eth1` at a switch, and another one there at 10.0.0.2 and 2001:db8::2.
pub struct Network {
    pub host: Host,
    _far: Host,
    _switch: Switch,
    process: Mutex<Option<Process>>,
}

/// What stands for the process of a team.
struct Process {
    kill: UnixStream,
    thread: JoinHandle<()>,
}

impl Network {
    pub fn new() -> Network {
        let (mut host, mut far, mut switch) = (Host::new(), Host::new(), Switch::new());
        for of in [&host, &far] {
            // Nobody waits a second for an address of these tests.
            let at_once = || ["all", "default"].map(|of| netns::sysctl(&format!("ipv6/conf/{of}/accept_dad"), "0"));
            of.netns.run(at_once).unwrap().into_iter().for_each(|set| set.unwrap());
        }
        switch.join_all(&mut host, "eth", "a", 2);
        switch.join(&mut far, "eth0", "b0");
        far.address("eth0", &[("10.0.0.2", 24), ("2001:db8::2", 64)]);
        Network { host, _far: far, _switch: switch, process: Mutex::new(None) }
    }

    /// With addresses, routes, rules, neighbours, settings and a device on its first member.
    pub fn laden() -> Network {
        let network = Network::new();
        for line in [
            "address add 10.0.0.1/24 dev eth0 brd +",
            "address add 10.0.0.77/24 dev eth0 label eth0:x",
            "address add 10.0.0.99/24 dev eth0 valid_lft 1000 preferred_lft 500",
            "address add 172.16.0.1 peer 172.16.0.2/32 dev eth1",
            "address add 2001:db8::1/64 dev eth0",
            "address add 2001:db8:5::1/64 dev eth0 noprefixroute",
            "route replace 10.0.0.0/24 dev eth0 src 10.0.0.1 metric 50",
            "route del 10.0.0.0/24 dev eth0 proto kernel",
            "route add default via 10.0.0.2 metric 100 mtu 1400",
            "route add 10.5.0.0/16 via 10.0.0.2 table 5",
            "route add 10.6.0.0/16 nexthop via 10.0.0.2 weight 3 nexthop via 172.16.0.2",
            "-6 route add default via 2001:db8::2 metric 1024",
            "-6 route add 2001:db8:9::/48 via fe80::9 dev eth0 expires 5000",
            "rule add iif eth0 lookup 5 priority 100",
            "-6 rule add oif eth1 lookup 6 priority 101",
            "neighbour add 10.0.0.50 lladdr 02:00:00:00:00:99 dev eth0",
            "neighbour add proxy 10.0.0.51 dev eth0",
            "link add mac0 link eth0 type macvlan mode bridge",
            "address add 10.0.7.1/24 dev mac0",
            "link set mac0 up",
            "route add 10.7.0.0/16 via 10.0.7.9",
        ] {
            network.ip(line);
        }
        let set = || {
            netns::sysctl("ipv4/conf/eth0/rp_filter", "1").unwrap();
            netns::sysctl("ipv4/conf/eth0/arp_announce", "2").unwrap();
            netns::sysctl("ipv4/conf/mac0/arp_ignore", "1").unwrap();
            netns::sysctl("ipv6/conf/eth0/accept_ra", "0").unwrap();
        };
        network.host.netns.run(set).unwrap();
        eventually("addresses", || !network.host.snapshot(&[]).iter().any(|line| line.contains("tentative")));
        network
    }

    #[track_caller]
    pub fn ip(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let done = self.host.netns.run(|| Command::new("ip").args(&words).output()).unwrap().unwrap();
        assert!(done.status.success(), "ip {line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Brings a team up in this process, as a service does; `crash`: before this step it is as if it were killed.
    pub fn up(&self, team: &Team, crash: Option<usize>) -> Result<up::Done, Error> {
        self.interrupted(|| {
            let mut start = |persisted: &PersistedTeam| {
                let service = Service::start(persisted, Box::new(|_| ())).map_err(|error| error.to_string())?;
                *self.process.lock().unwrap() = Some(Process::of(service));
                Ok(())
            };
            let mut watch = |number: usize, _: &str| stop_at(number, crash);
            let options = up::Options { watch: Some(up::Watch(&mut watch)), ..up::Options::default() };
            up::bring_up(team, &mut start, options)
        })
    }

    /// Takes it down.
    pub fn down(&self, team: &str, crash: Option<usize>) -> Result<up::Done, Error> {
        let done = self.interrupted(|| {
            let mut watch = |number: usize, _: &str| stop_at(number, crash);
            down::take_down_watched(team, Some(up::Watch(&mut watch)))
        });
        if done.is_ok() {
            self.kill_team();
        }
        done
    }

    /// Kills the process of the team.
    pub fn kill_team(&self) {
        if let Some(process) = self.process.lock().unwrap().take() {
            drop(process.kill);
            process.thread.join().unwrap();
        }
    }

    fn interrupted(&self, run: impl FnOnce() -> Result<up::Done, Error> + Send) -> Result<up::Done, Error> {
        let run = std::panic::AssertUnwindSafe(run);
        self.host.netns.run(|| std::panic::catch_unwind(run)).unwrap().unwrap_or_else(|panic| {
            match panic.is::<Killed>() {
                true => Ok(up::Done::default()),
                false => std::panic::resume_unwind(panic),
            }
        })
    }
}

impl Process {
    fn of(service: Service) -> Process {
        let (kill, killed) = UnixStream::pair().unwrap();
        // The kernel stays as it is when the value goes.
        let thread = std::thread::spawn(move || service.wait(Some(killed.as_fd())).unwrap());
        Process { kill, thread }
    }
}

/// What stands for a kill.
struct Killed;

fn stop_at(number: usize, crash: Option<usize>) {
    if crash == Some(number) {
        // Without the panic's words: it is none.
        std::panic::resume_unwind(Box::new(Killed));
    }
}

/// A team of both.
pub fn team() -> Team {
    let addresses = ["10.0.0.200/24", "2001:db8::200/64"];
    Team {
        name: "team0".to_owned(),
        members: vec!["eth0".to_owned(), "eth1".to_owned()],
        options: vec![("mode".to_owned(), "active-backup".to_owned())],
        addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        routes: vec!["10.44.0.0/16 via 10.0.0.2".parse().unwrap()],
        // eth0 has 0.
        accept_ra: Some(2),
        ..Team::default()
    }
}
