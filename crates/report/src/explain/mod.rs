//! Why a run delivered what it delivered.
//!
//! A run's connections are split by direction ([`path::flows`]), each
//! direction becomes the hops that its payload takes, and the first rule of
//! [`rules`] that recognises the picture writes the sentence. A rule is
//! a function in a file of its own; a new one is a file and a line there.

mod facts;
mod path;
mod policy;
mod predict;
mod rules;

use nicteam_record::Run;

use path::Flow;

/// Where a run's limit was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Nowhere: the links were full.
    Nowhere,
    /// How the sending host chose its members.
    Sending,
    /// How the last switch chose its links to the receiving host.
    Receiving,
    /// How one switch chose its links to another.
    Between,
    /// In both directions, with each its own reason.
    Both,
    /// The machine that ran the lab.
    Machine,
    /// The counters do not say.
    Unknown,
}

/// Why a run delivered what it delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One plain sentence; two where payload went both ways.
    pub sentence: String,
    /// Where the limit was set.
    pub side: Side,
    /// The hash policy, or the mode where it does not hash, that set it.
    pub policy: Option<String>,
    /// What the sentence rests on, and what else a reader should know: a
    /// sentence each, the most important first.
    pub facts: Vec<String>,
}

/// Says what set a run's limit, from its counters, its topology and the hash;
/// never from its name.
pub fn explain(run: &Run) -> Explanation {
    let flows = path::flows(run);
    let mut explanation = match flows.as_slice() {
        [] => nothing_sent(),
        [flow] => rules::first(flow),
        [forward, backward, ..] => both(&[forward, backward]),
    };
    explanation.facts.extend(facts::of_run(run));
    explanation
}

/// A run without connections.
fn nothing_sent() -> Explanation {
    Explanation {
        sentence: "Nothing to explain: no connection is recorded.".to_owned(),
        side: Side::Unknown,
        policy: None,
        facts: Vec::new(),
    }
}

/// Each direction's sentence after the other; one, if they say the same.
fn both(flows: &[&Flow<'_>; 2]) -> Explanation {
    let [forward, backward] = flows.map(rules::first);
    if forward.sentence == backward.sentence {
        return forward;
    }
    let lead = |flow: &Flow<'_>, sentence: &str| format!("Towards {}: {}", flow.receivers(), lower_first(sentence));
    Explanation {
        sentence: format!("{} {}", lead(flows[0], &forward.sentence), lead(flows[1], &backward.sentence)),
        side: if forward.side == backward.side { forward.side } else { Side::Both },
        policy: if forward.policy == backward.policy { forward.policy } else { None },
        facts: forward.facts.into_iter().chain(backward.facts).collect(),
    }
}

/// The sentence as it stands behind a colon.
fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
