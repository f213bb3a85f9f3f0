//! The commands: one table, a line each.

use super::command::{Action, Command};
use super::error::{Error, ErrorKind};
use super::setting::Setting;
use super::table::Table;
use super::word::Word;

/// How a command is written.
pub(super) struct Syntax {
    /// Its name.
    pub(super) name: &'static str,
    /// The fewest and the most arguments.
    least: usize,
    most: usize,
    /// What the arguments are.
    arguments: &'static str,
    /// Options that stand ahead of its name.
    pub(super) options: &'static [&'static str],
    read: fn(&mut Arguments) -> Result<Action, Error>,
}

/// What a command was given.
pub(super) struct Arguments {
    options: Vec<Word>,
    words: std::vec::IntoIter<Word>,
    /// The place of what would come next.
    end: usize,
}

const MAY_EXIST: &str = "--may-exist";
const IF_EXISTS: &str = "--if-exists";
const WITH_IFACE: &str = "--with-iface";
const ANY: usize = usize::MAX;

/// Every command that is understood.
pub(super) const COMMANDS: &[Syntax] = &[
    Syntax {
        name: "add-br",
        least: 1,
        most: 3,
        arguments: "BRIDGE",
        options: &[MAY_EXIST],
        read: |given| {
            let name = given.name("bridge")?;
            let left: Vec<Word> = given.words.by_ref().collect();
            match left.as_slice() {
                [] => Ok(Action::AddBridge { name, may_exist: given.has(MAY_EXIST) }),
                [one] => Err(Error { kind: ErrorKind::OneOrThree, place: one.place }),
                [parent, ..] => Err(Error { kind: ErrorKind::FakeBridge, place: parent.place }),
            }
        },
    },
    Syntax {
        name: "del-br",
        least: 1,
        most: 1,
        arguments: "BRIDGE",
        options: &[IF_EXISTS],
        read: |given| Ok(Action::DeleteBridge { name: given.next()?, if_exists: given.has(IF_EXISTS) }),
    },
    Syntax { name: "list-br", least: 0, most: 0, arguments: "", options: &[], read: |_| Ok(Action::ListBridges) },
    Syntax {
        name: "br-exists",
        least: 1,
        most: 1,
        arguments: "BRIDGE",
        options: &[],
        read: |given| Ok(Action::BridgeExists { name: given.next()? }),
    },
    Syntax {
        name: "add-port",
        least: 2,
        most: ANY,
        arguments: "BRIDGE PORT [COLUMN[:KEY]=VALUE]...",
        options: &[MAY_EXIST],
        read: |given| {
            let (bridge, port) = (given.next()?, given.name("port")?);
            let settings = given.settings(Table::Port)?;
            Ok(Action::AddPort { bridge, port, settings, may_exist: given.has(MAY_EXIST) })
        },
    },
    Syntax {
        name: "del-port",
        least: 1,
        most: 2,
        arguments: "[BRIDGE] PORT",
        options: &[IF_EXISTS, WITH_IFACE],
        read: |given| {
            let (bridge, port) = given.one_or_two()?;
            let (if_exists, with_interface) = (given.has(IF_EXISTS), given.has(WITH_IFACE));
            Ok(Action::DeletePort { bridge, port, if_exists, with_interface })
        },
    },
    Syntax {
        name: "list-ports",
        least: 1,
        most: 1,
        arguments: "BRIDGE",
        options: &[],
        read: |given| Ok(Action::ListPorts { bridge: given.next()? }),
    },
    Syntax {
        name: "list-ifaces",
        least: 1,
        most: 1,
        arguments: "BRIDGE",
        options: &[],
        read: |given| Ok(Action::ListInterfaces { bridge: given.next()? }),
    },
    Syntax {
        name: "port-to-br",
        least: 1,
        most: 1,
        arguments: "PORT",
        options: &[],
        read: |given| Ok(Action::PortToBridge { port: given.next()? }),
    },
    Syntax {
        name: "iface-to-br",
        least: 1,
        most: 1,
        arguments: "INTERFACE",
        options: &[],
        read: |given| Ok(Action::InterfaceToBridge { interface: given.next()? }),
    },
    Syntax {
        name: "add-bond",
        least: 4,
        most: ANY,
        arguments: "BRIDGE PORT INTERFACE INTERFACE... [COLUMN[:KEY]=VALUE]...",
        options: &[MAY_EXIST],
        read: add_bond,
    },
    Syntax {
        name: "add-bond-iface",
        least: 2,
        most: 2,
        arguments: "BOND INTERFACE",
        options: &[MAY_EXIST],
        read: |given| {
            let (port, interface) = (given.next()?, given.name("interface")?);
            Ok(Action::AddInterface { port, interface, may_exist: given.has(MAY_EXIST) })
        },
    },
    Syntax {
        name: "del-bond-iface",
        least: 1,
        most: 2,
        arguments: "[BOND] INTERFACE",
        options: &[IF_EXISTS],
        read: |given| {
            let (port, interface) = given.one_or_two()?;
            Ok(Action::DeleteInterface { port, interface, if_exists: given.has(IF_EXISTS) })
        },
    },
    Syntax {
        name: "set",
        least: 3,
        most: ANY,
        arguments: "TABLE RECORD COLUMN[:KEY]=VALUE...",
        options: &[IF_EXISTS],
        read: |given| {
            let table = given.next()?;
            let place = table.place;
            let table = Table::find(&table.text).map_err(|kind| Error { kind, place })?;
            let (record, settings) = (given.next()?, given.settings(table)?);
            Ok(Action::Set { table, record, settings, if_exists: given.has(IF_EXISTS) })
        },
    },
    Syntax { name: "show", least: 0, most: 0, arguments: "", options: &[], read: |_| Ok(Action::Show) },
    Syntax { name: "init", least: 0, most: 0, arguments: "", options: &[], read: |_| Ok(Action::Init) },
];

