//! `show --format proc` beside the real thing: the files in `data/proc-6.1` are
//! what `/proc/net/bonding/team0` printed under Linux 6.1.176 in the situations
//! that their names tell; the same situations here must read the same.

use crate::common::{spec, start};
use nicteam_daemon::{RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_netlink::VethEnd;
use nicteam_team::HashPolicy;
use nicteam_testnet::{Host, may_make_networks};

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// A host with `eth0` and `eth1`, cabled to `p0` and `p1` of another.
struct Bench {
    near: Host,
    far: Host,
}

impl Bench {
    fn new() -> Bench {
        let (mut near, mut far) = (Host::quiet(), Host::quiet());
        for n in 0..2_u8 {
            let index = 1000 + 2 * u32::from(n);
            let name = format!("eth{n}");
            let mac = Some([2, 0, 0, 0, 0, n + 1]);
            let end = VethEnd { name: &name, index: Some(index), mac, netns: None, gso_max_segs: None };
            let other = format!("p{n}");
            let netns = Some(far.netns.as_fd());
            let far_end = VethEnd { name: &other, index: Some(index + 1), mac: None, netns, gso_max_segs: None };
            near.netlink.add_veth(&end, &far_end, 1500).unwrap();
            far.set_up(&other, true);
        }
        Bench { near, far }
    }

    fn team(&mut self, options: &[(&str, &str)]) -> RunningTeam {
        let team = start(&self.near, spec(options, Kind::Packet)).unwrap();
        self.near.set_up("team0", true);
        team
    }

    fn plug(&mut self, port: &str, carrier: bool) {
        self.far.set_up(port, carrier);
    }
}

/// What the kernel printed, with this program's version.
fn golden(name: &str) -> String {
    let path = format!("{}/tests/data/proc-6.1/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.replace("v6.1.176", &format!("v{}", env!("CARGO_PKG_VERSION")))
}

/// The same where ours differs on purpose: the name of a member, what a line there is in the kernel, and here.
fn golden_but(name: &str, changes: &[(&str, &str, &str)]) -> String {
    let mut sections: Vec<String> = golden(name).split("\nSlave Interface: ").map(str::to_owned).collect();
    for (member, kernels, ours) in changes {
        let section = sections.iter_mut().find(|section| section.starts_with(member));
        let section = section.unwrap_or_else(|| panic!("{name} has no {member}"));
        assert!(section.contains(kernels), "{name}: no {kernels} at {member}");
        *section = section.replacen(kernels, ours, 1);
    }
    sections.join("\nSlave Interface: ")
}

/// Waits until the team reads like this; what differs, if it never does.
#[track_caller]
fn assert_reads(team: &RunningTeam, expected: &str, name: &str) {
    let start = Instant::now();
    loop {
        let text = show::proc(&team.handle().status().unwrap());
        if text == expected {
            return;
        }
        if start.elapsed() > Duration::from_secs(20) {
            let only = |these: &str, those: &str| {
                let differs = |line: &&str| !those.lines().any(|other| other == *line);
                these.lines().filter(differs).map(str::to_owned).collect::<Vec<_>>()
            };
            let (ours, kernels) = (only(&text, expected), only(expected, &text));
            panic!("{name}: here {ours:?}, by the kernel {kernels:?} in {text}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn assert_golden(team: &RunningTeam, name: &str) {
    assert_reads(team, &golden(name), name);
}

#[test]
fn balance_rr_reads_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let team = bench.team(&[("mode", "balance-rr")]);
    assert_golden(&team, "balance-rr");
    bench.plug("p1", false);
    assert_golden(&team, "balance-rr-one-down");
    for device in ["eth0", "eth1"] {
        let index = bench.near.index(device);
        bench.near.netlink.delete(index).unwrap();
    }
    assert_golden(&team, "balance-rr-no-members");
    team.remove().unwrap();
}

#[test]
fn active_backup_reads_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let team = bench.team(&[("mode", "active-backup")]);
    assert_golden(&team, "active-backup");
    bench.plug("p0", false);
    assert_golden(&team, "active-backup-failed-over");
    bench.plug("p1", false);
    assert_golden(&team, "active-backup-all-down");
    team.remove().unwrap();
}

#[test]
fn delays_and_the_primary_read_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let common = [("mode", "active-backup"), ("updelay", "60000"), ("primary", "eth1")];
    let with = |more: &[(&'static str, &'static str)]| [&common[..], more].concat();
    let mut bench = Bench::new();
    let team = bench.team(&with(&[("downdelay", "60000"), ("num_grat_arp", "3"), ("primary_reselect", "better")]));
    assert_golden(&team, "active-backup-primary");
    bench.plug("p0", false);
    // A failing member still carries traffic, so the team has carrier here (control/mod.rs).
    let going_down = golden("active-backup-going-down").replacen("MII Status: down", "MII Status: up", 1);
    assert_reads(&team, &going_down, "active-backup-going-down");
    team.remove().unwrap();

    let mut bench = Bench::new();
    let team = bench.team(&with(&[("primary_reselect", "failure")]));
    bench.plug("p0", false);
    assert_reads_active(&team, "eth1");
    bench.plug("p0", true);
    assert_golden(&team, "active-backup-going-back");
    team.remove().unwrap();
}

#[track_caller]
fn assert_reads_active(team: &RunningTeam, member: &str) {
    nicteam_testnet::eventually("the failover", || team.handle().status().unwrap().active.as_deref() == Some(member));
}

#[test]
fn every_hash_policy_of_the_kernel_reads_as_there() {
    if !may_make_networks() {
        return;
    }
    for policy in HashPolicy::ALL.into_iter().filter(|policy| policy.number().is_some()) {
        let mut bench = Bench::new();
        let team = bench.team(&[("mode", "balance-xor"), ("xmit_hash_policy", policy.name())]);
        assert_golden(&team, &format!("balance-xor-{policy}"));
        team.remove().unwrap();
    }
}

#[test]
fn broadcast_and_a_team_without_miimon_read_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    for (name, options) in [
        ("broadcast", [("mode", "broadcast"), ("miimon", "100")]),
        ("balance-xor-no-miimon", [("mode", "balance-xor"), ("miimon", "0")]),
    ] {
        let mut bench = Bench::new();
        let team = bench.team(&options);
        assert_golden(&team, name);
        team.remove().unwrap();
    }
}

/// The driver looks at its churn machines when their 60 s are over; here an end
/// that is in sync is so at once (IEEE 802.1AX-2014, 6.4.17).
const ACTOR: (&str, &str) = ("Actor Churn State: monitoring", "Actor Churn State: none");
const PARTNER: (&str, &str) = ("Partner Churn State: monitoring", "Partner Churn State: none");

/// A difference at a member.
fn at<'a>(member: &'a str, (kernels, ours): (&'a str, &'a str)) -> (&'a str, &'a str, &'a str) {
    (member, kernels, ours)
}

