//! Bonds in the words of `ovs-appctl` (Open vSwitch 3.1 ofproto/bond.c, lib/lacp.c): one file a text.
//!
//! Texts alone, made of a team's status; the words are Open vSwitch's, and tests compare them with what its daemon prints.

mod bond_list;
mod bond_show;
mod lacp;
mod lacp_show;
mod lacp_show_stats;
#[cfg(test)]
mod tests;

pub use bond_list::bond_list;
pub use bond_show::bond_show;
pub use lacp::{LacpMember, LacpView};
pub use lacp_show::lacp_show;
pub use lacp_show_stats::lacp_show_stats;

/// The real one recirculates frames of balance-tcp, and numbers that; here nothing does.
const NO_RECIRCULATION: i32 = 0;

fn truth(of: bool) -> &'static str {
    if of { "true" } else { "false" }
}

/// Members by name, as all these texts have them.
fn by_name<T>(members: &[T], name: impl Fn(&T) -> &str) -> Vec<&T> {
    let mut sorted: Vec<&T> = members.iter().collect();
    sorted.sort_by(|a, b| name(a).cmp(name(b)));
    sorted
}
