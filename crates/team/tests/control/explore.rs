//! Every sequence of a few events, for three members in active-backup.

use nicteam_team::{Config, Mode, PrimaryReselect};

use crate::control::world::{World, id, link, ms};

/// Events in a row.
const DEPTH: usize = 6;

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// This member's cable changes and the team hears of it.
    Flip(usize),
    /// The first member's cable changes unheard.
    FlipUnheard,
    /// Time passes to the next deadline.
    Deadline,
    /// The second member leaves, or joins again.
    LeaveOrJoin,
}

const STEPS: [Step; 6] =
    [Step::Flip(0), Step::Flip(1), Step::Flip(2), Step::FlipUnheard, Step::Deadline, Step::LeaveOrJoin];

#[test]
fn every_short_sequence_without_delays() {
    explore_all(Config { num_grat_arp: 2, ..active_backup(None) });
}

#[test]
fn every_short_sequence_with_delays() {
    explore_all(Config { updelay_ms: 150, downdelay_ms: 250, ..active_backup(None) });
}

#[test]
fn every_short_sequence_with_a_primary() {
    let config = active_backup(Some(PrimaryReselect::Always));
    explore_all(Config { updelay_ms: 100, downdelay_ms: 100, ..config });
}

#[test]
fn every_short_sequence_with_a_patient_primary() {
    let config = active_backup(Some(PrimaryReselect::Failure));
    explore_all(Config { updelay_ms: 250, min_links: 2, ..config });
}

fn active_backup(primary: Option<PrimaryReselect>) -> Config {
    Config {
        mode: Mode::ActiveBackup,
        primary: primary.map(|_| "m1".to_owned()),
        primary_reselect: primary.unwrap_or_default(),
        ..Config::default()
    }
}

fn explore_all(config: Config) {
    let mut world = World::with_members(config, &[true, true, false]);
    world.team.handle_addresses(vec![(0, [10, 0, 0, 1].into())]);
    let ends = explore(&world, &mut Vec::new());
    assert_eq!(ends, STEPS.len().pow(DEPTH as u32));
}

/// Takes every step from here, checks after each, and counts the ends.
fn explore(world: &World, path: &mut Vec<Step>) -> usize {
    if path.len() == DEPTH {
        return 1;
    }
    let mut ends = 0;
    for step in STEPS {
        path.push(step);
        let guard = PathOnPanic(path);
        let mut next = world.clone();
        next.log.clear();
        take(&mut next, step);
        std::mem::forget(guard);
        ends += explore(&next, path);
        path.pop();
    }
    ends
}

fn take(world: &mut World, step: Step) {
    match step {
        Step::Flip(place) => flip(world, place, World::hint),
        Step::FlipUnheard => flip(world, 0, World::wire),
        Step::Deadline => {
            let wait = world.team.poll_timeout().map_or(ms(100), |(at, _)| at - world.now());
            world.run(wait);
        }
        Step::LeaveOrJoin if world.members.contains_key(&id(1)) => world.leave(id(1)),
        Step::LeaveOrJoin => {
            world.join("m1", link(true));
        }
    }
}

fn flip(world: &mut World, place: usize, with: fn(&mut World, nicteam_team::MemberId, bool)) {
    if let Some(carrier) = world.members.get(&id(place)).map(|member| member.link.carrier) {
        with(world, id(place), !carrier);
    }
}

/// Says which steps led to a failed check.
struct PathOnPanic<'a>(&'a [Step]);

impl Drop for PathOnPanic<'_> {
    fn drop(&mut self) {
        eprintln!("after these steps: {:?}", self.0);
    }
}
