//! The runs of an experiment on one screen.

use std::time::Duration;

use nicteam_watch::runs::{Board, LinkLoad, Now, Planned};

use crate::top::assert_snapshot;

const COLUMNS: usize = 80;
/// Of a terminal of 24 lines: the last one is the cursor's.
const ROWS: usize = 23;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many runs of 8 s. Each took 10 s; `ended` of them have ended, the next one has run for 4 s.
fn board(count: usize, ended: usize) -> (Board, Duration) {
    let run = |place: usize| Planned {
        name: format!("byovs-backup-{}-{}", place / 3, ["cable", "silence", "oneway"][place % 3]),
        declared: seconds(8),
        is_finite: false,
    };
    let mut board = Board::new("failover-table", (0..count).map(run));
    for place in 0..ended {
        board.begins(place + 1, seconds(place as u64 * 10));
        board.ends(1.0 - place as f64 / 100.0, seconds(place as u64 * 10 + 10));
    }
    board.begins(ended + 1, seconds(ended as u64 * 10));
    board.skips(count);
    let link = |place: u32| LinkLoad {
        name: format!("left eth{place}"),
        bps: [f64::from(place) * 25e6, 1e6],
        rate_bps: 100e6,
    };
    board.does(Now { phase: "measured for 2.5 s".to_owned(), links: (0..8).map(link).collect() });
    (board, seconds(ended as u64 * 10 + 4))
}

fn drawn(board: &Board, at: Duration, columns: usize, rows: usize) -> String {
    let lines = board.lines(at, columns, rows);
    assert!(lines.len() <= rows && lines.iter().all(|line| line.chars().count() <= columns), "{lines:#?}");
    lines.join("\n") + "\n"
}

#[test]
fn forty_two_runs_have_room_on_an_old_terminal() {
    let (board, at) = board(42, 17);
    let text = drawn(&board, at, COLUMNS, ROWS);
    assert_eq!(text.matches("byovs-backup-").count(), 43, "each run, and once more the one that runs:\n{text}");
    assert_snapshot("42-runs", &text);
}

#[test]
fn of_more_runs_those_around_the_present_one_are_shown() {
    let (board, at) = board(400, 200);
    let text = drawn(&board, at, COLUMNS, ROWS);
    assert!(text.contains("before\n") || text.contains("before "), "{text}");
    assert!(text.contains("runs byovs-backup-66-oneway") && text.contains(" more"), "{text}");
    assert!(text.contains("200 of 400 runs have ended; 33 min 24 s passed, about 33 min"), "{text}");
}

#[test]
fn every_size_of_a_terminal_has_its_lines() {
    let (board, at) = board(42, 41);
    for columns in (1..120).step_by(7) {
        for rows in (0..40).step_by(3) {
            drawn(&board, at, columns, rows);
        }
    }
    assert_eq!(drawn(&Board::new("x", []), Duration::ZERO, 80, 24).lines().count(), 1);
}
