//! Cables pulled and plugged: the states of members and the active member, in the
//! kernel's driver and in a [`Team`] under virtual time.
//!
//! Both see the same events. Each step ends when the kernel shows what the team
//! shows at that point, so times do not matter; the sequence of values of every
//! member and of the active member must be the same, step by step. Of a step in which
//! two cables change at once only the end is compared: see "Link states" in
//! `docs/kernel-differences.md`. A reading of the kernel's may still fall between two cables, or
//! behind the end of a brief step: what differs counts if it does so each time that the trace is run.

use nicteam_oracle::frames::Random;
use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Bench, Guest, Sample, Step, is_soak, seed};
use nicteam_team::{Config, Duplex, Effect, MemberLink, MemberStatus, Mode, Team, Time};
use nicteam_wire::Mac;

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const MEMBERS: usize = 3;
const STEPS: usize = 12;
/// Traces of each configuration.
const TRACES: usize = 1;
/// The same in a soak.
const SOAK_TRACES: usize = 20;
/// How often a trace is run until it does not differ.
const TRIES: usize = 3;
/// How long the kernel may take to show what it is to show, milliseconds.
const PATIENCE_MS: u64 = 5_000;

type Options<'a> = &'a [(&'a str, &'a str)];

/// Delays are long against `miimon`, so that a state is seen that one delays.
const DELAYS: [Options<'static>; 4] = [
    &[("miimon", "20")],
    &[("miimon", "20"), ("updelay", "160")],
    &[("miimon", "20"), ("downdelay", "160")],
    &[("miimon", "20"), ("updelay", "160"), ("downdelay", "200")],
];

#[test]
fn members_take_the_kernels_states_in_the_kernels_order() {
    compare(&[&[("mode", "active-backup")], &[("mode", "balance-xor")], &[("mode", "balance-tlb")]]);
}

#[test]
fn the_primary_takes_over_as_in_the_kernel() {
    compare(&[
        &[("mode", "active-backup"), ("primary", "a1")],
        &[("mode", "active-backup"), ("primary", "a1"), ("primary_reselect", "better")],
        &[("mode", "active-backup"), ("primary", "a1"), ("primary_reselect", "failure")],
    ]);
}

#[track_caller]
fn compare(choices: &[Options<'_>]) {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    let mut random = Random(seed());
    let (mut steps, mut again, mut differences) = (0, 0, Vec::new());
    for choice in choices {
        for delays in DELAYS {
            let options = [*choice, delays].concat();
            for _ in 0..if is_soak() { SOAK_TRACES } else { TRACES } {
                let ours = Run::random(&options, &mut random);
                steps += ours.steps.len();
                let mut found = ours.difference(&mut guest, &options);
                for _ in 1..TRIES {
                    if found.is_some() {
                        again += 1;
                        found = ours.difference(&mut guest, &options);
                    }
                }
                differences.extend(found);
            }
        }
    }
    eprintln!(
        "link states against Linux {}: {steps} steps under {} configurations: {} differences, {again} traces run again",
        guest.kernel(),
        choices.len() * DELAYS.len(),
        differences.len()
    );
    assert!(differences.is_empty(), "seed {}:\n{}", seed(), differences.join("\n"));
}

/// What happens in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Events {
    /// Members whose cable is pulled or plugged in, all at once.
    toggled: Vec<usize>,
    /// The step ends with the first reading, and not when all delays are over.
    brief: bool,
}

/// A step as the team took it: the events, and what was shown from before them to the end.
type Taken = (Events, Vec<Vec<String>>);

/// A team, its cables, and what it showed.
struct Run {
    team: Team,
    now: Time,
    carriers: Vec<bool>,
    steps: Vec<Taken>,
}

impl Run {
    /// Random steps, the first without an event.
    fn random(options: Options<'_>, random: &mut Random) -> Run {
        let mut config = Config::default();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        let team = Team::new(config, Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).unwrap();
        let mut run = Run { team, now: Time::ZERO, carriers: vec![true; MEMBERS], steps: Vec::new() };
        for member in 0..MEMBERS {
            run.team.add_member(&format!("a{member}"), link(true), run.now).unwrap();
            run.drain(&mut Vec::new());
        }
        run.step(Events::default());
        for _ in 0..STEPS {
            let first = random.below(MEMBERS);
            let second = random.one_in(4).then(|| (first + 1) % MEMBERS);
            let brief = second.is_none() && random.one_in(2);
            run.step(Events { toggled: [first].into_iter().chain(second).collect(), brief });
        }
        run
    }

