//! Every short sequence of faults at every point of a negotiation, for two
//! systems with up to three ports each. What two sequences have in common is
//! gone through once.

use std::collections::BTreeSet;

use nicteam_team::lacp::{AdSelect, LacpConfig};

use crate::lacp::net::{End, Net, ms};
use crate::lacp::random::everything_aggregates;
use crate::lacp::world::{World, fast};

/// Faults in a row, of one and two ports; one less of three.
const DEPTH: usize = 4;
/// Things that happen between two systems until they are up, and some more.
const PREFIXES: usize = 60;

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The next frame or deadline.
    Next,
    /// This cable is cut, or repaired.
    Cable(usize),
    /// The far ends of the first two cables change places.
    Cross,
    /// The same, and nobody loses carrier.
    CrossUnnoticed,
    /// The last port of the second system has another key, or its old one.
    Key,
}

fn steps(ports: usize) -> Vec<Step> {
    let mut steps = vec![Step::Next, Step::Key];
    steps.extend((0..ports).map(Step::Cable));
    if ports > 1 {
        steps.extend([Step::Cross, Step::CrossUnnoticed]);
    }
    steps
}

#[test]
fn one_port() {
    explore(|_| {}, 1);
}

#[test]
fn two_ports() {
    explore(|_| {}, 2);
}

#[test]
fn two_ports_with_independent_control_and_strict() {
    explore(|config| (config.coupled_control, config.lacp_strict) = (false, true), 2);
}

#[test]
fn three_ports() {
    explore(|config| config.ad_select = AdSelect::Bandwidth, 3);
}

#[test]
fn three_ports_that_wait_for_each_other() {
    explore(|config| (config.aggregate_wait_ms, config.ad_select) = (2000, AdSelect::Count), 3);
}

fn explore(change: fn(&mut LacpConfig), ports: usize) {
    let config = |system| {
        let mut config = fast(system);
        change(&mut config);
        config
    };
    let mut start = World::pair(config(0), config(1), ports).unrecorded();
    let (mut seen, mut rested) = (BTreeSet::new(), 0);
    let depth = if ports > 2 { DEPTH - 1 } else { DEPTH };
    for _ in 0..PREFIXES {
        walk(&start, ports, depth, &mut seen, &mut rested, &mut Vec::new());
        start.step();
    }
    assert!(rested > 20, "only {rested} ways were gone to their end");
}

/// Takes every step from here; where they end, rest must bring all links up.
fn walk(
    world: &World,
    ports: usize,
    depth: usize,
    seen: &mut BTreeSet<Vec<u8>>,
    rested: &mut usize,
    path: &mut Vec<Step>,
) {
    if !seen.insert(shape(&world.net, depth)) {
        return;
    }
    let guard = PathOnPanic(path);
    if depth == 0 {
        *rested += 1;
        let mut world = world.clone();
        world.run(ms(9000));
        everything_aggregates(&world.net);
        std::mem::forget(guard);
        return;
    }
    std::mem::forget(guard);
    for step in steps(ports) {
        let mut next = world.clone();
        path.push(step);
        let guard = PathOnPanic(path);
        take(&mut next, step, ports);
        std::mem::forget(guard);
        walk(&next, ports, depth - 1, seen, rested, path);
        path.pop();
    }
}

fn take(world: &mut World, step: Step, ports: usize) {
    let far = |world: &World, port: usize| -> Option<End> { world.net.far((0, port)) };
    match step {
        Step::Next => world.step(),
        Step::Cable(port) if far(world, port).is_some() => world.unplug((0, port)),
        Step::Cable(port) => {
            let free = (0..ports).find(|far| world.net.far((1, *far)).is_none());
            free.into_iter().for_each(|free| world.plug((0, port), (1, free)));
        }
        Step::Cross => {
            if let (Some(one), Some(other)) = (far(world, 0), far(world, 1)) {
                world.plug((0, 0), other);
                world.plug((0, 1), one);
            }
        }
        Step::CrossUnnoticed => world.cross_unnoticed((0, 0), (0, 1)),
        Step::Key => {
            let last = (1, ports - 1);
            let old = world.net.system(1).ports[ports - 1].link.speed_mbps;
            world.set_speed(last, if old == Some(1000) { 10_000 } else { 1000 });
        }
    }
}

/// A net without its clock: cables, keys, the states of all machines, what each
/// end knows, and what is on its way.
fn shape(net: &Net, depth: usize) -> Vec<u8> {
    let mut shape = vec![depth as u8];
    for port in net.systems().flat_map(|system| &system.seen) {
        shape.extend([port.receive as u8, port.mux as u8, port.selected as u8, port.periodic as u8]);
        shape.extend([port.aggregator.unwrap_or(0) as u8, port.actor.key as u8, port.actor.state.0]);
        shape.extend([port.partner.state.0, port.partner.port as u8, port.partner.key as u8, u8::from(port.defaulted)]);
    }
    for (near, far) in net.world.cables() {
        shape.extend([near.0 as u8, near.1 as u8, far.0 as u8, far.1 as u8]);
    }
    for (end, frame) in net.world.in_flight() {
        shape.extend([end.0 as u8, end.1 as u8]);
        shape.extend(&frame[14..]);
    }
    shape
}

/// Says which steps led to a failed check.
struct PathOnPanic<'a>(&'a [Step]);

impl Drop for PathOnPanic<'_> {
    fn drop(&mut self) {
        eprintln!("after these steps: {:?}", self.0);
    }
}
