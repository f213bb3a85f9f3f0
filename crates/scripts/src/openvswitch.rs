//! Command lines of `ovs-vsctl` as a configuration of teams: a bond of Open vSwitch is a team in its modes.
//!
//! The lines are carried out on an empty switch ([`nicteam_vsctl`]); bridges and their other ports stay. Commands of
//! `ip` beside them are read as [`crate::iproute2`] reads them, and what a bridge gets is the team's where its bond is all
//! that it has. Other formats have the words of such a line in places of their own ([`Bond`]).

use std::ops::Range;

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Reading;
use nicteam_drafts::Teams;
use nicteam_drafts::draft::Draft;
use nicteam_drafts::{Format, Import};
use nicteam_options::ConfigOption;
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::{Command, quoted};
use nicteam_vsctl::{self as ovs_vsctl, Error, ErrorKind, Step, Switch};

use crate::iproute2::Script;

/// See the module.
pub struct OpenVSwitch;

impl Format for OpenVSwitch {
    fn name(&self) -> &'static str {
        "ovs-vsctl"
    }

    fn title(&self) -> &'static str {
        "command lines of ovs-vsctl (Open vSwitch)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_own = |command: &Command| command.name() == "ovs-vsctl";
        source.commands().is_ok_and(|commands| commands.iter().any(is_own))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let (mut switch, mut script) = (Switch::default(), Script::new(sources, members));
        let mut texts = Vec::new();
        for (source, of) in sources.iter().enumerate() {
            match of.commands() {
                Ok(commands) => {
                    commands.iter().for_each(|command| take(&mut script.teams, &mut switch, source, command));
                    texts.push((source, commands));
                }
                Err(problem) => script.teams.problem(source, problem.clone()),
            }
        }
        of_bridges(&mut script.teams, &switch);
        // What the bridges are in the end says whose addresses these are.
        for (source, commands) in &texts {
            let others = commands.iter().filter(|command| !command.name().starts_with("ovs-"));
            others.for_each(|command| script.take(*source, command));
        }
        for (name, at) in script.teams.drafts.iter().map(|of| (of.name.clone(), of.at.clone())).collect::<Vec<_>>() {
            if let Some((bridge, _)) = switch.port(&name) {
                let command = format!("ovs-vsctl del-port {} {}", quoted(bridge), quoted(&name));
                let what = format!("take {name} out of {bridge}: Open vSwitch builds it again when it starts");
                script.teams.disable(&at, what, Some(command));
                script.owned_elsewhere.push(name);
            }
        }
        script.finish()
    }
}

/// Whether a bridge is still wanted, and whose its own device's addresses are.
fn of_bridges(teams: &mut Teams<'_>, switch: &Switch) {
    for (bridge, ports) in switch.bridges.iter().map(|(name, of)| (name, &of.ports)) {
        let bonds: Vec<(usize, At)> = teams
            .drafts
            .iter()
            .enumerate()
            .filter(|(_, draft)| ports.contains_key(&draft.name))
            .map(|(team, draft)| (team, draft.at.clone()))
            .collect();
        let is_alone = ports.len() == 1;
        for (team, at) in &bonds {
            let name = teams.drafts[*team].name.clone();
            let why = match is_alone {
                true => format!(
                    "the bond is the one port of {bridge}: what `ip` gives {bridge} is given to the team, which needs no bridge"
                ),
                false => format!(
                    "the bond is a port of {bridge}: `ip link add name {0} type bridge`, and `ip link set {1} master {0}` \
                     once the team is up",
                    quoted(bridge),
                    quoted(&name)
                ),
            };
            teams.left(at, why, Some(&name));
        }
        for port in ports.iter().filter(|(_, of)| !of.is_bond).map(|(name, _)| name) {
            if let Some((team, _)) = bonds.first() {
                let why = format!("{port} is a port of {bridge} beside the bond: it keeps what it is given");
                teams.alias(port, *team, Some(why));
            }
        }
        if let Some((team, _)) = bonds.first() {
            let why =
                format!("{bridge} has other ports than the bond: give this to the bridge that the team is put into");
            teams.alias(bridge, *team, (!is_alone).then_some(why));
        }
    }
}

fn take(teams: &mut Teams<'_>, switch: &mut Switch, source: usize, command: &Command) {
    let at = At::new(source, command.span());
    match command.name() {
        // Whatever the condition, the bridge and the bond are there in the end.
        "ovs-vsctl" if command.is_conditional => {
            let makes = command.words.iter().any(|word| matches!(word.text.as_str(), "add-br" | "add-bond"));
            let is_done = makes && command.unknown().is_none() && vsctl(teams, switch, source, command).is_ok();
            let end = if is_done { ": it is read as if it were" } else { "" };
            teams.aside(&at, command.pieces(), format!("whether it is carried out depends on a condition{end}"));
        }
        "ovs-vsctl" => {
            let done = match command.unknown() {
                Some(problem) => Err(problem),
                None => vsctl(teams, switch, source, command),
            };
            if let Err(problem) = done {
                teams.problem(source, problem);
            }
        }
        name if name.starts_with("ovs-") => {
            let why = "it asks or changes what runs: `nicteam ovs` does of it what a team has";
            teams.aside(&at, command.pieces(), why);
        }
        _ => {}
    }
}

