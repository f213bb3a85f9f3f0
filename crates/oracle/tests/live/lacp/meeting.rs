//! A team on a host and the kernel's bond in a guest, joined by two cables.

use std::process::{Command, Stdio};
use std::time::Duration;

use nicteam_daemon::{RunningTeam, TeamSpec, show};
use nicteam_dataplane::Choice;
use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Cable, Guest};
use nicteam_team::Config;
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

pub type Options<'a> = &'a [(&'a str, &'a str)];

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
/// Both look at their links often, so that a test is short, and spread pings over their members.
const COMMON: Options<'static> = &[("mode", "802.3ad"), ("miimon", "20"), ("xmit_hash_policy", "layer2+3")];
/// Addresses of the guest, enough to meet every member by the hash.
const GUESTS: std::ops::Range<u8> = 100..108;

/// `team0` of `eth0` and `eth1` on host `a`; `bond0` of `a0` and `a1` in the guest.
pub struct Meeting {
    pub a: Host,
    /// Where the cables end that the guest has.
    wall: Host,
    pub guest: Guest,
    pub team: Option<RunningTeam>,
}

impl Meeting {
    /// Neither team nor bond yet; nothing, said aloud, where that cannot be.
    pub fn new() -> Option<Meeting> {
        if !may_make_networks() {
            return None;
        }
        let (mut a, mut wall) = (Host::quiet(), Host::quiet());
        let mut cables = Vec::new();
        for n in 0..2 {
            let port = format!("p{n}");
            cable(&mut a, &format!("eth{n}"), &mut wall, &port);
            let index = wall.index(&port);
            cables.push(wall.netns.run(|| Cable::open(index)).unwrap().unwrap());
        }
        let guest = nicteam_oracle::guest_at(AGENT, cables)?;
        Some(Meeting { a, wall, guest, team: None })
    }

    /// Both, with these options of their own.
    pub fn of(ours: Options<'_>, kernels: Options<'_>) -> Option<Meeting> {
        let mut meeting = Meeting::new()?;
        meeting.start_bond(kernels);
        meeting.start_team(ours);
        Some(meeting)
    }

    pub fn start_team(&mut self, options: Options<'_>) {
        let mut config = Config::default();
        for (name, value) in [COMMON, options].concat() {
            config.set(name, value).unwrap();
        }
        let spec = TeamSpec {
            name: "team0".to_owned(),
            config,
            members: vec!["eth0".to_owned(), "eth1".to_owned()],
            mac: None,
            mtu: None,
            dataplane: Choice::Auto,
        };
        self.team = Some(self.a.netns.run(|| RunningTeam::start(spec, Box::new(drop))).unwrap().unwrap());
        self.a.address("team0", &[("10.2.0.1", 24)]);
    }

    pub fn stop_team(&mut self) {
        self.team.take().unwrap().remove().unwrap();
    }

    pub fn start_bond(&mut self, options: Options<'_>) {
        self.guest.add_bond("bond0", &[COMMON, options].concat(), &["a0".to_owned(), "a1".to_owned()]);
        self.address_bond("bond0");
    }

    pub fn address_bond(&mut self, bond: &str) {
        for n in GUESTS {
            let address = [10, 2, 0, n].into();
            self.guest.must(Request::AddAddress { name: bond.to_owned(), address, prefix: 24 });
        }
    }

    /// Plugs a cable in or pulls it, at both ends.
    pub fn plug(&mut self, n: usize, carrier: bool) {
        self.wall.set_up(&format!("p{n}"), carrier);
        self.guest.plug(&format!("a{n}"), carrier);
    }

    pub fn team(&self) -> &RunningTeam {
        self.team.as_ref().unwrap()
    }

    /// Which of our members send.
    pub fn ours(&self) -> Vec<bool> {
        self.team().report().unwrap().members.iter().map(|member| member.status.active).collect()
    }

    /// Which of the kernel's do, with a partner.
    pub fn kernels(&mut self) -> Vec<bool> {
        self.guest.distributing(&["a0".to_owned(), "a1".to_owned()])
    }

    /// What our team says is wrong.
    pub fn problems(&self) -> String {
        let problems = self.team().handle().status().unwrap().problems;
        problems.into_iter().map(|problem| problem.text + "\n").collect()
    }

    /// `/proc/net/bonding`, ours and the kernel's.
    pub fn procs(&mut self) -> [String; 2] {
        let kernels = self.guest.proc_bonding("bond0").unwrap();
        [show::proc(&self.team().handle().status().unwrap()), kernels]
    }

    /// Both ends come to use these links, know each other rightly, and frames
    /// pass by these and by no others.
    #[track_caller]
    pub fn settles(&mut self, uses: [bool; 2], what: &str) {
        let agreed = (0..4000).any(|_| self.ours() == uses && self.kernels() == uses && self.agree() || pause());
        assert!(agreed, "{what}: {uses:?} did not come about\n{}", self.procs().join("\n"));
        self.passes(uses, what);
    }

    /// What each end says of itself on a link is what the other knows of it.
    pub fn agree(&mut self) -> bool {
        let [ours, kernels] = self.procs();
        (0..2).all(|n| {
            let (Some(ours), Some(kernels)) = (ends(&ours, n), ends(&kernels, n)) else { return false };
            ours[0] == kernels[1] && ours[1] == kernels[0]
        })
    }

    /// Pings reach every address of the guest, by these members.
    #[track_caller]
    fn passes(&mut self, uses: [bool; 2], what: &str) {
        self.reaches(what);
        let before = self.frames();
        for n in GUESTS {
            eventually(&format!("a ping to {n}: {what}"), || self.ping(n));
        }
        let passed = self.frames().into_iter().zip(before).map(|(now, before)| now > before).collect::<Vec<_>>();
        // Each member sent, each member received.
        let expected: Vec<bool> = uses.into_iter().flat_map(|used| [used; 2]).collect();
        assert_eq!(passed, expected, "members that sent and received: {what}");
    }

    /// One ping passes, sooner or later.
    #[track_caller]
    pub fn reaches(&self, what: &str) {
        eventually(&format!("a ping: {what}"), || self.ping(GUESTS.start));
    }

    fn ping(&self, n: u8) -> bool {
        let ping = || {
            let mut command = Command::new("ping");
            command.args(["-c1", "-W1", &format!("10.2.0.{n}")]).stdout(Stdio::null()).status()
        };
        self.a.netns.run(ping).unwrap().unwrap().success()
    }

    /// Frames that each member sent and received for the team.
    fn frames(&self) -> Vec<u64> {
        let members = self.team().report().unwrap().members;
        members.iter().flat_map(|member| [member.counters.tx_frames, member.counters.rx_frames]).collect()
    }
}

/// The two ends of a member, actor and partner, in the words of `/proc/net/bonding`.
fn ends(proc: &str, member: usize) -> Option<[Vec<&str>; 2]> {
    let member = proc.split("\nSlave Interface: ").nth(member + 1)?;
    let end = |title: &str| {
        let (_, lines) = member.split_once(title)?;
        // The names of the keys differ: `port key`, `oper key`.
        Some(
            lines
                .lines()
                .take(6)
                .map(|line| line.trim().trim_start_matches("port ").trim_start_matches("oper "))
                .collect(),
        )
    };
    Some([end("details actor lacp pdu:\n")?, end("details partner lacp pdu:\n")?])
}

/// A short wait; false, for use in a condition.
pub fn pause() -> bool {
    std::thread::sleep(Duration::from_millis(5));
    false
}
