//! A member at another speed than the others, or at half duplex.

use nicteam_bundles::Member;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Weight};
use crate::units::rate;
use crate::view::View;

pub(super) struct UnlikeSpeeds;

impl Rule for UnlikeSpeeds {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let linked = || view.bundle().members.iter().filter(|member| member.carrier);
        let half = linked().filter(|member| member.full_duplex == Some(false)).map(half_duplex);
        let fastest = linked().filter_map(|member| member.speed_mbps).max();
        let slower = |member: &&Member| member.speed_mbps.zip(fastest).is_some_and(|(own, fastest)| own < fastest);
        let slow = linked().filter(slower).filter_map(|member| slow(view, member, fastest?));
        half.chain(slow).collect()
    }
}

fn half_duplex(member: &Member) -> Finding {
    let name = &member.name;
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
    Some(finding.by("the drivers say these speeds".to_owned()).change(Change::at(Place::Link, text)))
}
