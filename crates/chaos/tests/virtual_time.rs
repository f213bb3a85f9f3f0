//! Random faults under virtual time, in every mode: minutes of them, and hours where all is run (`NICTEAM_SOAK=1`).

use std::time::Duration;

use nicteam_chaos::broken;
use nicteam_team::{Config, Time};

use crate::lab::{Lab, MEMBERS, Setup, carry_out, setup, soaks};

const MODES: [&str; 11] = [
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
    "stripe",
    "ovs-active-backup",
    "ovs-balance-slb",
    "ovs-balance-tcp",
];
/// Under virtual time both dataplanes differ in what happens while the process does not run.
const DATAPLANES: [&str; 2] = ["bpf", "packet"];

/// Carries the faults of a seed out, and checks what must hold.
fn check(setup: &Setup) -> Vec<String> {
    let faults = setup.faults();
    let (run, mut lab) = carry_out(setup, &faults);
    let mut wrong: Vec<String> = broken(&run).into_iter().map(|it| format!("{}: {}", it.what, it.text)).collect();
    for node in 0..2 {
        let machine = lab.world.node_mut(node).machine();
        if !machine.host.carrier {
            wrong.push(format!("host {node}: the team has no carrier"));
        }
        let up = machine.host.team.members().iter().filter(|member| member.link.carrier).count();
        if up != MEMBERS {
            wrong.push(format!("host {node}: {up} of {MEMBERS} members are up"));
        }
        let carried = lab.carried(node, 32);
        if carried != 32 {
            wrong.push(format!("host {node}: {carried} of 32 flows arrive"));
        }
    }
    let Setup { config: Config { mode, .. }, dataplane, seed, at_once, .. } = setup;
    let name = format!("{mode}, {dataplane}, seed {seed}, {at_once} at once, {} faults", faults.len());
    wrong.into_iter().map(|text| format!("{name}: {text}")).collect()
}

/// An hour for each mode and dataplane, of which one part has one fault at a time, and the other several.
#[test]
fn every_mode_keeps_what_it_promises() {
    let mut wrong = Vec::new();
    let mut passed = Duration::ZERO;
    for (place, mode) in MODES.into_iter().enumerate() {
        for (other, dataplane) in DATAPLANES.into_iter().enumerate() {
            for at_once in [1, 3] {
                let mut of_mode = Duration::ZERO;
                let hours = if soaks() { Duration::from_secs(1800) } else { Duration::from_secs(1) };
                let mut seed = 0;
                // A sample: half of them, as one fault at a time says most.
                if !soaks() && ((place + other) % 2 == 1 || at_once == 3 && place % 3 > 0) {
                    continue;
                }
                while of_mode < hours {
                    let one = setup(mode, dataplane, seed);
                    let every = one.every * 2 / (at_once as u32 + 1);
                    let one = Setup { at_once, every, ..one };
                    wrong.extend(check(&one));
                    of_mode += one.measured;
                    seed += 1;
                }
                passed += of_mode;
            }
        }
    }
    println!("{:.2} hours of virtual time", passed.as_secs_f64() / 3600.0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_seed_is_the_same_each_time() {
    let log = |seed| {
        let setup = Setup { measured: Duration::from_secs(40), ..setup("802.3ad", "bpf", seed) };
        let (run, lab) = carry_out(&setup, &setup.faults());
        (lab.world.flown(), format!("{:?}", run.connections))
    };
    assert_eq!(log(3), log(3));
    assert_ne!(log(3).0, log(4).0);
}

#[test]
fn a_cable_that_stays_pulled_is_seen() {
    // What the checks above are worth: they fail then.
    let mut lab = Lab::new(&setup("active-backup", "bpf", 1));
    lab.pass(Time::ZERO + Duration::from_secs(1));
    assert_eq!([lab.carried(0, 9), lab.carried(1, 9)], [9, 9]);
    (0..MEMBERS).for_each(|number| lab.world.set_carrier((0, number), false));
    lab.pass(Time::ZERO + Duration::from_secs(2));
    assert_eq!(lab.carried(0, 9), 0);
    assert!(!lab.world.node_mut(0).machine().host.carrier);
}