/// Carries a line out.
fn vsctl(teams: &mut Teams<'_>, switch: &mut Switch, source: usize, command: &Command) -> Result<(), Problem> {
    let words = command.arguments().iter().map(|word| (word.text.clone(), At::new(source, word.span.clone())));
    carry_out_words(teams, switch, words.collect(), &At::new(source, command.span()))
}

/// What a file tells `ovs-vsctl add-bond` of a bond, each word with its place.
pub struct Bond<'w> {
    /// The bridge that it is a port of.
    pub bridge: &'w str,
    /// Columns with their values: `bond_mode=balance-slb`.
    pub settings: Vec<(String, At)>,
    /// More commands of the same line.
    pub more: Vec<(String, At)>,
}

impl Bond<'_> {
    /// Gives a team, whose members are known, what is said of its bond.
    pub fn give(self, reading: &mut Reading<'_>, draft: &mut Draft) {
        let (name, at) = (draft.name.clone(), draft.at.clone());
        let mut words: Vec<(String, At)> =
            ["add-bond", self.bridge, &name].map(|word| (word.to_owned(), at.clone())).to_vec();
        words.extend(draft.members.iter().map(|member| (member.value.clone(), member.at.clone())));
        words.extend(self.settings);
        if !self.more.is_empty() {
            words.push(("--".to_owned(), at.clone()));
            words.extend(self.more);
        }
        let mut switch = Switch::default();
        switch.bridges.insert(self.bridge.to_owned(), ovs_vsctl::Bridge::default());
        let mut teams = Teams::new(&[]);
        std::mem::swap(&mut teams.reading, reading);
        teams.drafts.push(std::mem::replace(draft, Draft::new(&name, at.clone())));
        if let Err(problem) = carry_out_words(&mut teams, &mut switch, words, &at) {
            teams.problem(at.source, problem);
        }
        std::mem::swap(&mut teams.reading, reading);
        if let Some(given) = teams.drafts.pop() {
            *draft = given;
        }
    }
}

/// Carries a line out; what nicteam has nothing for is taken out of it, and stays.
fn carry_out_words(
    teams: &mut Teams<'_>,
    switch: &mut Switch,
    words: Vec<(String, At)>,
    line_at: &At,
) -> Result<(), Problem> {
    let (mut words, mut places): (Vec<String>, Vec<At>) = words.into_iter().unzip();
    while words.iter().any(|word| word != "--") {
        let error = match ovs_vsctl::parse(&words).and_then(|line| switch.apply(&line)) {
            Ok(done) => {
                *switch = done.switch;
                for warning in done.warnings {
                    let hint = warning.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    teams.left(line_at, format!("{}{hint}", warning.text), None);
                }
                done.steps.iter().for_each(|step| carry_out(teams, step, &words, &places, line_at));
                return Ok(());
            }
            Err(error) => error,
        };
        let Some(at) = places.get(error.place).cloned() else {
            return Err(problem(switch, &error, &words, &places, line_at));
        };
        let own = own_words(&words, error.place);
        // The rest of the line makes sense without it.
        let taken_out = match &error.kind {
            ErrorKind::Unsupported { .. } => {
                teams.left(&at, why_unsupported(&words[error.place], &error), None);
                if is_only_setting(&words[own.clone()]) { own } else { error.place..error.place + 1 }
            }
            ErrorKind::OtherCommand(name) if asks(name) => own,
            ErrorKind::OtherCommand(_) | ErrorKind::OtherTable(_) | ErrorKind::FakeBridge => {
                let end = places.get(own.end - 1).map_or(at.end, |last| last.end);
                teams.left(&At { end, ..places[own.start].clone() }, error.to_string(), None);
                own
            }
            // How it talks to its database, and what it prints, concerns no bond.
            ErrorKind::OtherOption(option) => {
                let with_value = ovs_vsctl::has_value(option) && !words[error.place].contains('=');
                error.place..error.place + 1 + usize::from(with_value)
            }
            // Another record by a name of this line: `qos=@q`.
            ErrorKind::BadValue(_) if words[error.place].contains("=@") => {
                teams.left(&at, "it names a record that a team has not", None);
                if is_only_setting(&words[own.clone()]) { own } else { error.place..error.place + 1 }
            }
            ErrorKind::UnknownLetter('v') => error.place..error.place + 1,
            ErrorKind::UnknownLetter('f' | 'd') => {
                error.place..error.place + 1 + usize::from(words[error.place].len() == 2)
            }
            // Options of commands that are left anyway.
            ErrorKind::UnknownOption(option) if ["--columns", "--id", "--all"].contains(&option.as_str()) => {
                error.place..error.place + 1
            }
            // It was made elsewhere, if nothing here makes any.
            ErrorKind::NoBridge(name) if switch.bridges.is_empty() && !words.iter().any(|word| word == "add-br") => {
                switch.bridges.insert(name.clone(), ovs_vsctl::Bridge::default());
                continue;
            }
            _ => return Err(problem(switch, &error, &words, &places, line_at)),
        };
        let end = taken_out.end.min(words.len());
        words.drain(taken_out.start..end);
        places.drain(taken_out.start..end);
    }
    Ok(())
}

