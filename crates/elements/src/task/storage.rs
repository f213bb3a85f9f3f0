//! What tasks over storage have in common: a target's disk, the paths to it, the requests.

use std::time::Duration;

use nicteam_impair::Probability;
use serde::{Deserialize, Serialize};

use super::kind::Said;
use crate::keys::{self, Key, Need, Thing};
use crate::multipath::Every;
use crate::record::{At, Record, Span};
use crate::target::{self, Access, Target};
use crate::traffic::DiskUse;
use crate::units::{parse_duration, show_bytes, show_duration};
use nicteam_diagnostics::Problem;

/// How a path is chosen, the default first.
const POLICIES: [&str; 5] = ["round-robin", "fixed", "queue-length", "service-time", "best"];
/// Requests by a path before the next one's turn, unless the file says another number: VMware's default.
const DEFAULT_IOPS: u32 = 1000;
const DEFAULT_NO_PATH: Duration = Duration::from_secs(30);
/// How long requests wait for a path at most.
const LONGEST_NO_PATH: Duration = Duration::from_secs(86_400);
const DEFAULT_CACHE_BYTES: u64 = 256 << 20;
/// Every offset and length is a multiple of it.
const SECTOR_BYTES: u64 = 512;
/// The longest request: libiscsi's and tgt's own are not far above.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = SECTOR_BYTES..=16 << 20;
const FILE_BYTES: std::ops::RangeInclusive<u64> = SECTOR_BYTES..=1 << 42;

/// The keys of every such task.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "target",
        kind: keys::Kind::One(Thing::Target),
        need: Need::Otherwise("required by its two kinds"),
        doc: "`access-spec`, `copy`: the target (`[targets.NAME]`). `to` is the host that serves it.",
    },
    Key {
        name: "paths",
        kind: keys::Kind::Choice(&["one", "all"]),
        need: Need::Default("one"),
        doc: "`access-spec`, `copy`, `ping`: the paths that are used. `one`: one session, or the echo requests, \
                over the hosts' addresses. `all`: one session for each link (multipath). The hosts have no team, and \
                each of their links has an address in its own subnet.",
    },
    Key {
        name: "policy",
        kind: keys::Kind::Choice(&POLICIES),
        need: Need::Default(POLICIES[0]),
        doc: "`access-spec`, `copy`, with `paths = \"all\"`: how a request gets its path. `round-robin`: the paths \
                in turn, `iops` requests each. `fixed`: the first path that works. `queue-length`: the path with the \
                fewest outstanding requests. `service-time`: the path with the fewest outstanding bytes for its \
                measured rate. `best`: the path on which the request will be answered first.",
    },
    Key {
        name: "iops",
        kind: keys::Kind::Integer(1..=1_000_000),
        need: Need::Default("1000"),
        doc: "`access-spec`, `copy`, with `round-robin`: requests over one path before the next path is used.",
    },
    Key {
        name: "no_path",
        kind: keys::Kind::Text,
        need: Need::Default("30s"),
        doc: "`access-spec`, `copy`: time for which requests wait while no path works. They fail after that time. \
                `fail`: they fail at once.",
    },
    Key {
        name: "block",
        kind: keys::Kind::Bytes(BLOCK_BYTES),
        need: Need::Otherwise("of `spec`, else 32kib; of `copy` 128kib"),
        doc: "`access-spec`, `copy`: bytes that a request reads or writes. It is a multiple of 512.",
    },
    Key {
        name: "outstanding",
        kind: keys::Kind::Integer(1..=4096),
        need: Need::Otherwise("64; of `copy` 32"),
        doc: "`access-spec`, `copy`: number of requests that are always outstanding.",
    },
    Key {
        name: "file_size",
        kind: keys::Kind::Bytes(FILE_BYTES),
        need: Need::Otherwise("the target's size, divided by the copies"),
        doc: "`access-spec`: the part of the disk, from its beginning, that is used. `copy`: the size of each \
                copy. Each copy has its own part of the disk.",
    },
    Key {
        name: "cache",
        kind: keys::Kind::Choice(&["none", "write-back"]),
        need: Need::Default("none"),
        doc: "`access-spec`, `copy`: the initiator's cache in front of the disk. `write-back`: a write is done \
                when it is in memory.",
    },
    Key {
        name: "cache_size",
        kind: keys::Kind::Bytes(1 << 20..=1 << 40),
        need: Need::Default("256mib"),
        doc: "`access-spec`, `copy`, with `cache = \"write-back\"`: memory for data that is not on the target yet.",
    },
];