/// Commands of `ovs-vsctl` that are not understood here, and what to do instead.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("get", "`nicteam ovs bond/show PORT`, `nicteam team show PORT --format json`"),
    ("list", "`nicteam ovs bond/show`, `nicteam team show --format json`"),
    ("find", "`nicteam ovs bond/show`, `nicteam team show --format json`"),
    ("add", "`set TABLE RECORD COLUMN:KEY=VALUE` sets a key"),
    ("remove", "`set TABLE RECORD COLUMN:KEY=VALUE` sets another value"),
    ("clear", "`set TABLE RECORD COLUMN=VALUE` sets another value"),
    ("create", "`add-br`, `add-port` and `add-bond` make records"),
    ("destroy", "`del-br` and `del-port` remove records"),
    ("wait-until", ""),
    ("comment", ""),
    ("emer-reset", ""),
    ("br-to-vlan", ""),
    ("br-to-parent", ""),
    ("br-set-external-id", ""),
    ("br-get-external-id", ""),
    ("get-controller", ""),
    ("del-controller", ""),
    ("set-controller", ""),
    ("get-fail-mode", ""),
    ("del-fail-mode", ""),
    ("set-fail-mode", ""),
    ("get-manager", ""),
    ("del-manager", ""),
    ("set-manager", ""),
    ("get-ssl", ""),
    ("del-ssl", ""),
    ("set-ssl", ""),
    ("get-aa-mapping", ""),
    ("del-aa-mapping", ""),
    ("add-aa-mapping", ""),
    ("add-zone-tp", ""),
    ("del-zone-tp", ""),
    ("list-zone-tp", ""),
    ("list-dp-cap", ""),
];

impl Syntax {
    /// How it is written.
    pub(super) fn usage(&self) -> String {
        let options = self.options.iter().map(|option| format!("[{option}] "));
        format!("{}{} {}", options.collect::<String>(), self.name, self.arguments).trim_end().to_owned()
    }
}

