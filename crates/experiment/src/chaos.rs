//! `[runs.chaos]`: random faults of a run, which follow from a seed.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_chaos::{Cable, Field, Plan, Switch, draw};
use toml::de::DeTable;

use crate::units::show_duration;
use nicteam_diagnostics::{Problem, list, nearest};
use nicteam_elements::event::{self, EVENT};
use nicteam_elements::keys::{Key, Kind, Need, Section, Thing};
use nicteam_elements::read::read;
use nicteam_elements::record::{At, Record, Span, Value};
use nicteam_elements::resolved::{self, Topology};

/// The section.
pub(crate) const CHAOS: Section = Section {
    header: "[runs.chaos]",
    doc: "Random faults during the run, beside its `events`. What must hold in spite of them is checked \
        (docs/chaos.md).",
    keys: &[
        Key {
            name: "seed",
            kind: Kind::Integer(0..=i64::MAX as u64),
            need: Need::Default("1"),
            doc: "Decides which faults happen, and when. The same seed gives the same faults everywhere.",
        },
        Key {
            name: "every",
            kind: Kind::time(10, 86_400_000),
            need: Need::Default("\"2s\""),
            doc: "Time from the beginning of a fault to that of the next one, on average.",
        },
        Key {
            name: "shortest",
            kind: Kind::time(1, 86_400_000),
            need: Need::Default("\"200ms\""),
            doc: "Shortest time that a fault lasts.",
        },
        Key {
            name: "longest",
            kind: Kind::time(1, 86_400_000),
            need: Need::Default("\"1s\""),
            doc: "Longest time that a fault lasts.",
        },
        Key {
            name: "at_once",
            kind: Kind::Integer(1..=16),
            need: Need::Default("1"),
            doc: "How many faults there are at a time, at most.",
        },
        Key {
            name: "from",
            kind: Kind::time(0, 86_400_000),
            need: Need::Default("\"1s\""),
            doc: "When the first fault begins.",
        },
        Key {
            name: "quiet",
            kind: Kind::time(0, 86_400_000),
            need: Need::Otherwise("a fourth of the run, at most 5s"),
            doc: "Time without faults at the end of the run. As much has to arrive then as before the first fault.",
        },
        Key {
            name: "kinds",
            kind: Kind::Many(Thing::Event),
            need: Need::Otherwise("all kinds that can happen to something in this run"),
            doc: "Kinds of events that are drawn.",
        },
    ],
    of_kinds: &[],
};

/// The faults of a run with this section, as records of events; what is wrong goes to the problems.
pub(crate) fn faults(
    chaos: &At<&Record>,
    topology: &Topology,
    impairments: Vec<String>,
    duration: Duration,
    problems: &mut Vec<Problem>,
) -> Vec<Record> {
    let time = |key, otherwise| chaos.value.get(key).map_or(otherwise, |at: At<Duration>| at.value);
    let number = |key, otherwise| chaos.value.get(key).map_or(otherwise, |at: At<u64>| at.value);
    let (shortest, longest) = (time("shortest", Duration::from_millis(200)), time("longest", Duration::from_secs(1)));
    let quiet = time("quiet", (duration / 4).min(Duration::from_secs(5)));
    let Some(ends) = duration.checked_sub(quiet) else {
        let message = format!("`quiet` leaves no time for faults in a run of {}", show_duration(duration));
        problems.push(Problem::at(&chaos.span, message).hint("lower `quiet`, or raise `duration`"));
        return Vec::new();
    };
    let plan = Plan {
        seed: number("seed", 1),
        begins: time("from", Duration::from_secs(1)),
        ends,
        every: time("every", Duration::from_secs(2)),
        lasts: shortest..=longest.max(shortest),
        at_once: number("at_once", 1) as usize,
        kinds: event::chances(&kinds(chaos.value, problems)),
    };
    let drawn = draw(&plan, &field(topology, impairments));
    if drawn.is_empty() {
        let problem = Problem::at(&chaos.span, "no fault of these kinds can happen in this run");
        problems.push(problem.hint("raise `duration`, or name other `kinds`"));
    }
    let texts: Vec<String> = drawn.iter().map(ToString::to_string).collect();
    records(&texts, &chaos.span)
}

