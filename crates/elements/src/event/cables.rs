//! The cable that an event happens to, by its name in the file.

use serde::{Deserialize, Serialize};

use super::required::required;
use crate::keys::{self, Key, Need};
use crate::record::{At, Record, Span};
use crate::resolved::{Cable, End, Topology};
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::list;

/// The keys that name a cable.
pub(super) const LINK: Key = Key {
    name: "link",
    kind: keys::Kind::Ends,
    need: Need::Otherwise("required by kinds that happen to a cable"),
    doc: "The two nodes at the ends of the cable: `[\"a\", \"sw\"]`.",
};
pub(super) const NUMBER: Key = Key {
    name: "number",
    kind: keys::Kind::Integer(0..=1023),
    need: Need::Default("0"),
    doc: "The number of the cable among parallel ones. Cables are counted from 0 in the order of the file.",
};

/// A cable, as an event names it.
pub struct CableName {
    ends: [At<String>; 2],
    number: usize,
    /// Where it stands.
    span: Span,
}

impl CableName {
    /// The one that an event names, if it names one rightly.
    pub(super) fn of(record: &Record) -> Option<CableName> {
        let link = record.get::<&[Vec<At<String>>; 2]>("link")?;
        let [[one], [other]] = [link.value[0].as_slice(), link.value[1].as_slice()] else { return None };
        let number = record.get::<u64>("number").map_or(0, |at| at.value) as usize;
        Some(CableName { ends: [one.clone(), other.clone()], number, span: link.span })
    }

    /// Its place among cables; none if there is no such cable.
    pub fn place(&self, cables: &[Cable]) -> Option<usize> {
        self.between(cables).nth(self.number)
    }

    /// Its ends among a run's cables, in the order of the name; what is wrong goes to the problems.
    pub(super) fn find<'t>(&self, topology: &'t Topology, problems: &mut Vec<Problem>) -> Option<[&'t End; 2]> {
        let [one, other] = &self.ends;
        let Some(place) = self.place(&topology.cables) else {
            let count = self.between(&topology.cables).count();
            let (message, hint) = match count {
                0 => {
                    let nodes = topology.hosts.iter().map(|host| host.name.as_str());
                    let nodes = nodes.chain(topology.switches.iter().map(|switch| switch.name.as_str()));
                    let message = format!("there is no cable between `{}` and `{}`", one.value, other.value);
                    (message, format!("the nodes are {}", list(nodes)))
                }
                1 => (format!("there is no cable {} between them", self.number), "there is one: number 0".to_owned()),
                count => {
                    let message = format!("there is no cable {} between them", self.number);
                    (message, format!("there are {count}, with the numbers 0 to {}", count - 1))
                }
            };
            problems.push(Problem::at(&self.span, message).hint(hint));
            return None;
        };
        let Cable { a, b, .. } = &topology.cables[place];
        Some(if a.node == one.value { [a, b] } else { [b, a] })
    }

    /// Its rate, bit/s.
    pub(super) fn rate_bps(&self, topology: &Topology) -> Option<u64> {
        Some(topology.cables[self.place(&topology.cables)?].rate_bps)
    }

    /// The MTU of one of its ends.
    pub(super) fn mtu_at(&self, topology: &Topology, end: &End) -> Option<u32> {
        let cable = &topology.cables[self.place(&topology.cables)?];
        Some(cable.mtus[usize::from(cable.a != *end)])
    }

    fn between<'c>(&'c self, cables: &'c [Cable]) -> impl Iterator<Item = usize> + 'c {
        let [one, other] = &self.ends;
        let ours = |cable: &Cable| {
            let ends = (cable.a.node.as_str(), cable.b.node.as_str());
            ends == (&*one.value, &*other.value) || ends == (&*other.value, &*one.value)
        };
        cables.iter().enumerate().filter(move |(_, cable)| ours(cable)).map(|(place, _)| place)
    }
}

/// The cables that an event needs the link emulator for.
pub enum Relayed {
    /// This one.
    One(CableName),
    /// Those of a node.
    Of(String),
}

impl Relayed {
    /// Of the cable that an event names.
    pub(super) fn one(record: &Record) -> Option<Relayed> {
        CableName::of(record).map(Relayed::One)
    }

    /// Of the switch that an event names.
    pub(super) fn of_switch(record: &Record) -> Option<Relayed> {
        let name = record.get::<&[At<String>]>("switch")?.value.first()?;
        Some(Relayed::Of(name.value.clone()))
    }

    /// Their places among cables.
    pub fn places(&self, cables: &[Cable]) -> Vec<usize> {
        match self {
            Relayed::One(name) => name.place(cables).into_iter().collect(),
            Relayed::Of(node) => {
                let own = |cable: &Cable| cable.a.node == *node || cable.b.node == *node;
                (0..cables.len()).filter(|place| own(&cables[*place])).collect()
            }
        }
    }
}

/// The cable that an event of a kind names; what is wrong with its name goes to the problems.
pub(super) fn named(record: &Record, kind: (&str, &Span), problems: &mut Vec<Problem>) -> Option<CableName> {
    if !required(record, ("link", "add, for example, `link = [\"a\", \"b\"]`"), kind, problems) {
        return None;
    }
    let named = CableName::of(record);
    if let (None, Some(link)) = (&named, record.get::<&[Vec<At<String>>; 2]>("link")) {
        let problem = Problem::at(&link.span, "an event happens to one cable");
        problems.push(problem.hint("name one node at each end, and by `number` which of parallel cables"));
    }
    named
}

/// Both ends in words: `a (eth1) and sw (a-1)`.
pub(super) fn words(ends: [&End; 2]) -> String {
    let [one, other] = ends.map(|end| format!("{} ({})", end.node, end.device));
    format!("{one} and {other}")
}

/// Where an event of a cable is shown: at a host's end if it has one, since links of hosts have lanes in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The node of that end.
    pub node: String,
    /// The team that the device is a member of.
    pub team: Option<String>,
    /// The device.
    pub member: String,
}

impl Shown {
    /// Of a cable with these ends.
    pub(super) fn of(ends: [&End; 2], topology: &Topology) -> Shown {
        let is_host = |end: &&End| topology.hosts.iter().any(|host| host.name == end.node);
        let end = ends.into_iter().find(is_host).unwrap_or(ends[0]);
        Shown { node: end.node.clone(), team: team_of(end, topology), member: end.device.clone() }
    }
}

/// The team that a device is a member of.
pub(super) fn team_of(end: &End, topology: &Topology) -> Option<String> {
    let own = topology.teams.iter().find(|team| team.node == end.node && team.members.contains(&end.device));
    own.map(|team| team.device.clone())
}
