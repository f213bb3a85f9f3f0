//! An explanation for people.

use std::fmt::Write;

use nicteam_bundles::{Bundle, Member};

use crate::facts::Explanation;
use crate::finding::{Change, Finding, Place, Weight};
use crate::units::{percent, plural, rate};
use crate::view::{Direction, View};

/// In a sentence.
pub(crate) fn verdict(view: &View<'_>, findings: &[Finding]) -> String {
    let count = |weight: Weight| findings.iter().filter(|finding| finding.weight == weight).count();
    let is_idle = [Direction::In, Direction::Out].into_iter().all(|direction| view.is_idle(direction));
    match (count(Weight::Limit), count(Weight::Fault)) {
        (0, 0) if is_idle => "nothing is wrong, as far as that can be seen without traffic".to_owned(),
        (0, 0) => "nothing is wrong".to_owned(),
        (0, faults) => format!("{}; no link is full now", plural(faults, "fault")),
        (limits, 0) => format!("limited: {} of a full link", plural(limits, "cause")),
        (limits, faults) => {
            format!("limited: {} of a full link; {} beside", plural(limits, "cause"), plural(faults, "fault"))
        }
    }
}

/// What cannot be said.
pub(crate) fn unknown(view: &View<'_>) -> Vec<String> {
    let mut unknown = Vec::new();
    let spreads = view.spreads() && view.active().len() > 1;
    if spreads && view.is_idle(Direction::In) {
        unknown.push("how the other end spreads what it sends: nothing was received".to_owned());
    }
    if spreads && view.is_idle(Direction::Out) {
        unknown.push("how this host's hash spreads its flows: nothing was sent".to_owned());
    }
    if view.facts.headers.is_none() {
        unknown.push("which member the frames of a flow use, and whether another host has an address of this one: that needs CAP_NET_RAW (sudo)".to_owned());
    }
    if let Some(member) = view.bundle().members.iter().find(|of| of.carrier && of.speed_mbps.is_none()) {
        unknown.push(format!("whether {} is full: its driver does not say its speed", member.name));
    }
    if view.traits.is_none() {
        unknown.push(format!("how {} spreads frames: its mode is not known", view.bundle().name));
    }
    if let Some(path) = view.facts.path.filter(|path| path.is_good) {
        unknown.extend(path.findings.iter().map(|why| format!("which packets pass the path to {}: {why}", path.to)));
    }
    unknown.extend(view.bundle().unseen.iter().cloned());
    unknown
}

/// All of it.
pub(crate) fn explanation(of: &Explanation, view: &View<'_>) -> String {
    let mut text = String::new();
    // A String takes everything.
    let _ = head(&mut text, view.bundle());
    let _ = members(&mut text, view);
    let _ = writeln!(text, "\n{}: {}.", of.bundle, of.verdict);
    for (at, finding) in of.findings.iter().enumerate() {
        let _ = self::finding(&mut text, at + 1, finding);
    }
    if !of.unknown.is_empty() {
        let _ = writeln!(text, "\nNot known:");
        for line in &of.unknown {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn head(text: &mut String, bundle: &Bundle) -> std::fmt::Result {
    write!(text, "{}: {}", bundle.name, bundle.kind.title())?;
    if !bundle.mode.is_empty() {
        write!(text, ", mode {}", bundle.mode)?;
    }
    if let Some(policy) = &bundle.hash_policy {
        write!(text, ", sends by {policy}")?;
    }
    if let Some(lacp) = &bundle.lacp {
        match (&lacp.partner, lacp.ports) {
            (Some(partner), Some(ports)) => {
                write!(text, ", LACP with {partner} on {}", plural(ports as usize, "port"))?;
            }
            (Some(partner), None) => write!(text, ", LACP with {partner}")?,
            (None, _) if lacp.negotiated == Some(false) => write!(text, ", LACP without a partner")?,
            (None, _) => write!(text, ", LACP")?,
        }
    }
    writeln!(text)
}

/// A line a member: state, speed, and what it carried.
fn members(text: &mut String, view: &View<'_>) -> std::fmt::Result {
    let flows = [Direction::In, Direction::Out].map(|direction| view.flows(direction));
    let rows: Vec<[String; 5]> = view
        .bundle()
        .members
        .iter()
        .map(|member| {
            let way = |direction: Direction| {
                let bps = rate(view.bps(&member.name, direction));
                let load = view.load(member, direction).map(|load| format!(" ({})", percent(load)));
                bps + &load.unwrap_or_default()
            };
            let count = |at: usize| flows[at].iter().filter(|flow| flow.member == member.name).count();
            let carried = if view.facts.headers.is_some() {
                format!("{} in, {} out", count(0), count(1))
            } else {
                "-".to_owned()
            };
            [member.name.clone(), state(member), way(Direction::In), way(Direction::Out), carried]
        })
        .collect();
    let headings = ["member", "state", "receives", "sends", "flows"].map(str::to_owned);
    let all: Vec<&[String; 5]> = std::iter::once(&headings).chain(&rows).collect();
    for row in &all {
        let cell = |(at, cell): (usize, &String)| {
            let width = all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
            format!("{cell:<width$}")
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        writeln!(text, "  {}", cells.join("  ").trim_end())?;
    }
    writeln!(text, "  over {:.1} s", view.facts.rates.seconds)
}

fn state(member: &Member) -> String {
    let speed = member.speed_mbps.map(|mbps| rate(f64::from(mbps) * 1e6));
    let state = match member {
        Member { admin_up: false, .. } => "set down",
        Member { carrier: false, .. } => "no carrier",
        Member { up: false, .. } => "down",
        Member { active: true, .. } => "active",
        _ => "not used",
    };
    match speed {
        Some(speed) if member.carrier => format!("{state}, {speed}"),
        _ => state.to_owned(),
    }
}

fn finding(text: &mut String, number: usize, finding: &Finding) -> std::fmt::Result {
    let weight = match finding.weight {
        Weight::Limit => "limit",
        Weight::Fault => "fault",
        Weight::Notice => "notice",
    };
    let (side, sure) = (finding.side.title(), finding.sure.title());
    writeln!(text, "\n{number}. {} ({weight} at {side}, {sure})", finding.sentence)?;
    for line in &finding.evidence {
        writeln!(text, "   because: {line}")?;
    }
    for change in &finding.changes {
        self::change(text, change)?;
    }
    match &finding.gain {
        Some(gain) => writeln!(text, "   gives: {gain}"),
        None => Ok(()),
    }
}

fn change(text: &mut String, change: &Change) -> std::fmt::Result {
    let place = match change.place {
        Place::Here => "here",
        Place::Switch => "at the switch",
        Place::OtherHost => "on the other host",
        Place::Link => "at the link",
    };
    writeln!(text, "   change {place}: {}", change.text)?;
    change.commands.iter().try_for_each(|command| writeln!(text, "     {command}"))
}
