//! Open vSwitch's bonds, bridges and ports (its `debian/ifupdown.sh` and `openvswitch-switch.README.Debian`, 3.1).

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;
use nicteam_scripts::openvswitch;
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;

use super::bond::Bond;
use super::lines::Line;
use super::stanza::{File, Stanza};

/// What a stanza is to Open vSwitch.
fn kind(stanza: &Stanza) -> Option<&str> {
    option(stanza, "ovs_type").map(|line| line.value.as_str())
}

fn option<'s>(stanza: &'s Stanza, key: &str) -> Option<&'s Line> {
    stanza.options.iter().rfind(|line| line.key() == key)
}

/// True for a bond.
pub(super) fn is_bond(stanza: &Stanza) -> bool {
    kind(stanza) == Some("OVSBond")
}

/// True for a line that `ovs-vsctl` is told.
pub(super) fn is_own(line: &Line) -> bool {
    line.key().starts_with("ovs_")
}

/// What the bond is told, beside its members.
pub(super) fn read(reading: &mut Reading<'_>, bond: &mut Bond<'_>, draft: &mut Draft) {
    for stanza in bond.own.clone().into_iter().filter(|stanza| is_bond(stanza)) {
        let words = |key: &str| -> Vec<(String, At)> {
            let of_bond =
                |(word, at): (String, At)| (word.replace("${IFACE}", &bond.name).replace("$IFACE", &bond.name), at);
            option(stanza, key).into_iter().flat_map(Line::words).map(of_bond).collect()
        };
        let bridge = option(stanza, "ovs_bridge").map_or("", |line| line.value.as_str());
        if bridge.is_empty() {
            let hint = "a bond of Open vSwitch is a port of a bridge: `ovs_bridge vmbr0`";
            reading.wrong(&stanza.head.at, "`ovs_bridge` is missing", hint);
            continue;
        }
        let said = openvswitch::Bond { bridge, settings: words("ovs_options"), more: words("ovs_extra") };
        said.give(reading, draft);
        if let Some(mtu) = option(stanza, "ovs_mtu") {
            draft.set_mtu(reading, &mtu.value, &mtu.value_at);
        }
        bond.taken.extend(stanza.options.iter().filter(|line| is_own(line)).map(|line| line.at.clone()));
        let command = format!("ovs-vsctl del-port {} {}", quoted(bridge), quoted(&bond.name));
        let what = format!("take {} out of {bridge}: Open vSwitch builds it again when it starts", bond.name);
        reading.disable(&stanza.head.at, what, Some(command));
    }
}

/// Bridges that such a bond is in, and their other ports.
pub(super) fn beside(reading: &mut Reading<'_>, file: &File, drafts: &[Draft]) {
    for own in file.stanzas.iter().filter(|stanza| is_bond(stanza)) {
        let Some(draft) = drafts.iter().find(|draft| draft.name == own.device) else { continue };
        let Some(bridge) = option(own, "ovs_bridge").map(|line| line.value.as_str()) else { continue };
        let bond = &draft.name;
        let in_bridge = |stanza: &&Stanza| option(stanza, "ovs_bridge").is_some_and(|line| line.value == bridge);
        let of_bridge =
            file.stanzas.iter().filter(|stanza| stanza.device == bridge && kind(stanza) == Some("OVSBridge"));
        for stanza in of_bridge {
            let why = format!(
                "in its place the kernel's bridge takes the team: `bridge_ports {bond}` instead of the lines `ovs_`"
            );
            reading.left(&stanza.head.at, Some(bond), why);
        }
        for stanza in file.stanzas.iter().filter(in_bridge).filter(|stanza| !is_bond(stanza)) {
            let options = option(stanza, "ovs_options").map(|line| line.value.as_str()).unwrap_or_default();
            let tag = options.split_whitespace().find_map(|word| word.strip_prefix("tag="));
            let why = match (kind(stanza), tag) {
                (Some("OVSIntPort"), Some(tag)) => format!(
                    "a port of the host in VLAN {tag}: `iface {bridge}.{tag}` on the kernel's bridge takes its place, with its addresses"
                ),
                (Some("OVSIntPort"), None) => {
                    format!("a port of the host: `iface {bridge}` of the kernel's bridge takes its addresses")
                }
                _ => format!("it is a port beside the bond: `bridge_ports {bond} {}` has both", stanza.device),
            };
            reading.left(&stanza.head.at, Some(bond), why);
        }
    }
}
