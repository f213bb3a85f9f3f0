//! What to do about what is wrong with a command line.

use nicteam_options::nearest;

use super::bond;
use super::commands::{COMMANDS, ELSEWHERE, Syntax};
use super::error::{Error, ErrorKind};
use super::options;
use super::table::Table;

impl Error {
    /// What to do about it, as far as that follows from the error alone.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

impl ErrorKind {
    fn hint(&self) -> Option<String> {
        let near = |name: &str, among: &mut dyn Iterator<Item = &'static str>| {
            nearest(name, among).map(|near| format!("did you mean `{near}`?"))
        };
        let usage = |command: &str| COMMANDS.iter().find(|known| known.name == command).map(Syntax::usage);
        match self {
            ErrorKind::NoCommand => Some(understood()),
            ErrorKind::UnknownCommand(name) => {
                near(name, &mut COMMANDS.iter().map(|known| known.name)).or_else(|| Some(understood()))
            }
            ErrorKind::OtherCommand(name) => {
                let instead = ELSEWHERE.iter().find(|(command, _)| command == name).map(|(_, instead)| *instead);
                Some(instead.filter(|instead| !instead.is_empty()).map_or_else(understood, str::to_owned))
            }
            ErrorKind::TooFew { command, .. } | ErrorKind::TooMany { command, .. } => usage(command),
            ErrorKind::OneOrThree => usage("add-br"),
            ErrorKind::FakeBridge => {
                Some("make a VLAN device on the bridge: `ip link add link BRIDGE type vlan`".into())
            }
            ErrorKind::UnknownOption(option) => near(option, &mut options::all()),
            ErrorKind::OtherOption(option) => options::instead(option).map(str::to_owned),
            ErrorKind::ForeignOption { command, .. } | ErrorKind::OptionArgument { command, .. } => usage(command),
            ErrorKind::BadTimeout(_) => Some("a timeout is a number of seconds".into()),
            ErrorKind::UnknownTable(name) => near(name, &mut ["bridge", "port", "interface"].into_iter()),
            ErrorKind::OtherTable(_) => Some("nicteam knows the tables Bridge, Port and Interface".into()),
            ErrorKind::MissingColumn(_) | ErrorKind::MissingValue(_) => {
                Some("a setting is COLUMN=VALUE or COLUMN:KEY=VALUE: bond_mode=balance-slb".into())
            }
            ErrorKind::UnknownColumn { table: Table::Port, name } if bond::is_key(name) => {
                Some(format!("it is a key of a column: `other_config:{}=VALUE`", name.replace('_', "-")))
            }
            ErrorKind::UnknownColumn { table, name } => {
                near(name, &mut table.columns().iter().map(|column| column.name))
            }
            ErrorKind::ReadOnly { .. } => Some("delete the record and make it anew".into()),
            ErrorKind::FewInterfaces(_) => Some("`add-port` takes one interface".into()),
            ErrorKind::NoBond(port) => {
                Some(format!("make a bond: `del-port {port}`, then `add-bond BRIDGE PORT INTERFACE INTERFACE...`"))
            }
            ErrorKind::LastInterface(port) => Some(format!("`del-port {port}` removes the port")),
            ErrorKind::LocalPort(bridge) => Some(format!("`del-br {bridge}` removes the bridge")),
            _ => None,
        }
    }
}

fn understood() -> String {
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    format!("nicteam carries out {}", names.join(", "))
}
