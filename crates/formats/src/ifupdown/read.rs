//! Stanzas -> teams, and what stays.

use std::collections::BTreeSet;

use nicteam_diagnostics::Diagnostics;
use nicteam_drafts::Import;
use nicteam_drafts::Reading;
use nicteam_drafts::Teams;
use nicteam_drafts::draft::Draft;
use nicteam_drafts::names::shown;
use nicteam_options::ConfigOption;
use nicteam_scripts::commands::{self, Command};
use nicteam_syntax::At;
use nicteam_syntax::Source;

use super::addresses::is_address;
use super::bond::{Bond, is_of};
use super::index::Index;
use super::lines::Line;
use super::members::{Joining, Way, is_list, joinings, master};
use super::stanza::{self, File, Stanza};
use super::{beside, disable, openvswitch};

pub(super) fn read(sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
    let mut reading = Reading::new(sources);
    let file = stanza::read(&mut reading);
    beside::not_read(&mut reading, &file);
    let index = Index::new(&file);
    let mut drafts = Vec::new();
    for bond in bonds(&file) {
        drafts.push(Bond::new(&index, &bond).read(&mut reading));
    }
    // The bond may be in one of these.
    beside::not_given(&mut reading, &file);
    if !drafts.is_empty() {
        beside::on_top(&mut reading, &file, &drafts);
        openvswitch::beside(&mut reading, &file, &drafts);
    }
    Teams::of(reading, drafts).with_members(members).finish()
}

