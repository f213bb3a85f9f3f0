//! Every schedule of a small world: two paths, two writes of one block, and so many breaks.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use nicteam_multipath::{Config, Fence, Kind, NoPath, Policy, Request};

use super::world::{Manners, Step, World};

/// What is left to happen.
#[derive(Clone, Copy)]
struct Left {
    breaks: u32,
    times: u32,
}

/// What was explored.
#[derive(Default)]
struct Explored {
    seen: BTreeSet<u64>,
    ends: u64,
    late: u64,
    /// The first violation with the steps that lead to it.
    violation: Option<(Vec<String>, Vec<Step>)>,
}

fn request(id: u64, kind: Kind) -> Request {
    Request { id, kind, lba: 0, blocks: 1 }
}

/// Both paths up, nothing outstanding.
fn calm(config: Config, manners: Manners) -> World {
    let mut world = World::new(config, 2, manners);
    while let Some(step) = world.deliveries().first().copied() {
        world.step(step);
    }
    world
}

fn explore(world: &World, left: Left, second: Option<Request>, trace: &mut Vec<Step>, explored: &mut Explored) {
    if explored.violation.is_some() {
        return;
    }
    let mut hasher = DefaultHasher::new();
    format!("{world:?}{}{}{second:?}", left.breaks, left.times).hash(&mut hasher);
    if !explored.seen.insert(hasher.finish()) {
        return;
    }
    if !world.checks.violations.is_empty() {
        explored.violation = Some((world.checks.violations.clone(), trace.clone()));
        return;
    }
    let mut world = world.clone();
    let mut second = second;
    // The second one comes when the first one is done.
    if let Some(request) = second.take_if(|_| world.checks.unfinished() == 0) {
        world.submit(request);
    }
    world.may_break = left.breaks;
    let mut steps = world.steps();
    steps.retain(|step| *step != Step::Time || left.times > 0);
    if steps.is_empty() || world.checks.unfinished() == 0 && second.is_none() && world.deliveries().is_empty() {
        explored.ends += 1;
        explored.late += u64::from(world.checks.late > 0);
        return;
    }
    for step in steps {
        let mut next = world.clone();
        next.step(step);
        let left = match step {
            Step::Time => Left { times: left.times - 1, ..left },
            _ => Left { breaks: next.may_break, ..left },
        };
        trace.push(step);
        explore(&next, left, second, trace, explored);
        trace.pop();
    }
}

fn all(fence: Fence, manners: Manners, second: Kind, left: Left) -> Explored {
    let no_path = NoPath::Queue(Duration::from_secs(3600));
    let config = Config { policy: Policy::RoundRobin { ios: Some(1) }, fence, no_path, ..Config::default() };
    let mut world = calm(config, manners);
    world.submit(request(1, Kind::Write));
    let mut explored = Explored::default();
    explore(&world, left, Some(request(2, second)), &mut Vec::new(), &mut explored);
    println!("{} states, {} ends, {} with a late write", explored.seen.len(), explored.ends, explored.late);
    explored
}

/// A target that ends commands with their session, and one that needs the reset.
const TARGETS: [(Manners, bool); 2] = [
    (Manners { executes_to_the_end: false, portal_groups: false, aborts_in_silence: true }, false),
    (Manners { executes_to_the_end: true, portal_groups: false, aborts_in_silence: true }, true),
];

#[test]
fn every_order_of_two_requests_and_a_break() {
    for (manners, reset) in TARGETS {
        for second in [Kind::Write, Kind::Read] {
            let fence = Fence { reset, ..Fence::default() };
            let explored = all(fence, manners, second, Left { breaks: 1, times: 1 });
            assert_eq!(explored.violation, None);
            // The space holds what the fence is there for.
            assert!(explored.ends > 100 && explored.late > 10, "{} ends, {} late", explored.ends, explored.late);
        }
    }
}

#[test]
fn every_order_of_two_writes_and_two_breaks() {
    for (manners, reset) in TARGETS {
        let fence = Fence { reset, ..Fence::default() };
        let explored = all(fence, manners, Kind::Write, Left { breaks: 2, times: 0 });
        assert_eq!(explored.violation, None);
        assert!(explored.ends > 100 && explored.late > 10, "{} ends, {} late", explored.ends, explored.late);
    }
}

#[test]
fn a_fence_that_does_not_fence_is_found() {
    let groups = Manners { portal_groups: true, ..Manners::default() };
    let (needs_reset, _) = TARGETS[1];
    for (manners, reset) in [(groups, true), (needs_reset, false)] {
        let fence = Fence { reset, ..Fence::default() };
        let explored = all(fence, manners, Kind::Write, Left { breaks: 1, times: 0 });
        assert!(explored.violation.is_some(), "{manners:?}");
    }
}
