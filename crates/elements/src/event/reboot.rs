//! `reboot`: a host is rebooted: its team ends, its links go down, and all is set up anew.

use nicteam_chaos::Chance;

use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind =
    Kind { name: OF_NODE.name, also: &["host", "for", "every"], chance: Chance::Host, resolve, ..PLAIN };

const OF_NODE: NodeKind = NodeKind {
    name: "reboot",
    words: ["host {} is rebooted: its team ends, and its links go down", "host {} is up again"],
    needs_process: false,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let fault = OF_NODE.of_host(record, kind, told)?;
    let serves = told.topology.targets.iter().any(|target| target.host == fault.node);
    if serves || told.topology.hosts.iter().any(|host| host.parent.as_ref() == Some(&fault.node)) {
        let problem = Problem::at(kind, format!("host `{}` has guests, or serves a target", fault.node));
        told.problems.push(problem.hint("reboot a host without them; kind `target` kills a server"));
        return None;
    }
    fault.happens_for(record, kind, told)
}
