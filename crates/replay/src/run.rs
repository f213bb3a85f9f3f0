//! A recording told to a team again.

use std::collections::VecDeque;

use nicteam_events::{Effect, Input};
use nicteam_machine::bytes::Unreadable;
use nicteam_machine::{Source, Time};

use super::entry::{Did, Entry, PlanMade, Told};
use super::file::Recording;
use super::recordable::Recordable;
use super::recorded::watch;

/// What a replay came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Entries that were told.
    pub entries: u64,
    /// Plans that were the recorded ones.
    pub plans: u64,
    /// When the last entry was.
    pub last: Time,
    /// Where the team did something else, first; then the replay ends.
    pub difference: Option<Difference>,
}

/// Where a team did something else than the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the entry.
    pub entry: u64,
    /// When it was.
    pub at: Time,
    /// What the team was told.
    pub told: String,
    /// What the recorded one did, a line each.
    pub then: Vec<String>,
    /// What the team did now.
    pub now: Vec<String>,
}

/// How far a recording is to be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To its end.
    End,
    /// To the entry of this number.
    Entry(u64),
    /// To the last entry that is no later.
    Time(Time),
}

impl Until {
    /// True if this entry is one of those.
    pub fn includes(self, entry: &Entry) -> bool {
        match self {
            Until::End => true,
            Until::Entry(number) => entry.number <= number,
            Until::Time(time) => entry.at <= time,
        }
    }
}

/// Tells a team what is recorded, as far as that. `watch` sees each entry and the team after it.
///
/// # Errors
/// An entry cannot be read, or no team can begin with the first.
pub fn replay<T: Recordable>(
    recording: &Recording<'_>,
    until: Until,
    mut watch: impl FnMut(&Entry, &T),
) -> Result<Outcome, Unreadable> {
    let mut outcome = Outcome { entries: 0, plans: 0, last: Time::ZERO, difference: None };
    let mut replayed: Option<T> = None;
    for entry in recording.entries() {
        let entry = entry?;
        if !until.includes(&entry) {
            break;
        }
        match (&entry.told, &mut replayed) {
            (Told::Began(config, mac), _) => {
                let mut team = T::begin((**config).clone(), *mac, entry.at)
                    .map_err(|error| Unreadable::new(format!("no team can begin as it did: {error}")))?;
                team.set_source(Source::Recording);
                replayed = Some(team);
            }
            // What was before is there.
            (Told::State(_), Some(_)) => continue,
            (Told::State(state), None) => {
                replayed = Some(T::of_state(state)?);
                continue;
            }
            (Told::Input(_), None) => return Err(begins_in_the_middle(&entry)),
            (Told::Input(input), Some(team)) => {
                team.give_derived(&entry.derived);
                let difference = step(team, &entry, input);
                if difference.is_some() {
                    outcome.difference = difference;
                    return Ok(outcome);
                }
            }
        }
        outcome.entries += 1;
        outcome.plans += entry.plans.len() as u64;
        outcome.last = entry.at;
        if let Some(team) = &replayed {
            watch(&entry, team);
        }
    }
    Ok(outcome)
}

fn begins_in_the_middle(entry: &Entry) -> Unreadable {
    Unreadable::new(format!(
        "the recording begins in the middle, with entry {}, and has no state of the team there; hint: `--show` prints it",
        entry.number
    ))
}

/// Tells a team what one entry says; what it did other than the recorded one.
fn step<T: Recordable>(team: &mut T, entry: &Entry, input: &Input<'static>) -> Option<Difference> {
    let (mut did, mut effects) = (Did::default(), VecDeque::new());
    let result = team.apply(input.clone(), entry.at);
    watch(team, &result, &mut did, &mut effects);
    let digests = |plans: &[PlanMade]| plans.iter().map(|plan| plan.digest).collect::<Vec<_>>();
    let same_plans = digests(&did.plans) == digests(&entry.plans);
    // Numbers that nobody asked for are left over.
    let unasked = did.derived.len();
    if same_plans && did.effects() == entry.effects && unasked == 0 {
        return None;
    }
    let mut then: Vec<String> = entry.plans.iter().map(|plan| plan.words.clone()).collect();
    let mut now: Vec<String> = did.plans.iter().map(|plan| plan.words.clone()).collect();
    if same_plans {
        then.push(match entry.effects {
            0 => "nothing else".to_owned(),
            digest => format!("frames, readings or addresses whose digest is {digest:08x}"),
        });
        now.extend(result.err().map(|error| error.to_string()));
        now.extend(effects.iter().filter(|effect| !matches!(effect, Effect::Apply(_) | Effect::Event(_))).map(said));
        if unasked > 0 {
            now.push(format!("{unasked} stamps or tags of hellos fewer were looked at"));
        }
    }
    if then.is_empty() {
        then.push("no plan".to_owned());
    }
    if now.is_empty() {
        now.push(if same_plans { "nothing" } else { "no plan" }.to_owned());
    }
    Some(Difference { entry: entry.number, at: entry.at, told: entry.words(), then, now })
}

/// An effect in words.
fn said(effect: &Effect) -> String {
    match effect {
        Effect::Transmit { member, frame } => {
            let bytes: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{member:?} sends {bytes}")
        }
        other => format!("{other:?}"),
    }
}
