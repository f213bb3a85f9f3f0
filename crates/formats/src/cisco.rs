//! The switch's end of teams, for a Catalyst (Cisco IOS 15.0(2)SE, "Configuring EtherChannels").

use nicteam_team::mode::Sends;
use nicteam_team::{AggrLayers, Config, HashPolicy};

use crate::{Network, Source, Team, Writer, Written};

/// See the module.
pub struct Cisco;

/// The most groups that a Catalyst 2960 or 3560 has.
const MOST_GROUPS: usize = 48;

impl Writer for Cisco {
    fn name(&self) -> &'static str {
        "cisco"
    }

    fn title(&self) -> &'static str {
        "the switch's end, Cisco IOS"
    }

    /// One text: what to type at the switch. Which of its ports the members lead to nobody knows here.
    fn write(&self, network: &Network) -> Written {
        let mut left = Vec::new();
        let mut text = String::from(
            "! Written by `nicteam export --to cisco`: what to type at the switch, in `configure terminal`.\n",
        );
        let mut balances: Vec<&str> = Vec::new();
        let mut group = 0;
        for team in &network.teams {
            let config = match team.config() {
                Ok(config) => config,
                Err(error) => {
                    left.push(format!("{} is not written: {error}", team.name));
                    continue;
                }
            };
            let traits = config.mode.traits();
            let Some(mode) = traits.channel_group(traits.aggregates(&config)) else {
                text.push_str(&no_group(team, &config));
                continue;
            };
            group += 1;
            if group > MOST_GROUPS {
                left.push(format!("{}: a Catalyst has {MOST_GROUPS} groups, and it would be one more", team.name));
                continue;
            }
            let balance = balance(config.xmit_hash_policy);
            if !balances.contains(&balance) {
                balances.push(balance);
            }
            text.push_str(&channel_group(team, &config, group, mode));
        }
        text.push_str(&load_balance(&balances));
        Written { files: vec![Source::new("cisco-switch.txt", text)], left }
    }
}

fn channel_group(team: &Team, config: &Config, group: usize, mode: &str) -> String {
    let (name, count) = (&team.name, team.members.len());
    let traits = config.mode.traits();
    let members = team.members.join(", ");
    let ports = match count {
        1 => "GigabitEthernet0/1".to_owned(),
        _ => format!("GigabitEthernet0/1 - {count}"),
    };
    let mut text = format!(
        "!\n! {name}, mode {}: the ports that {members} lead to are one group.\n\
         ! By hand: put those ports in place of the range below, and the VLAN they had, if any, on the group, too.\n",
        config.mode
    );
    if mode == "on" {
        text.push_str(
            "! `on` agrees nothing with the other end: a wrong cable makes a loop or loses frames. Set it while the team is\n\
             ! down or the ports are shut.\n",
        );
    }
    if matches!(traits.sends, Sends::InTurn) {
        text.push_str(
            "! The switch hashes what it sends: one connection arrives by one link, whatever the team does.\n",
        );
    }
    text.push_str(&format!("interface range {ports}\n description {name}\n channel-group {group} mode {mode}\n"));
    if mode == "active" && config.lacp.rate.name() == "fast" {
        text.push_str(
            "! `lacp rate fast` belongs here where the switch has it; a Catalyst 2960 or 3560 has not, and sends each 30 s.\n",
        );
    }
    if mode == "active" && count > 8 {
        text.push_str("! A group has 8 links in use; LACP keeps 8 more in reserve.\n");
    }
    text.push_str(&format!("interface Port-channel{group}\n description {name}\n"));
    if config.min_links > 0 && mode == "active" {
        text.push_str(&format!(" port-channel min-links {}\n", config.min_links));
    }
    if let Some(mtu) = team.mtu.filter(|mtu| *mtu > 1500) {
        text.push_str(&format!(
            "! The team's MTU is {mtu}: `system mtu jumbo {}` and a restart of the switch, unless it is set already.\n",
            mtu.max(1600)
        ));
    }
    text
}

/// Why the ports of such a team are in no group.
fn no_group(team: &Team, config: &Config) -> String {
    let why = match config.mode.traits().has_own_addresses() || config.mode.traits().stripes() {
        true => "its members have addresses of their own, each of which the switch learns at its own port",
        false => "one member carries the traffic, or the host keeps what comes back by the others apart",
    };
    format!(
        "!\n! {}, mode {}: no channel-group, plain access or trunk ports: {why}.\n\
         ! A group would send frames to members that do not take them. If the ports {} lead to are in one: `no channel-group`.\n",
        team.name,
        config.mode,
        team.members.join(", ")
    )
}

/// What of a frame the switch should hash, so that it spreads as the team does (`port-channel load-balance`).
fn balance(policy: HashPolicy) -> &'static str {
    match policy {
        HashPolicy::Layer2 | HashPolicy::SrcDstMac => "src-dst-mac",
        HashPolicy::Aggr(layers) if layers == AggrLayers::L2 => "src-dst-mac",
        HashPolicy::SrcMac | HashPolicy::VlanSrcMac => "dst-mac",
        HashPolicy::DstMac => "src-mac",
        HashPolicy::SrcIp => "dst-ip",
        HashPolicy::DstIp => "src-ip",
        // A Catalyst of these series hashes no ports.
        _ => "src-dst-ip",
    }
}

fn load_balance(balances: &[&str]) -> String {
    match balances {
        [] => String::new(),
        [one] => format!(
            "!\n! Of the whole switch: what it hashes to choose a link towards a team.\nport-channel load-balance {one}\n"
        ),
        [first, others @ ..] => format!(
            "!\n! Of the whole switch: what it hashes to choose a link towards a team. The teams differ; this is the first one's, \
             others would want {}.\nport-channel load-balance {first}\n",
            others.join(", ")
        ),
    }
}
