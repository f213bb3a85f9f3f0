//! Nanoseconds per choice of the plan: the Rust plan and the eBPF program side by side.
//!
//! `cargo run --release -p nicteam-dataplane --example ns_per_choice`, as root.
//! The eBPF figure is the kernel's mean of `BPF_PROG_TEST_RUN`, the cost of an
//! empty plan beside it; each is the least of several interleaved rounds.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::bench::Bench;
use common::{hosts, id, ids, may_run_bpf, plan, stay_on_one_cpu};
use nicteam_dataplane::Dataplane;
use nicteam_team::{Choose, HashPolicy, Plan, PlanState};
use nicteam_wire::Frame;

const MEMBERS: usize = 4;
const REPEAT: u32 = 200_000;
const ROUNDS: usize = 5;

fn main() {
    if may_run_bpf("ns_per_choice") {
        measure();
    }
}

fn measure() {
    stay_on_one_cpu();
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(hosts::bpf, &plan(1, Choose::Nobody, MEMBERS));
    let mut plans = vec![("nobody".to_owned(), Choose::Nobody), ("active-backup".to_owned(), Choose::One(id(0)))];
    for policy in HashPolicy::ALL {
        plans.push((policy.to_string(), Choose::Hash { policy, table: ids(MEMBERS) }));
    }
    plans.push((
        "balance-rr".to_owned(),
        Choose::RoundRobin { members: ids(MEMBERS), packets_per_member: 1, igmp: id(0) },
    ));
    let mut least = vec![(f64::INFINITY, f64::INFINITY); plans.len()];
    for _ in 0..ROUNDS {
        for ((_, choose), (rust_ns, bpf_ns)) in plans.iter().zip(&mut least) {
            let plan = plan(1, choose.clone(), MEMBERS);
            *rust_ns = rust_ns.min(rust(&plan));
            bench.team.run(|| dataplane.apply(&plan).expect("a sound plan"));
            let run = dataplane.dry_run_behind(&udp(), REPEAT).expect("a sound frame");
            *bpf_ns = bpf_ns.min(f64::from(run.duration_ns));
        }
    }
    println!("{:<16}{:>10}{:>10}", "plan", "rust ns", "bpf ns");
    for ((name, _), (rust_ns, bpf_ns)) in plans.iter().zip(&least) {
        println!("{name:<16}{rust_ns:>10.1}{bpf_ns:>10.0}");
    }
}

fn rust(plan: &Plan) -> f64 {
    let bytes = udp();
    let frame = Frame::parse(&bytes).expect("more than 14 bytes");
    let mut state = PlanState::new(0);
    let start = Instant::now();
    for _ in 0..REPEAT {
        black_box(plan.choose(black_box(&frame), &mut state));
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(REPEAT)
}

/// A UDP frame of 60 bytes.
fn udp() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x9c, 0x40, 0x13, 0x89, 0, 26, 0, 0]);
    frame.resize(60, 0);
    frame
}
