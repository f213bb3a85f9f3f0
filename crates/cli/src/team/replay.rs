//! `nicteam team replay`: a recording told to a team again.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use nicteam_team::Time;
use nicteam_team::replay::{Ending, Entry, Outcome, Recording, Unreadable, Until, replay as replay_it};
use serde_json::json;

use crate::failure::Failure;
use crate::say;

/// Tell a team anew what is recorded, and compare its plans with the recorded ones. No root, no device.
///
/// Exit code 0: the same; 1: it differs, and the first difference is printed; 2: the file cannot be read or replayed.
#[derive(Debug, clap::Args)]
pub(crate) struct Replay {
    /// The file that `team record` wrote; `-`: standard input.
    file: PathBuf,
    /// A JSON object; with `--show` one for each entry before it. Described in docs/replay.md.
    #[arg(long)]
    json: bool,
    /// No further than this entry (`1200`) or this time of the team (`90s`, `1.5s`).
    #[arg(long, value_name = "ENTRY|TIME", value_parser = until)]
    until: Option<Until>,
    /// Print each entry: its number, its time, what the team was told and which plan it made.
    #[arg(long)]
    show: bool,
}

/// Replays a file.
pub(super) fn replay(wanted: &Replay) -> Result<(), Failure> {
    let name = say::visible(wanted.file.display());
    let bytes = read(wanted)?;
    let unreadable = |error: Unreadable| Failure::wrong_input(format!("{name}: {error}"));
    let recording = Recording::read(&bytes).map_err(unreadable)?;
    let until = wanted.until.unwrap_or(Until::End);
    if wanted.show && !show(wanted, &recording, until, unreadable)? {
        return Ok(());
    }
    note_other_version(&recording);
    let outcome = replay_it(&recording, until, |_, _| {}).map_err(unreadable)?;
    if recording.ending != Ending::Whole {
        let ending = ending(&recording);
        // That nothing differs of nothing is no outcome.
        if recording.entries().next().is_none() {
            return Err(Failure::wrong_input(format!("{name}: it is {ending} before its first entry")));
        }
        say::line(format_args!("note: {name} is {ending}; replayed is what was before"));
    }
    say::data(if wanted.json { as_json(&outcome, &recording) } else { as_text(&outcome) })?;
    match outcome.difference {
        None => Ok(()),
        Some(difference) => Err(Failure::failed(format!("{name} differs at entry {}", difference.entry))),
    }
}

fn read(wanted: &Replay) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = match wanted.file.as_os_str() == "-" {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        false => std::fs::read(&wanted.file),
    };
    read.map_err(|error| Failure::wrong_input(format!("{}: {error}", say::visible(wanted.file.display()))))
}

/// Prints the entries; false if the reader has seen enough.
fn show(
    wanted: &Replay,
    recording: &Recording<'_>,
    until: Until,
    unreadable: impl Fn(Unreadable) -> Failure,
) -> Result<bool, Failure> {
    if !wanted.json {
        let about = say::visible(&recording.about);
        say::data(about.trim_end().to_owned() + "\n\n")?;
    }
    for entry in recording.entries() {
        let entry = entry.map_err(&unreadable)?;
        if !until.includes(&entry) {
            break;
        }
        let shown = if wanted.json { entry_as_json(&entry) } else { entry_as_text(&entry) };
        if !say::data_to_reader(shown)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn entry_as_text(entry: &Entry) -> String {
    let mut text = format!("{:>8} {:>14} {}\n", entry.number, seconds(entry.at), say::visible(entry.words()));
    entry.plans().for_each(|plan| text += &format!("{:24}-> {}\n", "", say::visible(plan)));
    text
}

fn entry_as_json(entry: &Entry) -> String {
    let plans: Vec<&str> = entry.plans().collect();
    json!({ "entry": entry.number, "at_ns": entry.at.as_nanos(), "told": entry.words(), "plans": plans }).to_string()
        + "\n"
}

fn as_text(outcome: &Outcome) -> String {
    let Outcome { entries, plans, last, difference } = outcome;
    let Some(difference) = difference else {
        return format!("{entries} entries until {}, {plans} plans: all as recorded\n", seconds(*last));
    };
    let mut text = format!(
        "{entries} entries and {plans} plans as recorded, then entry {} at {} differs\n",
        difference.entry,
        seconds(difference.at)
    );
    text += &format!("  told  {}\n", say::visible(&difference.told));
    let sides = [("then", &difference.then), ("now", &difference.now)];
    for (side, lines) in sides {
        lines.iter().for_each(|line| text += &format!("  {side:<5} {}\n", say::visible(line)));
    }
    text
}

fn as_json(outcome: &Outcome, recording: &Recording<'_>) -> String {
    let difference = outcome.difference.as_ref().map(
        |of| json!({ "entry": of.entry, "at_ns": of.at.as_nanos(), "told": of.told, "then": of.then, "now": of.now }),
    );
    let ending = ending(recording);
    let value = json!({
        "same": difference.is_none(),
        "entries": outcome.entries,
        "plans": outcome.plans,
        "last_ns": outcome.last.as_nanos(),
        "ending": ending,
        "nicteam": version(recording),
        "difference": difference,
    });
    value.to_string() + "\n"
}

fn ending(recording: &Recording<'_>) -> &'static str {
    match recording.ending {
        Ending::Whole => "whole",
        Ending::CutOff => "cut off",
        Ending::Damaged => "damaged",
    }
}

/// The version that made a recording, as it says.
fn version<'a>(recording: &'a Recording<'_>) -> Option<&'a str> {
    recording.about.lines().find_map(|line| line.strip_prefix("nicteam: "))
}

fn note_other_version(recording: &Recording<'_>) {
    let own = env!("CARGO_PKG_VERSION");
    if let Some(other) = version(recording).filter(|version| *version != own) {
        let other = say::visible(other);
        say::line(format_args!(
            "note: nicteam {other} recorded this, and this is {own}: what differs may have been repaired since"
        ));
    }
}

fn seconds(at: Time) -> String {
    format!("{:.6} s", Duration::from_nanos(at.as_nanos()).as_secs_f64())
}

fn until(text: &str) -> Result<Until, String> {
    let refused = || "an entry's number, as in `1200`, or a time, as in `90s`".to_owned();
    match text.strip_suffix('s') {
        None => text.parse().map(Until::Entry).map_err(|_| refused()),
        Some(seconds) => {
            let seconds = seconds.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            seconds.map(|seconds| Until::Time(Time::ZERO + seconds)).ok_or_else(refused)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_an_entry_or_a_time() {
        assert_eq!(until("12"), Ok(Until::Entry(12)));
        assert_eq!(until("1.5s"), Ok(Until::Time(Time::from_millis(1500))));
        for wrong in ["", "s", "-1", "-1s", "12x", "NaNs", "1e99s"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}