/// A team of the far host, always the same system.
fn far_team(bench: &Bench, name: &str, key: &str, members: &[&str]) -> RunningTeam {
    let options = [("mode", "802.3ad"), ("ad_actor_system", "02:00:00:00:00:99"), ("ad_user_port_key", key)];
    let members = members.iter().map(|&member| member.to_owned()).collect();
    start(&bench.far, TeamSpec { name: name.to_owned(), members, ..spec(&options, Kind::Packet) }).unwrap()
}

/// The far host's team has `p0` alone. With `ad_select` stable the partner heard first is the one that stays.
fn first_partner(bench: &Bench, team: &RunningTeam, key: &str) -> RunningTeam {
    let far = far_team(bench, "far0", key, &["p0"]);
    nicteam_testnet::eventually("the first partner", || {
        show::proc(&team.handle().status().unwrap()).contains("Partner Mac Address: 02:00:00:00:00:99\n")
    });
    far
}

/// The far host's team has both ends. The aggregator of the port that hears it first is the one that stays: that of `eth0`.
fn partner(bench: &Bench, team: &RunningTeam, key: &str) -> RunningTeam {
    let far = first_partner(bench, team, key);
    far.handle().add_member("p1").unwrap();
    far
}

#[test]
fn lacp_with_a_partner_reads_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let team = bench.team(&[("mode", "802.3ad")]);
    let _far = partner(&bench, &team, "0");
    let in_sync = [at("eth0", ACTOR), at("eth0", PARTNER), at("eth1", ACTOR), at("eth1", PARTNER)];
    assert_reads(&team, &golden_but("802.3ad", &in_sync), "802.3ad");
    bench.plug("p1", false);
    let one_down = [
        at("eth0", ACTOR),
        at("eth0", PARTNER),
        ("eth1", "port key: 0", "port key: 15"),
        ("eth1", "port state: 61", "port state: 13"),
        ("eth1", "port state: 61", "port state: 53"),
    ];
    assert_reads(&team, &golden_but("802.3ad-one-down", &one_down), "one down");
    bench.plug("p0", false);
    let all_down = ["eth0", "eth1"].into_iter().flat_map(|member| {
        [
            (member, "port key: 0", "port key: 15"),
            (member, "port state: 61", "port state: 13"),
            (member, "port state: 61", "port state: 53"),
        ]
    });
    assert_reads(&team, &golden_but("802.3ad-all-down", &all_down.collect::<Vec<_>>()), "all down");
    team.remove().unwrap();
}

