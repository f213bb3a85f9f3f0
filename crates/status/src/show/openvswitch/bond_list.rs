//! `bond/list` (`bond_unixctl_list`).

use super::NO_RECIRCULATION;
use crate::BondState;

/// A line for each bond below the heading. Members stand in the order of their places; the real one has them, and the bonds,
/// in that of a hash table.
pub fn bond_list<'a>(bonds: impl IntoIterator<Item = (&'a str, &'a BondState)>) -> String {
    let line = |(name, bond): (&str, &BondState)| {
        let members: Vec<&str> = bond.members.iter().map(|member| member.name.as_str()).collect();
        format!("{name}\t{}\t{NO_RECIRCULATION}\t{}\n", bond.mode, members.join(", "))
    };
    let lines: String = bonds.into_iter().map(line).collect();
    format!("bond\ttype\trecircID\tmembers\n{lines}")
}
