//! A shaper, or a filter of another program, on the devices of the bundle.

use nicteam_bundles::{Bundle, Kind, Member, Shaper};

use super::Rule;
use crate::finding::{Change, Finding, Side, Sure, Weight};
use crate::units::{list, rate};
use crate::view::{Direction, View};

pub(super) struct Shaped;

impl Rule for Shaped {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let bundle = view.bundle();
        let device = bundle.device.as_deref().unwrap_or(&bundle.name);
        let before = |name: Option<&str>| -> &[Shaper] {
            let earlier: Option<&Bundle> = view.facts.earlier;
            match name {
                Some(name) => {
                    earlier.and_then(|bundle| bundle.member(name)).map_or(&[], |member| member.shapers.as_slice())
                }
                None => earlier.map_or(&[], |bundle| bundle.shapers.as_slice()),
            }
        };
        let own = bundle.shapers.iter().map(|shaper| shaped(view, device, false, shaper, before(None)));
        let of_members = bundle.members.iter().flat_map(|member| {
            let before = before(Some(&member.name));
            member.shapers.iter().map(move |shaper| shaped(view, &member.name, true, shaper, before))
        });
        let filters = bundle.members.iter().filter_map(|member| filtered(view, member));
        own.chain(of_members).chain(filters).collect()
    }
}

fn shaped(view: &View<'_>, device: &str, is_member: bool, shaper: &Shaper, before: &[Shaper]) -> Finding {
    let kind = &shaper.kind;
    let earlier = before.iter().find(|of| of.kind == *kind);
    let since = |count: fn(&Shaper) -> u64| count(shaper).saturating_sub(earlier.map_or(count(shaper), count));
    let (held, dropped) = (since(|of| of.overlimits), since(|of| of.drops));
    let what = format!("A queueing discipline of another program ({kind}) stands on {device}");
    let change = Change::here(
        format!("take it away, or give it the rate of {device}"),
        vec![format!("tc -s qdisc show dev {device}"), format!("tc qdisc del dev {device} root")],
    );
    let finding = |weight, sentence| {
        let finding = Finding::new("shaper", weight, Side::Host, sentence);
        if is_member { finding.of(device) } else { finding }
    };
    if held == 0 && dropped == 0 {
        let sentence = format!("{what}. It held no frame back while it was looked at.");
        return finding(Weight::Notice, sentence).change(change);
    }
    let carried = rate(view.bps(device, Direction::Out));
    let sentence = match held {
        0 => format!("{what} and loses frames: {dropped} while {carried} passed."),
        _ => format!("{what} and lets {carried} pass, whatever the links can carry."),
    };
    let evidence = format!("it held frames back {held} times and dropped {dropped}, while this host was looked at");
    let mut found = finding(Weight::Fault, sentence).by(evidence).change(change);
    let speed = view.bundle().member(device).and_then(|member| member.speed_mbps);
    found.gain =
        speed.map(|mbps| format!("{device} could carry {}; it carried {carried}", rate(f64::from(mbps) * 1e6)));
    found
}

/// Filters on what a member receives. What they do with frames is not known.
fn filtered(view: &View<'_>, member: &Member) -> Option<Finding> {
    // Open vSwitch puts filters of its own there.
    if member.filters.is_empty() || view.bundle().kind == Kind::OpenVSwitch {
        return None;
    }
    let name = &member.name;
    let (is_idle, sent) = (view.packets(name, Direction::In) == 0, view.packets(name, Direction::Out));
    let sentence = format!(
        "Another program's filter ({}) sees what {name} receives before {} does: what it takes away does not arrive.",
        list(&member.filters),
        view.bundle().name
    );
    let commands = vec![format!("tc -s filter show dev {name} ingress")];
    let change = Change::here("look at what the filter does with frames", commands);
    let finding = Finding::new("filter", Weight::Notice, Side::Host, sentence).of(name).change(change);
    let finding = match is_idle && sent > 0 {
        true => finding.by(format!("{name} received nothing while it sent {sent} packets")),
        false => finding,
    };
    Some(Finding { sure: Sure::Possible, ..finding })
}
