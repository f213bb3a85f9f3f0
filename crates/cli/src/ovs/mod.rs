//! `nicteam ovs`: Open vSwitch's commands, in its words.

mod bond_hash;
mod scan;
mod vsctl;

use std::process::ExitCode;

use crate::failure::Failure;

/// Open vSwitch's commands about bonds, in its words; no Open vSwitch is needed.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at its arguments, or `--help` would show no more than a line.
    #[command(name = "bond/hash")]
    BondHash(bond_hash::BondHash),
    Vsctl(vsctl::Vsctl),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Vsctl(vsctl) => return vsctl::vsctl(vsctl),
        Command::BondHash(bond_hash) => bond_hash::bond_hash(bond_hash)?,
    }
    Ok(ExitCode::SUCCESS)
}