/// Names of bonds, in the order in which they first appear.
fn bonds(file: &File) -> Vec<String> {
    let (mut names, mut seen): (Vec<String>, BTreeSet<String>) = Default::default();
    for stanza in &file.stanzas {
        let joinings: Vec<Joining<'_>> = joinings(stanza).filter(|of| of.is_certain).collect();
        let by = |way: Way| joinings.iter().filter(move |of| of.way == way).map(|of| of.master.clone());
        let is_bond = by(Way::Bond).next().is_some()
            || stanza.has("bond_mode") && master(stanza).is_none()
            || openvswitch::is_bond(stanza);
        let own = is_bond.then(|| stanza.device.clone());
        let made = stanza.options.iter().filter(|line| line.runs()).flat_map(|line| made(line, &stanza.device));
        for name in own.into_iter().chain(by(Way::Master)).chain(by(Way::Enslave)).chain(made) {
            if name != "none" && seen.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    names
}

/// The bonds that `pre-up ip link add bond0 type bond` makes.
fn made(line: &Line, device: &str) -> Vec<String> {
    let bond = |command: &Command| match command {
        Command::Bond { bond, is_new: true, .. } => Some(bond.clone()),
        _ => None,
    };
    line.does(device).sound().filter_map(bond).collect()
}

impl Bond<'_> {
    fn read(mut self, reading: &mut Reading<'_>) -> Draft {
        let begins = self.own.first().or(self.members.first()).map(|stanza| stanza.head.at.clone());
        let mut draft = Draft::new(&self.name, begins.unwrap_or_else(|| At::new(0, 0..0)));
        draft.members_hint = "`bond-slaves eth1 eth2` names them, or `bond-master` in their stanzas".to_owned();
        self.read_members(reading, &mut draft);
        // In the order in which ifupdown does it: the hooks of ifenslave run behind `pre-up`.
        self.read_builders(reading, &mut draft, |line| line.name == "pre-up");
        let own = self.own.clone();
        for stanza in &own {
            for line in &stanza.options {
                self.read_option(reading, &mut draft, line);
            }
        }
        openvswitch::read(reading, &mut self, &mut draft);
        self.take_elsewhere(reading, &draft);
        self.read_members_options(reading, &mut draft);
        self.read_builders(reading, &mut draft, |line| line.runs() && line.name != "pre-up");
        for stanza in &own {
            self.read_addresses(reading, &mut draft, stanza);
        }
        self.read_gateways(&mut draft);
        self.leave_members_settings(reading, &draft);
        disable::disable(reading, &self, &draft);
        draft
    }

    fn read_members(&mut self, reading: &mut Reading<'_>, draft: &mut Draft) {
        for list in self.own.iter().flat_map(|stanza| joinings(stanza)).filter(|of| of.way == Way::Bond) {
            self.taken.insert(list.line.at.clone());
            read_list(reading, draft, &list);
        }
        for stanza in &self.members {
            draft.member(reading, &stanza.device, &stanza.head.name_at.clone());
        }
        let by_command = |of: &Joining<'_>| matches!(of.way, Way::Enslave | Way::Join) && of.is_certain;
        for joining in self
            .builders
            .iter()
            .flat_map(|stanza| joinings(stanza))
            .filter(by_command)
            .filter(|of| of.master == self.name)
        {
            joining.members.iter().for_each(|(member, at)| draft.member(reading, member, at));
        }
    }

    /// Commands that make the bond or give it options; they may stand in any stanza.
    fn read_builders(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, is_now: impl Fn(&Line) -> bool) {
        for stanza in &self.builders {
            for line in stanza.options.iter().filter(|line| is_now(line)) {
                for command in line.does(&stanza.device).sound() {
                    match command {
                        Command::Bond { bond, options, .. } if *bond == self.name => {
                            for (name, value) in options {
                                draft.as_in_sysfs(reading, name, value, &line.value_at);
                            }
                        }
                        Command::Module(options) => {
                            for (name, value) in options {
                                draft.module_option(reading, name, value, &line.value_at);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Lines of other devices that build the bond are its own.
    fn take_elsewhere(&mut self, reading: &mut Reading<'_>, draft: &Draft) {
        let builds = |command: &Command| match command {
            Command::Bond { bond, .. } | Command::Enslave { bond, .. } => *bond == self.name,
            Command::Join { master, .. } => *master == self.name,
            Command::Module(_) => true,
            _ => false,
        };
        let concerns = |device: &str| self.is_own(device) || draft.has_member(device);
        let goes_with = |command: &Command| match command {
            Command::SetUp(device) => concerns(device),
            Command::Undo(device) => device.as_deref().is_none_or(concerns),
            command => builds(command),
        };
        let mut taken = Vec::new();
        for stanza in self.builders.iter().filter(|stanza| !self.is_own(&stanza.device)) {
            let lines = || {
                let lines = stanza.options.iter().filter(|line| line.runs() || line.undoes());
                lines.map(|line| (line, line.does(&stanza.device)))
            };
            let has_builders = lines().any(|(line, read)| line.runs() && read.sound().any(builds));
            for (line, read) in lines().filter(|_| has_builders) {
                let is_whole = read.is_whole && read.sound().count() == read.commands.len();
                if is_whole && read.sound().all(goes_with) {
                    taken.push(line.at.clone());
                } else if read.sound().any(builds) {
                    self.leave(reading, line, REST_STAYS);
                }
            }
        }
        self.taken.extend(taken);
    }

    /// An option of bonding, if the line is one.
    fn read_option(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, line: &Line) {
        let key = line.key();
        let Some(option) = key.strip_prefix("bond_").filter(|_| !is_list(line)) else { return };
        let value = match option {
            "master" | "give_a_chance" => return self.leave(reading, line, "it means nothing to a team"),
            "primary" => {
                let first = line.value.split_whitespace().find(|device| draft.has_member(device));
                match first {
                    Some(first) => first.to_owned(),
                    None => return self.leave(reading, line, "none of these devices is a member"),
                }
            }
            "active_slave" if line.value == "none" => String::new(),
            "arp_ip_target" | "ns_ip6_target" | "queue_id" | "prio" => {
                let separators = |c: char| c.is_whitespace() || c == ',';
                let words: Vec<&str> = line
                    .value
                    .split(separators)
                    .map(|word| word.trim_start_matches('+'))
                    .filter(|word| !word.is_empty())
                    .collect();
                words.join(",")
            }
            _ => line.value.clone(),
        };
        match ConfigOption::named(option) {
            Some(_) => {
                self.taken.insert(line.at.clone());
                draft.option(reading, option, &value, &line.name_at, &line.value_at);
            }
            None => {
                let near = ConfigOption::nearest(option);
                let near = near.map(|near| format!("; did you mean `bond-{}`?", near.name.replace('_', "-")));
                self.leave(reading, line, &format!("no option of bonding has this name{}", near.unwrap_or_default()));
            }
        }
    }

    pub(super) fn leave(&self, reading: &mut Reading<'_>, line: &Line, why: &str) {
        reading.left(&line.at, Some(&self.name), why);
    }

    /// The bond's options may stand with a member, if the bond's own stanza does not have them.
    fn read_members_options(&mut self, reading: &mut Reading<'_>, draft: &mut Draft) {
        for stanza in self.members.clone() {
            for line in &stanza.options {
                let key = line.key();
                match key.strip_prefix("bond_") {
                    Some("master") => drop(self.taken.insert(line.at.clone())),
                    Some("give_a_chance") => self.leave(reading, line, "it means nothing to a team"),
                    Some(option) => match ConfigOption::named(option).and_then(|of| draft.value(of.name)) {
                        None => self.read_option(reading, draft, line),
                        Some(_) if is_repeated(draft, option, &line.value) => drop(self.taken.insert(line.at.clone())),
                        Some(held) => {
                            let why = format!("`{option}` of {} is `{held}`", shown(&self.name));
                            self.leave(reading, line, &why);
                        }
                    },
                    None if self.taken.contains(&line.at) => {}
                    None => self.leave_of_member(reading, line),
                }
            }
        }
    }

    /// A line of a member that is no option of bonding.
    fn leave_of_member(&self, reading: &mut Reading<'_>, line: &Line) {
        let why = if is_address(&line.name) {
            "an address of a member has no effect in a bond: give it to the team, or take it out"
        } else {
            "it is of a member, whose stanza stays without its `bond-` lines"
        };
        self.leave(reading, line, why);
    }

    fn leave_members_settings(&self, reading: &mut Reading<'_>, draft: &Draft) {
        for stanza in self.listed(draft) {
            for line in stanza.options.iter().filter(|line| !self.taken.contains(&line.at)) {
                let is_teams = line.name == "mtu" && draft.has_mtu(&line.value);
                if !line.key().starts_with("bond_") && !is_teams {
                    self.leave_of_member(reading, line);
                }
            }
        }
    }

    pub(super) fn read_other(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, stanza: &Stanza, line: &Line) {
        let name = line.name.as_str();
        let is_static6 = stanza.family == "inet6" && stanza.method == "static";
        if let Some(why) = by_sysctl(draft, line).filter(|_| is_static6) {
            self.taken.insert(line.at.clone());
            return self.leave(reading, line, &why);
        }
        match name {
            "mtu" => {
                self.taken.insert(line.at.clone());
                draft.set_mtu(reading, &line.value, &line.value_at);
            }
            "hwaddress" if line.value != "random" => {
                self.taken.insert(line.at.clone());
                let text = line.value.strip_prefix("ether").unwrap_or(&line.value).trim().to_owned();
                draft.set_mac(reading, &text, &line.value_at);
            }
            // `manual` has no such option, and what `auto` has stays with it.
            "accept_ra" | "accept-ra" if is_static6 => {
                self.taken.insert(line.at.clone());
                draft.set_accept_ra(reading, &line.value, &line.value_at);
            }
            _ if line.runs() || line.undoes() => self.read_command(reading, draft, stanza, line),
            _ if line.key().starts_with("bond_") => {}
            "vlan-raw-device" | "vlan_raw_device" => {}
            name if name.starts_with("dns-") => {
                self.leave(
                    reading,
                    line,
                    "name servers are resolvconf's: keep the line in a stanza of the team's device",
                );
            }
            _ => {
                let why =
                    format!("nicteam has nothing for it: keep it in `{}` without the `bond-` lines", stanza.title());
                self.leave(reading, line, &why);
            }
        }
    }

    fn read_command(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, stanza: &Stanza, line: &Line) {
        let commands::Line { commands, is_whole, .. } = line.does(&stanza.device).clone();
        let done: Vec<Result<(), String>> = commands
            .into_iter()
            .map(|command| match command {
                Ok(command) => self.carry_out(reading, draft, line, command),
                Err((message, hint)) if line.runs() => {
                    reading.wrong(&line.value_at, message, hint);
                    Ok(())
                }
                Err(_) => Err(KEEP.to_owned()),
            })
            .collect();
        match done.iter().find_map(|done| done.as_ref().err()) {
            None if is_whole => drop(self.taken.insert(line.at.clone())),
            _ if done.iter().any(Result::is_ok) => self.leave(reading, line, REST_STAYS),
            why => self.leave(reading, line, why.map_or(KEEP, String::as_str)),
        }
    }

    /// Does what a command of the bond's own stanza does, or says why the line stays.
    fn carry_out(
        &mut self,
        reading: &mut Reading<'_>,
        draft: &mut Draft,
        line: &Line,
        command: Command,
    ) -> Result<(), String> {
        let is_own = |device: &str| is_of(&self.name, device);
        match command {
            Command::DeleteRoute | Command::DeleteAddress if line.undoes() && self.has_commands => {}
            Command::Undo(device)
                if line.undoes() && device.as_ref().is_none_or(|of| *of == self.name || draft.has_member(of)) => {}
            Command::SetUp(device) if is_own(&device) || draft.has_member(&device) => {}
            // They were read before.
            Command::Bond { bond, .. } | Command::Enslave { bond, .. } if line.runs() && bond == self.name => {}
            Command::Join { master, .. } if line.runs() && master == self.name => {}
            Command::Module(_) if line.runs() => {}
            Command::Configure(configure) if line.runs() && is_own(&configure.device) => {
                self.has_commands = true;
                configure.address.into_iter().for_each(|address| draft.add_address(address));
                configure.mac.into_iter().for_each(|mac| draft.set_mac(reading, &mac, &line.value_at));
                configure.mtu.into_iter().for_each(|mtu| draft.set_mtu(reading, &mtu, &line.value_at));
                configure.notes.iter().for_each(|note| self.leave(reading, line, note));
            }
            Command::AddRoute(words) if line.runs() => {
                if words.device.as_ref().is_some_and(|device| *device != self.name) {
                    return Err("a route by another device".to_owned());
                }
                if let Some(word) = words.ignored.first() {
                    let why = format!("the route is taken over without `{}`", shown(word));
                    self.leave(reading, line, &why);
                }
                self.has_commands = true;
                words.routes().into_iter().for_each(|route| draft.add_route(route));
            }
            Command::AddAddress { address, device, ignored }
                if line.runs() && device.as_ref().is_none_or(|device| is_own(device)) =>
            {
                if !ignored.is_empty() {
                    let why = format!("the address is taken over without `{}`", shown(&ignored.join(" ")));
                    self.leave(reading, line, &why);
                }
                self.has_commands = true;
                draft.add_address(address);
            }
            _ => return Err(KEEP.to_owned()),
        }
        Ok(())
    }
}

const KEEP: &str = "a command that ifupdown runs: keep it in a stanza of the team's device";
const REST_STAYS: &str = "what it does to the team is taken over: keep the rest of it in a stanza of the team's device";

/// What to do in the place of an option of IPv6 that a team has not.
fn by_sysctl(draft: &Draft, line: &Line) -> Option<String> {
    let number = || line.value.parse::<u8>().ok();
    match line.key().as_str() {
        "privext" => Some(draft.by_sysctl("use_tempaddr", number().filter(|value| *value <= 2)?)),
        "autoconf" => Some(draft.by_sysctl("autoconf", number().filter(|value| *value <= 1)?)),
        // Addresses are used at once, as `nodad` has it.
        "dad_attempts" if line.value == "0" => Some(draft.by_sysctl("accept_dad", 0)),
        "dad_attempts" | "dad_interval" => {
            let why =
                "it says how long ifup waits for the proof that no other host has the address: a team does not wait";
            Some(why.to_owned())
        }
        _ => None,
    }
}

/// The words of a bond's own list of members.
fn read_list(reading: &mut Reading<'_>, draft: &mut Draft, list: &Joining<'_>) {
    const HINT: &str = "name them: `bond-slaves eth0 eth1`";
    for (word, at) in &list.members {
        match word.as_str() {
            "none" => {}
            comment if comment.starts_with('#') => {
                let at = At { end: list.line.value_at.end, ..at.clone() };
                let message = format!("`{}` is no comment here: ifupdown takes its words for devices", shown(comment));
                let hint = "a comment is a line of its own, which begins with `#`";
                return draft.wrong_member(reading, &at, message, hint);
            }
            several if several.contains([',', ';']) => {
                let message = format!("`{}` is one word, and names no device", shown(several));
                draft.wrong_member(reading, at, message, "devices have blanks between them: `bond-slaves eth0 eth1`");
            }
            "regex" | "glob" => {
                let at = At { end: list.line.value_at.end, ..at.clone() };
                let message = format!("`{word}` finds devices by a pattern, which only their machine can");
                return draft.wrong_member(reading, &at, message, HINT);
            }
            pattern if pattern.contains(['*', '?', '[']) || pattern.starts_with('/') => {
                let message = format!("`{}` is a pattern, and only its machine knows the devices", shown(pattern));
                draft.wrong_member(reading, at, message, HINT);
            }
            "all" => {
                let message = "`all` are the devices with `eth` in their names, which only their machine knows";
                draft.wrong_member(reading, at, message, HINT);
            }
            device => draft.member(reading, device, at),
        }
    }
}

/// True if a member's stanza says what the bond's says.
fn is_repeated(draft: &Draft, option: &str, value: &str) -> bool {
    let held = ConfigOption::named(option).and_then(|of| draft.value(of.name));
    let says = nicteam_drafts::draft::in_kernels_words(option, value.split_whitespace().next().unwrap_or_default());
    says.is_ok_and(|(_, value)| held == Some(value.as_str()))
}
