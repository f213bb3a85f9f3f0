//! What it costs to show a look and to say it, beside many teams and many peers. Ratios of processor time of one thread.

use std::time::Duration;

use nicteam_bundles::Kind;
use nicteam_watch::Snapshot;
use nicteam_watch::metrics::{Exporter, Format, collect, encode};
use nicteam_watch::top::Model;
use nix::time::{ClockId, clock_gettime};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use crate::common::{bundle, of, snapshot};

/// Processor time that this thread takes for something, the least of several times.
fn cost(mut what: impl FnMut()) -> f64 {
    let now = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap()).as_secs_f64();
    let once = |_| {
        let before = now();
        what();
        now() - before
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

/// What a look costs that is shown in a terminal, and one that is said to Prometheus, seconds.
fn costs(looks: [Snapshot; 2]) -> [f64; 2] {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut model = Model::new(None, true);
    model.see(looks[0].clone());
    let shown = cost(|| {
        model.see(looks[1].clone());
        terminal.draw(|frame| model.draw(frame)).unwrap();
    });
    let exporter = Exporter { refused: 0, beside_node_exporter: false };
    [shown, cost(|| drop(encode(&collect(&looks[1], &exporter), Format::OpenMetrics)))]
}

fn teams(count: usize) -> [Snapshot; 2] {
    let bundles = || (0..count).map(|n| bundle(&format!("team{n:02}"), Kind::Nicteam, "802.3ad", 2)).collect();
    [of(bundles(), 1), of(bundles(), 2)]
}

/// A team in mode stripe that knows so many others, by two paths each. They are made up.
fn peers(count: usize) -> [Snapshot; 2] {
    let with = |second: u64| {
        let mut looked = snapshot(second);
        let team = looked.teams.get_mut("team0").unwrap();
        let path = |member: usize| json!({"member": format!("team0m{member}"), "to": "02:00:00:00:07:01", "works": true, "round_trip_us": 250});
        let peer = |n: usize| json!({"team": format!("02:00:00:00:{:02x}:{:02x}", n / 256, n % 256), "paths": [path(0), path(1)]});
        team.peers = (0..count).map(|n| serde_json::from_value(peer(n)).unwrap()).collect();
        looked
    };
    [with(1), with(2)]
}

#[test]
fn the_cost_of_a_look_is_in_proportion_to_teams_and_peers() {
    for (what, few, many) in [("teams", teams(8), teams(64)), ("peers", peers(125), peers(1000))] {
        let (few, many) = (costs(few), costs(many));
        for (part, few, many) in [("top", few[0], many[0]), ("metrics", few[1], many[1])] {
            // What 1 ms is of a second is 0.1 % of a core at a look a second.
            println!("{part} of eight times as many {what}: {:.2} ms, then {:.2} ms", few * 1e3, many * 1e3);
            assert!(many / few < 8.0 * 2.0, "{part}: {few} s, and {many} s of eight times as many {what}");
        }
    }
}
