//! Hosts that all stripe with each other on one segment: what one of them says, hears and keeps, by their number.
//!
//! `NICTEAM_SOAK=1 cargo test --release -p nicteam-team --test tests stripe::many -- --nocapture` goes up to 1,000 hosts
//! and prints the table of docs/design/stripe.md.

use std::time::Duration;

use nicteam_replay::{Keys, Recordable};
use nicteam_testnet::is_soak;

use super::lan::Lan;

/// Members of each host.
const MEMBERS: usize = 2;
const SECOND: Duration = Duration::from_secs(1);
/// Until announcements that follow one another quickly are over.
const SETTLE: Duration = Duration::from_secs(10);
/// How long each second host sends to the one after it.
const BUSY: Duration = Duration::from_secs(2);

/// How long hosts are watched that have no traffic: each announces itself twice, a thousand each 40 s.
fn idle(hosts: usize) -> Duration {
    Duration::from_millis(80 * hosts as u64).max(20 * SECOND)
}

/// What one host costs, on average.
#[derive(Debug)]
struct Cost {
    hosts: usize,
    /// Until all hosts, started at one moment, have all paths to all others.
    found: Duration,
    /// Hellos that it sent until then, for each of the others.
    said_for_each: f64,
    /// Plans that it made until then, at most.
    plans: u64,
    idle: Second,
    busy: Second,
    /// Its team's state, bytes at most.
    bytes: usize,
    /// Plans without traffic, at most.
    idle_plans: u64,
}

/// What happens in a second.
#[derive(Clone, Copy, Debug)]
struct Second {
    /// Hellos that the process sent: announcements and probes.
    said: f64,
    /// Frames that the members received, of which the dataplane answers the probes.
    heard: f64,
    /// Of a processor, microseconds. The world's switch is part of it.
    computed_us: f64,
}

/// Hosts at one moment.
struct Moment {
    said: u64,
    heard: u64,
    computed: Duration,
}

impl Moment {
    fn now(lan: &Lan) -> Moment {
        let heard = |host: &nicteam_simnet::Host| host.members.values().map(|it| it.traffic.rx_frames).sum::<u64>();
        Moment {
            said: lan.hosts().map(|host| host.sent.values().sum::<u64>()).sum(),
            heard: lan.hosts().map(heard).sum(),
            computed: computed(),
        }
    }

    /// A second of one host, since then.
    fn second_since(&self, lan: &Lan, hosts: usize, took: Duration) -> Second {
        let (now, host_seconds) = (Moment::now(lan), hosts as f64 * took.as_secs_f64());
        Second {
            said: (now.said - self.said) as f64 / host_seconds,
            heard: (now.heard - self.heard) as f64 / host_seconds,
            computed_us: (now.computed - self.computed).as_secs_f64() * 1e6 / host_seconds,
        }
    }
}

/// The time that this thread had a processor.
fn computed() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default())
}

fn most_plans(lan: &Lan) -> u64 {
    lan.hosts().map(|host| host.plan.generation).max().unwrap()
}

/// True if all hosts send to all others by all members.
fn all_have_paths(lan: &Lan, hosts: usize) -> bool {
    lan.hosts().all(|host| {
        let peers = host.stripe().map(|stripe| &stripe.peers[..]).unwrap_or_default();
        peers.len() == hosts - 1 && peers.iter().all(|peer| peer.paths.len() == MEMBERS)
    })
}

fn measure(hosts: usize) -> Cost {
    let mut lan = Lan::new();
    for _ in 0..hosts {
        lan.add(&[0; MEMBERS], &[1000; MEMBERS]);
    }
    let start = lan.now();
    while !all_have_paths(&lan, hosts) {
        lan.run(SECOND / 2);
        assert!(lan.now().since(start) < 120 * SECOND, "{hosts} hosts do not find each other");
    }
    let (found, plans) = (lan.now().since(start), most_plans(&lan));
    let said_for_each = Moment::now(&lan).said as f64 / (hosts * (hosts - 1)) as f64;
    lan.run(SETTLE);
    let (before, plans_before) = (Moment::now(&lan), most_plans(&lan));
    lan.run(idle(hosts));
    let (idle, idle_plans) = (before.second_since(&lan, hosts, idle(hosts)), most_plans(&lan) - plans_before);
    assert!(all_have_paths(&lan, hosts), "{hosts} idle hosts lose each other");
    let state = |host: &nicteam_simnet::Host| host.team.state(&mut Keys::default()).map_or(0, |state| state.len());
    let bytes = lan.hosts().map(state).max().unwrap();
    let traffic = |lan: &mut Lan, time: Duration| {
        let until = lan.now() + time;
        while lan.now() < until {
            (0..hosts / 2).for_each(|pair| drop(lan.traffic(2 * pair, 2 * pair + 1, 1)));
            lan.run(SECOND / 10);
        }
    };
    traffic(&mut lan, SECOND);
    let before = Moment::now(&lan);
    traffic(&mut lan, BUSY);
    let busy = before.second_since(&lan, hosts, BUSY);
    Cost { hosts, found, said_for_each, plans, idle, busy, bytes, idle_plans }
}

fn print_head() {
    println!(
        "| hosts | all found after | plans until then | hellos to find each other | idle: hellos, frames | idle: µs | busy: hellos, frames | busy: µs | state for each other |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

fn print(Cost { hosts, found, said_for_each, plans, idle, busy, bytes, idle_plans: _ }: &Cost) {
    println!(
        "| {hosts} | {:.1} s | {plans} | {said_for_each:.1} | {:.1}, {:.0} | {:.0} | {:.0}, {:.0} | {:.0} | {} B |",
        found.as_secs_f64(),
        idle.said,
        idle.heard,
        idle.computed_us,
        busy.said,
        busy.heard,
        busy.computed_us,
        bytes / (hosts - 1),
    );
}

#[test]
fn what_a_host_costs_is_bounded_or_grows_as_the_others() {
    let numbers: &[usize] = if is_soak() { &[10, 100, 300, 1000] } else { &[5, 20] };
    print_head();
    for &hosts in numbers {
        let cost = measure(hosts);
        print(&cost);
        let Cost { found, said_for_each, plans, idle, busy, bytes, idle_plans, .. } = &cost;
        let what = format!("{hosts} hosts: {cost:?}");
        assert!(found.as_secs() <= 60, "{what}");
        // The first probes of two paths, their retries, and the announcements of both members.
        assert!(*said_for_each <= 20.0, "{what}");
        // Ten at once, then two a second.
        assert!(*plans as f64 <= 20.0 + 2.0 * found.as_secs_f64(), "{what}");
        assert!(*idle_plans <= 3, "{what}");
        // 30 probes, and an announcement by each member.
        assert!(idle.said <= 30.0 + MEMBERS as f64 + 3.0, "{what}");
        // As many probes of others and as many echoes. Each announcement comes to both members; 25 teams a second announce
        // themselves, and half a second's more by chance.
        assert!(idle.heard <= 2.0 * 35.0 + 1.5 * 25.0 * (MEMBERS * MEMBERS) as f64, "{what}");
        // One peer, two paths, a probe each 5 ms by each, beside what idle paths have.
        assert!(busy.said <= 400.0 + 50.0, "{what}");
        assert!(*bytes <= 10_000 + 1000 * (hosts - 1), "{what}");
    }
}
