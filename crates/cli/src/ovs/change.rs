//! Commands that change a bond: `bond/migrate`, `bond/set-active-member`, `bond/enable-member`, `bond/disable-member`.

use nicteam_daemon::control::{Client, RefusalKind, Request};
use nicteam_daemon::{BondMemberState, BondState};

use super::bonds::{self, BOND};
use super::scan::{self, Scanned};
use crate::failure::Failure;
use crate::say;

/// Give a bucket of a bond in balance-slb another member.
///
/// It keeps it until rebalancing decides otherwise, or the member fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    /// The bond.
    port: String,
    /// The bucket, 0 to 255; `nicteam ovs bond/hash` tells that of an address.
    #[arg(allow_negative_numbers = true)]
    hash: String,
    /// The member.
    member: String,
}

/// A bond and one of its members.
#[derive(Debug, clap::Args)]
pub(crate) struct Member {
    /// The bond.
    port: String,
    /// The member.
    member: String,
}

/// Gives a bucket a member.
pub(super) fn migrate(migrate: &Migrate) -> Result<(), Failure> {
    let bond = bond(&migrate.port)?;
    if bond.mode != "balance-slb" {
        let hint =
            format!("{} is in mode {}, and only balance-slb's buckets are given members", migrate.port, bond.mode);
        return Err(Failure::wrong_input("not an SLB bond").hint(Some(hint)));
    }
    let shown = say::visible(&migrate.hash);
    let bad = || Failure::wrong_input("bad hash").hint(Some(format!("`{shown}`: a bucket is a number from 0 to 255")));
    let Scanned { value: bucket, is_plain } = scan::bucket(&migrate.hash).ok_or_else(bad)?;
    if !is_plain {
        say::line(format_args!(
            "warning: hash `{shown}`: a bucket is a number from 0 to 255; taken for {bucket}, as Open vSwitch does"
        ));
    }
    let found = member(&bond, &migrate.member)?;
    if !found.enabled {
        let hint = format!("`nicteam ovs bond/show {}` says why it is disabled", migrate.port);
        return Err(Failure::wrong_input("cannot migrate to disabled member").hint(Some(hint)));
    }
    order(&migrate.port, &Request::Migrate { bucket, device: migrate.member.clone() })?;
    say::data("migrated\n")
}

/// Makes a member the active one.
pub(super) fn set_active(set: &Member) -> Result<(), Failure> {
    if member(&bond(&set.port)?, &set.member)?.active {
        return say::data("no change\n");
    }
    let request = Request::Activate { device: set.member.clone() };
    match Client::connect(&set.port)?.order(&request) {
        Ok(_) => {}
        // The real one agrees, and chooses another one at once.
        Err(refusal) if refusal.kind == RefusalKind::NotNow => {
            say::line(format_args!("warning: {} is disabled, and stays not active", set.member));
        }
        Err(refusal) => return Err(refusal.into()),
    }
    say::data("done\n")
}

/// Enables a member, or disables it.
pub(super) fn enable(of: &Member, enable: bool) -> Result<(), Failure> {
    member(&bond(&of.port)?, &of.member)?;
    order(&of.port, &Request::EnableMember { device: of.member.clone(), enable })?;
    say::data(if enable { "enabled\n" } else { "disabled\n" })
}

fn bond(name: &str) -> Result<BondState, Failure> {
    let status = bonds::one(&BOND, name)?;
    status.openvswitch.ok_or_else(|| Failure::wrong_input("no such bond"))
}

fn member<'a>(bond: &'a BondState, name: &str) -> Result<&'a BondMemberState, Failure> {
    let names: Vec<&str> = bond.members.iter().map(|member| member.name.as_str()).collect();
    let hint = format!("the members are {}", names.join(", "));
    let missing = || Failure::wrong_input("no such member").hint(Some(hint));
    bond.members.iter().find(|member| member.name == name).ok_or_else(missing)
}

fn order(bond: &str, request: &Request) -> Result<(), Failure> {
    Ok(Client::connect(bond)?.order(request).map(drop)?)
}
