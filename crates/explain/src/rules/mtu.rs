//! MTUs that differ.

use nicteam_bundles::Member;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::view::View;

pub(super) struct Mtu;

/// Bytes of an Ethernet header with a VLAN tag, and of the check sequence.
const FRAME_BYTES: u32 = 22;

impl Rule for Mtu {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let bundle = view.bundle();
        // Without a device of its own: what most members have.
        let wanted = bundle.mtu.or_else(|| bundle.members.iter().filter_map(|member| member.mtu).max());
        let Some(wanted) = wanted else { return Vec::new() };
        let own = bundle.members.iter().filter_map(|member| of_member(&bundle.name, member, wanted));
        own.chain(bundle.members.iter().filter_map(|member| of_port(view, member, wanted))).collect()
    }
}

fn of_member(bundle: &str, member: &Member, wanted: u32) -> Option<Finding> {
    let (name, mtu) = (&member.name, member.mtu?);
    if mtu >= wanted {
        return None;
    }
    let sentence = format!(
        "Member {name} has an MTU of {mtu} bytes, and {wanted} is what {bundle} sends by: larger packets are lost on it."
    );
    let change =
        Change::here(format!("give {name} the MTU of the others"), vec![format!("ip link set {name} mtu {wanted}")]);
    Some(Finding::new("mtu", Weight::Fault, Side::Host, sentence).of(name).change(change))
}

/// The port at the other end says what it takes.
fn of_port(view: &View<'_>, member: &Member, wanted: u32) -> Option<Finding> {
    let port = view.facts.headers?.ports.get(&member.name)?;
    let takes = u32::from(port.max_frame_bytes?);
    if takes + 4 >= wanted + FRAME_BYTES {
        return None;
    }
    let name = &member.name;
    let sentence = format!(
        "Port {} of {} takes frames of {takes} bytes, and this host sends packets of {wanted} by {name}: they are lost there.",
        port.port, port.system
    );
    let finding = Finding::new("mtu", Weight::Fault, Side::Switch, sentence).of(name);
    let text = format!("give the port an MTU of at least {wanted}, or {} one of {}", view.bundle().name, takes - 18);
    Some(Finding {
        sure: Sure::Likely,
        ..finding.by("the port says so by LLDP".to_owned()).change(Change::at(Place::Switch, text))
    })
}
