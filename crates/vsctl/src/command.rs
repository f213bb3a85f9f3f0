//! What a command line says.

use super::setting::Setting;
use super::table::Table;
use super::word::Word;

/// A command line, without the program's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Nothing is to be changed (`--dry-run`).
    pub dry_run: bool,
    /// What a command prints is to be one line (`--oneline`).
    pub one_line: bool,
    /// The commands, one at least.
    pub commands: Vec<Command>,
}

/// A command.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it does.
    pub action: Action,
    /// The place of its name in the line.
    pub place: usize,
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.action == other.action
    }
}

impl Eq for Command {}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are the command's arguments and options")]
pub enum Action {
    /// `init`: nothing.
    Init,
    /// `show`.
    Show,
    /// `add-br`.
    AddBridge { name: Word, may_exist: bool },
    /// `del-br`.
    DeleteBridge { name: Word, if_exists: bool },
    /// `list-br`.
    ListBridges,
    /// `br-exists`.
    BridgeExists { name: Word },
    /// `add-port`.
    AddPort { bridge: Word, port: Word, settings: Vec<Setting>, may_exist: bool },
    /// `del-port`.
    DeletePort { bridge: Option<Word>, port: Word, if_exists: bool, with_interface: bool },
    /// `list-ports`.
    ListPorts { bridge: Word },
    /// `list-ifaces`.
    ListInterfaces { bridge: Word },
    /// `port-to-br`.
    PortToBridge { port: Word },
    /// `iface-to-br`.
    InterfaceToBridge { interface: Word },
    /// `add-bond`.
    AddBond { bridge: Word, port: Word, interfaces: Vec<Word>, settings: Vec<Setting>, may_exist: bool },
    /// `add-bond-iface`.
    AddInterface { port: Word, interface: Word, may_exist: bool },
    /// `del-bond-iface`.
    DeleteInterface { port: Option<Word>, interface: Word, if_exists: bool },
    /// `set`.
    Set { table: Table, record: Word, settings: Vec<Setting>, if_exists: bool },
}
