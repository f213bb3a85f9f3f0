//! A member at another speed than the others, or at half duplex.

use nicteam_bundles::Member;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Weight};
use crate::predicted;
use crate::units::rate;
use crate::view::{Direction, View};

pub(super) struct UnlikeSpeeds;

impl Rule for UnlikeSpeeds {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let linked = || view.bundle().members.iter().filter(|member| member.carrier);
        let half = linked().filter(|member| member.full_duplex == Some(false)).map(|member| half_duplex(view, member));
        let fastest = linked().filter_map(|member| member.speed_mbps).max();
        let slower = |member: &&Member| member.speed_mbps.zip(fastest).is_some_and(|(own, fastest)| own < fastest);
        let slow = linked().filter(slower).filter_map(|member| slow(view, member, fastest?));
        half.chain(slow).collect()
    }
}

fn half_duplex(view: &View<'_>, member: &Member) -> Finding {
    let name = &member.name;
    let late = view.facts.rates.of(name).counted.late_collisions;
    if late > 0 {
        let sentence = format!(
            "Member {name} runs at half duplex, and the port at its other end at full duplex: each loses what the other one \
             sends at the same time."
        );
        let evidence = format!("{late} late collisions: the other end sends without waiting");
        let text = format!(
            "let both ends of {name} negotiate; one that is set by hand makes the other one fall back to half duplex"
        );
        let finding = Finding::new("duplex-mismatch", Weight::Fault, Side::Link, sentence).of(name).by(evidence);
        let commands = vec![format!("ethtool -s {name} autoneg on")];
        return finding.change(Change { commands, ..Change::at(Place::Link, text) });
    }
    let sentence = format!("Member {name} runs at half duplex: it cannot send and receive at once, and loses frames.");
    let text = format!("let both ends of {name} negotiate, or set both alike");
    Finding::new("half-duplex", Weight::Fault, Side::Link, sentence).of(name).change(Change::at(Place::Link, text))
}

fn slow(view: &View<'_>, member: &Member, fastest: u32) -> Option<Finding> {
    let (name, own) = (&member.name, member.speed_mbps?);
    let [own, others] = [own, fastest].map(|mbps| rate(f64::from(mbps) * 1e6));
    let effect = match view.spreads() {
        true => "Members get equal shares of the flows, so the slow one is full first, and the others wait for it",
        false => "When it becomes the active one, everything is as slow",
    };
    let sentence = format!("Member {name} runs at {own}, and others at {others}. {effect}.");
    let text = format!("find out why {name} is slower: cable, transceiver, or a port that is set to that speed");
    let finding = Finding::new("speed", Weight::Fault, Side::Link, sentence).of(name);
    let mut finding = finding.by("the drivers say these speeds".to_owned()).change(Change::at(Place::Link, text));
    finding.gain = gain(view, fastest);
    Some(finding)
}

/// What the flows would get if all links had the highest speed.
fn gain(view: &View<'_>, fastest: u32) -> Option<String> {
    let policy = view.bundle().hash_policy.as_ref()?.parse().ok()?;
    let flows = view.flows(Direction::Out);
    let mut change = predicted::Change::hash(view, policy)?;
    change.speeds_bps.fill(f64::from(fastest) * 1e6);
    predicted::of_change(view, Direction::Out, &flows, &change)
}
