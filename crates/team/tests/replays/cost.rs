//! What a recording costs: bytes an hour, and time. `NICTEAM_SOAK=1 cargo test -p nicteam-team what_it_costs -- --nocapture`

use std::time::{Duration, Instant};

use nicteam_team::lacp::LacpRate;
use nicteam_team::replay::{Entry, Input, Recorded, Recording, Told};
use nicteam_team::{Config, Mode, Team, Time};

use crate::control::pair::Pair;
use crate::replays::{self, file};
use crate::stripe::lan::Lan;

/// Printed in a soak alone.
#[test]
fn what_it_costs() {
    if std::env::var_os("NICTEAM_SOAK").is_none() {
        return;
    }
    let mut config = Config { mode: Mode::Ad, ..Config::default() };
    config.lacp.rate = LacpRate::Fast;
    let mut pair = Pair::new([config.clone(), config], 4);
    pair.run(Duration::from_secs(1800));
    let team = &pair.world.node(0).team;
    hourly("802.3ad, four members, fast, miimon 100", team, Duration::from_secs(1800));
    time(&file(team));
    for (what, peers, frames) in
        [("stripe, a busy peer", 1, 1), ("stripe, 40 idle peers", 40, 0), ("stripe, 40 busy peers", 40, 1)]
    {
        let lan = striped(peers, frames);
        hourly(what, &lan.host(0).team, Duration::from_secs(10));
    }
}

fn hourly(what: &str, team: &Recorded, duration: Duration) {
    let (bytes, entries) = team.recorded();
    let an_hour = 3600.0 / duration.as_secs_f64();
    println!(
        "{what}: {:.1} MiB an hour, {:.0} entries a second, {:.1} bytes each; 64 MiB in {:.1} h",
        bytes as f64 * an_hour / f64::from(1 << 20),
        entries as f64 / duration.as_secs_f64(),
        bytes as f64 / entries as f64,
        f64::from(64 << 20) / (bytes as f64 * an_hour)
    );
}

/// A host with peers on four segments; frames to each of them each 20 ms, in ten seconds.
fn striped(peers: usize, frames: usize) -> Lan {
    let mut lan = Lan::new();
    lan.recorded = Some(replays::LIMIT);
    lan.add(&[0, 1, 2, 3], &[1000; 4]);
    lan.recorded = None;
    for _ in 0..peers {
        lan.add(&[0, 1, 2, 3], &[1000; 4]);
    }
    for _ in 0..500 {
        lan.run(Duration::from_millis(20));
        for peer in 1..=peers {
            if frames > 0 && !lan.paths_to(0, lan.host(peer).mac).is_empty() {
                lan.traffic(0, peer, frames);
            }
        }
    }
    lan
}

/// The same entries told to a team and to a recorded one, in turn.
#[allow(clippy::disallowed_methods, reason = "it measures")]
fn time(file: &[u8]) {
    let recording = Recording::read(file).unwrap();
    let entries: Vec<Entry> = recording.entries().map(Result::unwrap).collect();
    let Told::Began(config, mac) = &entries[0].told else { panic!("no beginning") };
    let inputs: Vec<(Time, &Input<'static>)> = entries
        .iter()
        .filter_map(|entry| match &entry.told {
            Told::Input(input) => Some((entry.at, input)),
            _ => None,
        })
        .collect();
    let mut spent = [Duration::ZERO; 2];
    for round in 0..10 {
        let mut team = match round % 2 {
            0 => Recorded::from(Team::new((**config).clone(), *mac, Time::ZERO).unwrap()),
            _ => Recorded::begin((**config).clone(), *mac, Time::ZERO, replays::LIMIT).unwrap(),
        };
        let start = Instant::now();
        for (at, input) in &inputs {
            let _ = team.apply((*input).clone(), *at);
            while team.poll_effect().is_some() {}
        }
        spent[round % 2] += start.elapsed();
    }
    let each = |of: Duration| of.as_nanos() / (5 * inputs.len() as u128);
    println!("  an entry takes {} ns, recorded {} ns", each(spent[0]), each(spent[1]));
}
