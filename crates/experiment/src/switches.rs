//! What a file says of a switch: its model, how it spreads, whether its groups are agreed on by a protocol.

use crate::sections::{SPREADS, SWITCH};
use crate::teams::Grouping;
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};
use nicteam_elements::record::{At, Record, Span};
use nicteam_elements::resolved::{Pagp, Switch};
use nicteam_elements::switch_model::{self, SwitchModel};

/// A switch, and how it bundles its links if it does.
pub(crate) struct Spec {
    pub switch: Switch,
    /// Where the file says so, and how.
    pub grouping: Option<(Span, Grouping)>,
    /// True if it bundles, or has an invalid setting for it.
    pub is_to_spread: bool,
}

/// The switch of this record; what is wrong goes to `problems`.
pub(crate) fn read(name: &At<String>, record: &Record, problems: &mut Vec<Problem>) -> Spec {
    let model = record.get::<&str>("model").and_then(|at| switch_model::find(at.value));
    let protocol = protocol(name, record, model, problems);
    let spread = spread(record, model, protocol.is_some(), problems);
    let (pagp, lacp) = match protocol.as_ref().map(|at| at.value) {
        Some(Protocol::Pagp(pagp)) => (Some(pagp), None),
        Some(Protocol::Lacp(lacp)) => (None, Some(lacp)),
        None => (None, None),
    };
    let word = spread.as_ref().map(|at| at.value.0.to_owned());
    let is_to_spread = pagp.is_none() && (record.has("spread") || protocol.is_some());
    let grouping = spread.filter(|_| pagp.is_none()).map(|At { value: (_, policy), span }| {
        let rate = record.get::<&str>("lacp_rate").map_or("slow", |at| at.value).to_owned();
        let hash_buckets = model.map_or(0, |model| model.hash_buckets);
        (span, Grouping { policy: policy.to_owned(), hash_buckets, lacp: lacp.map(str::to_owned), lacp_rate: rate })
    });
    if let Some(lacp) = record.get::<&str>("lacp").filter(|_| !record.has("spread") && protocol.is_none()) {
        let problem = Problem::at(&lacp.span, format!("switch `{}` has `lacp` but no groups", name.value));
        problems.push(problem.hint("add `spread`, for example `spread = \"src-dst-port\"`"));
    }
    let unknown = record.get::<bool>("unknown").filter(|at| at.value);
    problems.extend(unknown.as_ref().and_then(|at| check_unknown(name, record, at)));
    let unknown = unknown.is_some();
    let switch = Switch { name: name.value.clone(), model, spread: word, pagp, pagp_ports: Vec::new(), unknown };
    Spec { switch, grouping, is_to_spread }
}

/// Of an unknown switch the file says nothing else.
fn check_unknown(name: &At<String>, record: &Record, unknown: &At<bool>) -> Option<Problem> {
    let said = SWITCH.keys.iter().map(|key| key.name).find(|key| *key != "unknown" && record.has(key))?;
    let problem = Problem::at(&unknown.span, format!("switch `{}` is `unknown` and has `{said}`", name.value));
    Some(problem.hint("remove one of the two"))
}

/// True if it names an unknown model, which has been reported.
fn is_unknown(record: &Record, model: Option<&SwitchModel>) -> bool {
    model.is_none() && record.has("model")
}

/// How groups come about.
#[derive(Clone, Copy)]
enum Protocol<'a> {
    /// The team option `lacp` of the group, or `off`.
    Lacp(&'a str),
    Pagp(Pagp),
}

/// What `channel_group` or `lacp` says.
fn protocol<'a>(
    name: &At<String>,
    record: &'a Record,
    model: Option<&SwitchModel>,
    problems: &mut Vec<Problem>,
) -> Option<At<Protocol<'a>>> {
    let lacp: Option<At<&str>> = record.get("lacp");
    let Some(At { value: mode, span }) = record.get::<&str>("channel_group") else {
        // Without `spread` it has no effect; the check of groups reports that.
        return lacp.filter(|_| record.has("spread")).map(|at| At { value: Protocol::Lacp(at.value), span: at.span });
    };
    if is_unknown(record, model) {
        // Said where the model is named, and what it would take is not known.
    } else if !model.is_some_and(|model| model.has_channel_group) {
        let what = model.map_or("no model".to_owned(), |model| format!("the model `{}`", model.name));
        let message = format!("`channel_group` is Cisco's, and switch `{}` has {what}", name.value);
        problems.push(Problem::at(&span, message).hint("say `lacp` instead, or `model = \"catalyst-2960s\"`"));
    } else if let Some(lacp) = lacp {
        let message = format!("switch `{}` has `channel_group` and `lacp`", name.value);
        let problem = Problem::at(&lacp.span, message).also(&span, "says whether there is LACP, too");
        problems.push(problem.hint("remove one of the two"));
    }
    let value = match mode {
        "auto" => Protocol::Pagp(Pagp::Auto),
        "desirable" => Protocol::Pagp(Pagp::Desirable),
        "on" => Protocol::Lacp("off"),
        lacp => Protocol::Lacp(lacp),
    };
    Some(At { value, span })
}

/// How it spreads: in the words of the file, and the hash policy behind them.
fn spread<'a>(
    record: &'a Record,
    model: Option<&'static SwitchModel>,
    bundles: bool,
    problems: &mut Vec<Problem>,
) -> Option<At<(&'a str, &'a str)>> {
    let Some(At { value: word, span }) = record.get::<&'a str>("spread") else {
        // Told to bundle, it does so in its own way.
        let own = model.filter(|_| bundles && !record.has("spread"))?.default_spread();
        let span = record.get::<&str>("channel_group").or_else(|| record.get("lacp"))?.span;
        return Some(At { value: (own.word, own.policy.name()), span });
    };
    let policy = match model {
        Some(model) => model.spread(word).map(|spread| spread.policy.name()),
        None => SPREADS.contains(&word).then_some(word),
    };
    if let Some(policy) = policy {
        return Some(At { value: (word, policy), span });
    }
    if is_unknown(record, model) {
        return None;
    }
    let words: Vec<&str> =
        model.map_or_else(|| SPREADS.to_vec(), |model| model.spreads.iter().map(|spread| spread.word).collect());
    let takes = match model {
        Some(model) if model.command.is_empty() => format!("`{}` takes {}", model.name, list(words.iter().copied())),
        Some(model) => format!("`{}` of `{}` takes {}", model.command, model.name, list(words.iter().copied())),
        None => format!("it takes {}", list(words.iter().copied())),
    };
    let hint = match nearest(word, words.iter().copied()) {
        Some(near) if model.is_none() => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? {takes}"),
        None => takes,
    };
    problems.push(Problem::at(&span, format!("`spread`: `{word}` is not one of its values")).hint(hint));
    None
}

/// What a model's limits say against its groups: of how many links each is.
pub(crate) fn check_limits(name: &At<String>, model: &SwitchModel, groups: &[usize]) -> Option<Problem> {
    if let Some(links) = groups.iter().find(|links| **links > model.most_links) {
        let message = format!("a group of switch `{}` would have {links} links", name.value);
        return Some(
            Problem::at(&name.span, message)
                .hint(format!("a {} uses at most {} links of a group", model.title, model.most_links)),
        );
    }
    let most = model.most_groups.filter(|most| groups.len() > *most)?;
    let message = format!("switch `{}` would have {} groups", name.value, groups.len());
    Some(Problem::at(&name.span, message).hint(format!("a {} has at most {most}", model.title)))
}
