//! Thousands of schedules: any step at any time, and then the world heals.

use std::time::Duration;

use nicteam_multipath::{Config, Fence, Kind, NoPath, Outcome, Policy, Request};

use super::world::{Manners, Step, World};

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn request(&mut self, id: u64) -> Request {
        let kind = match self.below(8) {
            0 => Kind::Flush,
            1..=3 => Kind::Read,
            _ => Kind::Write,
        };
        let (lba, blocks) = if kind == Kind::Flush { (0, 0) } else { (self.below(4), 1 + self.below(2) as u32) };
        Request { id, kind, lba, blocks }
    }

    fn trouble(&mut self) -> Outcome {
        match self.below(4) {
            0 => Outcome::Busy,
            1 => Outcome::Aborted,
            2 => Outcome::Refused("no memory".to_owned()),
            _ => Outcome::UnitAttention { asc: 0x29, ascq: 0 },
        }
    }
}

/// One run.
struct Run {
    paths: usize,
    config: Config,
    manners: Manners,
    /// Requests may wait too long.
    gives_up: bool,
}

/// The target that makes it hardest, as far as it can be fenced through any portal.
const WORST: Manners = Manners { executes_to_the_end: true, portal_groups: false, aborts_in_silence: true };

/// Steps of a run before the world heals.
const STEPS: u64 = 150;

/// What came of a run.
struct Came {
    world: World,
    trace: Vec<Step>,
}

fn run(seed: u64, run: &Run) -> Came {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut world = World::new(run.config.clone(), run.paths, run.manners);
    world.gives_up = run.gives_up;
    let (mut trace, mut id) = (Vec::new(), 0);
    for _ in 0..STEPS {
        world.may_break = u32::from(random.below(12) == 0);
        if world.checks.unfinished() < 4 && random.below(3) == 0 {
            id += 1;
            world.submit(random.request(id));
        }
        if random.below(20) == 0 {
            world.trouble.push_back(random.trouble());
        }
        let mut steps = world.steps();
        // Time passes seldom as long as anything else could happen.
        if steps.len() > 1 && random.below(8) != 0 {
            steps.retain(|step| *step != Step::Time);
        }
        // Where no path has carrier nothing is due.
        if steps.is_empty() {
            steps.push(Step::Carrier(0));
        }
        let step = steps[random.below(steps.len() as u64) as usize];
        trace.push(step);
        world.step(step);
        if !world.checks.violations.is_empty() {
            return Came { world, trace };
        }
    }
    heal(&mut world, run.manners);
    Came { world, trace }
}

/// Nothing breaks any more, and everything is quick: long before a command is overdue all requests are finished.
///
/// Unless a reset that was given up reaches the target late, and commands that it aborts get no answer.
fn heal(world: &mut World, manners: Manners) {
    world.may_break = 0;
    world.heal();
    let end = world.now + Duration::from_secs(if manners.aborts_in_silence { 60 } else { 10 });
    while world.checks.unfinished() > 0 && world.now < end {
        let step = world.deliveries().first().copied().unwrap_or(Step::Time);
        world.step(step);
    }
}

fn config(policy: Policy) -> Config {
    Config { policy, no_path: NoPath::Queue(Duration::from_secs(3600)), ..Config::default() }
}

fn holds(policies: &[Policy], paths: usize, manners: Manners, fence: Fence, seeds: u64) {
    let (mut late, mut lost) = (0, 0);
    for seed in 0..seeds {
        let policy = policies[seed as usize % policies.len()];
        let limit = Duration::from_secs(3600);
        let config = Config { fence: Fence { limit, ..fence }, ..config(policy) };
        let came = run(seed, &Run { paths, config, manners, gives_up: false });
        came.world.checks.hold(&(seed, &came.trace));
        assert_eq!(came.world.checks.unfinished(), 0, "seed {seed}: {:?}", came.world);
        assert_eq!(came.world.checks.failed, 0, "seed {seed}: nothing has to fail");
        late += came.world.checks.late;
        lost += came.world.checks.lost;
    }
    // The schedules do what the fence is there for.
    assert!(late * 10 > seeds && lost * 10 > seeds, "{late} late writes, {lost} refused commands");
}

/// The first seed at which something is violated.
fn violated(config: &Config, manners: Manners, seeds: u64) -> Option<String> {
    let runs = (0..seeds).map(|seed| run(seed, &Run { paths: 2, config: config.clone(), manners, gives_up: false }));
    runs.flat_map(|came| came.world.checks.violations).next()
}

const POLICIES: [Policy; 5] =
    [Policy::RoundRobin { ios: Some(1) }, Policy::Fixed, Policy::QueueLength, Policy::ServiceTime, Policy::Best];

#[test]
fn no_stale_write_and_nothing_lost_with_two_paths() {
    holds(&POLICIES, 2, WORST, Fence::default(), 5000);
}

#[test]
fn no_stale_write_and_nothing_lost_with_four_paths() {
    holds(&POLICIES, 4, WORST, Fence::default(), 2000);
    holds(&POLICIES, 4, Manners { aborts_in_silence: false, ..WORST }, Fence::default(), 2000);
}

#[test]
fn portal_groups_need_the_own_portal() {
    let manners = Manners { portal_groups: true, ..WORST };
    holds(&POLICIES, 2, manners, Fence { any_portal: false, ..Fence::default() }, 1000);
    let found = violated(&config(Policy::RoundRobin { ios: Some(1) }), manners, 2000);
    assert!(found.is_some(), "a fence that does not fence goes unnoticed");
}

#[test]
fn a_target_that_ends_commands_with_their_session_needs_no_reset() {
    let without = Fence { reset: false, ..Fence::default() };
    holds(&POLICIES, 3, Manners::default(), without, 2000);
    let config = Config { fence: without, ..config(Policy::RoundRobin { ios: Some(1) }) };
    let found = violated(&config, WORST, 2000);
    assert!(found.is_some(), "a fence that does not fence goes unnoticed");
}

#[test]
fn requests_that_may_fail_are_finished_once() {
    for (no_path, limit) in [(NoPath::Fail, 30_000), (NoPath::Queue(Duration::from_millis(300)), 200)] {
        let mut failed = 0;
        for seed in 0..1000 {
            let fence = Fence { limit: Duration::from_millis(limit), ..Fence::default() };
            let config = Config { no_path, fence, ..config(POLICIES[seed as usize % 5]) };
            let came = run(seed, &Run { paths: 2, config, manners: WORST, gives_up: true });
            came.world.checks.hold(&(seed, &came.trace));
            assert_eq!(came.world.checks.unfinished(), 0, "seed {seed}");
            failed += came.world.checks.failed;
        }
        assert!(failed > 100, "{failed} requests failed");
    }
}
