//! An MTU that is not that of the others, at one end of one cable: what is larger is dropped there without a word.

use std::collections::BTreeMap;

use nicteam_experiment::End;

use super::kind::Trap;
use crate::finding::{Cure, Edit, Finding};
use crate::seen::Seen;

/// The MTU of jumbo frames, bytes.
const JUMBO: u32 = 9000;

/// An MTU that is not that of the others.
#[derive(Debug)]
pub(super) struct Mtu;

impl Trap for Mtu {
    fn name(&self) -> &'static str {
        "mtu"
    }

    fn title(&self) -> &'static str {
        "MTU, at both ends of each cable"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let ends = ends(seen);
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        ends.iter().for_each(|end| *counts.entry(end.mtu).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(mtu, count)| format!("{count} of {mtu}")).collect();
        let passing = |path: &&nicteam_lab::protocol::PathSeen| path.is_good;
        format!(
            "{} devices on the way: MTU {}; echo requests that must not be cut pass {} of {} paths whole, both ways",
            ends.len(),
            counts.join(", "),
            seen.paths.iter().filter(passing).count(),
            seen.paths.len()
        )
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let ends = ends(seen);
        let Some(common) = common(&ends) else { return Vec::new() };
        let odd: Vec<&OneEnd<'_>> = ends.iter().filter(|end| end.mtu != common).collect();
        if !odd.is_empty() {
            return odd.into_iter().map(|end| wrong(seen, end, common)).collect();
        }
        if common < JUMBO { vec![advice(common)] } else { Vec::new() }
    }
}

/// An end of a cable on the way.
struct OneEnd<'a> {
    cable: usize,
    near: &'a End,
    far: &'a End,
    mtu: u32,
}

fn ends<'a>(seen: &Seen<'a>) -> Vec<OneEnd<'a>> {
    let of_cable = |(cable, both): (usize, &'a nicteam_experiment::Cable)| {
        [(&both.a, &both.b), (&both.b, &both.a)].map(|(near, far)| (cable, near, far))
    };
    let ends = seen.cables().into_iter().flat_map(of_cable);
    ends.filter_map(|(cable, near, far)| Some(OneEnd { cable, near, far, mtu: seen.device(near)?.mtu })).collect()
}

/// The MTU that most have; of two that equally many have, the larger one.
fn common(ends: &[OneEnd<'_>]) -> Option<u32> {
    let count = |mtu: u32| ends.iter().filter(|end| end.mtu == mtu).count();
    ends.iter().map(|end| end.mtu).max_by_key(|mtu| (count(*mtu), *mtu))
}

fn wrong(seen: &Seen<'_>, end: &OneEnd<'_>, common: u32) -> Finding {
    let (number, count) = seen.number(end.cable);
    let OneEnd { near, far, mtu, .. } = end;
    let place = format!(
        "cable {number} of {count} between {} and {}, end {}: device {}",
        seen.run.topology.cables[end.cable].a.node, seen.run.topology.cables[end.cable].b.node, near.node, near.device
    );
    let lost = if *mtu < common {
        format!("packets of more than {mtu} bytes are dropped here without a word")
    } else {
        format!("it sends packets of up to {mtu} bytes, which the others drop without a word")
    };
    let path =
        seen.paths.iter().find(|path| [near, far].iter().any(|end| end.device == path.path.device) && !path.is_good);
    let found =
        path.map_or_else(String::new, |path| format!(" From {}: {}", path.path.client, path.findings.join(" ")));
    let is_switch = seen.run.topology.switches.iter().any(|switch| switch.name == near.node);
    let mut cures = vec![Cure::new("Linux", format!("ip link set {} mtu {common}", near.device))];
    if is_switch {
        cures.push(Cure::new("Catalyst 2960S, 3560G", format!("system mtu jumbo {common}, then reload")));
        cures.push(Cure::new("ProCurve", "vlan N jumbo".to_owned()));
    } else {
        cures.push(Cure::new(
            "ESXi",
            format!("esxcli network vswitch standard set --vswitch-name vSwitchN --mtu {common}; esxcli network ip interface \
                     set --interface-name vmkN --mtu {common}"),
        ));
    }
    cures.push(Cure::new("any host", format!("nicteam doctor path TARGET, or: ping -M do -s {} TARGET", common - 28)));
    let section = seen.file.section_of_cable(end.cable);
    Finding {
        trap: Mtu.name(),
        place,
        wrong: format!("The MTU is {mtu}; most devices on the way have {common}: {lost}.{found}"),
        cures,
        edits: section.map(|section| Edit::LinkMtu { section, mtu: common }).into_iter().collect(),
        must: true,
    }
}

fn advice(common: u32) -> Finding {
    Finding {
        trap: Mtu.name(),
        place: "every device on the way".to_owned(),
        wrong: format!(
            "The MTU is {common}. With jumbo frames the wire carries 99.1 % payload instead of 94.1 %, and processors handle a \
             sixth of the packets; every device on the way has to have them."
        ),
        cures: vec![
            Cure::new("Linux", format!("ip link set DEVICE mtu {JUMBO}")),
            Cure::new("ESXi", format!("esxcli network vswitch standard set --vswitch-name vSwitchN --mtu {JUMBO}")),
            Cure::new("Catalyst 2960S, 3560G", format!("system mtu jumbo {JUMBO}, then reload")),
        ],
        edits: Vec::new(),
        must: false,
    }
}
