//! Keys that several kinds take, and when a fault with `for` and `every` happens.

use std::time::Duration;

use super::cables::{LINK, NUMBER};
use super::ends::{END, FROM};
use super::nodes::{HOST, SWITCH};
use crate::keys::{Key, Kind, Need};
use crate::record::Record;
use crate::units::show_duration;
use nicteam_diagnostics::Problem;

/// The keys; each kind names its own in [`Kind::also`](super::kind::Kind::also).
pub(super) const SHARED: &[Key] = &[LINK, NUMBER, END, FROM, SWITCH, HOST, FOR, EVERY];

const LONGEST: Duration = Duration::from_secs(86_400);
/// How long a fault lasts.
const FOR: Key = Key {
    name: "for",
    kind: Kind::Time(Duration::from_millis(1)..=LONGEST),
    need: Need::Otherwise("until the run ends"),
    doc: "Time until the lab repairs the fault.",
};
/// How often a fault comes again.
const EVERY: Key = Key {
    name: "every",
    kind: Kind::Time(Duration::from_millis(2)..=LONGEST),
    need: Need::Otherwise("the fault happens once"),
    doc: "The fault comes again with this period, as long as it is over before the run ends. It needs `for`, which has \
        to be shorter.",
};

/// The most often that a fault comes again in a run.
const MOST_TIMES: u128 = 1000;

/// When a fault begins, and how long it lasts each time.
///
/// # Errors
/// It cannot happen so in a run of this duration.
pub(super) fn times(
    record: &Record,
    at: Duration,
    duration: Duration,
) -> Result<(Vec<Duration>, Option<Duration>), Problem> {
    let (lasts, every) = (record.get::<Duration>("for"), record.get::<Duration>("every"));
    if let Some(lasts) = lasts.as_ref().filter(|lasts| at + lasts.value >= duration) {
        let (over, duration) = (show_duration(at + lasts.value), show_duration(duration));
        let message = format!("this is over after {over}, and the run after {duration}");
        let hint = "lower `for`, or leave it out: then it lasts for the rest of the run";
        return Err(Problem::at(&lasts.span, message).hint(hint));
    }
    let once = (vec![at], lasts.as_ref().map(|lasts| lasts.value));
    let Some(every) = every else { return Ok(once) };
    let Some(lasts) = lasts else {
        if record.is_broken("for") {
            return Ok(once);
        }
        let problem = Problem::at(&every.span, "a fault that comes again has to end before");
        return Err(problem.hint("say how long it lasts each time: `for = \"100ms\"`"));
    };
    if lasts.value >= every.value {
        let (lasts_text, every_text) = (show_duration(lasts.value), show_duration(every.value));
        let message = format!("a fault of {lasts_text} does not fit into a period of {every_text}");
        return Err(Problem::at(&lasts.span, message).hint("lower `for`, or raise `every`"));
    }
    let room = duration.saturating_sub(at + lasts.value + Duration::from_nanos(1));
    let count = room.as_nanos() / every.value.as_nanos() + 1;
    if count > MOST_TIMES {
        let message = format!("this fault would come {count} times in the run; {MOST_TIMES} are the most");
        return Err(Problem::at(&every.span, message).hint("raise `every`"));
    }
    Ok(((0..count as u32).map(|number| at + every.value * number).collect(), once.1))
}
