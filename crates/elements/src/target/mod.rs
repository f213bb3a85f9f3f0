//! Targets: storage that a host serves to others. One file a kind, and one line in [`KINDS`].

mod access;
mod iscsi;
mod kind;
mod nfs;

use std::collections::BTreeSet;

use crate::keys::{Key, Kind as Takes, Need, Section, Thing};
use crate::record::{At, Record};
use crate::resolved::Host;
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};

pub use access::{Access, Medium, Target};
pub use iscsi::Iscsi;
use kind::{Kind, Said};
pub use nfs::Nfs;

/// All kinds.
const KINDS: [Kind; 2] = [iscsi::KIND, nfs::KIND];

/// Their names.
const NAMES: [&str; KINDS.len()] = [KINDS[0].name, KINDS[1].name];

/// What a target may hold: from the least that is worth measuring to more than any machine has memory.
const SIZE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 42;

/// Of a target that names none.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

/// `[targets.NAME]`.
pub const TARGET: Section = Section {
    header: "[targets.NAME]",
    doc: "Storage that a host serves. The lab starts a real server, waits for it, watches it and ends it. A target \
        runs in the runs whose workloads name it. A target that no workload of the file names runs in all runs.",
    keys: &[
        Key {
            name: "kind",
            kind: Takes::Choice(&NAMES),
            need: Need::Otherwise("required"),
            doc: "Kind of storage. `iscsi`: a LUN of Linux's SCSI target (`tgt`). `nfs`: a file in an export of NFS 3 \
                (`nfs-ganesha`).",
        },
        Key {
            name: "on",
            kind: Takes::One(Thing::Host),
            need: Need::Otherwise("required"),
            doc: "The host that serves it.",
        },
        Key {
            name: "size",
            kind: Takes::Bytes(SIZE_BYTES),
            need: Need::Default("1gib"),
            doc: "Its size. It uses memory or disk space only for data that was written.",
        },
    ],
    of_kinds: &[KINDS[0].keys, KINDS[1].keys],
};

/// Which targets a run has: those that its workloads name, and those that no workload of the file names.
pub fn of_run<'a>(run: &Record, workloads: &'a [(At<String>, Record)]) -> impl Fn(&str) -> bool + use<'a> {
    let names = run.get::<&[At<String>]>("workloads").map_or(&[][..], |at| at.value);
    let (mut of_run, mut of_any) = (BTreeSet::new(), BTreeSet::new());
    for (workload, record) in workloads {
        let Some(target) = record.get::<&[At<String>]>("target").and_then(|names| names.value.first()) else {
            continue;
        };
        of_any.insert(target.value.as_str());
        if names.iter().any(|name| name.value == workload.value) {
            of_run.insert(target.value.as_str());
        }
    }
    move |target| of_run.contains(target) || !of_any.contains(target)
}

/// Resolves the targets of a run; what is wrong goes to the problems.
pub fn resolve(
    records: &[(&At<String>, Record)],
    hosts: &[Host],
    hosts_are_broken: bool,
    problems: &mut Vec<Problem>,
) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for (name, record) in records {
        problems.extend(["kind", "on"].into_iter().filter(|key| !record.has(key)).map(|key| missing(name, key)));
        let (Some(kind), Some(on)) = (record.get::<&str>("kind"), record.get::<&[At<String>]>("on")) else { continue };
        let (Some(known), Some(on)) = (KINDS.iter().find(|known| known.name == kind.value), on.value.first()) else {
            continue;
        };
        check_keys(name, record, known, &kind, problems);
        if hosts.iter().all(|host| host.name != on.value) {
            if !hosts_are_broken {
                problems.push(unknown_host(on, hosts));
            }
            continue;
        }
        let size_bytes = record.get::<u64>("size").map_or(DEFAULT_SIZE_BYTES, |at| at.value);
        let beside: Vec<&Target> = targets.iter().filter(|target| target.host == on.value).collect();
        let said = &mut Said { name, record, beside: &beside, kind: &kind.span, problems };
        let Some(service) = (known.resolve)(said) else { continue };
        targets.push(Target {
            name: name.value.clone(),
            host: on.value.clone(),
            kind: known.name,
            size_bytes,
            medium: service.medium,
            words: service.words,
            access: service.access,
            settings: service.settings,
        });
    }
    targets
}

/// Keys that only other kinds have are a mistake.
fn check_keys(name: &At<String>, record: &Record, known: &Kind, kind: &At<&str>, problems: &mut Vec<Problem>) {
    let foreign = KINDS.iter().flat_map(|kind| kind.keys);
    let foreign = foreign.filter(|key| known.keys.iter().all(|own| own.name != key.name));
    for key in foreign.map(|key| key.name).filter(|key| record.has(key)) {
        let message = format!("target `{}` has `{key}`, which kind `{}` does not have", name.value, known.name);
        problems.push(Problem::at(&kind.span, message).hint(format!("remove `{key}`, or change `kind`")));
    }
}

/// The problem of a key that is not there. A run's changes need not repeat it, so the section cannot demand it.
fn missing(name: &At<String>, key: &str) -> Problem {
    let example = if key == "kind" { NAMES[0] } else { "HOST" };
    let message = format!("target `{}` does not say its `{key}`", name.value);
    Problem::at(&name.span, message).hint(format!("add `{key} = \"{example}\"`"))
}

fn unknown_host(on: &At<String>, hosts: &[Host]) -> Problem {
    let names = || hosts.iter().map(|host| host.name.as_str());
    let hint = match nearest(&on.value, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the hosts are {}", list(names())),
    };
    Problem::at(&on.span, format!("no host `{}`", on.value)).hint(hint)
}

/// The problem of a name that is no target's.
pub fn unknown(name: &At<String>, known: &[&str]) -> Problem {
    let hint = match nearest(&name.value, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("add a section `[targets.{}]`", name.value),
        None => format!("there are {}", list(known.iter().copied())),
    };
    Problem::at(&name.span, format!("no target `{}`", name.value)).hint(hint)
}
