//! What a run does to its network while it is measured: one file a kind, and one line in [`KINDS`].

mod busy;
mod cable;
mod cables;
mod changed;
mod ends;
mod filters;
mod hang;
mod impair;
mod kill;
mod kind;
mod lacp;
mod migrate;
mod mtu;
mod nodes;
mod rate;
mod reboot;
mod required;
mod restart;
mod shared;
mod silence;
mod stop;
mod target;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nicteam_chaos::Chance;

use crate::keys::{Key, Kind as Takes, Need, Section};
use crate::record::{At, Record};
use crate::resolved::Way;
use crate::timed::Timed;
use nicteam_diagnostics::Problem;

pub use cable::CablePulled;
pub use cables::Shown;
pub use cables::{CableName, Relayed};
pub use kind::Happens;
use kind::Kind;
pub use kind::Told;
pub use migrate::{Announce, Migrate};
pub use nodes::NodeFault;
use shared::{SHARED, times};
pub use silence::Silence;
pub use target::TargetKilled;

/// All kinds.
const KINDS: [Kind; 15] = [
    migrate::KIND,
    cable::KIND,
    silence::KIND,
    target::KIND,
    impair::KIND,
    rate::KIND,
    hang::KIND,
    restart::KIND,
    lacp::KIND,
    mtu::KIND,
    filters::KIND,
    stop::KIND,
    kill::KIND,
    busy::KIND,
    reboot::KIND,
];

/// Their names.
pub const NAMES: [&str; KINDS.len()] = {
    let mut names = [""; KINDS.len()];
    let mut place = 0;
    while place < KINDS.len() {
        names[place] = KINDS[place].name;
        place += 1;
    }
    names
};

/// The keys that several take, and those that each adds.
const KEYS: [&[Key]; KINDS.len() + 1] = {
    let mut keys = [SHARED; KINDS.len() + 1];
    let mut place = 0;
    while place < KINDS.len() {
        keys[place + 1] = KINDS[place].keys;
        place += 1;
    }
    keys
};

/// `[[runs.events]]`.
pub const EVENT: Section = Section {
    header: "[[runs.events]]",
    doc: "A change of the network during the measurement.",
    keys: &[
        KIND,
        Key {
            name: "at",
            kind: Takes::Time(Duration::ZERO..=Duration::from_secs(86_400)),
            need: Need::Required,
            doc: "Time of the event, from the start of the measurement (after the warm-up).",
        },
    ],
    of_kinds: &KEYS,
};

/// The kind's own key.
const KIND: Key = Key {
    name: "kind",
    kind: Takes::Choice(&NAMES),
    need: Need::Required,
    doc: "Kind of event. `migrate`: a guest moves to another host. `cable`: a cable is pulled at one end. `silence`: a \
        cable drops every frame, and both ends keep their carrier. In such a run the cable is built as an impaired \
        link, with or without `impair`. `target`: the server of a target is killed. `impair`: a cable delays, loses, \
        doubles, corrupts or reorders frames. `rate`: a cable gets another rate. `hang`: a switch forwards nothing and sends \
        nothing, and its ports stay up. `restart`: a switch is restarted: its ports go down, and its tables are empty \
        afterwards. `lacp`: a switch sends no more LACPDUs, and forwards as before. `mtu`: one end of a cable \
        drops larger packets. `filters`: another program removes the eBPF programs of a member. `stop`: the process of a \
        host's team is stopped, and continued. `kill`: it is killed, and started again. `busy`: a busy program takes \
        the processor on which it runs. `reboot`: a host loses its team and its links, and sets up all anew. For `impair`, \
        `hang` and `lacp` the cables are built as for `silence`.",
};

/// The hosts that have to have a bridge for these events.
pub fn bridged(events: &[Record]) -> Vec<At<String>> {
    let of = |event: &Record| KINDS.iter().flat_map(|kind| (kind.bridged)(event)).collect::<Vec<_>>();
    events.iter().flat_map(of).collect()
}

