//! Commands that print: `bond/list`, `bond/show`, `lacp/show`, `lacp/show-stats`.

use nicteam_daemon::show::openvswitch::{LacpView, bond_list, bond_show, lacp_show, lacp_show_stats};
use nicteam_daemon::{BondState, TeamStatus};
use serde::Serialize;

use super::bonds::{self, BOND, Kind};
use crate::failure::Failure;
use crate::say;

/// List the bonds: teams in the modes ovs-active-backup, ovs-balance-slb and ovs-balance-tcp.
#[derive(Debug, clap::Args)]
pub(crate) struct BondList {
    /// For programs: a JSON array, described in docs/ovs.md.
    #[arg(long)]
    json: bool,
}

/// Show a bond, or all: members, who may send, and the load of each bucket.
#[derive(Debug, clap::Args)]
pub(crate) struct BondShow {
    /// The bond; all by default.
    port: Option<String>,
    /// For programs: a JSON array, described in docs/ovs.md.
    #[arg(long)]
    json: bool,
}

/// Show LACP of a team, or of all that speak it, mode 802.3ad among them.
#[derive(Debug, clap::Args)]
pub(crate) struct LacpShow {
    /// The team; all by default.
    port: Option<String>,
    /// For programs: a JSON array, described in docs/ovs.md.
    #[arg(long)]
    json: bool,
}

const LACP: Kind = Kind { name: "lacp object", is_one: |status| LacpView::of(status).is_some() };

/// A bond with its name.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    bond: &'a BondState,
}

/// Lists the bonds.
pub(super) fn list_bonds(list: &BondList) -> Result<(), Failure> {
    let found = bonds::all(&BOND)?;
    if list.json {
        return json(&named(&found));
    }
    let bonds = named(&found);
    say::data(say::visible(bond_list(bonds.iter().map(|named| (named.name, named.bond)))))
}

/// Shows bonds.
pub(super) fn show_bonds(show: &BondShow) -> Result<(), Failure> {
    let found = bonds::some(&BOND, show.port.as_ref())?;
    let bonds = named(&found);
    if show.json {
        return json(&bonds);
    }
    bonds.iter().try_for_each(|Named { name, bond }| say::data(say::visible(bond_show(name, bond))))
}

/// Shows LACP.
pub(super) fn show_lacp(show: &LacpShow) -> Result<(), Failure> {
    lacp(show, lacp_show)
}

/// Shows what LACP counted.
pub(super) fn show_lacp_stats(show: &LacpShow) -> Result<(), Failure> {
    lacp(show, lacp_show_stats)
}

fn lacp(show: &LacpShow, text: fn(&LacpView<'_>) -> String) -> Result<(), Failure> {
    let found = bonds::some(&LACP, show.port.as_ref())?;
    let views: Vec<LacpView<'_>> = found.iter().filter_map(LacpView::of).collect();
    if show.json {
        return json(&views);
    }
    views.iter().try_for_each(|view| say::data(say::visible(text(view))))
}

fn named(found: &[TeamStatus]) -> Vec<Named<'_>> {
    let bonds = found.iter().filter_map(|status| status.openvswitch.as_ref().map(|bond| (status, bond)));
    bonds.map(|(status, bond)| Named { name: &status.team, bond }).collect()
}

fn json(value: &impl Serialize) -> Result<(), Failure> {
    say::data(serde_json::to_string_pretty(value).map_err(Failure::failed)? + "\n")
}
