//! What the tests of both dataplanes share: frames, plans, a team of veth pairs.
#![allow(dead_code, reason = "each test uses a part")]

use nicteam_dataplane::{Counters, Dataplane};
use nicteam_team::balance::{Eligible, Number, Punt};
use nicteam_team::buckets::{BUCKETS, Key};
use nicteam_team::{Balance, Buckets, Choose, HashPolicy, MemberId, MemberSet, Plan, PlanMember, Receive, Rewrite};
use nicteam_testnet::may_make_networks;
use nicteam_wire::Mac;

pub mod bench;
pub mod flows;
pub mod frames;
pub mod hosts;
pub mod rigs;
pub mod segments;
pub mod striping;
pub mod tunnels;

/// True if the test may make networks, and eBPF is allowed and was built; else
/// it says so. Programs that the kernel refuses for another reason fail the test.
pub fn may_run_bpf(test: &str) -> bool {
    match nicteam_dataplane::probe() {
        _ if !may_make_networks() => false,
        (_, None) => true,
        (_, Some(reason)) => {
            let lacking = ["Operation not permitted", "install clang"];
            assert!(lacking.iter().any(|what| reason.contains(what)), "{reason}");
            eprintln!("SKIPPED: {test}: {reason}");
            false
        }
    }
}

/// Keeps the calling thread on the CPU it is on: round robin counts for each CPU apart.
pub fn stay_on_one_cpu() {
    let mut cpus = nix::sched::CpuSet::new();
    cpus.set(nix::sched::sched_getcpu().unwrap()).unwrap();
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
    let member = |id| PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default(), queue_id: 0 };
    Plan {
        generation,
        choose,
        members: ids(count).into_iter().map(member).collect(),
        lease: None,
        failover: None,
        notes_sources: false,
    }
}

/// One plan of each kind that chooses one member without chance, for `count`
/// members: every policy with a long, uneven table, and one with a short one.
pub fn choices(count: usize) -> Vec<Choose> {
    let mut choices = vec![Choose::Nobody, Choose::One(id(count - 1))];
    for policy in HashPolicy::ALL {
        let table = (0..256).map(|bucket| id(bucket * bucket % 7 % count)).collect();
        choices.push(Choose::Hash { policy, table });
    }
    choices.push(Choose::Hash { policy: HashPolicy::Layer34, table: ids(count) });
    let assigned = (0..256).map(|bucket| id(bucket * bucket % 7 % (count - 1))).collect();
    choices.push(Choose::HashOrAll { policy: HashPolicy::Layer34, table: assigned });
    for packets_per_member in [1, 3, 65535] {
        choices.push(Choose::RoundRobin { members: ids(count), packets_per_member, igmp: id(count / 2) });
    }
    choices.extend(balances(count));
    choices.extend(buckets(count));
    choices
}

/// Open vSwitch's buckets: by source and by flow, given by the plan in part or not at all, with fewer and fewer members that may send.
fn buckets(count: usize) -> Vec<Choose> {
    let free = || Box::new([None; BUCKETS]);
    let given = || Box::new(std::array::from_fn(|bucket| (bucket % 3 > 0).then(|| id(bucket * bucket % 7 % count))));
    let all = [
        Buckets { key: Key::Source { basis: 0 }, table: free(), enabled: ids(count) },
        Buckets { key: Key::Flow { basis: 0 }, table: given(), enabled: ids(count) },
        Buckets { key: Key::Source { basis: 77 }, table: given(), enabled: ids(count - 1).into_iter().rev().collect() },
        Buckets { key: Key::Flow { basis: u32::MAX }, table: free(), enabled: vec![id(count - 1), id(1), id(2)] },
        Buckets { key: Key::Flow { basis: 1 }, table: given(), enabled: Vec::new() },
    ];
    all.into_iter().map(Choose::Buckets).collect()
}

/// balance-tlb and balance-alb, with and without `tlb_dynamic_lb`.
fn balances(count: usize) -> Vec<Choose> {
    let assigned: Vec<MemberId> = (0..256).map(|bucket| id(bucket * bucket % 7 % count)).collect();
    let punt = |neighbours| Some(Punt { from: Mac(frames::OWN), neighbours });
    let active = id(count - 1);
    let tlb = |policy, table, counted| {
        let (eligible, number) = (Eligible::Tlb, Number::Hash(policy));
        Balance { eligible, number, table, active, counted, punt: None }
    };
    let alb = |number, table, counted| Balance {
        eligible: Eligible::Alb,
        number,
        table,
        active,
        counted,
        punt: punt(counted),
    };
    let all = [
        tlb(HashPolicy::Layer2, ids(count), false),
        tlb(HashPolicy::Layer34, assigned.clone(), true),
        alb(Number::Hash(HashPolicy::Layer23), ids(count), false),
        alb(Number::Destination, assigned, true),
    ];
    all.into_iter().map(Choose::Balance).collect()
}

/// Every one of the first `count` members.
pub fn everybody(count: usize) -> MemberSet {
    ids(count).into_iter().collect()
}

/// What one member carried.
pub fn counters(dataplane: &dyn Dataplane, place: usize) -> Counters {
    let all = dataplane.counters().unwrap();
    all.into_iter().find(|(member, _)| *member == id(place)).unwrap().1
}

/// False, and says so, where no program can be on a member's way out.
pub fn shows_programs_carrier(test: &str) -> bool {
    let shows =
        std::fs::read_to_string("/proc/kallsyms").is_ok_and(|symbols| symbols.contains(" bpf_cast_to_kern_ctx\n"));
    if !shows {
        eprintln!("SKIPPED: {test}: this kernel shows programs no carrier (Linux 6.2 does)");
    }
    shows
}
