//! Which of a workload's hosts connect to which: `pattern`, with `from` and `to`.

use std::collections::BTreeSet;

use crate::keys::{Key, Kind, Need, Thing};
use crate::record::{At, Record};
use nicteam_diagnostics::Problem;

type Names<'a> = &'a [At<String>];
/// A host that connects, and the one that it connects to, where the file names them.
pub type Pair<'a> = (&'a At<String>, &'a At<String>);

const ALL_TO_ALL: &str = "all-to-all";
const PAIRWISE: &str = "pairwise";
const RING: &str = "ring";
const INCAST: &str = "incast";

/// The key `from`.
pub const FROM: Key =
    Key { name: "from", kind: Kind::Many(Thing::Host), need: Need::Required, doc: "The host or hosts that connect." };
/// The key `to`.
pub const TO: Key = Key {
    name: "to",
    kind: Kind::Many(Thing::Host),
    need: Need::Otherwise("required, except by `ring`"),
    doc: "The host or hosts to which they connect, in the way of `pattern`.",
};
/// The key `pattern`.
pub const PATTERN: Key = Key {
    name: "pattern",
    kind: Kind::Choice(&[ALL_TO_ALL, PAIRWISE, RING, INCAST]),
    need: Need::Otherwise("`all-to-all`, with no host in both lists"),
    doc: "Which hosts connect to which. `all-to-all`: each of `from` to each of `to`; a host in both lists does not \
        connect to itself. `pairwise`: the first of `from` to the first of `to`, the second to the second, and so \
        on. `ring`: each of `from` to the next one, the last to the first; there is no `to`. `incast`: all of \
        `from` to the one host of `to`.",
};

/// Whether the hosts of `from` connect to each other.
pub fn is_ring(workload: &Record) -> bool {
    workload.get::<&str>(PATTERN.name).is_some_and(|at| at.value == RING)
}

/// The lists of a workload and how they are meant.
pub struct Ends<'a> {
    name: &'a At<String>,
    pattern: Option<At<&'a str>>,
    /// Who connects.
    pub from: At<Names<'a>>,
    /// To whom; none of a ring.
    pub to: Option<At<Names<'a>>>,
}

impl<'a> Ends<'a> {
    /// Those of a workload; none if a list is missing, or too many.
    pub fn of(name: &'a At<String>, workload: &'a Record, problems: &mut Vec<Problem>) -> Option<Ends<'a>> {
        if workload.is_broken(PATTERN.name) {
            return None;
        }
        let pattern: Option<At<&str>> = workload.get(PATTERN.name);
        let (from, to) = (workload.get(FROM.name)?, workload.get::<Names<'a>>(TO.name));
        let is_ring = is_ring(workload);
        if let Some(to) = to.as_ref().filter(|_| is_ring) {
            let message = format!("workload `{}` is a `ring`, and has a `to`", name.value);
            let hint = "remove `to`: each host of `from` connects to the next one, the last to the first";
            problems.push(Problem::at(&to.span, message).hint(hint));
            return None;
        }
        if to.is_none() && !is_ring {
            if !workload.is_broken(TO.name) {
                let message = format!("`to` is missing in workload `{}`", name.value);
                let hint = "add `to = \"NAME\"`: host or hosts that those of `from` connect to; only `pattern = \"ring\"` has none";
                let problem = Problem::at(&name.span, message).label("no `to` here").hint(hint);
                problems.push(Problem { is_missing_key: true, ..problem });
            }
            return None;
        }
        Some(Ends { name, pattern, from, to })
    }

    /// Who connects to whom, nobody to itself; none if the lists do not fit the pattern, or nobody is left.
    pub fn pairs(&self, problems: &mut Vec<Problem>) -> Option<Vec<Pair<'a>>> {
        let from = self.from.value;
        let Some(to) = &self.to else { return self.ring(problems) };
        let each_to_each = || from.iter().flat_map(|from| to.value.iter().map(move |to| (from, to)));
        let pairs: Vec<Pair<'a>> = match self.pattern.as_ref().map(|at| at.value) {
            Some(PAIRWISE) if from.len() != to.value.len() => {
                let (name, count) = (&self.name.value, [from.len(), to.value.len()]);
                let message =
                    format!("workload `{name}` has {} in `from` and {} in `to`", hosts(count[0]), hosts(count[1]));
                let problem = Problem::at(&to.span, message).also(&self.from.span, "the others");
                let hint = "`pairwise` connects the first to the first, the second to the second, and so on: name as many in both";
                problems.push(problem.hint(hint));
                return None;
            }
            Some(PAIRWISE) => from.iter().zip(to.value).collect(),
            Some(INCAST) if to.value.len() > 1 => {
                let message = format!("workload `{}` is an `incast` to {}", self.name.value, hosts(to.value.len()));
                let hint = "name one host in `to`, or take `pattern = \"all-to-all\"`";
                problems.push(Problem::at(&to.value[1].span, message).hint(hint));
                return None;
            }
            // Where the file says it, a host in both lists is meant.
            Some(ALL_TO_ALL) => {
                let others: Vec<Pair<'a>> = each_to_each().filter(|(from, to)| from.value != to.value).collect();
                if others.is_empty() { each_to_each().collect() } else { others }
            }
            _ => each_to_each().collect(),
        };
        let known = problems.len();
        let mut seen = BTreeSet::new();
        for (_, to) in pairs.iter().filter(|(from, to)| from.value == to.value && seen.insert(&to.value)) {
            let message = format!("workload `{}` goes from host `{}` to itself", self.name.value, to.value);
            let problem = Problem::at(&to.span, message).also(&self.from.span, "it is here, too");
            problems.push(problem.hint(self.hint_to_itself(pairs.len())));
        }
        (problems.len() == known).then_some(pairs)
    }

    fn ring(&self, problems: &mut Vec<Problem>) -> Option<Vec<Pair<'a>>> {
        let from = self.from.value;
        if from.len() < 2 {
            let message = format!("workload `{}` is a `ring` of one host", self.name.value);
            problems.push(Problem::at(&self.from.span, message).hint("name at least two hosts in `from`"));
            return None;
        }
        Some(from.iter().zip(from.iter().cycle().skip(1)).collect())
    }

    fn hint_to_itself(&self, pairs: usize) -> &'static str {
        match self.pattern {
            None if pairs > 1 => {
                "traffic goes between different hosts; `pattern = \"all-to-all\"` leaves out what goes from a host to itself"
            }
            _ => "traffic goes between different hosts",
        }
    }
}

fn hosts(count: usize) -> String {
    format!("{count} host{}", if count == 1 { "" } else { "s" })
}
