//! The board as lines of a terminal.

use std::time::Duration;

use super::board::{Board, LinkLoad, Planned, State};
use super::time::{about, words};
use crate::top::fit;

/// Between two columns of runs.
const GAP: usize = 2;
/// Columns of a state, with the space behind it.
const STATE: usize = 5;
/// Of a line of a link: its name, and all beside name and bars.
const LINK: usize = 20;
const NUMBERS: usize = 36;
/// The longest bar.
const BAR: usize = 20;

impl Board {
    /// At most so many lines, each at most so wide: the head, the runs, and what runs now with as many links as have room.
    pub fn lines(&self, at: Duration, columns: usize, rows: usize) -> Vec<String> {
        let mut lines = vec![self.head(at, columns)];
        let running = self.runs.iter().find_map(|(run, state)| match state {
            State::Runs { since } => Some((run, at.saturating_sub(*since))),
            _ => None,
        });
        // The line of the run that runs is more than the last row of runs.
        let room = rows.saturating_sub(1 + usize::from(running.is_some()));
        lines.extend(self.grid(columns, room));
        if let Some((run, since)) = running {
            let all = words(run.declared);
            let text = format!("{}: {}; {} of {all}", run.name, self.now.phase, words(since));
            let text =
                if self.now.phase.is_empty() { format!("{}: {} of {all}", run.name, words(since)) } else { text };
            lines.push(fit(&text, columns));
            lines.extend(links(&self.now.links, columns, rows.saturating_sub(lines.len())));
        }
        lines.truncate(rows);
        lines
    }

    /// How many runs have ended, and what is left. The title is cut first.
    fn head(&self, at: Duration, columns: usize) -> String {
        let ended = self.runs.iter().filter(|(_, state)| matches!(state, State::Ended { .. })).count();
        let left = self.left(at);
        let left = match left.is_declared {
            true => format!("{} left, and the time to build", about(left.time)),
            false => format!("about {} left", about(left.time)),
        };
        let text = format!(": {ended} of {} runs have ended; {} passed, {left}", self.runs.len(), words(at));
        let room = columns.saturating_sub(text.chars().count());
        match room {
            0..4 => fit(text.trim_start_matches(": "), columns),
            _ => fit(&self.title, room) + &text,
        }
    }

    /// The runs in columns; around the one that runs where not all have room.
    fn grid(&self, columns: usize, rows: usize) -> Vec<String> {
        let longest = self.runs.iter().map(|(run, _)| run.name.chars().count()).max().unwrap_or(0);
        let width = (STATE + longest).clamp(STATE + 1, columns.max(STATE + 1));
        let across = ((columns + GAP) / (width + GAP)).max(1);
        let cells = across * rows;
        let cell = |(run, state): &(Planned, State)| fit(&format!("{} {}", mark(state), run.name), width);
        let cells: Vec<String> = if self.runs.len() <= cells {
            self.runs.iter().map(cell).collect()
        } else if cells < 3 {
            Vec::new()
        } else {
            let shown = cells - 2;
            let waits = |(_, state): &(Planned, State)| matches!(state, State::Waits | State::Runs { .. });
            let now = self.runs.iter().position(waits).unwrap_or(self.runs.len());
            // More of what has been than of what will be.
            let from = now.saturating_sub(shown * 2 / 3).min(self.runs.len() - shown);
            let (before, after) = (from, self.runs.len() - from - shown);
            let above = fit(&format!("     {before} before"), width);
            let below = fit(&format!("     {after} more"), width);
            let shown = self.runs[from..from + shown].iter().map(cell);
            std::iter::once(above).chain(shown).chain(std::iter::once(below)).collect()
        };
        let down = cells.len().div_ceil(across);
        let line = |row: usize| {
            let own: Vec<String> = (0..across).filter_map(|column| cells.get(column * down + row)).cloned().collect();
            let padded = own.iter().map(|cell| format!("{cell:<width$}"));
            fit(padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end(), columns)
        };
        (0..down).map(line).collect()
    }
}

/// How a run's state is written: its share of the limit once it has ended.
fn mark(state: &State) -> String {
    match state {
        State::Waits => " ...".to_owned(),
        State::Runs { .. } => "runs".to_owned(),
        State::Ended { share, .. } if share.is_finite() => fit(&format!("{share:.2}"), 4),
        State::Ended { .. } => "   -".to_owned(),
        State::Skipped => "skip".to_owned(),
    }
}

/// A line a link, and one for those that have no room.
fn links(links: &[LinkLoad], columns: usize, rows: usize) -> Vec<String> {
    let room = if links.len() <= rows { links.len() } else { rows.saturating_sub(1) };
    let bars = columns.saturating_sub(LINK + NUMBERS).div_euclid(2).min(BAR);
    let line = |link: &LinkLoad| {
        let part = |bps: f64| if link.rate_bps > 0.0 { bps / link.rate_bps } else { 0.0 };
        let [sent, received] = link.bps.map(|bps| format!("{} {:>7.1}", bar(part(bps), bars), bps / 1e6));
        fit(&format!("  {:<LINK$} tx {sent}  rx {received} Mbit/s", fit(&link.name, LINK)), columns)
    };
    let mut lines: Vec<String> = links.iter().take(room).map(line).collect();
    if room < links.len() && rows > 0 {
        lines.push(fit(&format!("  and {} links more", links.len() - room), columns));
    }
    lines
}

/// A bar of so many columns, filled to this share.
fn bar(share: f64, columns: usize) -> String {
    let filled = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    "█".repeat(filled) + &"░".repeat(columns - filled)
}
