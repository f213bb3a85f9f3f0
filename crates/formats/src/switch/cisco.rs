//! A Catalyst (Cisco IOS 15.0(2)SE, "Configuring EtherChannels").

use nicteam_options::HashPolicy;

use super::dialect::{Dialect, Group, Hashed, Lines, Words};

/// See the module.
pub(super) struct Cisco;

impl Dialect for Cisco {
    fn words(&self) -> &'static Words {
        &Words {
            name: "cisco",
            title: "the switch's end, Cisco IOS",
            comment: "!",
            place: ", in `configure terminal`",
            most_groups: 48,
            undo: "`no channel-group`",
        }
    }

    fn group(&self, group: &Group<'_>, lines: &mut Lines) {
        let (name, number) = (&group.team.name, group.number);
        let mode = if group.speaks { "active" } else { "on" };
        let ports = match group.ports() {
            1 => "GigabitEthernet0/1".to_owned(),
            count => format!("GigabitEthernet0/1 - {count}"),
        };
        lines.put(format!("interface range {ports}"));
        lines.put(format!(" description {name}"));
        lines.put(format!(" channel-group {number} mode {mode}"));
        if group.is_fast() {
            lines.note("`lacp rate fast` belongs here where the switch has it; a Catalyst 2960 or 3560 has not, and sends each 30 s.");
        }
        if group.speaks && group.ports() > 8 {
            lines.note("A group has 8 links in use; LACP keeps 8 more in reserve.");
        }
        lines.put(format!("interface Port-channel{number}"));
        lines.put(format!(" description {name}"));
        if let Some(links) = group.min_links() {
            lines.put(format!(" port-channel min-links {links}"));
        }
        if let Some(mtu) = group.mtu() {
            let most = mtu.max(1600);
            lines.note(format!(
                "The team's MTU is {mtu}: `system mtu jumbo {most}` and a restart of the switch, unless it is set already."
            ));
        }
    }

    fn balance(&self, policies: &[HashPolicy], lines: &mut Lines) {
        let mut words: Vec<&str> = Vec::new();
        for policy in policies {
            let word = match Hashed::of(*policy) {
                Hashed::SrcDstMac => "src-dst-mac",
                Hashed::SrcMac => "src-mac",
                Hashed::DstMac => "dst-mac",
                Hashed::SrcIp => "src-ip",
                Hashed::DstIp => "dst-ip",
                // A Catalyst of these series hashes no ports.
                Hashed::SrcDstIp | Hashed::Ports => "src-dst-ip",
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        lines.note("");
        if let [first, others @ ..] = words.as_slice() {
            let differ = match others {
                [] => String::new(),
                others => {
                    format!(" The teams differ; this is the first one's, others would want {}.", others.join(", "))
                }
            };
            lines.note(format!("Of the whole switch: what it hashes to choose a link towards a team.{differ}"));
            lines.put(format!("port-channel load-balance {first}"));
        }
    }
}