/// True for a command that prints or waits.
fn asks(command: &str) -> bool {
    ["get", "list", "find", "wait-until", "br-to-", "br-get-", "comment"].iter().any(|start| command.starts_with(start))
}

/// Why a setting stays.
fn why_unsupported(word: &str, error: &Error) -> String {
    match word {
        "type=dpdk" => {
            "a port of DPDK is no device of the kernel: give its card back to the kernel's driver, and put the \
                        device's name into `members`"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// The words of the command in a line that this one is of.
fn own_words(words: &[String], place: usize) -> Range<usize> {
    let start = words[..place].iter().rposition(|word| word == "--").map_or(0, |at| at + 1);
    let end = words[place..].iter().position(|word| word == "--").map_or(words.len(), |at| place + at);
    start..end
}

/// True for a `set` with one setting.
fn is_only_setting(command: &[String]) -> bool {
    let set = command.iter().position(|word| word == "set");
    set.is_some_and(|at| command[..at].iter().all(|word| word.starts_with('-')) && command.len() - at <= 4)
}

fn problem(switch: &Switch, error: &Error, words: &[String], places: &[At], line_at: &At) -> Problem {
    let end = line_at.end;
    let span = places.get(error.place).map_or(end..end, At::span);
    let problem = Problem::at(&span, error.to_string());
    let makes_one = words.iter().any(|word| matches!(word.as_str(), "add-bond" | "add-port"));
    let is_elsewhere = !makes_one && switch.bridges.values().all(|bridge| bridge.ports.is_empty());
    match switch.hint(error) {
        _ if is_elsewhere && matches!(error.kind, ErrorKind::NoRow { .. } | ErrorKind::NoPort(_)) => problem
            .hint("the line that makes it belongs to this text, too: `ovs-vsctl add-bond BRIDGE BOND INTERFACE...`"),
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn carry_out(teams: &mut Teams<'_>, step: &Step, words: &[String], places: &[At], line: &At) {
    let at = |name: &str| {
        let is_it = |word: &String| word == name || word.split_once('=').is_some_and(|(column, _)| column == name);
        words.iter().position(is_it).and_then(|place| places.get(place)).unwrap_or(line).clone()
    };
    match step {
        Step::AddPort { bridge, port } => {
            teams.left(
                &at(port),
                format!("it is no bond: `ip link set {} master {}`", quoted(port), quoted(bridge)),
                None,
            );
        }
        Step::AddBond { port, interfaces, options, .. } => {
            let team = teams.team(port, &at(port));
            for interface in interfaces {
                teams.add_member(team, interface, &at(interface));
            }
            set(teams, team, options, words, places, &at(port));
        }
        Step::AddInterface { port, interface } => {
            let team = teams.team(port, &at(port));
            teams.add_member(team, interface, &at(interface));
        }
        Step::DeleteInterface { port, interface } => {
            if let Some(team) = teams.find(port) {
                teams.remove_member(team, interface);
            }
        }
        Step::SetBond { port, options } => {
            let team = teams.team(port, &at(port));
            set(teams, team, options, words, places, &at(port));
        }
        Step::SetMtu { device, mtu } => match teams.find(device) {
            Some(team) => teams.drafts[team].mtu = Some(*mtu),
            None => teams.left(line, format!("it is no bond: `ip link set {} mtu {mtu}`", quoted(device)), None),
        },
        Step::DeletePort { port, is_bond: true, .. } => teams.drafts.retain(|draft| draft.name != *port),
        Step::AddBridge { .. } | Step::DeletePort { .. } | Step::DeleteBridge { .. } => {}
    }
}

/// Options by Open vSwitch's names, where they differ from what a team has without them.
fn set(teams: &mut Teams<'_>, team: usize, options: &[(String, String)], words: &[String], places: &[At], port: &At) {
    for (name, value) in options {
        let is_it = |word: &String| {
            let column = word.split_once('=').map_or(word.as_str(), |(column, _)| column);
            let key = column.rsplit_once(':').map_or(column, |(_, key)| key).replace('_', "-");
            key == name.replace('_', "-") || name == "mode" && key == "bond-mode"
        };
        let said = words.iter().position(is_it).and_then(|place| places.get(place));
        let at = said.unwrap_or(port);
        let own = ConfigOption::named(name).map_or(name.as_str(), |option| option.name);
        if teams.option(team, own) == Some(value.as_str()) {
            continue;
        }
        // All of a column was replaced: what is not named is as at the beginning.
        if said.is_none() && ovs_vsctl::is_default(name, value) {
            teams.drafts[team].forget(own);
            continue;
        }
        // What a later line says takes the place of what was said, or was so by itself.
        teams.drafts[team].forget(own);
        teams.set(team, name, value, at);
    }
}
