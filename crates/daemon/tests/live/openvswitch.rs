//! 802.3ad with Open vSwitch as the partner.

use std::process::{Command, Stdio};

use crate::common::{on_each_dataplane, spec, start};
use nicteam_daemon::RunningTeam;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, OpenVSwitch, cable, eventually};

/// `a` with a team of two members at a bond of the switch; `c` at a plain port.
struct Bench {
    ovs: OpenVSwitch,
    a: Host,
    _c: Host,
    team: RunningTeam,
}

impl Bench {
    /// The team has these options, the bond this `lacp` and `lacp-time`.
    fn new(options: &[(&str, &str)], lacp: &str, time: &str, kind: Kind) -> Option<Bench> {
        let mut ovs = OpenVSwitch::start_or_skip()?;
        let (mut a, mut c) = (Host::quiet(), Host::quiet());
        cable(&mut a, "eth0", &mut ovs.host, "p0");
        cable(&mut a, "eth1", &mut ovs.host, "p1");
        cable(&mut c, "eth0", &mut ovs.host, "p2");
        ovs.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
        ovs.vsctl(&format!(
            "add-bond br0 bond0 p0 p1 bond_mode=balance-slb lacp={lacp} other_config:lacp-time={time} -- add-port br0 p2"
        ));
        c.address("eth0", &[("10.2.0.9", 24)]);
        let common = &[("mode", "802.3ad"), ("miimon", "20")][..];
        let team = start(&a, spec(&[common, options].concat(), kind)).unwrap();
        a.address("team0", &[("10.2.0.1", 24)]);
        Some(Bench { ovs, a, _c: c, team })
    }

    fn aggregating(&self) -> Vec<bool> {
        self.team.report().unwrap().members.iter().map(|member| member.status.active).collect()
    }

    fn problems(&self) -> String {
        let problems = self.team.handle().status().unwrap().problems;
        problems.into_iter().map(|problem| problem.text + "\n").collect()
    }

    /// Both ends use both links, and frames pass.
    #[track_caller]
    fn settled(&self, what: &str) {
        eventually(what, || self.aggregating() == [true, true] && self.ovs.enabled() == 2);
        assert!(
            self.ovs.appctl("lacp/show").contains("status: active negotiated")
                || self.ovs.appctl("lacp/show").contains("status: passive negotiated")
        );
        assert_eq!(self.problems(), "", "{what}");
        self.reaches(what);
    }

    #[track_caller]
    fn reaches(&self, what: &str) {
        let ping = || {
            let mut command = Command::new("ping");
            command.args(["-c1", "-W1", "10.2.0.9"]).stdout(Stdio::null()).status()
        };
        eventually(&format!("a ping: {what}"), || self.a.netns.run(ping).unwrap().unwrap().success());
    }
}

#[test]
fn active_and_passive_fast_and_slow_agree() {
    let cases = [
        ("on", "fast", "active", "fast", Kind::Packet),
        ("on", "slow", "passive", "fast", Kind::Packet),
        ("off", "fast", "active", "slow", Kind::Packet),
    ];
    for (active, rate, lacp, time, kind) in cases {
        let options = [("lacp_active", active), ("lacp_rate", rate)];
        let Some(bench) = Bench::new(&options, lacp, time, kind) else { return };
        bench.settled(&format!("lacp_active {active}, lacp_rate {rate} with {lacp}, {time}"));
    }
}

#[test]
fn a_cut_link_is_left_and_taken_back() {
    on_each_dataplane(|kind| {
        let options = [("lacp_rate", "fast"), ("aggregate_wait", "0")];
        let Some(mut bench) = Bench::new(&options, "active", "fast", kind) else { return };
        bench.settled("at first");
        bench.ovs.host.set_up("p1", false);
        eventually("one member", || bench.aggregating() == [true, false] && bench.ovs.enabled() == 1);
        bench.reaches("by one member");
        assert!(bench.problems().contains("member eth1 has no carrier"), "{}", bench.problems());
        bench.ovs.host.set_up("p1", true);
        bench.settled("after the cut");
    });
}

#[test]
fn a_frozen_switch_is_silent_and_comes_back() {
    on_each_dataplane(|kind| {
        let options = [("lacp_rate", "fast"), ("aggregate_wait", "0"), ("lacp_strict", "on")];
        let Some(bench) = Bench::new(&options, "active", "fast", kind) else { return };
        bench.settled("at first");
        bench.ovs.signal("-STOP");
        eventually("the silence", || bench.problems().contains("eth0 does not aggregate: partner silent"));
        eventually("no member", || bench.aggregating() == [false, false]);
        bench.ovs.signal("-CONT");
        bench.settled("once it runs on");
    });
}

#[test]
fn ports_of_two_groups_differ_in_their_keys() {
    let options = [("lacp_rate", "fast"), ("aggregate_wait", "0")];
    let Some(bench) = Bench::new(&options, "active", "fast", Kind::Packet) else { return };
    bench.settled("at first");
    // A port that speaks LACP alone is a group of its own.
    bench.ovs.vsctl("del-port bond0 -- add-port br0 p0 -- set port p0 lacp=active other_config:lacp-time=fast -- add-port br0 p1 -- set port p1 lacp=active other_config:lacp-time=fast");
    eventually("the reason", || bench.problems().contains("does not aggregate: keys differ: the partner's is "));
    assert_eq!(bench.aggregating().iter().filter(|active| **active).count(), 1, "{}", bench.problems());
    bench.reaches("by the member that is left");
}
