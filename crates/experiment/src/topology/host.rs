//! What a file says of one host: a link that it has alone, what makes it slow, what its links have to be like.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nicteam_diagnostics::Problem;
use nicteam_team::MAX_MEMBERS;

use crate::gateways;
use nicteam_elements::multipath::Every;
use nicteam_elements::record::{At, Record};
use nicteam_elements::resolved::Bounds;

/// The hosts that have one of their links alone, without a team.
pub(super) struct BareLinks<'a> {
    hosts: &'a [(&'a At<String>, Record)],
    /// Next number of a cable of such a host, those that are not plugged in counted.
    next_cable: BTreeMap<String, u64>,
}

impl<'a> BareLinks<'a> {
    pub(super) fn of(hosts: &'a [(&'a At<String>, Record)]) -> BareLinks<'a> {
        BareLinks { hosts, next_cable: BTreeMap::new() }
    }

    /// Whether the next cable of a node is plugged in: of a host with a bare link that one alone.
    pub(super) fn is_plugged(&mut self, node: &str) -> bool {
        let Some(wanted) = self.of_host(node) else { return true };
        let next = self.next_cable.entry(node.to_owned()).or_default();
        *next += 1;
        *next - 1 == wanted.value
    }

    /// The link that a host has alone, if it has no team in this run.
    fn of_host(&self, node: &str) -> Option<At<u64>> {
        self.hosts.iter().find(|(name, _)| name.value == node)?.1.get("bare_link")
    }

    /// A link that a host is to have alone is one that it has.
    pub(super) fn check(&self) -> impl Iterator<Item = Problem> {
        self.hosts.iter().filter_map(|(name, record)| {
            let wanted = record.get::<u64>("bare_link")?;
            let count = self.next_cable.get(&name.value).copied().unwrap_or(0);
            let message = format!("host `{}` has no link {}", name.value, wanted.value);
            let hint = format!("it has {count}, counted from 0 in the order of the file");
            (wanted.value >= count).then(|| Problem::at(&wanted.span, message).hint(hint))
        })
    }
}

/// What is wrong with a host's links.
pub(super) fn check_host(
    name: &At<String>,
    record: &Record,
    (links, multipath): (usize, Option<Every>),
    teamed: bool,
    mtus: &BTreeSet<u32>,
) -> Option<Problem> {
    let host = &name.value;
    let team_span = record.get::<&[At<String>]>("team").map(|at| at.span);
    let problem = match (links, teamed || record.has("team")) {
        (0, true) => {
            Problem::at(&team_span.unwrap_or(name.span.clone()), format!("host `{host}` has a team but no links"))
                .label("nothing to bundle")
                .hint(format!("add `[[links]]` with `between = [\"{host}\", ...]`"))
        }
        (0, false) => Problem::at(&name.span, format!("host `{host}` has no link"))
            .hint(format!("add `[[links]]` with `between = [\"{host}\", ...]`, or remove the host")),
        (_, true) if let Some(every) = multipath => {
            let span = team_span.unwrap_or(name.span.clone());
            let message = format!("host `{host}` has a team, and a workload from or to it has {}", every.key());
            let hint = "goes over bare links: leave `team` out, or take hosts of its own for it";
            Problem::at(&span, message).hint(format!("{} {hint}", every.name()))
        }
        (2.., _) if gateways::is_one(record) => return None,
        (2.., false) if multipath.is_some() => return None,
        (2.., false) => Problem::at(&name.span, format!("host `{host}` has {links} links but no team")).hint(
            "give it `team = \"...\"` to bundle them, `forward = true` to stand between subnets, or leave it one link",
        ),
        (_, true) if links > MAX_MEMBERS => too_many_members(name, links),
        (_, true) if mtus.len() > 1 => {
            let mtus: Vec<_> = mtus.iter().map(u32::to_string).collect();
            Problem::at(&name.span, format!("the links of host `{host}` have different MTUs: {}", mtus.join(", ")))
                .hint("all members of a team have one MTU; give these links the same `mtu`")
        }
        _ => return None,
    };
    Some(problem)
}

pub(super) fn check_ipv6(name: &At<String>, address: IpAddr, mtus: &BTreeSet<u32>) -> Option<Problem> {
    let mtu = mtus.first().filter(|mtu| address.is_ipv6() && **mtu < 1280)?;
    let message = format!("host `{}` has an IPv6 address and links of MTU {mtu}", name.value);
    Some(Problem::at(&name.span, message).hint("IPv6 needs an MTU of at least 1280 (RFC 8200, section 5)"))
}

pub(super) fn too_many_members(node: &At<String>, members: usize) -> Problem {
    Problem::at(&node.span, format!("a team of `{}` would have {members} members", node.value))
        .hint(format!("a team has at most {MAX_MEMBERS}"))
}

/// What makes a host slow.
pub(super) fn bounds(record: &Record) -> Bounds {
    Bounds {
        processor_bps: record.get::<u64>("processor").map(|at| at.value),
        receive_window_bytes: record.get::<u64>("receive_window").map(|at| at.value as u32),
        receive_queues: record.get::<u64>("receive_queues").map(|at| at.value as u32),
    }
}
