//! The tables of the database whose records are set here.

use std::fmt;

/// A table whose records are set here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Bridges.
    Bridge,
    /// Ports: bonds, single interfaces, the bridges' own.
    Port,
    /// Interfaces.
    Interface,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::Bridge => "Bridge",
            Table::Port => "Port",
            Table::Interface => "Interface",
        })
    }
}
