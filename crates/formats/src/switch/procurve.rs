//! HP ProCurve and Aruba (ArubaOS-Switch 16, "Port Trunking"), whose groups are called trunks.

use nicteam_options::HashPolicy;

use super::dialect::{Dialect, Group, Hashed, Lines, Words};

/// See the module.
pub(super) struct Procurve;

impl Dialect for Procurve {
    fn words(&self) -> &'static Words {
        &Words {
            name: "procurve",
            title: "the switch's end, HP ProCurve (ArubaOS-Switch)",
            comment: ";",
            place: ", in `configure`",
            most_groups: 144,
            undo: "`no trunk PORTS`",
        }
    }

    fn group(&self, group: &Group<'_>, lines: &mut Lines) {
        let (number, name) = (group.number, &group.team.name);
        let ports = match group.ports() {
            1 => "1".to_owned(),
            count => format!("1-{count}"),
        };
        lines.put(format!("trunk {ports} trk{number} {}", if group.speaks { "lacp" } else { "trunk" }));
        if group.ports() > 8 {
            lines.note("A trunk has 8 ports.");
        }
        lines.put(format!("interface {ports}"));
        lines.put(format!("   name \"{name}\""));
        if group.is_fast() {
            lines.note("Its timer follows the team's: these switches answer a fast partner as it asks.");
        }
        lines.put("   exit");
        if let Some(mtu) = group.mtu() {
            lines.note(format!("The team's MTU is {mtu}: `vlan ID jumbo` for the VLAN of the trunk."));
        }
        if let Some(links) = group.min_links() {
            lines.note(format!("These switches have no smallest number of links: the team's `min_links` is {links}."));
        }
    }

    fn balance(&self, policies: &[HashPolicy], lines: &mut Lines) {
        let wants_ports = policies.iter().any(|policy| Hashed::of(*policy) == Hashed::Ports);
        lines.note("");
        lines.note("Of the whole switch: what it hashes to choose a link towards a team, where it has the command.");
        lines.put(format!("trunk-load-balance {}", if wants_ports { "L4-based" } else { "L3-based" }));
    }
}
