//! The switch's end of teams: which of its ports are one group, in the words of its maker. A file and a line a
//! maker.

mod arista;
mod cisco;
mod dialect;
mod juniper;
mod mikrotik;
mod procurve;

use dialect::{Dialect, Group, Lines};
use nicteam_drafts::{Network, Team, Writer, Written};
use nicteam_options::mode::Sends;
use nicteam_options::{Config, HashPolicy};
use nicteam_syntax::Source;

pub(crate) static CISCO: Switch = Switch(&cisco::Cisco);
pub(crate) static ARISTA: Switch = Switch(&arista::Arista);
pub(crate) static JUNIPER: Switch = Switch(&juniper::Juniper);
pub(crate) static MIKROTIK: Switch = Switch(&mikrotik::Mikrotik);
pub(crate) static PROCURVE: Switch = Switch(&procurve::Procurve);

/// A maker's words as a format.
pub(crate) struct Switch(&'static dyn Dialect);

/// What to type at switches so that they spread what they send to a host as a policy does: the maker's title, and its lines.
pub fn balancing(policy: HashPolicy) -> Vec<(&'static str, Vec<String>)> {
    let of = |switch: &Switch| {
        let words = switch.0.words();
        let mut lines = Lines { text: String::new(), comment: words.comment };
        switch.0.balance(&[policy], &mut lines);
        let typed = lines.text.lines().filter(|line| !line.is_empty() && !line.starts_with(words.comment));
        let title = words.title.rsplit_once(", ").map_or(words.title, |(_, maker)| maker);
        (title, typed.map(str::to_owned).collect())
    };
    [&CISCO, &ARISTA, &JUNIPER, &MIKROTIK, &PROCURVE]
        .into_iter()
        .map(of)
        .filter(|(_, lines): &(_, Vec<_>)| !lines.is_empty())
        .collect()
}

impl Writer for Switch {
    fn name(&self) -> &'static str {
        self.0.words().name
    }

    fn title(&self) -> &'static str {
        self.0.words().title
    }

    fn write(&self, network: &Network) -> Written {
        let (dialect, words) = (self.0, self.0.words());
        let mut left = Vec::new();
        let mut lines = Lines { text: String::new(), comment: words.comment };
        lines.note(format!(
            "Written by `nicteam export --to {}`: what to type at the switch{}.",
            words.name, words.place
        ));
        let (mut policies, mut number): (Vec<HashPolicy>, usize) = (Vec::new(), 0);
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
                no_group(team, &config, words.undo, &mut lines);
                continue;
            };
            number += 1;
            if number > words.most_groups {
                left.push(format!(
                    "{}: such a switch has {} groups, and it would be one more",
                    team.name, words.most_groups
                ));
                continue;
            }
            if !policies.contains(&config.xmit_hash_policy) {
                policies.push(config.xmit_hash_policy);
            }
            let group = Group { team, config: &config, number, speaks: mode == "active" };
            heading(&group, &mut lines);
            dialect.group(&group, &mut lines);
        }
        if !policies.is_empty() {
            dialect.balance(&policies, &mut lines);
        }
        Written { files: vec![Source::new(format!("{}-switch.txt", words.name), lines.text)], left }
    }
}

/// Notes on a group, the same for the switches of every maker.
fn heading(group: &Group<'_>, lines: &mut Lines) {
    let members = group.team.members.join(", ");
    lines.note("");
    lines.note(format!(
        "{}, mode {}: the ports that {members} lead to are one group.",
        group.team.name, group.config.mode
    ));
    lines.note(
        "By hand: put those ports in place of the range below, and the VLAN they had, if any, on the group, too.",
    );
    if !group.speaks {
        lines.note("A group without LACP agrees nothing with the other end: a wrong cable makes a loop or loses frames. Set it");
        lines.note("while the team is down or the ports are shut.");
    }
    if matches!(group.config.mode.traits().sends, Sends::InTurn) {
        lines.note("The switch hashes what it sends: one connection arrives by one link, whatever the team does.");
    }
}

/// Why the ports of such a team are in no group.
fn no_group(team: &Team, config: &Config, undo: &str, lines: &mut Lines) {
    let why = match config.mode.traits().has_own_addresses() || config.mode.traits().stripes() {
        true => "its members have addresses of their own, each of which the switch learns at its own port",
        false => "one member carries the traffic, or the host keeps what comes back by the others apart",
    };
    lines.note("");
    lines.note(format!("{}, mode {}: no group, plain access or trunk ports: {why}.", team.name, config.mode));
    lines.note(format!(
        "A group would send frames to members that do not take them. If the ports {} lead to are in one: {}.",
        team.members.join(", "),
        undo
    ));
}
