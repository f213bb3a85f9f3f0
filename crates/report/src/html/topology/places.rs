//! Where nodes stand.

use maud::{Markup, html};
use nicteam_record::Topology;

use crate::svg::px;

/// Where a node stands.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) is_switch: bool,
}

const HOST_WIDTH: f64 = 150.0;
const HOST_HEIGHT: f64 = 76.0;
const SWITCH_HEIGHT: f64 = 58.0;
const GAP: f64 = 34.0;
/// Between hosts that are wired to each other: room for the cables.
const WIRED_GAP: f64 = 190.0;
const HOST_Y: f64 = 206.0;

/// Switches share the upper row, hosts stand in the lower one.
pub(super) fn arrange(topology: &Topology) -> Vec<Place<'_>> {
    let switched = !topology.switches.is_empty();
    let gap = if switched { GAP } else { WIRED_GAP };
    let own = || topology.hosts.iter().filter(|host| host.parent.is_none());
    let hosts = own().count().max(1) as f64;
    let switches = topology.switches.len().max(1) as f64;
    let width = (hosts * HOST_WIDTH + (hosts - 1.0) * gap).max(switches * 260.0 + (switches - 1.0) * WIRED_GAP);
    let switch_gap = if switches > 1.0 { WIRED_GAP } else { 0.0 };
    let switch_width = (width - (switches - 1.0) * switch_gap) / switches;
    let above = topology.switches.iter().enumerate().map(|(index, switch)| Place {
        name: &switch.name,
        x: 1.0 + index as f64 * (switch_width + switch_gap),
        y: 1.0,
        width: switch_width,
        height: SWITCH_HEIGHT,
        is_switch: true,
    });
    let cell = width / hosts;
    let below = own().enumerate().map(|(index, host)| Place {
        name: &host.name,
        x: 1.0 + cell * index as f64 + (cell - HOST_WIDTH) / 2.0,
        y: if switched { HOST_Y } else { 30.0 },
        width: HOST_WIDTH,
        height: HOST_HEIGHT,
        is_switch: false,
    });
    above.chain(below).collect()
}

/// A text on the cables.
pub(super) fn tag(x: f64, y: f64, text: &str) -> Markup {
    html! { text.halo x=(px(x)) y=(px(y)) text-anchor="middle" { (text) } }
}
