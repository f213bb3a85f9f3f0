//! Kinds of traffic, as a file has them: one file a kind, and one line in [`KINDS`].

mod access_spec;
mod copy;
mod kind;
mod ping;
mod program;
mod requests;
mod storage;
mod tagged;
mod tcp;
mod traffic_test;
mod udp;
mod words;

use std::sync::Arc;

use crate::keys::Key;
use crate::multipath::Every;
use crate::record::{At, Record};
use crate::traffic::Task;
use nicteam_diagnostics::Problem;

pub use access_spec::{AccessSpec, Disks};
pub use copy::Copy;
pub use kind::{Kind, Said};
pub use ping::Ping;
pub use program::Program;
pub use requests::Requests;
pub use storage::Storage;
pub use tagged::Tagged;
pub use tcp::Tcp;
pub use traffic_test::TrafficTest;
pub use udp::Udp;

/// All of them.
pub const KINDS: [Kind; 9] = [
    tcp::KIND,
    udp::KIND,
    tagged::KIND,
    traffic_test::KIND,
    requests::KIND,
    program::KIND,
    access_spec::KIND,
    copy::KIND,
    ping::KIND,
];

/// What they are, for the reference.
pub const DOC: &str = "Kind of traffic. `tcp`: connections that carry as much as they can. `udp`: \
    numbered datagrams at a given rate. `tagged`: the same in raw frames with a VLAN tag. `traffic-test`: SoftEther's \
    throughput test; half of the connections carry data down, half up. `requests`: small questions and answers at \
    regular times, as in web browsing. `program`: the TCP connections of your own program. `access-spec`: requests to \
    a target's disk, as IOmeter makes them. `copy`: one copy of a file from memory to a target's disk, or back. \
    `ping`: echo requests.";

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

/// The keys that each adds, and behind them those that all tasks over storage share.
pub const KEYS: [&[Key]; KINDS.len() + 1] = {
    let mut keys: [&[Key]; KINDS.len() + 1] = [storage::KEYS; KINDS.len() + 1];
    let mut place = 0;
    while place < KINDS.len() {
        keys[place] = KINDS[place].keys;
        place += 1;
    }
    keys
};

/// Resolves a workload's kind; keys that only other kinds have are a mistake.
pub fn resolve(said: &mut Said<'_, '_>) -> Option<Arc<dyn Task>> {
    let name: At<&str> = said.record.get("kind")?;
    let kind = find(name.value)?;
    let own = |key: &&Key| kind.keys.iter().all(|own| own.name != key.name) && !kind.also.contains(&key.name);
    let foreign = KEYS.into_iter().flatten().filter(own);
    for key in foreign.map(|key| key.name).filter(|key| said.record.has(key)) {
        let message = format!("workload `{}` has `{key}`, which kind `{}` does not have", said.name.value, name.value);
        said.problems.push(Problem::at(&name.span, message).hint(format!("remove `{key}`, or change `kind`")));
    }
    (kind.resolve)(said)
}

/// Whether a workload cannot pass a gateway: what it does ends with its hosts' own segment.
pub fn stays_in_segment(workload: &Record) -> bool {
    let kind = workload.get::<&str>("kind").and_then(|name| find(name.value));
    kind.is_some_and(|kind| kind.stays_in_segment) || takes_every_path(workload).is_some()
}

/// The names of those whose generators keep to a slow host's processor.
pub fn keep_to_a_processor() -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter(|kind| kind.keeps_to_a_processor).map(|kind| kind.name)
}

/// The kind of this name.
fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// By what the connections of a workload take every link of their hosts, if they do or are meant to.
pub fn takes_every_path(workload: &Record) -> Option<Every> {
    KINDS.iter().find_map(|kind| (kind.takes_every_path)(workload))
}
