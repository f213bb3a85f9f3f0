//! Juniper (Junos 21.4, "Aggregated Ethernet Interfaces", with the words of EX and QFX).

use nicteam_options::HashPolicy;

use super::dialect::{Dialect, Group, Hashed, Lines, Words};

/// See the module.
pub(super) struct Juniper;

/// What the headers beside an IP packet take of the MTU that Junos counts, bytes.
const ETHERNET: u32 = 14;

impl Dialect for Juniper {
    fn words(&self) -> &'static Words {
        &Words {
            name: "juniper",
            title: "the switch's end, Juniper Junos",
            comment: "#",
            place: ", in `configure`; then `commit`",
            most_groups: 128,
            undo: "`delete interfaces PORT ether-options 802.3ad`",
        }
    }

    fn group(&self, group: &Group<'_>, lines: &mut Lines) {
        let ae = group.number - 1;
        lines.put(format!("set chassis aggregated-devices ethernet device-count {}", group.number));
        for port in 0..group.ports() {
            lines.put(format!("delete interfaces ge-0/0/{port} unit 0"));
            lines.put(format!("set interfaces ge-0/0/{port} ether-options 802.3ad ae{ae}"));
        }
        lines.put(format!("set interfaces ae{ae} description {}", group.team.name));
        if group.speaks {
            lines.put(format!("set interfaces ae{ae} aggregated-ether-options lacp active"));
            let rate = if group.is_fast() { "fast" } else { "slow" };
            lines.put(format!("set interfaces ae{ae} aggregated-ether-options lacp periodic {rate}"));
        }
        if let Some(links) = group.min_links() {
            lines.put(format!("set interfaces ae{ae} aggregated-ether-options minimum-links {links}"));
        }
        if let Some(mtu) = group.mtu() {
            // Junos counts the frame's header.
            lines.put(format!("set interfaces ae{ae} mtu {}", mtu + ETHERNET));
        }
        lines.put(format!("set interfaces ae{ae} unit 0 family ethernet-switching"));
    }

    fn balance(&self, policies: &[HashPolicy], lines: &mut Lines) {
        if policies.iter().all(|policy| Hashed::of(*policy) == Hashed::SrcDstMac) {
            lines.note("");
            lines.note("Of the whole switch: the teams hash MAC addresses alone, and so may it.");
            lines.put("set forwarding-options enhanced-hash-key hash-mode layer2-header");
        }
    }
}