/// The cables that need the link emulator for these events.
pub fn relayed(events: &[Record]) -> Vec<Relayed> {
    let of = |event: &Record| {
        let name = event.get::<&str>("kind")?;
        (KINDS.iter().find(|kind| kind.name == name.value)?.relayed)(event)
    };
    events.iter().filter_map(of).collect()
}

/// The cables whose ends send no frames that join packets in a run with these events.
pub fn without_offloads(events: &[Record], impairments: &BTreeMap<&str, Way>) -> Vec<CableName> {
    let corrupts = |event: &&Record| {
        let name = event.get::<&[At<String>]>("impair").and_then(|at| at.value.first());
        name.and_then(|name| impairments.get(name.value.as_str())).is_some_and(Way::corrupts)
    };
    let of_impair = events.iter().filter(corrupts).filter_map(CableName::of);
    mtu::without_offloads(events).into_iter().chain(of_impair).collect()
}

/// What an event is and what undoes it, whenever it happens; what is wrong goes to the problems.
pub fn happens(record: &Record, told: &mut Told<'_, '_>) -> Option<Happens> {
    let name = record.get::<&str>("kind")?;
    let kind = KINDS.iter().find(|kind| kind.name == name.value)?;
    check_keys(record, kind, &name, told.problems);
    (kind.resolve)(record, &name.span, told)
}

/// The kinds, each with the keys that it takes.
pub fn kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    let keys = |kind: &Kind| kind.keys.iter().map(|key| key.name).chain(kind.also.iter().copied()).collect();
    KINDS.iter().map(|kind| (kind.name, keys(kind))).collect()
}

/// Resolves the events of a run, in order of time; what is wrong goes to the problems.
pub fn resolve(events: &[Record], told: &mut Told<'_, '_>) -> Vec<Timed> {
    let (mut resolved, mut fault) = (Vec::new(), 0);
    for record in events {
        let Some(at) = record.get("at") else { continue };
        if at.value >= told.duration {
            let hint = "events happen while the run is measured: put it before its end, or raise `duration`";
            told.problems.push(Problem::at(&at.span, "this event comes after the run's end").hint(hint));
        }
        let Some(Happens { event, undone }) = happens(record, told) else { continue };
        let toml = |at, lasts| record.toml(&EVENT, &[("at", Some(at)), ("for", lasts), ("every", None)]).into();
        let Some(undone) = undone else {
            resolved.push(Timed { at: at.value, event, fault, ends: false, toml: toml(at.value, None) });
            fault += 1;
            continue;
        };
        match times(record, at.value, told.duration) {
            Ok((begins, lasts)) => {
                for at in begins {
                    let toml: Arc<str> = toml(at, lasts);
                    resolved.push(Timed { at, event: Arc::clone(&event), fault, ends: false, toml: Arc::clone(&toml) });
                    let (event, toml) = (Arc::clone(&undone), &toml);
                    let over = |lasts| Timed { at: at + lasts, event, fault, ends: true, toml: Arc::clone(toml) };
                    resolved.extend(lasts.map(over));
                    fault += 1;
                }
            }
            Err(problem) => told.problems.push(problem),
        }
    }
    resolved.sort_by_key(|timed| timed.at);
    resolved
}

/// The kinds that this names, or all; and what random faults of each happen to.
pub fn chances(names: &[&str]) -> Vec<(&'static str, Chance)> {
    let wanted = KINDS.iter().filter(|kind| names.is_empty() || names.contains(&kind.name));
    wanted.map(|kind| (kind.name, kind.chance)).collect()
}

/// Keys that only other kinds have are a mistake.
fn check_keys(record: &Record, kind: &Kind, name: &At<&str>, problems: &mut Vec<Problem>) {
    let own = |key: &&Key| kind.keys.iter().all(|own| own.name != key.name) && !kind.also.contains(&key.name);
    for key in KEYS.into_iter().flatten().filter(own).filter(|key| record.has(key.name)) {
        let message = format!("an event has `{}`, which kind `{}` does not have", key.name, kind.name);
        problems.push(Problem::at(&name.span, message).hint(format!("remove `{}`, or change `kind`", key.name)));
    }
}