/// Keys that such a task takes beside its own.
pub(super) const ALSO: [&str; KEYS.len() + 1] = {
    let mut names = ["congestion"; KEYS.len() + 1];
    let mut place = 0;
    while place < KEYS.len() {
        names[place] = KEYS[place].name;
        place += 1;
    }
    names
};

/// A disk of a target as a task uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Name of the target.
    pub target: String,
    /// How to get to it.
    pub access: Access,
    /// A session by each link; else one, by the hosts' addresses.
    pub every_path: bool,
    /// What chooses paths: `round-robin`, `fixed`, `queue-length`, `service-time` or `best`.
    pub policy: String,
    /// Of `round-robin`: requests before the next path's turn.
    pub iops: u32,
    /// How long requests wait while no path works, milliseconds; none: they fail at once.
    pub no_path_ms: Option<u64>,
    /// What a request reads or writes, bytes: a multiple of 512.
    pub block_bytes: u64,
    /// Requests that are under way at any moment.
    pub outstanding: u32,
    /// What of the disk is used, bytes; of each copy.
    pub file_bytes: u64,
    /// Memory of the initiator's write-back cache, bytes; none: it has none.
    pub cache_bytes: Option<u64>,
    /// Congestion control of both ends of each session.
    pub congestion: String,
    /// Seed of content, and of whatever is random.
    pub seed: u64,
}

impl Storage {
    /// How it is read or written.
    pub(super) fn disk_use(&self) -> DiskUse<'_> {
        let Storage { policy, iops, outstanding, cache_bytes, .. } = self;
        DiskUse { policy, iops: *iops, outstanding: *outstanding, is_cached: cache_bytes.is_some() }
    }
}

/// By what a workload takes every link, if it does, or is meant to.
pub(super) fn takes_every_path(workload: &Record) -> Option<Every> {
    let paths: Option<At<&str>> = workload.get("paths");
    paths.map_or(workload.is_broken("paths"), |at| at.value == "all").then_some(Every::Sessions)
}

impl Storage {
    /// The paths and how they are chosen, and the cache, in words.
    pub(super) fn words(&self) -> String {
        let paths = match (self.every_path, self.policy.as_str()) {
            (false, _) if matches!(self.access, Access::Nfs { .. }) => "NFS 3".to_owned(),
            (false, _) => "one path".to_owned(),
            (true, "round-robin") if self.iops == 1 => "every path in turn, each for 1 I/O".to_owned(),
            (true, "round-robin") => format!("every path in turn, each for {} I/Os", self.iops),
            (true, policy) => format!("every path by policy {policy}"),
        };
        let cache =
            self.cache_bytes.map_or_else(String::new, |bytes| format!(", write-back cache of {}", show_bytes(bytes)));
        let fails = if self.no_path_ms.is_none() { ", fails without a path" } else { "" };
        format!("by {paths}{cache}{fails}")
    }
}

/// What a kind leaves to the file.
pub(super) struct Defaults {
    pub block_bytes: u64,
    pub outstanding: u32,
    /// How many parts of the disk's size its tasks have together.
    pub parts: u64,
}

