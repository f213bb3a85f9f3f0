//! Command lines that build the kernel's bonds: iproute2's `ip` (6.1), `modprobe bonding`, `ifenslave`, and what is written
//! into the driver's files of sysfs.

mod address;
mod link;
mod other;
mod write;

use nicteam_diagnostics::{Diagnostics, Problem};

use crate::reading::At;
use crate::shell::{self, Command, Word};
use crate::teams::Teams;
use crate::{Format, Import, Network, Source, Writer, Written};

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
                object.and_then(|object| abbreviated(&object.text, OBJECTS)).is_some()
            };
            writes || word(0) == "ip" && is_ip() || word(0) == "modprobe" && word(1) == "bonding"
        };
        shell::commands(&source.text).is_ok_and(|commands| commands.iter().any(is_own))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read(&self, sources: &[Source]) -> Result<Import, Diagnostics> {
        let mut script = Script::new(sources);
        for (source, of) in sources.iter().enumerate() {
            match shell::commands(&of.text) {
                Ok(commands) => commands.iter().for_each(|command| script.take(source, command)),
                Err(problem) => script.teams.problem(source, problem),
            }
        }
        script.finish()
    }
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

/// What `ip` works on, in the order in which it compares (iproute2 6.1, ip/ip.c, `cmds`).
const OBJECTS: &[&str] = &[
    "address",
    "addrlabel",
    "maddress",
    "route",
    "rule",
    "neighbor",
    "neighbour",
    "ntable",
    "ntbl",
    "link",
    "l2tp",
    "fou",
    "ila",
    "macsec",
    "tunnel",
    "tunl",
    "tuntap",
    "tap",
    "token",
    "tcpmetrics",
    "tcp_metrics",
    "monitor",
    "xfrm",
    "mroute",
    "mrule",
    "netns",
    "netconf",
    "vrf",
    "sr",
    "nexthop",
    "mptcp",
    "ioam",
    "help",
    "stats",
];

/// The first word that this one begins, as `matches` of iproute2 (lib/utils.c).
pub(crate) fn abbreviated(word: &str, among: &[&'static str]) -> Option<&'static str> {
    among.iter().copied().find(|full| !word.is_empty() && full.starts_with(word))
}

/// Commands, carried out in thought.
pub(crate) struct Script<'a> {
    pub(crate) teams: Teams<'a>,
    /// Options of every new bond: the driver's parameters.
    defaults: Vec<(String, String, At)>,
    /// Bonds that the driver makes by itself.
    made_by_driver: Vec<String>,
}

impl<'a> Script<'a> {
    pub(crate) fn new(sources: &'a [Source]) -> Script<'a> {
        Script { teams: Teams::new(sources), defaults: Vec::new(), made_by_driver: Vec::new() }
    }

    fn take(&mut self, source: usize, command: &Command) {
        let spot = At::new(source, command.span());
        if !command.is_literal() {
            return self.maybe(command, &spot, "it depends on what the shell puts in place of `$`");
        }
        if command.is_conditional {
            return self.maybe(command, &spot, "whether it is carried out depends on a condition");
        }
        let done = match command.name() {
            "ip" => self.ip(source, command, &spot),
            "modprobe" => other::modprobe(self, source, command.arguments()),
            "ifenslave" => other::ifenslave(self, source, command, &spot),
            "echo" | "printf" => other::echo(self, source, command, &spot),
            // It prints, and changes nothing.
            "true" | ":" | "set" | "exit" | "sleep" | "cd" | "cat" | "ls" | "ping" => Ok(()),
            _ => {
                self.maybe(command, &spot, "only commands that build bonds, their addresses and routes are read");
                Ok(())
            }
        };
        if let Err(problem) = done {
            self.teams.problem(source, problem);
        }
    }

    fn ip(&mut self, source: usize, command: &Command, spot: &At) -> Result<(), Problem> {
        let (mut words, mut family) = (command.arguments(), None);
        while let Some((option, rest)) = words.split_first().filter(|(word, _)| word.text.starts_with('-')) {
            words = rest;
            match option.text.trim_start_matches('-') {
                "4" => family = Some(4),
                "6" => family = Some(6),
                "f" | "family" => {
                    family = match words.split_first() {
                        Some((value, _)) if value.text == "inet" => Some(4),
                        Some((value, _)) if value.text == "inet6" => Some(6),
                        _ => None,
                    };
                    words = words.get(1..).unwrap_or_default();
                }
                "n" | "netns" | "b" | "batch" => {
                    self.maybe(
                        command,
                        spot,
                        "it works elsewhere: in another namespace, or with the lines of another file",
                    );
                    return Ok(());
                }
                _ => {}
            }
        }
        let Some((object, rest)) = words.split_first() else { return Ok(()) };
        match abbreviated(&object.text, OBJECTS) {
            Some("link") => link::read(self, source, rest, command, spot),
            Some("address") => address::read(self, source, rest, command, spot),
            Some("route") => address::route(self, rest, family, command, spot),
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

    /// A command that is not taken over, and is told if it names a team or a member.
    pub(crate) fn maybe(&mut self, command: &Command, spot: &At, why: impl Into<String>) {
        self.teams.aside(spot, command.pieces(), why);
    }

    /// The team of a bond.
    pub(crate) fn team(&mut self, name: &str, spot: &At) -> usize {
        self.teams.team(name, spot)
    }

    /// The options of every new bond.
    fn default(&mut self, name: &str, value: &str, spot: &At) {
        self.defaults.push((name.to_owned(), value.to_owned(), spot.clone()));
    }

    pub(crate) fn finish(mut self) -> Result<Import, Diagnostics> {
        for team in 0..self.teams.drafts.len() {
            for (name, value, spot) in std::mem::take(&mut self.defaults) {
                if self.teams.option(team, &name).is_none() {
                    self.teams.set(team, &name, &value, &spot);
                }
                self.defaults.push((name, value, spot));
            }
        }
        let is_idle = |name: &String, members: usize| members == 0 && self.made_by_driver.contains(name);
        self.teams.drafts.retain(|draft| !is_idle(&draft.name, draft.members.len()));
        for (name, spot) in self.teams.drafts.iter().map(|of| (of.name.clone(), of.at.clone())).collect::<Vec<_>>() {
            let what = format!("take out of this text, and of what runs it, the lines that build {name}");
            self.teams.disable(&spot, what, Some(format!("ip link delete {name}")));
        }
        self.teams.finish()
    }
}

/// The word behind another one.
///
/// # Errors
/// There is none.
pub(crate) fn argument<'a>(of: &Word, words: &mut impl Iterator<Item = &'a Word>) -> Result<&'a Word, Problem> {
    words.next().ok_or_else(|| Problem::at(&of.span, format!("nothing follows `{}`", of.text)))
}
