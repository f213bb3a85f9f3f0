//! `nicteam ovs`: Open vSwitch's commands, in its words.

mod arity;
mod bond_hash;
mod bonds;
mod change;
mod scan;
mod show;
mod vsctl;

use std::process::ExitCode;

pub(crate) use arity::wrong_number;

use crate::failure::Failure;

/// Open vSwitch's commands about bonds, in its words; no Open vSwitch is needed.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at their arguments, or `--help` would show no more than a line.
    #[command(name = "bond/hash")]
    BondHash(bond_hash::BondHash),
    #[command(name = "bond/list")]
    BondList(show::BondList),
    #[command(name = "bond/show")]
    BondShow(show::BondShow),
    #[command(name = "bond/migrate")]
    Migrate(change::Migrate),
    /// Make a member of a bond the active one.
    #[command(name = "bond/set-active-member", alias = "bond/set-active-slave")]
    SetActive(change::Member),
    /// Let a member of a bond send, until its link or LACP say otherwise.
    #[command(name = "bond/enable-member", alias = "bond/enable-slave")]
    Enable(change::Member),
    /// Keep a member of a bond from sending, until its link or LACP say otherwise.
    #[command(name = "bond/disable-member", alias = "bond/disable-slave")]
    Disable(change::Member),
    #[command(name = "lacp/show")]
    LacpShow(show::LacpShow),
    /// Show what LACP of a team counted, or of all that speak it.
    #[command(name = "lacp/show-stats")]
    LacpShowStats(show::LacpShow),
    Vsctl(vsctl::Vsctl),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::BondHash(bond_hash) => bond_hash::bond_hash(bond_hash)?,
        Command::BondList(list) => show::list_bonds(list)?,
        Command::BondShow(bonds) => show::show_bonds(bonds)?,
        Command::Migrate(migrate) => change::migrate(migrate)?,
        Command::SetActive(member) => change::set_active(member)?,
        Command::Enable(member) => change::enable(member, true)?,
        Command::Disable(member) => change::enable(member, false)?,
        Command::LacpShow(lacp) => show::show_lacp(lacp)?,
        Command::LacpShowStats(lacp) => show::show_lacp_stats(lacp)?,
        Command::Vsctl(vsctl) => return vsctl::vsctl(vsctl),
    }
    Ok(ExitCode::SUCCESS)
}