/// Resolves what all have; what is wrong goes to the problems.
pub(super) fn resolve(said: &mut Said<'_, '_>, defaults: &Defaults) -> Option<Storage> {
    let target = find_target(said)?;
    let every_path = said.record.get::<&str>("paths").is_some_and(|at| at.value == "all");
    check_paths(said, every_path);
    let block = said.record.get::<u64>("block");
    let block_bytes = block.as_ref().map_or(defaults.block_bytes, |at| at.value);
    check_sectors(said, "block", block.as_ref());
    let file = said.record.get::<u64>("file_size");
    check_sectors(said, "file_size", file.as_ref());
    let part_bytes = target.size_bytes / defaults.parts.max(1);
    // Whole requests, if one fits.
    let whole_bytes = part_bytes - part_bytes % block_bytes.min(part_bytes).max(1);
    let file_bytes = file.as_ref().map_or(whole_bytes, |at| at.value);
    let span = file.map_or_else(|| said.name.span.clone(), |at| at.span);
    check_room(said, &span, &target, (file_bytes, block_bytes, defaults.parts));
    let cache = said.record.get::<&str>("cache").is_some_and(|at| at.value == "write-back");
    check_nfs(said, &target);
    let cache_size = said.record.get::<u64>("cache_size");
    if let Some(size) = cache_size.as_ref().filter(|_| !cache) {
        let message = format!("workload `{}` has `cache_size` and no cache", said.name.value);
        said.problems.push(Problem::at(&size.span, message).hint("add `cache = \"write-back\"`, or remove it"));
    }
    Some(Storage {
        target: target.name,
        access: target.access,
        every_path,
        policy: said.record.get::<&str>("policy").map_or(POLICIES[0], |at| at.value).to_owned(),
        iops: said.record.get::<u64>("iops").map_or(DEFAULT_IOPS, |at| at.value as u32),
        no_path_ms: no_path(said)?.map(|time| time.as_millis() as u64),
        block_bytes,
        outstanding: said.record.get::<u64>("outstanding").map_or(defaults.outstanding, |at| at.value as u32),
        file_bytes,
        cache_bytes: cache.then(|| cache_size.map_or(DEFAULT_CACHE_BYTES, |at| at.value)),
        congestion: said.congestion(),
        seed: said.defaults.get("seed").map_or(1, |at| at.value),
    })
}

/// The target that a workload names, which its `to` serves.
fn find_target(said: &mut Said<'_, '_>) -> Option<Target> {
    let named = said.record.get::<&[At<String>]>("target");
    let Some(name) = named.as_ref().and_then(|at| at.value.first()) else {
        if !said.record.has("target") {
            let message = format!("workload `{}` does not say which `target` it uses", said.name.value);
            let hint = "add `target = \"disk\"` and a section `[targets.disk]`";
            said.problems.push(Problem::at(&said.name.span, message).hint(hint));
        }
        return None;
    };
    let Some(found) = said.topology.targets.iter().find(|target| target.name == name.value) else {
        // An invalid one has been reported.
        if !said.targets.contains(&name.value.as_str()) {
            said.problems.push(target::unknown(name, said.targets));
        }
        return None;
    };
    let found = found.clone();
    let Some(to) = said.record.get::<&[At<String>]>("to") else {
        // A ring alone has none.
        let span = said.record.get::<&str>("pattern").map_or(name.span.clone(), |at| at.span);
        let message = format!("workload `{}` is a `ring`, and uses target `{}`", said.name.value, name.value);
        let hint = format!("remove `pattern`, and add `to = \"{}\"`, the host that serves the target", found.host);
        said.problems.push(Problem::at(&span, message).hint(hint));
        return None;
    };
    for other in to.value.iter().filter(|to| to.value != found.host) {
        let message = format!("target `{}` is on host `{}`, not on `{}`", found.name, found.host, other.value);
        let problem = Problem::at(&other.span, message).also(&name.span, "the target");
        said.problems.push(problem.hint(format!("write `to = \"{}\"`", found.host)));
    }
    Some(found)
}

/// What chooses paths is something only where there are several.
fn check_paths(said: &mut Said<'_, '_>, every_path: bool) {
    let policy = said.record.get::<&str>("policy");
    let iops = said.record.get::<u64>("iops");
    let spans = [("policy", policy.as_ref().map(|at| &at.span)), ("iops", iops.as_ref().map(|at| &at.span))];
    for (key, span) in spans.into_iter().filter_map(|(key, span)| Some((key, span?))).filter(|_| !every_path) {
        let message = format!("workload `{}` has `{key}`, and one path", said.name.value);
        said.problems.push(Problem::at(span, message).hint("add `paths = \"all\"`, or remove it"));
    }
    if let (Some(iops), Some(policy)) = (&iops, policy.filter(|at| at.value != POLICIES[0])) {
        let message = format!("`iops` has no effect with policy `{}`", policy.value);
        said.problems.push(Problem::at(&iops.span, message).hint("remove it: `round-robin` takes turns"));
    }
}

