//! Arista (EOS 4.28, "Port Channels and LACP").

use nicteam_options::HashPolicy;

use super::dialect::{Dialect, Group, Hashed, Lines, Words};

/// See the module.
pub(super) struct Arista;

impl Dialect for Arista {
    fn words(&self) -> &'static Words {
        &Words {
            name: "arista",
            title: "the switch's end, Arista EOS",
            comment: "!",
            place: ", in `configure terminal`",
            most_groups: 2000,
            undo: "`no channel-group`",
        }
    }

    fn group(&self, group: &Group<'_>, lines: &mut Lines) {
        let (name, number) = (&group.team.name, group.number);
        let ports = match group.ports() {
            1 => "Ethernet1".to_owned(),
            count => format!("Ethernet1-{count}"),
        };
        lines.put(format!("interface {ports}"));
        lines.put(format!("   description {name}"));
        lines.put(format!("   channel-group {number} mode {}", if group.speaks { "active" } else { "on" }));
        if group.is_fast() {
            lines.put("   lacp timer fast");
        }
        lines.put(format!("interface Port-Channel{number}"));
        lines.put(format!("   description {name}"));
        if let Some(links) = group.min_links() {
            lines.put(format!("   port-channel min-links {links}"));
        }
        if let Some(mtu) = group.mtu() {
            lines.note(format!(
                "Switched ports take frames of the team's MTU, {mtu}, as they are: only routed ones need `mtu`."
            ));
        }
    }

    fn balance(&self, policies: &[HashPolicy], lines: &mut Lines) {
        let wants_ports = policies.iter().any(|policy| Hashed::of(*policy) == Hashed::Ports);
        lines.note("");
        lines.note(
            "Of the whole switch: what it hashes is set by `port-channel load-balance`, whose words depend on its chip",
        );
        lines.note(match wants_ports {
            true => "(`?` lists them). The teams hash addresses and ports: leave the ports of TCP and UDP in.",
            false => "(`?` lists them). The teams hash addresses alone.",
        });
    }
}
