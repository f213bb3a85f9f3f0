//! Command lines of `ovs-vsctl` (Open vSwitch 3.1): `add-br br0 -- add-bond br0 bond0 eth0 eth1 lacp=active`.
//!
//! [`parse`] reads a line; [`Switch::apply`] says what it does to a switch, without doing it: the whole line or, if one
//! command of it cannot be done, nothing, as the real one's transactions. Names of tables and columns may be cut short, and
//! errors are the real one's, word by word, where it has any; the live tests of `formats` compare them.
//!
//! Commands and columns that concern bonds and bridges' ports are understood. Those that nicteam has nothing for are
//! refused; the real one would take them, so an error is better than silence.
//!
//! ```
//! let words: Vec<String> = "add-bond br0 bond0 eth0".split(' ').map(str::to_owned).collect();
//! let error = nicteam_vsctl::parse(&words).unwrap_err();
//! assert_eq!(error.to_string(), "'add-bond' command requires at least 4 arguments");
//! assert!(error.pointed(&words).ends_with("add-bond br0 bond0 eth0\n^^^^^^^^"));
//! ```
#![forbid(unsafe_code)]

mod apply;
mod bond;
mod command;
mod commands;
mod datum;
mod error;
mod hint;
mod options;
mod schema;
mod setting;
mod switch;
mod table;
mod word;

pub use apply::{Done, Step, Warning};
pub use bond::is_default;
pub use command::{Action, Command, CommandLine};
pub use datum::{Atom, Kind, Value};
pub use error::{Error, ErrorKind};
pub use options::has_value;
pub use schema::Column;
pub use setting::Setting;
pub use switch::{Bridge, Port, Switch};
pub use table::Table;
pub use word::{Word, quoted};

use options::Meaning;

/// Reads a command line, a word an element.
///
/// # Errors
/// The first word, from the left, that makes no sense.
pub fn parse(words: &[String]) -> Result<CommandLine, Error> {
    let mut line = CommandLine::default();
    let mut pending = Vec::new();
    let mut place = 0;
    while let Some(word) = words.get(place).filter(|word| word.len() > 1 && word.starts_with('-') && *word != "--") {
        let (meaning, taken) = options::read(word, words.get(place + 1)).map_err(|kind| Error { kind, place })?;
        match meaning {
            Meaning::OfCommand => {
                let option = Word { text: word.clone(), place };
                // The first command's, which may be named twice there.
                if !pending.contains(&option) {
                    pending.push(option);
                }
            }
            Meaning::DryRun => line.dry_run = true,
            Meaning::OneLine => line.one_line = true,
            Meaning::Taken | Meaning::Timeout | Meaning::Refused(_) => {}
        }
        place += taken;
    }
    // It may end the options of the whole line.
    if words.get(place).is_some_and(|word| word == "--") {
        place += 1;
    }
    for (place, word) in words.iter().enumerate().skip(place) {
        if word != "--" {
            pending.push(Word { text: word.clone(), place });
        } else if !pending.is_empty() {
            line.commands.push(commands::read(std::mem::take(&mut pending), place)?);
        }
    }
    if !pending.is_empty() || line.commands.is_empty() {
        line.commands.push(commands::read(pending, words.len())?);
    }
    Ok(line)
}

impl CommandLine {
    /// The words that are read as this line.
    pub fn words(&self) -> Vec<String> {
        let general = [("--dry-run", self.dry_run), ("--oneline", self.one_line)];
        let mut words: Vec<String> = general.iter().filter(|(_, on)| *on).map(|(name, _)| (*name).to_owned()).collect();
        for command in &self.commands {
            // Ahead of the first one, too: what stands there is not read as an option of the whole line.
            words.push("--".to_owned());
            words.extend(command.action.words());
        }
        words
    }
}

impl Action {
    /// Options, name and arguments.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |is_given: &bool, name: &str| words.extend(is_given.then(|| name.to_owned()));
        match self {
            Action::AddBridge { may_exist, .. }
            | Action::AddPort { may_exist, .. }
            | Action::AddBond { may_exist, .. }
            | Action::AddInterface { may_exist, .. } => option(may_exist, "--may-exist"),
            Action::DeletePort { if_exists, with_interface, .. } => {
                option(if_exists, "--if-exists");
                option(with_interface, "--with-iface");
            }
            Action::DeleteBridge { if_exists, .. }
            | Action::DeleteInterface { if_exists, .. }
            | Action::Set { if_exists, .. } => option(if_exists, "--if-exists"),
            _ => {}
        }
        let (name, arguments, settings) = self.parts();
        words.push(name.to_owned());
        words.extend(arguments.iter().map(ToString::to_string));
        words.extend(settings.iter().map(Setting::text));
        words
    }

    /// Name, arguments, settings.
    fn parts(&self) -> (&'static str, Vec<&dyn std::fmt::Display>, &[Setting]) {
        match self {
            Action::Init => ("init", vec![], &[]),
            Action::Show => ("show", vec![], &[]),
            Action::AddBridge { name, .. } => ("add-br", vec![name], &[]),
            Action::DeleteBridge { name, .. } => ("del-br", vec![name], &[]),
            Action::ListBridges => ("list-br", vec![], &[]),
            Action::BridgeExists { name } => ("br-exists", vec![name], &[]),
            Action::AddPort { bridge, port, settings, .. } => ("add-port", vec![bridge, port], settings),
            Action::DeletePort { bridge, port, .. } => ("del-port", two(bridge, port), &[]),
            Action::ListPorts { bridge } => ("list-ports", vec![bridge], &[]),
            Action::ListInterfaces { bridge } => ("list-ifaces", vec![bridge], &[]),
            Action::PortToBridge { port } => ("port-to-br", vec![port], &[]),
            Action::InterfaceToBridge { interface } => ("iface-to-br", vec![interface], &[]),
            Action::AddBond { bridge, port, interfaces, settings, .. } => {
                let mut words: Vec<&dyn std::fmt::Display> = vec![bridge, port];
                words.extend(interfaces.iter().map(|interface| interface as &dyn std::fmt::Display));
                ("add-bond", words, settings)
            }
            Action::AddInterface { port, interface, .. } => ("add-bond-iface", vec![port, interface], &[]),
            Action::DeleteInterface { port, interface, .. } => ("del-bond-iface", two(port, interface), &[]),
            Action::Set { table, record, settings, .. } => ("set", vec![table, record], settings),
        }
    }
}

fn two<'a>(first: &'a Option<Word>, second: &'a Word) -> Vec<&'a dyn std::fmt::Display> {
    first.iter().chain([second]).map(|word| word as &dyn std::fmt::Display).collect()
}