/// NFS goes by one connection, and has no model of disks.
fn check_nfs(said: &mut Said<'_, '_>, target: &Target) {
    if !matches!(target.access, Access::Nfs { .. }) {
        return;
    }
    let is_given = |key: &str| said.record.get::<&str>(key).map(|at| at.value);
    let keys = [
        ("paths", is_given("paths") == Some("all")),
        ("no_path", said.record.has("no_path")),
        ("hit", said.record.has("hit")),
    ];
    let text = |key: &str| said.record.get::<&str>(key).map(|at| at.span);
    for (key, _) in keys.into_iter().filter(|(_, is_given)| *is_given) {
        let span = text(key).or_else(|| said.record.get::<Probability>(key).map(|at| at.span));
        let message =
            format!("workload `{}` has `{key}`, and target `{}` is served by NFS", said.name.value, target.name);
        let hint = format!("remove `{key}`: it is for targets of `kind = \"iscsi\"`");
        said.problems.push(Problem::at(&span.unwrap_or_else(|| said.name.span.clone()), message).hint(hint));
    }
}

/// Disks have sectors.
pub(super) fn check_sectors(said: &mut Said<'_, '_>, key: &str, bytes: Option<&At<u64>>) {
    let Some(at) = bytes.filter(|at| !at.value.is_multiple_of(SECTOR_BYTES)) else { return };
    let message = format!("`{key}`: {} is no multiple of 512 bytes", show_bytes(at.value));
    let near = show_bytes(at.value.next_multiple_of(SECTOR_BYTES));
    said.problems.push(Problem::at(&at.span, message).hint(format!("a disk has sectors of 512 bytes: `{near}`")));
}

/// The tasks' parts of the disk have to be on it, and to hold a request each.
fn check_room(
    said: &mut Said<'_, '_>,
    span: &Span,
    target: &Target,
    (file_bytes, block_bytes, parts): (u64, u64, u64),
) {
    let size = show_bytes(target.size_bytes);
    let problem = if file_bytes < block_bytes {
        let (file, block) = (show_bytes(file_bytes), show_bytes(block_bytes));
        Problem::at(span, format!("a request of {block} does not fit into {file}")).hint("lower `block`")
    } else if file_bytes.saturating_mul(parts) > target.size_bytes {
        let what = show_bytes(file_bytes);
        let message = match parts {
            1 => format!("{what} do not fit on target `{}`, which holds {size}", target.name),
            parts => format!("{parts} times {what} do not fit on target `{}`, which holds {size}", target.name),
        };
        Problem::at(span, message).hint("lower `file_size`, or raise the target's `size`")
    } else {
        return;
    };
    said.problems.push(problem);
}

/// How long requests wait without a path: a time, or not at all. None if it is neither.
fn no_path(said: &mut Said<'_, '_>) -> Option<Option<Duration>> {
    let Some(text) = said.record.get::<&str>("no_path") else { return Some(Some(DEFAULT_NO_PATH)) };
    if text.value == "fail" {
        return Some(None);
    }
    match parse_duration(text.value) {
        Ok(time) if time <= LONGEST_NO_PATH => Some(Some(time)),
        Ok(_) => {
            let message = format!("`no_path`: `{}` is out of range", text.value);
            let hint = format!("it takes up to {}, or `fail`", show_duration(LONGEST_NO_PATH));
            said.problems.push(Problem::at(&text.span, message).hint(hint));
            None
        }
        Err((message, hint)) => {
            let hint = format!("{hint}; or `fail`");
            said.problems.push(Problem::at(&text.span, format!("`no_path`: {message}")).hint(hint));
            None
        }
    }
}
