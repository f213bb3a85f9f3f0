//! `nicteam check`, `up`, `confirm` and `down`.

mod advertised;
mod confirming;
mod handed_over;
mod leased;
mod lost;
mod moving;
mod rebooted;
mod refusals;
mod repeated;
mod signals;
mod ssh;
mod stacked;
mod standing;

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use nicteam_sys::netns;
use nicteam_testnet::{Host, Switch, eventually};

use crate::common::teams::TeamHost;

/// A host with `eth0` and `eth1` at a switch, and another one there, which it reaches by addresses of its first device.
struct Network {
    near: TeamHost,
    far: Host,
    switch: TeamHost,
}

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
const NEAR_V6: &str = "2001:db8:3::1";
const FAR_V6: &str = "2001:db8:3::2";

impl Network {
    fn new() -> Network {
        Network::at(Switch::new(), |_| ())
    }

    /// The same; `configure`: how the switch is set up when its cables are there.
    fn at(mut switch: Switch, configure: impl FnOnce(&mut TeamHost)) -> Network {
        let (mut near, mut far) = (Host::new(), Host::new());
        switch.join_all(&mut near, "eth", "a", 2);
        switch.join(&mut far, "eth0", "b0");
        let mut switch = TeamHost::new(switch.host);
        configure(&mut switch);
        near.address("eth0", &[("10.3.0.1", 24), (NEAR_V6, 64)]);
        far.address("eth0", &[("10.3.0.2", 24), (FAR_V6, 64)]);
        let network = Network { near: TeamHost::new(near), far, switch };
        network.ip("route add default via 10.3.0.2");
        network.ip("-6 route add default via 2001:db8:3::2");
        network.ip("rule add iif eth0 lookup 5 priority 100");
        network.ip("route add 10.5.0.0/16 via 10.3.0.2 table 5");
        network.near.host.netns.run(|| netns::sysctl("ipv4/conf/eth0/rp_filter", "1")).unwrap().unwrap();
        eventually("addresses", || {
            let settled = |host: &Host| !host.snapshot(&[]).iter().any(|line| line.contains("tentative"));
            settled(&network.near.host) && settled(&network.far)
        });
        network
    }

    #[track_caller]
    fn ip(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let done = self.near.host.netns.run(|| Command::new("ip").args(&words).output()).unwrap().unwrap();
        assert!(done.status.success(), "ip {line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A file of the host's.
    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.near.state.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What `nicteam` says on both outputs, and its exit code.
    #[track_caller]
    fn nicteam(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.near.nicteam(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
    }

    /// The same of a command that succeeds.
    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let (code, said) = self.nicteam(arguments);
        assert_eq!(code, 0, "{arguments:?}: {said}");
        said
    }

    /// What can be compared of the host's network.
    fn snapshot(&self) -> Vec<String> {
        self.near.host.snapshot(&["dp"])
    }
}

/// The file of a team of both devices.
const TEAM: &str = "[teams.team0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\nmiimon = 10\n";

/// A TCP connection between two hosts.
struct Session {
    near: TcpStream,
    far: TcpStream,
}

impl Session {
    /// From an address of one host to one of the other.
    fn new(network: &Network, to: SocketAddr) -> Session {
        let listener = network.far.netns.run(|| TcpListener::bind(to)).unwrap().unwrap();
        let to = listener.local_addr().unwrap();
        let near = network.near.host.netns.run(|| TcpStream::connect(to)).unwrap().unwrap();
        let (far, _) = listener.accept().unwrap();
        for end in [&near, &far] {
            end.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        }
        Session { near, far }
    }

    /// Bytes go both ways.
    #[track_caller]
    fn live_on(&mut self, when: &str) {
        let (sent, mut heard) = ([7; 10_000], [0; 10_000]);
        self.near.write_all(&sent).unwrap_or_else(|error| panic!("{when}: {error}"));
        self.far.read_exact(&mut heard).unwrap_or_else(|error| panic!("{when}: {error}"));
        self.far.write_all(&heard).unwrap_or_else(|error| panic!("{when}: {error}"));
        self.near.read_exact(&mut heard).unwrap_or_else(|error| panic!("{when}: {error}"));
        assert_eq!(heard, sent, "{when}");
    }
}
