//! What the tests of both dataplanes share: frames, plans, a team of veth pairs.
#![allow(dead_code, reason = "each test uses a part")]

use nicteam_dataplane::{Port, TeamDevice};
use nicteam_sys::netlink::{Netlink, VethEnd};
use nicteam_sys::netns::{NetNs, is_network_root};
use nicteam_team::{Choose, HashPolicy, MemberId, MemberSet, Plan, PlanMember, Receive, Rewrite};
use nicteam_wire::Mac;

pub mod frames;
pub mod hosts;

/// Every policy.
pub const POLICIES: [HashPolicy; 8] = [
    HashPolicy::Layer2,
    HashPolicy::Layer23,
    HashPolicy::Layer34,
    HashPolicy::SrcMac,
    HashPolicy::DstMac,
    HashPolicy::SrcDstMac,
    HashPolicy::SrcDstIp,
    HashPolicy::SrcDstPort,
];

/// The team's address in [`Bench`].
pub const TEAM_MAC: Mac = Mac([2, 0, 0, 0, 1, 0]);

/// True if the caller may make namespaces; else says that the test is skipped.
pub fn may_run(test: &str) -> bool {
    let may = is_network_root();
    if !may {
        eprintln!("SKIPPED: {test}: no right to make network namespaces");
    }
    may
}

/// As [`may_run`], and eBPF is allowed and was built. Programs that the kernel
/// refuses for another reason fail the test.
pub fn may_run_bpf(test: &str) -> bool {
    match nicteam_dataplane::probe() {
        _ if !may_run(test) => false,
        (_, None) => true,
        (_, Some(reason)) => {
            let lacking = ["Operation not permitted", "install clang"];
            assert!(lacking.iter().any(|what| reason.contains(what)), "{reason}");
            eprintln!("SKIPPED: {test}: {reason}");
            false
        }
    }
}

/// Runs `f` in a network namespace of its own, on one CPU.
pub fn in_netns(f: impl FnOnce() + Send) {
    NetNs::new().unwrap().run(f).unwrap();
}

/// Keeps the devices of the namespace from sending frames of their own.
pub fn silence_ipv6() {
    nicteam_sys::netns::sysctl("ipv6/conf/default/disable_ipv6", "1").unwrap();
}

/// Keeps the calling thread on CPU 0: round robin counts for each CPU apart.
pub fn stay_on_one_cpu() {
    let mut cpus = nix::sched::CpuSet::new();
    cpus.set(0).unwrap();
    nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &cpus).unwrap();
}

/// The member at a place.
pub fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

/// The first `count` members.
pub fn ids(count: usize) -> Vec<MemberId> {
    (0..count).map(id).collect()
}

/// A plan in which every one of `count` members receives.
pub fn plan(generation: u64, choose: Choose, count: usize) -> Plan {
    let member = |id| PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default() };
    Plan { generation, choose, members: ids(count).into_iter().map(member).collect() }
}

/// One plan of each kind that chooses one member without chance, for `count`
/// members: every policy with a short and with a long, uneven table.
pub fn choices(count: usize) -> Vec<Choose> {
    let mut choices = vec![Choose::Nobody, Choose::One(id(count - 1))];
    for policy in POLICIES {
        choices.push(Choose::Hash { policy, table: ids(count) });
        let table = (0..256).map(|bucket| id(bucket * bucket % 7 % count)).collect();
        choices.push(Choose::Hash { policy, table });
    }
    for packets_per_member in [1, 3, 65535] {
        choices.push(Choose::RoundRobin { members: ids(count), packets_per_member, igmp: id(count / 2) });
    }
    choices
}

/// Every one of the first `count` members.
pub fn everybody(count: usize) -> MemberSet {
    ids(count).into_iter().collect()
}

/// A team device with carrier and veth pairs as members, all up, in the
/// caller's namespace; the far ends are called `far0`, `far1`, ...
pub struct Bench {
    pub netlink: Netlink,
    pub team: TeamDevice,
    pub ports: Vec<Port>,
}

impl Bench {
    pub fn new(count: usize) -> Bench {
        let mut netlink = Netlink::open().unwrap();
        let (team, adopted) = TeamDevice::create_or_adopt(&mut netlink, "team", TEAM_MAC, 1500).unwrap();
        assert!(!adopted);
        team.set_carrier(&mut netlink, true).unwrap();
        netlink.set_up(team.index, true).unwrap();
        let ports = (0..count).map(|place| port(&mut netlink, place)).collect();
        Bench { netlink, team, ports }
    }
}

fn port(netlink: &mut Netlink, place: usize) -> Port {
    let (near, far) = (format!("near{place}"), format!("far{place}"));
    let mac = [2, 0, 0, 0, 2, place as u8];
    let near_end = VethEnd { name: &near, index: None, mac: Some(mac), netns: None, gso_max_segs: None };
    let far_end = VethEnd { name: &far, index: None, mac: None, netns: None, gso_max_segs: None };
    netlink.add_veth(&near_end, &far_end, 1500).unwrap();
    let index = netlink.link(&near).unwrap().unwrap().index;
    let far_index = netlink.link(&far).unwrap().unwrap().index;
    for index in [index, far_index] {
        netlink.set_no_ipv6_address(index).unwrap();
        netlink.set_up(index, true).unwrap();
    }
    Port { id: id(place), name: near, index }
}
