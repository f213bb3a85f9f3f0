//! What is wrong with a command line, in the words of `ovs-vsctl`.

use super::table::Table;
use super::word::quoted;

/// What is wrong, and with which word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Error {
    /// What is wrong. Its `Display` is what `ovs-vsctl` 3.1 says, where it says something.
    pub kind: ErrorKind,
    /// The place of the word among all words of the line, from 0; the number of words: behind the last one.
    pub place: usize,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// No command at all.
    #[error("missing command name (use --help for help)")]
    NoCommand,
    /// No such command.
    #[error("unknown command '{0}'; use --help for help")]
    UnknownCommand(String),
    /// A command of `ovs-vsctl` that is not understood here.
    #[error("'{0}' is a command of ovs-vsctl that nicteam does not carry out")]
    OtherCommand(String),
    /// Arguments are missing.
    #[error("'{command}' command requires at least {least} arguments")]
    TooFew {
        /// The command.
        command: &'static str,
        /// How many it needs.
        least: usize,
    },
    /// There are too many.
    #[error("'{command}' command takes at most {most} arguments")]
    TooMany {
        /// The command.
        command: &'static str,
        /// How many it takes.
        most: usize,
    },
    /// `add-br` with a parent.
    #[error("'add-br' command takes exactly 1 or 3 arguments")]
    OneOrThree,
    /// A bridge on a VLAN of another one.
    #[error("add-br of a bridge on a VLAN of another bridge is not carried out by nicteam")]
    FakeBridge,
    /// No such option.
    #[error("unrecognized option '{0}'")]
    UnknownOption(String),
    /// No such option of one letter.
    #[error("invalid option -- '{0}'")]
    UnknownLetter(char),
    /// An option of `ovs-vsctl` that is not understood here.
    #[error("'{0}' is an option of ovs-vsctl that nicteam does not take")]
    OtherOption(String),
    /// An option of other commands.
    #[error("'{command}' command has no '{option}' option")]
    ForeignOption {
        /// The command.
        command: &'static str,
        /// The option.
        option: String,
    },
    /// An option twice.
    #[error("'{0}' option specified multiple times")]
    OptionTwice(String),
    /// An option with a value that takes none.
    #[error("'{option}' option on '{command}' does not accept an argument")]
    OptionArgument {
        /// The command.
        command: &'static str,
        /// The option.
        option: String,
    },
    /// A general option with a value that takes none.
    #[error("option '{0}' doesn't allow an argument")]
    GeneralArgument(String),
    /// A general option without its value.
    #[error("option '{0}' requires an argument")]
    OptionValue(String),
    /// `--timeout` with something else than seconds.
    #[error("value {0} on -t or --timeout is invalid")]
    BadTimeout(String),
    /// No such table.
    #[error("unknown table \"{0}\"")]
    UnknownTable(String),
    /// A beginning of several tables' names.
    #[error("\"{name}\" matches multiple table names: {}", .found.join(", "))]
    AmbiguousTable {
        /// What was written.
        name: String,
        /// The tables.
        found: Vec<&'static str>,
    },
    /// A table whose records nicteam has not.
    #[error("records of table {0} are not set by nicteam")]
    OtherTable(&'static str),
    /// A setting without a column.
    #[error("{0}: missing column name")]
    MissingColumn(String),
    /// No such column.
    #[error("{table} does not contain a column whose name matches \"{name}\"")]
    UnknownColumn {
        /// The table.
        table: Table,
        /// What was written.
        name: String,
    },
    /// A beginning of several columns' names.
    #[error("{table} contains more than one column whose name matches \"{name}\": {}", .found.join(", "))]
    AmbiguousColumn {
        /// The table.
        table: Table,
        /// What was written.
        name: String,
        /// The columns.
        found: Vec<&'static str>,
    },
    /// A column that is set once, by the command that makes the record.
    #[error("cannot modify read-only column {column} in table {table}")]
    ReadOnly {
        /// The column.
        column: &'static str,
        /// Its table.
        table: Table,
    },
    /// A key for a column that has none.
    #[error("cannot specify key to set for non-map column {0}")]
    NoKeys(&'static str),
    /// A setting without a value.
    #[error("{0}: argument does not end in \"=\" followed by a value.")]
    MissingValue(String),
    /// A value that the column does not take.
    #[error("{0}")]
    BadValue(String),
    /// A column, or a key of it, that would be taken by Open vSwitch and has no counterpart here.
    #[error("{column} of a record of table {table} cannot be set by nicteam: {why}")]
    Unsupported {
        /// Column, and key if there is one.
        column: String,
        /// The table.
        table: Table,
        /// Why not.
        why: &'static str,
    },
    /// A name of no characters.
    #[error("{0} name must not be empty string")]
    EmptyName(&'static str),
    /// `add-bond` with one interface.
    #[error("add-bond requires at least 2 interfaces, but only {0} were specified")]
    FewInterfaces(usize),
    /// `add-bond` with one interface twice.
    #[error("interface {0} is named twice")]
    InterfaceTwice(String),
    /// No such bridge.
    #[error("no bridge named {0}")]
    NoBridge(String),
    /// No such port.
    #[error("no port named {0}")]
    NoPort(String),
    /// `del-port --with-iface` of what is neither.
    #[error("no port or interface named {0}")]
    NoPortOrInterface(String),
    /// No such interface.
    #[error("no interface named {0}")]
    NoInterface(String),
    /// No such record.
    #[error("no row \"{record}\" in table {table}")]
    NoRow {
        /// What was written.
        record: String,
        /// The table.
        table: Table,
    },
    /// A name that is taken.
    #[error("cannot create {what} named {name} because {holder}")]
    Taken {
        /// `a bridge`, `a port`, `an interface`.
        what: &'static str,
        /// The name.
        name: String,
        /// Who has it, as a sentence's end.
        holder: String,
    },
    /// `--may-exist` of a port that is elsewhere.
    #[error("\"--may-exist {line}\" but {port} is actually attached to bridge {bridge}")]
    OnOtherBridge {
        /// The command.
        line: String,
        /// The port.
        port: String,
        /// Where it is.
        bridge: String,
    },
    /// `--may-exist` of a port that has other interfaces.
    #[error("\"--may-exist {line}\" but {port} actually has interface(s) {}", .interfaces.join(", "))]
    OtherInterfaces {
        /// The command.
        line: String,
        /// The port.
        port: String,
        /// What it has.
        interfaces: Vec<String>,
    },
    /// `del-port` of a bridge's local port.
    #[error(
        "cannot delete port {0} because it is the local port for bridge {0} (deleting this port requires deleting the \
         entire bridge)"
    )]
    LocalPort(String),
    /// `del-port` of another bridge's port.
    #[error("bridge {bridge} does not have a port {port}")]
    NotOnBridge {
        /// The bridge.
        bridge: String,
        /// The port.
        port: String,
    },
    /// The last interface of a port.
    #[error("cannot delete last interface from port {0}")]
    LastInterface(String),
    /// `del-bond-iface` of another port's interface.
    #[error("port {port} does not have an interface {interface}")]
    NotOnPort {
        /// The port.
        port: String,
        /// The interface.
        interface: String,
    },
    /// A second interface for a port that is no bond.
    #[error("port {0} is one interface and no bond")]
    NoBond(String),
}

impl Error {
    /// The line with a mark under the word that is wrong.
    pub fn pointed(&self, words: &[String]) -> String {
        let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let length = |words: &[String]| words.iter().map(|word| word.chars().count() + 1).sum::<usize>();
        let before = length(&shown[..self.place.min(shown.len())]);
        let marks = shown.get(self.place).map_or(1, |word| word.chars().count());
        format!("{}\n{}{}", shown.join(" "), " ".repeat(before), "^".repeat(marks))
    }
}
