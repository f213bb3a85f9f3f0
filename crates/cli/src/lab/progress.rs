//! What a run looks like while it runs, on standard error: a screen of all runs on a terminal, else a line a run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nicteam_experiment::Run;
use nicteam_lab::Progress;
use nicteam_record::{self as record, Member};
use nicteam_watch::runs::{Board, LinkLoad, Now, Planned};

use crate::say;

/// Shows progress.
pub(crate) struct Live {
    /// On a terminal: the runs, and when they began.
    board: Option<(Board, Instant)>,
    terminal: bool,
    /// Another view has the terminal: nothing is written.
    is_hidden: bool,
    /// Of the last picture.
    lines: usize,
    /// Bytes that are done of what is carried from beginning to end, and all of them.
    carried: Option<(u64, u64)>,
}

impl Live {
    pub(crate) fn new(terminal: bool) -> Live {
        Live { board: None, terminal, is_hidden: false, lines: 0, carried: None }
    }

    /// Writes nothing from now on, or does so again.
    pub(super) fn hide(&mut self, is_hidden: bool) {
        self.is_hidden = is_hidden;
    }

    /// Draws what is known, after it was hidden.
    pub(super) fn redraw(&mut self) {
        self.is_hidden = false;
        self.draw(|_, _| ());
    }

    /// Takes the last picture off the terminal.
    fn wipe(&mut self) {
        if self.lines > 0 {
            say::talk(format_args!("\x1b[{}A\x1b[J", self.lines));
            self.lines = 0;
        }
    }

    /// Changes the board, if there is one, and draws it.
    fn draw(&mut self, change: impl FnOnce(&mut Board, Duration)) {
        let Some((board, begun)) = &mut self.board else { return };
        let at = begun.elapsed();
        change(board, at);
        if self.is_hidden {
            return;
        }
        let (columns, rows) = terminal();
        // The last line is the cursor's.
        let lines = board.lines(at, columns, rows.saturating_sub(1));
        // In one piece, so that no half of a picture is seen.
        let up = if self.lines > 0 { format!("\x1b[{}A\x1b[J", self.lines) } else { String::new() };
        self.lines = lines.len();
        say::talk(up + &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Progress for Live {
    fn begins(&mut self, experiment: &str, runs: &[Run]) {
        self.wipe();
        let planned = |run: &Run| Planned {
            name: run.name.clone(),
            declared: run.warmup + run.duration,
            is_finite: is_finite(run),
        };
        self.board = self.terminal.then(|| (Board::new(experiment, runs.iter().map(planned)), Instant::now()));
    }

    fn run_begins(&mut self, run: &Run, number: usize, count: usize) {
        self.carried = None;
        if self.board.is_none() && !self.is_hidden {
            let (takes, at_most) = (run.warmup + run.duration, if is_finite(run) { "at most " } else { "" });
            say::line(format_args!("run {number} of {count}: {} ({at_most}{} s)", run.name, takes.as_secs_f64()));
        }
        self.draw(|board, at| board.begins(number, at));
    }

    fn run_is_skipped(&mut self, run: &Run, number: usize, count: usize, reason: &str) {
        self.wipe();
        say::line(format_args!("run {number} of {count}: {} is skipped: {reason}", run.name));
        self.draw(|board, _| board.skips(number));
    }

    fn traffic(&mut self, run: &Run, t: Duration, warming_up: bool, members: &[Member]) {
        if self.board.is_none() {
            return;
        }
        let carried = self.carried.map_or_else(String::new, |(done, all)| {
            format!(", {:.0} of {:.0} MB are copied", done as f64 / 1e6, all as f64 / 1e6)
        });
        let phase = match warming_up {
            true => format!("warms up for {:.0} s more", t.as_secs_f64()),
            false => format!("measured for {:.1} s{carried}", t.as_secs_f64()),
        };
        let taking_part = taking_part(run);
        let shown = members.iter().filter(|member| taking_part.contains(member.host.as_str()));
        let link = |member: &Member| LinkLoad {
            name: format!("{} {}", member.host, member.member),
            bps: [member.tx_bps, member.rx_bps],
            rate_bps: rate(run, member),
        };
        let links = shown.map(link).collect();
        self.draw(|board, _| board.does(Now { phase, links }));
    }

    fn carried(&mut self, done_bytes: u64, all_bytes: u64) {
        self.carried = Some((done_bytes, all_bytes));
    }

    fn run_ends(&mut self, run: &record::Run) {
        if self.board.is_none() && !self.is_hidden {
            say::line(format_args!("  {:.1} Mbit/s, {:.2} of the limit", run.delivered_bps / 1e6, run.of_limit));
        }
        self.draw(|board, at| board.ends(run.of_limit, at));
    }

    fn notice(&mut self, node: &str, text: &str) {
        self.wipe();
        say::line(format_args!("  {node}: {text}"));
        self.draw(|_, _| ());
    }
}

/// Whether all tasks of a run end by themselves.
fn is_finite(run: &Run) -> bool {
    run.workloads.iter().all(|workload| workload.task.is_finite())
}

/// The hosts between which payload flows.
fn taking_part(run: &Run) -> BTreeSet<&str> {
    let pairs = run.workloads.iter().flat_map(|workload| &workload.pairs);
    pairs.flat_map(|(from, to)| [from.as_str(), to.as_str()]).collect()
}

/// The rate of a member's link.
pub(super) fn rate(run: &Run, member: &Member) -> f64 {
    let ends = |cable: &&nicteam_experiment::Cable| {
        [&cable.a, &cable.b].iter().any(|end| end.node == member.host && end.device == member.member)
    };
    run.topology.cables.iter().find(ends).map_or(f64::INFINITY, |cable| cable.rate_bps as f64)
}

/// Columns and rows of the terminal.
fn terminal() -> (usize, usize) {
    use terminal_size::{Height, Width, terminal_size_of};
    terminal_size_of(std::io::stderr())
        .map_or((80, 24), |(Width(columns), Height(rows))| (usize::from(columns), usize::from(rows)))
}