    fn step(&mut self, events: Events) {
        for member in &events.toggled {
            self.carriers[*member] ^= true;
        }
        let mut seen = vec![self.shown()];
        let miimon_ms = self.team.config().miimon_ms;
        let reading = self.now + std::time::Duration::from_millis(miimon_ms.into());
        while let Some((at, _)) = self.team.poll_timeout() {
            if at > reading && (events.brief || self.is_settled()) {
                break;
            }
            self.now = at;
            self.team.handle_timeout(at);
            self.drain(&mut seen);
        }
        seen.dedup();
        self.steps.push((events, seen));
    }

    /// True if no delay runs and every member is what its cable is.
    fn is_settled(&self) -> bool {
        let words = self.shown();
        let wanted = self.carriers.iter().map(|carrier| if *carrier { "up" } else { "down" });
        words.iter().zip(wanted).all(|(word, wanted)| word == wanted)
    }

    /// Each member's state, and the active member: as the files that are watched.
    fn shown(&self) -> Vec<String> {
        let members = self.team.members();
        let active = members.iter().find(|member| member.active && self.team.config().mode != Mode::BalanceXor);
        let states = members.iter().map(|member| member.state.to_string());
        states.chain([active.map_or_else(String::new, |member| member.name.clone())]).collect()
    }

    /// Does what the team wants; after each change notes what is shown.
    fn drain(&mut self, seen: &mut Vec<Vec<String>>) {
        let mut reads = false;
        while let Some(effect) = self.team.poll_effect() {
            reads |= effect == Effect::ReadLinks;
        }
        seen.push(self.shown());
        if reads {
            let read = |member: MemberStatus| (member.id, link(self.carriers[member.id.index()]));
            let links: Vec<_> = self.team.members().into_iter().map(read).collect();
            self.team.handle_links(&links, self.now).unwrap();
            self.drain(seen);
        }
    }

    /// The same events in the guest; what differs, if anything does.
    fn difference(&self, guest: &mut Guest, options: Options<'_>) -> Option<String> {
        let bench = Bench::new(guest, options, MEMBERS);
        let samples = guest.trace(self.requests(), watched(bench));
        bench.remove(guest);
        for (number, (events, ours)) in self.steps.iter().enumerate() {
            let kernel: Vec<&Sample> = samples.iter().filter(|sample| sample.step == number).collect();
            for place in 0..=MEMBERS {
                let kernels = sequence(kernel.iter().map(|sample| &sample.values[place]));
                let ours = sequence(ours.iter().map(|values| &values[place]));
                // Before the first event the guest has just started.
                let (kernels, ours) = if number == 0 || events.toggled.len() > 1 {
                    (last(&kernels), last(&ours))
                } else {
                    (kernels, ours)
                };
                if kernels != ours {
                    let history: Vec<_> = self.steps[..=number].iter().map(|(events, _)| events).collect();
                    let what = if place < MEMBERS { format!("a{place}") } else { "active".to_owned() };
                    return Some(format!(
                        "{options:?}, step {number} {events:?}: {what}: kernel {kernels:?}, ours {ours:?}, after {history:?}"
                    ));
                }
            }
        }
        None
    }

    fn requests(&self) -> Vec<Step> {
        let mut carriers = [true; MEMBERS];
        let mut step = |(events, seen): &Taken| {
            let toggle = |member: &usize| {
                carriers[*member] ^= true;
                Request::SetUp { name: format!("b{member}"), up: carriers[*member] }
            };
            let requests = events.toggled.iter().map(toggle).collect();
            Step { requests, until: seen.last().cloned().unwrap_or_default(), patience_ms: PATIENCE_MS }
        };
        self.steps.iter().map(&mut step).collect()
    }
}

fn watched(bench: Bench) -> Vec<String> {
    let state = |name: &String| format!("/sys/class/net/{name}/bonding_slave/mii_status");
    let active = format!("/sys/class/net/{}/bonding/active_slave", Bench::BOND);
    bench.members().iter().map(state).chain([active]).collect()
}

/// Without repetitions.
fn sequence<'a>(values: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut values: Vec<&str> = values.map(String::as_str).collect();
    values.dedup();
    values
}

fn last<'a>(values: &[&'a str]) -> Vec<&'a str> {
    values.last().copied().into_iter().collect()
}

fn link(carrier: bool) -> MemberLink {
    MemberLink { carrier, speed_mbps: Some(10_000), duplex: Some(Duplex::Full) }
}