/// Events as a file has them, as records that stand at a place of another file.
pub(crate) fn records(texts: &[String], span: &Span) -> Vec<Record> {
    let text = format!("events = [{}]", texts.join(", "));
    let (table, _) = DeTable::parse_recoverable(&text);
    let one = Section { header: "", doc: "", keys: &EVENTS, of_kinds: &[] };
    // They are as the reader wants them, or the run says what is wrong.
    let read = read(table.get_ref(), 0..0, &one, &mut Vec::new());
    let events: &[Record] = read.get("events").map_or(&[], |at| at.value);
    events.iter().map(|event| event.moved(span)).collect()
}

const EVENTS: [Key; 1] = [Key { name: "events", kind: Kind::List(&EVENT), need: Need::Otherwise("none"), doc: "" }];

/// The kinds that the section names.
fn kinds<'a>(chaos: &'a Record, problems: &mut Vec<Problem>) -> Vec<&'a str> {
    let Some(named) = chaos.get::<&'a [At<String>]>("kinds") else { return Vec::new() };
    for name in named.value.iter().filter(|name| !event::NAMES.contains(&name.value.as_str())) {
        let hint = match nearest(&name.value, event::NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the kinds are {}", list(event::NAMES)),
        };
        problems.push(Problem::at(&name.span, format!("no kind of event `{}`", name.value)).hint(hint));
    }
    named.value.iter().map(|at| at.value.as_str()).collect()
}

/// What there is for faults to happen to.
fn field(topology: &Topology, impairments: Vec<String>) -> Field {
    let own = |node: &str| topology.teams.iter().find(|team| team.node == node && team.engine == "nicteam");
    let mut pairs: Vec<BTreeSet<&str>> = Vec::new();
    let mut cables = Vec::new();
    for resolved::Cable { a, b, rate_bps, .. } in &topology.cables {
        let pair = BTreeSet::from([a.node.as_str(), b.node.as_str()]);
        let number = pairs.iter().filter(|other| **other == pair).count();
        pairs.push(pair);
        let is_member = |end: &&resolved::End| own(&end.node).is_some_and(|team| team.members.contains(&end.device));
        let member_at = [a, b].into_iter().find(is_member).map(|end| end.node.clone());
        cables.push(Cable { ends: [a.node.clone(), b.node.clone()], number, rate_bps: *rate_bps, member_at });
    }
    let speaks_lacp = |name: &str| {
        let mut groups = topology.teams.iter().filter(|team| team.node == name);
        groups.any(|team| team.config.mode.traits().aggregates(&team.config))
    };
    let switch = |it: &resolved::Switch| Switch { name: it.name.clone(), speaks_lacp: speaks_lacp(&it.name) };
    let has_guests = |name: &String| topology.hosts.iter().any(|host| host.parent.as_ref() == Some(name));
    let serves = |name: &String| topology.targets.iter().any(|target| target.host == *name);
    let hosts = topology.hosts.iter().map(|host| host.name.clone());
    Field {
        cables,
        switches: topology.switches.iter().map(switch).collect(),
        hosts: hosts.filter(|host| own(host).is_some() && !has_guests(host) && !serves(host)).collect(),
        impairments,
        targets: topology.targets.iter().map(|target| target.name.clone()).collect(),
    }
}

/// The record of a run with more events.
pub(crate) fn with_events(run: &Record, more: Vec<Record>, span: &Span) -> Record {
    let own: &[Record] = run.get("events").map_or(&[], |at| at.value);
    let mut with = run.clone();
    let all = own.iter().cloned().chain(more).collect();
    with.set("events", At { value: Value::List(all), span: span.clone() });
    with
}
