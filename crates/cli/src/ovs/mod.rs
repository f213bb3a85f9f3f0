//! `nicteam ovs`: Open vSwitch's commands, in its words.

mod bond_hash;
mod scan;

use crate::failure::Failure;

/// Open vSwitch's commands about bonds, in its words; no Open vSwitch is needed.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at its arguments, or `--help` would show no more than a line.
    #[command(name = "bond/hash")]
    BondHash(bond_hash::BondHash),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::BondHash(bond_hash) => bond_hash::bond_hash(bond_hash),
    }
}