#[test]
fn lacp_with_other_options_reads_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let team = bench.team(&[
        ("mode", "802.3ad"),
        ("lacp_rate", "fast"),
        ("lacp_active", "off"),
        ("ad_actor_sys_prio", "5"),
        ("ad_user_port_key", "7"),
        ("xmit_hash_policy", "layer3+4"),
        ("ad_select", "count"),
        ("min_links", "2"),
    ]);
    let _far = partner(&bench, &team, "9");
    let in_sync = [at("eth0", ACTOR), at("eth0", PARTNER), at("eth1", ACTOR), at("eth1", PARTNER)];
    assert_reads(&team, &golden_but("802.3ad-options", &in_sync), "options");
    bench.plug("p1", false);
    let unmet = [
        at("eth0", ACTOR),
        at("eth0", PARTNER),
        ("eth1", "port key: 448", "port key: 463"),
        ("eth1", "port state: 62", "port state: 14"),
        ("eth1", "port state: 61", "port state: 53"),
    ];
    assert_reads(&team, &golden_but("802.3ad-min-links", &unmet), "min_links");
    team.remove().unwrap();
}

#[test]
fn lacp_without_a_partner_and_with_two_reads_as_the_kernels() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let team = bench.team(&[("mode", "802.3ad")]);
    let alone = [
        at("eth0", ACTOR),
        at("eth0", PARTNER),
        ("eth0", "port state: 77", "port state: 125"),
        ("eth0", "port state: 0", "port state: 56"),
        at("eth1", PARTNER),
        ("eth1", "port state: 0", "port state: 56"),
    ];
    assert_reads(&team, &golden_but("802.3ad-no-partner", &alone), "no partner");
    team.remove().unwrap();

    let mut bench = Bench::new();
    let team = bench.team(&[("mode", "802.3ad")]);
    let _first = first_partner(&bench, &team, "1");
    let _second = far_team(&bench, "far1", "2", &["p1"]);
    let apart = [at("eth0", ACTOR), at("eth0", PARTNER), at("eth1", PARTNER)];
    assert_reads(&team, &golden_but("802.3ad-keys-differ", &apart), "keys differ");
    team.remove().unwrap();
}

/// As `bond_info_show_master` has it; not recorded from a kernel.
#[test]
fn the_arp_monitor_and_moving_addresses_are_shown() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new();
    let options = [
        ("mode", "active-backup"),
        ("fail_over_mac", "active"),
        ("arp_interval", "1000"),
        ("arp_ip_target", "10.0.0.1,10.0.0.2"),
        ("arp_missed_max", "3"),
    ];
    let team = bench.team(&options);
    let text = show::proc(&team.handle().status().unwrap());
    for line in [
        "Bonding Mode: fault-tolerance (active-backup) (fail_over_mac active)\n",
        "MII Polling Interval (ms): 0\n",
        "ARP Polling Interval (ms): 1000\nARP Missed Max: 3\nARP IP target/s (n.n.n.n form): 10.0.0.1, 10.0.0.2\n",
        "NS IPv6 target/s (xx::xx form):\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}
