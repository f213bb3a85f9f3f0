//! What a run looks like while it runs: a line a link, on standard error.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use nicteam_experiment::Run;
use nicteam_lab::Progress;
use nicteam_record::{self as record, Member};

use crate::say;

/// Columns of a bar, where there is room.
const BAR: usize = 20;
/// Columns of everything else in a line.
const TEXT: usize = 52;

/// Shows progress: on a terminal a line a link that changes in place, else a line a run.
pub(crate) struct Live {
    terminal: bool,
    lines: usize,
    /// Bytes that are done of what is carried from beginning to end, and all of them.
    carried: Option<(u64, u64)>,
}

impl Live {
    pub(crate) fn new(terminal: bool) -> Live {
        Live { terminal, lines: 0, carried: None }
    }

    /// Takes the lines of the last picture off the terminal.
    fn wipe(&mut self) {
        if self.lines > 0 {
            say::talk(format_args!("\x1b[{}A\x1b[J", self.lines));
            self.lines = 0;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Progress for Live {
    fn run_begins(&mut self, run: &Run, number: usize, count: usize) {
        self.wipe();
        self.carried = None;
        let takes = run.warmup + run.duration;
        let ends = run.workloads.iter().all(|workload| workload.task.is_finite());
        let at_most = if ends { "at most " } else { "" };
        say::line(format_args!("run {number} of {count}: {} ({at_most}{} s)", run.name, takes.as_secs_f64()));
    }

    fn run_is_skipped(&mut self, run: &Run, number: usize, count: usize, reason: &str) {
        self.wipe();
        say::line(format_args!("run {number} of {count}: {} is skipped: {reason}", run.name));
    }

    fn traffic(&mut self, run: &Run, t: Duration, warming_up: bool, members: &[Member]) {
        if !self.terminal {
            return;
        }
        let taking_part = taking_part(run);
        let (columns, rows) = terminal();
        let width = columns.saturating_sub(TEXT).div_euclid(2).min(BAR);
        let mut picture = String::new();
        let phase = if warming_up { "warming up" } else { "measuring" };
        let carried = self.carried.map_or_else(String::new, |(done, all)| {
            format!(", {:.0} of {:.0} MB are copied", done as f64 / 1e6, all as f64 / 1e6)
        });
        let _ = writeln!(picture, "  {phase}, {:.1} s{carried}", t.as_secs_f64());
        let shown: Vec<&Member> = members.iter().filter(|m| taking_part.contains(m.host.as_str())).collect();
        // A line for the phase, one for the rest, one for the cursor; the run's own line stays in sight.
        let room = if shown.len() + 3 <= rows { shown.len() } else { rows.saturating_sub(4) };
        for member in shown.iter().take(room) {
            let rate_bps = rate(run, member);
            let _ = writeln!(
                picture,
                "  {:<10} {:<8} tx {} {:>7.1}  rx {} {:>7.1} Mbit/s",
                member.host,
                member.member,
                bar(member.tx_bps / rate_bps, width),
                member.tx_bps / 1e6,
                bar(member.rx_bps / rate_bps, width),
                member.rx_bps / 1e6,
            );
        }
        if room < shown.len() {
            let _ = writeln!(picture, "  and {} links more", shown.len() - room);
        }
        self.wipe();
        self.lines = picture.lines().count();
        say::talk(picture);
    }

    fn carried(&mut self, done_bytes: u64, all_bytes: u64) {
        self.carried = Some((done_bytes, all_bytes));
    }

    fn run_ends(&mut self, run: &record::Run) {
        self.wipe();
        say::line(format_args!("  {:.1} Mbit/s, {:.2} of the limit", run.delivered_bps / 1e6, run.of_limit));
    }

    fn notice(&mut self, node: &str, text: &str) {
        self.wipe();
        say::line(format_args!("  {node}: {text}"));
    }
}

/// The hosts between which payload flows.
fn taking_part(run: &Run) -> BTreeSet<&str> {
    let pairs = run.workloads.iter().flat_map(|workload| &workload.pairs);
    pairs.flat_map(|(from, to)| [from.as_str(), to.as_str()]).collect()
}

/// The rate of a member's link.
fn rate(run: &Run, member: &Member) -> f64 {
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

/// A bar of so many columns, filled to this share.
fn bar(share: f64, columns: usize) -> String {
    let filled = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    "█".repeat(filled) + &"░".repeat(columns - filled)
}
