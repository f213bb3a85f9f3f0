//! Command lines that build the kernel's bonds: iproute2's `ip` (6.1), `modprobe bonding`, `ifenslave`, and what is written
//! into the driver's files of sysfs.

pub mod address;
pub mod link;
pub mod other;
mod script;
mod words;
mod write;

use crate::ifconfig;
use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::{Format, Import, Network, Writer, Written};
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::{Command, Word, quoted};
pub use script::Script;
use words::OBJECTS;
pub use words::{Ip, abbreviated, ip, object};

/// See the module.
pub struct Iproute2;

const NAME: &str = "iproute2";
const TITLE: &str = "command lines of `ip` (iproute2), modprobe, ifenslave and sysfs";

impl Format for Iproute2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_own = |command: &Command| {
            let word = |at: usize| command.words.get(at).map_or("", |word| word.text.as_str());
            let writes = command.output.as_ref().is_some_and(|to| to.text.contains("/bonding"));
            let is_ip = || {
                let object = command.arguments().iter().find(|word| !word.text.starts_with('-'));
                let is_batch = || command.arguments().iter().any(|word| word.text.starts_with("-b"));
                object.and_then(|object| abbreviated(&object.text, OBJECTS)).is_some() || is_batch()
            };
            writes || word(0) == "ip" && is_ip() || word(0) == "modprobe" && word(1) == "bonding"
        };
        source.commands().is_ok_and(|commands| commands.iter().any(is_own) || is_batch(commands))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut script = Script::new(sources, members);
        for (source, of) in sources.iter().enumerate() {
            match of.commands() {
                Ok(commands) if is_batch(commands) => script.batch(source, commands),
                Ok(commands) => commands.iter().for_each(|command| script.take(source, command)),
                Err(problem) => script.teams.problem(source, problem.clone()),
            }
        }
        script.finish()
    }
}

/// True for lines of a file that `ip -batch` reads: `link add bond0 type bond`.
fn is_batch(commands: &[Command]) -> bool {
    let is_line = |command: &Command| abbreviated(command.name(), OBJECTS).is_some() && !command.arguments().is_empty();
    let is_link = |command: &Command| {
        let verb = command.arguments().first().map_or("", |word| word.text.as_str());
        abbreviated(command.name(), OBJECTS) == Some("link") && matches!(verb, "a" | "add" | "s" | "set")
    };
    commands.iter().all(is_line) && commands.iter().any(is_link)
}

impl Writer for Iproute2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn write(&self, network: &Network) -> Written {
        write::write(network)
    }
}

const NOT_READ: &str = "only commands that build bonds, their addresses and routes are read";

/// True for a command that prints or waits.
fn changes_nothing(command: &Command) -> bool {
    let mut words =
        command.arguments().iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
    match command.name() {
        "true" | ":" | "set" | "exit" | "return" | "sleep" | "cd" | "cat" | "ls" | "ping" | "[" | "[[" | "test"
        | "logger" | "grep" => true,
        "echo" | "printf" => command.output.is_none(),
        "ip" => words.nth(1).is_some_and(|verb| matches!(verb, "show" | "sh" | "list" | "lst" | "ls" | "get")),
        _ => false,
    }
}

/// True for `ip link add NAME type bond`.
fn makes_bond(command: &Command) -> bool {
    let has_kind = command.words.windows(2).any(|two| two[0].text == "type" && two[1].text == "bond");
    has_kind && command.name() == "ip" && command.words.iter().any(|word| matches!(word.text.as_str(), "a" | "add"))
}

/// True for a line with something unknown that is about a bond, as far as one can see.
fn may_be_a_bonds(command: &Command) -> bool {
    let is_known_device = |two: &[Word]| matches!(two[0].text.as_str(), "dev" | "master") && two[1].unknown.is_none();
    let mut words =
        command.arguments().iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
    let object = words.next().and_then(|object| abbreviated(object, OBJECTS));
    match (command.name(), object, words.next()) {
        ("ip", Some("address" | "route"), Some("add" | "a" | "replace" | "append" | "change")) => {
            !command.words.windows(2).any(is_known_device)
        }
        ("ip", Some("link"), _) => {
            command.words.windows(2).any(|two| two[0].text == "master" && two[1].unknown.is_some())
        }
        _ => false,
    }
}

/// True for a command that may build a bond.
fn is_read(command: &Command) -> bool {
    let writes = || command.output.as_ref().is_some_and(|to| to.text.contains("/sys/"));
    match command.name() {
        "echo" | "printf" => writes(),
        name => matches!(name, "ip" | "modprobe" | "ifenslave" | "ifconfig" | "route"),
    }
}