/// Reads a command: its options, its name, its arguments.
pub(super) fn read(words: Vec<Word>, end: usize) -> Result<Command, Error> {
    let first = words.iter().position(|word| !word.text.starts_with('-'));
    let mut options = words;
    let mut arguments = options.split_off(first.unwrap_or(options.len()));
    if arguments.is_empty() {
        return Err(Error { kind: ErrorKind::NoCommand, place: end });
    }
    let name = arguments.remove(0);
    let syntax = COMMANDS.iter().find(|known| known.name == name.text).ok_or_else(|| unknown(&name))?;
    check_options(syntax, &options)?;
    let command = syntax.name;
    match arguments.len() {
        count if count < syntax.least => {
            Err(Error { kind: ErrorKind::TooFew { command, least: syntax.least }, place: name.place })
        }
        count if count > syntax.most => {
            let place = arguments[syntax.most].place;
            Err(Error { kind: ErrorKind::TooMany { command, most: syntax.most }, place })
        }
        _ => {
            let mut given = Arguments { options, words: arguments.into_iter(), end };
            Ok(Command { action: (syntax.read)(&mut given)?, place: name.place })
        }
    }
}

fn unknown(name: &Word) -> Error {
    let is_known = ELSEWHERE.iter().any(|(known, _)| *known == name.text);
    let kind = if is_known { ErrorKind::OtherCommand } else { ErrorKind::UnknownCommand };
    Error { kind: kind(name.text.clone()), place: name.place }
}

fn check_options(syntax: &Syntax, options: &[Word]) -> Result<(), Error> {
    let command = syntax.name;
    for (number, option) in options.iter().enumerate() {
        let refused = |kind| Err(Error { kind, place: option.place });
        let (name, value) = match option.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option.text.as_str(), None),
        };
        if options[..number].contains(option) {
            return refused(ErrorKind::OptionTwice(name.to_owned()));
        }
        if !syntax.options.contains(&name) {
            return refused(ErrorKind::ForeignOption { command, option: name.to_owned() });
        }
        if value.is_some() {
            return refused(ErrorKind::OptionArgument { command, option: name.to_owned() });
        }
    }
    Ok(())
}

fn add_bond(given: &mut Arguments) -> Result<Action, Error> {
    let (bridge, port) = (given.next()?, given.name("port")?);
    let rest: Vec<Word> = given.words.by_ref().collect();
    let count = rest.iter().position(|word| word.text.contains('=')).unwrap_or(rest.len());
    let (interfaces, settings) = rest.split_at(count);
    if count < 2 {
        let place = settings.first().map_or(given.end, |setting| setting.place);
        return Err(Error { kind: ErrorKind::FewInterfaces(count), place });
    }
    for (number, interface) in interfaces.iter().enumerate() {
        let place = interface.place;
        if interface.text.is_empty() {
            return Err(Error { kind: ErrorKind::EmptyName("interface"), place });
        }
        if interfaces[..number].contains(interface) {
            return Err(Error { kind: ErrorKind::InterfaceTwice(interface.text.clone()), place });
        }
    }
    let settings = settings.iter().map(|word| Setting::parse(Table::Port, word)).collect::<Result<_, _>>()?;
    Ok(Action::AddBond { bridge, port, interfaces: interfaces.to_vec(), settings, may_exist: given.has(MAY_EXIST) })
}

impl Arguments {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|given| given.text == option)
    }

    /// The next argument, of those that the table demands.
    fn next(&mut self) -> Result<Word, Error> {
        self.words.next().ok_or(Error { kind: ErrorKind::NoCommand, place: self.end })
    }

    /// The next argument, a name of what is to be made.
    fn name(&mut self, of: &'static str) -> Result<Word, Error> {
        let word = self.next()?;
        if word.text.is_empty() { Err(Error { kind: ErrorKind::EmptyName(of), place: word.place }) } else { Ok(word) }
    }

    /// One argument, or one that says where, and it.
    fn one_or_two(&mut self) -> Result<(Option<Word>, Word), Error> {
        let first = self.next()?;
        Ok(match self.words.next() {
            Some(second) => (Some(first), second),
            None => (None, first),
        })
    }

    fn settings(&mut self, table: Table) -> Result<Vec<Setting>, Error> {
        self.words.by_ref().map(|word| Setting::parse(table, &word)).collect()
    }
}
