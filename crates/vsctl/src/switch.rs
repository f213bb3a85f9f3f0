//! Bridges with their ports.

use std::collections::BTreeMap;
use std::fmt::Write;

use nicteam_options::nearest;

use super::datum::written;
use super::error::{Error, ErrorKind};
use super::table::Table;
use super::word::Word;

/// What there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Bridges by name. Each has a local port and interface of its own name beside those that are listed.
    pub bridges: BTreeMap<String, Bridge>,
}

/// A bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridge {
    /// Ports by name, without the local one.
    pub ports: BTreeMap<String, Port>,
}

/// A port: a bond with its interfaces, or one interface of its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The interfaces.
    pub interfaces: Vec<String>,
    /// True for a bond, which may have one interface, too.
    pub is_bond: bool,
}

impl Switch {
    /// What to do about an error, given what there is.
    pub fn hint(&self, error: &Error) -> Option<String> {
        let bridges = || self.bridges.keys().map(String::as_str);
        let ports = || self.bridges.values().flat_map(|bridge| bridge.ports.keys()).map(String::as_str);
        match &error.kind {
            ErrorKind::NoBridge(name) => meant(name, "bridge", bridges()),
            ErrorKind::NoPort(name) | ErrorKind::NoRow { record: name, table: Table::Port } => {
                match self.interface(name) {
                    Some((_, port)) => Some(format!("{name} is an interface of port {port}")),
                    None => meant(name, "port", ports()),
                }
            }
            ErrorKind::NoInterface(name) | ErrorKind::NoRow { record: name, table: Table::Interface } => {
                let all = self.bridges.values().flat_map(|bridge| bridge.ports.values());
                meant(name, "interface", all.flat_map(|port| &port.interfaces).map(String::as_str))
            }
            ErrorKind::NoRow { record, table: Table::Bridge } => meant(record, "bridge", bridges()),
            _ => error.hint(),
        }
    }

    pub(super) fn bridge(&self, name: &Word) -> Result<&Bridge, Error> {
        self.bridges.get(&name.text).ok_or_else(|| at(name, ErrorKind::NoBridge(name.text.clone())))
    }

    /// A port that is not a local one, and its bridge.
    pub fn port(&self, name: &str) -> Option<(&str, &Port)> {
        self.bridges.iter().find_map(|(bridge, of)| of.ports.get(name).map(|port| (bridge.as_str(), port)))
    }

    /// An interface that is not a local one: its bridge and its port.
    pub fn interface(&self, name: &str) -> Option<(&str, &str)> {
        let ports =
            self.bridges.iter().flat_map(|(bridge, of)| of.ports.iter().map(move |(port, of)| (bridge, port, of)));
        let holds = |port: &Port| port.interfaces.iter().any(|interface| interface == name);
        ports.filter(|(.., of)| holds(of)).map(|(bridge, port, _)| (bridge.as_str(), port.as_str())).next()
    }

    /// Refuses a name that is in use (`check_conflicts`).
    pub(super) fn free(&self, name: &Word, what: &'static str) -> Result<(), Error> {
        let text = &name.text;
        let holder = if self.bridges.contains_key(text) {
            format!("a bridge named {text} already exists")
        } else if let Some((bridge, _)) = self.port(text) {
            format!("a port named {text} already exists on bridge {bridge}")
        } else if let Some((bridge, _)) = self.interface(text) {
            format!("an interface named {text} already exists on bridge {bridge}")
        } else {
            return Ok(());
        };
        Err(at(name, ErrorKind::Taken { what, name: text.clone(), holder }))
    }

    /// As `show` prints it, without the database's identifier.
    pub(super) fn shown(&self) -> String {
        let mut out = String::new();
        for (bridge, of) in &self.bridges {
            // A String takes everything.
            let _ = writeln!(out, "    Bridge {}", written(bridge));
            for (port, of) in &of.ports {
                let _ = writeln!(out, "        Port {}", written(port));
                for interface in &of.interfaces {
                    let _ = writeln!(out, "            Interface {}", written(interface));
                }
            }
            let name = written(bridge);
            let _ = writeln!(out, "        Port {name}\n            Interface {name}\n                type: internal");
        }
        out
    }
}

/// Which name may have been meant.
fn meant<'a>(name: &str, what: &str, all: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let near = nearest(name, all.clone()).map(|near| format!("did you mean `{near}`?"));
    let names: Vec<&str> = all.collect();
    near.or_else(|| match names.as_slice() {
        [] => Some(format!("there is no {what} yet")),
        names => Some(format!("there is {}", names.join(", "))),
    })
}

/// An error at a word.
pub(super) fn at(word: &Word, kind: ErrorKind) -> Error {
    Error { kind, place: word.place }
}