impl Script<'_> {
    /// Lines that `ip -batch` reads.
    fn batch(&mut self, source: usize, lines: &[Command]) {
        for line in lines {
            let start = line.words.first().map_or(0, |word| word.span.start);
            let ip = Word { text: "ip".to_owned(), span: start..start, unknown: None, is_set: false };
            let words = std::iter::once(ip).chain(line.words.iter().cloned()).collect();
            self.take(source, &Command { words, ..line.clone() });
        }
    }

    /// Carries a command out.
    pub fn take(&mut self, source: usize, command: &Command) {
        let spot = At::new(source, command.span());
        if changes_nothing(command) {
            return;
        }
        // Whatever the condition, the bond and its members are there in the end.
        let makes_bond = makes_bond(command);
        let joins = command.name() == "ip" && command.words.iter().any(|word| word.text == "master");
        if command.is_conditional && !(makes_bond || joins) {
            return self.maybe(command, &spot, "whether it is carried out depends on a condition");
        }
        if let Some(problem) = command.unknown() {
            match is_read(command) {
                true if makes_bond || may_be_a_bonds(command) => self.teams.problem(source, problem),
                true => self.teams.wrong_aside(&spot, command.pieces(), problem),
                false => self.maybe(command, &spot, NOT_READ),
            }
            return;
        }
        let done = match command.name() {
            "ip" => self.ip(source, command, &spot),
            "modprobe" => other::modprobe(self, source, command.arguments()),
            "ifenslave" => other::ifenslave(self, source, command, &spot),
            "echo" | "printf" => other::echo(self, source, command, &spot),
            "ifconfig" => ifconfig::read(&mut self.teams, source, command, &spot),
            "route" => address::net_route(self, command, &spot),
            _ => {
                self.maybe(command, &spot, NOT_READ);
                Ok(())
            }
        };
        if command.is_conditional && done.is_ok() {
            let why = "whether it is carried out depends on a condition: it is read as if it were";
            self.maybe(command, &spot, why);
        }
        if let Err(problem) = done {
            self.teams.problem(source, problem);
        }
    }

    fn ip(&mut self, source: usize, command: &Command, spot: &At) -> Result<(), Problem> {
        let (words, family) = match ip(command.arguments()) {
            Ip::Here { words, family } => (words, family),
            Ip::Elsewhere => {
                self.maybe(command, spot, "it works in another namespace");
                return Ok(());
            }
            Ip::Batch => {
                match command.input.as_slice() {
                    [] => self.teams.left(spot, "its lines are in another file: import that file, too", None),
                    lines => self.batch(source, lines),
                }
                return Ok(());
            }
        };
        let Some((object, rest)) = words.split_first() else { return Ok(()) };
        match abbreviated(&object.text, OBJECTS) {
            Some("link") => link::read(self, source, rest, command, spot),
            Some("address") => address::read(self, source, rest, command, spot),
            Some("route") => address::route(self, rest, family, command, spot),
            // It names no device, and packets of a team may match it.
            Some("rule") if rest.first().is_some_and(|verb| abbreviated(&verb.text, &["add"]).is_some()) => {
                self.teams.left(spot, "a team has no rules: keep this line", None);
                Ok(())
            }
            Some(_) => {
                self.maybe(
                    command,
                    spot,
                    "a team has no such settings: carry the command out yourself once the team is up",
                );
                Ok(())
            }
            None => {
                let problem = Problem::at(&object.span, format!("`ip` knows no `{}`", object.text));
                Err(problem.hint("`ip link`, `ip address` and `ip route` are read"))
            }
        }
    }

    pub fn finish(mut self) -> Result<Import, Diagnostics> {
        for team in 0..self.teams.drafts.len() {
            for (name, value, spot) in std::mem::take(&mut self.defaults) {
                if self.teams.option(team, &name).is_none() {
                    self.teams.set(team, &name, &value, &spot);
                }
                self.defaults.push((name, value, spot));
            }
        }
        for (master, spot) in std::mem::take(&mut self.without_master) {
            if self.teams.drafts.is_empty() {
                let why = format!(
                    "no line of this text makes {master}: `ip link add {} type bond` ahead of it does",
                    quoted(&master)
                );
                self.teams.left(&spot, why, None);
            }
        }
        let is_idle = |name: &String, members: usize| members == 0 && self.made_by_driver.contains(name);
        self.teams.drafts.retain(|draft| !is_idle(&draft.name, draft.members.len()));
        for (name, spot) in self.teams.drafts.iter().map(|of| (of.name.clone(), of.at.clone())).collect::<Vec<_>>() {
            if self.owned_elsewhere.contains(&name) {
                continue;
            }
            let what = format!("take out of this text, and of what runs it, the lines that build {name}");
            self.teams.disable(&spot, what, Some(format!("ip link delete {}", quoted(&name))));
        }
        self.teams.finish()
    }
}
