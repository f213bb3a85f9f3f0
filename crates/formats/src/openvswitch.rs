//! Command lines of `ovs-vsctl` as a configuration of teams: a bond of Open vSwitch is a team in its modes.
//!
//! The lines are carried out on an empty switch ([`crate::ovs_vsctl`]); bridges and their other ports stay.

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_team::ConfigOption;

use crate::ovs_vsctl::{self, Error, ErrorKind, Step, Switch};
use crate::reading::At;
use crate::shell::{self, Command};
use crate::teams::Teams;
use crate::{Format, Import, Source};

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
        shell::commands(&source.text).is_ok_and(|commands| commands.iter().any(is_own))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read(&self, sources: &[Source]) -> Result<Import, Diagnostics> {
        let mut switch = Switch::default();
        let mut teams = Teams::new(sources);
        for (source, of) in sources.iter().enumerate() {
            match shell::commands(&of.text) {
                Ok(commands) => commands.iter().for_each(|command| take(&mut teams, &mut switch, source, command)),
                Err(problem) => teams.problem(source, problem),
            }
        }
        let bonds: Vec<(String, At)> = teams.drafts.iter().map(|of| (of.name.clone(), of.at.clone())).collect();
        for (name, at) in bonds {
            if let Some((bridge, _)) = switch.port(&name) {
                let command = format!("ovs-vsctl del-port {bridge} {name}");
                let what = format!("take {name} out of {bridge}: Open vSwitch builds it again when it starts");
                teams.disable(&at, what, Some(command));
            }
        }
        teams.finish()
    }
}

fn take(teams: &mut Teams<'_>, switch: &mut Switch, source: usize, command: &Command) {
    let at = At::new(source, command.span());
    if !command.is_literal() || command.is_conditional {
        return teams.aside(&at, command.pieces(), "whether and how it is carried out, a shell decides");
    }
    match command.name() {
        "ovs-vsctl" => {
            if let Err(problem) = vsctl(teams, switch, source, command) {
                teams.problem(source, problem);
            }
        }
        "ovs-appctl" | "ovs-ofctl" | "ovs-dpctl" => {
            teams.aside(
                &at,
                command.pieces(),
                "it asks or changes what runs: `nicteam ovs` does of it what a team has",
            );
        }
        _ => teams.aside(&at, command.pieces(), "lines of ovs-vsctl alone are read"),
    }
}

/// Carries a line out; what nicteam has nothing for is taken out of it, and stays.
fn vsctl(teams: &mut Teams<'_>, switch: &mut Switch, source: usize, command: &Command) -> Result<(), Problem> {
    let (mut words, mut places): (Vec<String>, Vec<At>) =
        command.arguments().iter().map(|word| (word.text.clone(), At::new(source, word.span.clone()))).unzip();
    let line_at = At::new(source, command.span());
    loop {
        let error = match ovs_vsctl::parse(&words).and_then(|line| switch.apply(&line)) {
            Ok(done) => {
                *switch = done.switch;
                for warning in done.warnings {
                    let hint = warning.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    teams.left(&line_at, format!("{}{hint}", warning.text), None);
                }
                done.steps.iter().for_each(|step| carry_out(teams, step, &words, &places, &line_at));
                return Ok(());
            }
            Err(error) => error,
        };
        let place = places.get(error.place).cloned();
        match (&error.kind, place) {
            // A setting: the rest of its command makes sense without it, if it is not the last one of a `set`.
            (ErrorKind::Unsupported { .. }, Some(at)) if words.len() > 1 => {
                teams.left(&at, error.to_string(), None);
                let is_only = is_only_setting(&words, error.place);
                words.remove(error.place);
                places.remove(error.place);
                if is_only {
                    return Ok(());
                }
            }
            (ErrorKind::OtherCommand(_) | ErrorKind::OtherTable(_) | ErrorKind::FakeBridge, at) => {
                let why = error.to_string();
                teams.left(&at.map_or(line_at.clone(), |_| line_at.clone()), why, None);
                return Ok(());
            }
            _ => return Err(problem(switch, &error, &places, command)),
        }
    }
}

/// True for the one setting of a `set`.
fn is_only_setting(words: &[String], place: usize) -> bool {
    let start = words[..place].iter().rposition(|word| word == "--").map_or(0, |at| at + 1);
    let end = words[place..].iter().position(|word| word == "--").map_or(words.len(), |at| place + at);
    let command: Vec<&String> = words[start..end].iter().filter(|word| !word.starts_with("--")).collect();
    command.first().is_some_and(|name| *name == "set") && command.len() <= 4
}

fn problem(switch: &Switch, error: &Error, places: &[At], command: &Command) -> Problem {
    let end = command.span().end;
    let span = places.get(error.place).map_or(end..end, At::span);
    let problem = Problem::at(&span, error.to_string());
    match switch.hint(error) {
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
        Step::AddBridge { bridge } => {
            let why =
                format!("a team is no bridge's: `ip link add name {bridge} type bridge`, then put the team into it");
            teams.left(&at(bridge), why, None);
        }
        Step::AddPort { bridge, port } => {
            teams.left(&at(port), format!("it is no bond: `ip link set {port} master {bridge}`"), None);
        }
        Step::AddBond { bridge, port, interfaces, options } => {
            let team = teams.team(port, &at(port));
            for interface in interfaces {
                teams.add_member(team, interface, &at(interface));
            }
            set(teams, team, options, words, places, &at(port));
            let why =
                format!("the bond is a port of {bridge}: `ip link set {port} master {bridge}` once the team is up");
            teams.left(&at(bridge), why, Some(port));
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
            None => teams.left(line, format!("it is no bond: `ip link set {device} mtu {mtu}`"), None),
        },
        Step::DeletePort { port, is_bond: true, .. } => teams.drafts.retain(|draft| draft.name != *port),
        Step::DeletePort { .. } | Step::DeleteBridge { .. } => {}
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
        let at = words.iter().position(is_it).and_then(|place| places.get(place)).unwrap_or(port);
        let own = ConfigOption::named(name).map_or(name.as_str(), |option| option.name);
        if teams.option(team, own) == Some(value.as_str()) {
            continue;
        }
        // What a later line says takes the place of what was said, or was so by itself.
        teams.drafts[team].forget(own);
        teams.set(team, name, value, at);
    }
}
