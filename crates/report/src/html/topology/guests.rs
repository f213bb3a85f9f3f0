//! A host's guests: a box below the host, and the bridge between them.

use maud::{Markup, html};
use nicteam_record::{Host, Topology};

use super::places::{Place, tag};
use crate::svg::px;

/// Between a host and the box of its guests.
const GAP: f64 = 34.0;
const LINE: f64 = 17.0;
/// So many are named one by one.
const NAMED: usize = 4;

/// How far below its hosts a drawing goes for their guests; 0 without any.
pub(super) fn height(topology: &Topology) -> f64 {
    let lines = topology.hosts.iter().map(|host| lines(topology, &host.name).len()).max().unwrap_or(0);
    if lines == 0 { 0.0 } else { GAP + box_height(lines) + 2.0 }
}

/// The guests of the host that stands here; nothing if it has none.
pub(super) fn draw(topology: &Topology, host: &Place<'_>) -> Markup {
    let lines = lines(topology, host.name);
    if lines.is_empty() {
        return Markup::default();
    }
    let (middle, bottom) = (host.x + host.width / 2.0, host.y + host.height);
    let top = bottom + GAP;
    let height = px(box_height(lines.len()));
    html! {
        g {
            path.wire d={ "M" (px(middle)) " " (px(bottom)) "V" (px(top)) } {}
            (tag(middle, bottom + GAP / 2.0 + 4.0, "bridge"))
            rect.box x=(px(host.x)) y=(px(top)) width=(px(host.width)) height=(height) rx="5" {}
            @for (number, line) in lines.iter().enumerate() {
                text x=(px(middle)) y=(px(top + LINE * (number as f64 + 1.0) + 2.0)) text-anchor="middle" { (line) }
            }
        }
    }
}

/// `guest1 10.0.0.4/24`, and how many more there are.
fn lines(topology: &Topology, host: &str) -> Vec<String> {
    let guests: Vec<&Host> = topology.hosts.iter().filter(|guest| guest.parent.as_deref() == Some(host)).collect();
    let named = guests.iter().take(NAMED);
    let own = |guest: &&Host| guest.name.rsplit('/').next().unwrap_or_default().to_owned();
    let more = guests.len().saturating_sub(NAMED);
    let rest = (more > 0).then(|| format!("and {more} more"));
    named.map(|guest| format!("{} {}", own(guest), guest.address)).chain(rest).collect()
}

fn box_height(lines: usize) -> f64 {
    LINE * lines as f64 + 12.0
}
