//! Bonds: teams in Open vSwitch's modes.

use nicteam_daemon::control::{Client, Refusal, RefusalKind, Request};
use nicteam_daemon::{PersistedTeam, StateStore, TeamSpec};
use nicteam_dataplane::Choice;
use nicteam_netlink::Netlink;
use nicteam_team::Config;
use nix::errno::Errno;

use crate::failure::Failure;
use crate::{say, team};

/// The team that a bond is.
///
/// # Errors
/// An option that teams have not, or not with these others.
pub(super) fn spec(bond: &str, members: &[String], options: &[(String, String)]) -> Result<TeamSpec, Failure> {
    let mut config = Config::default();
    options.iter().try_for_each(|(name, value)| config.set(name, value)).map_err(team::refused)?;
    config.check().map_err(team::refused)?;
    let (name, members) = (bond.to_owned(), members.to_vec());
    let spec = TeamSpec { name, config, members, mac: None, mtu: None, dataplane: Choice::Auto };
    spec.check().map_err(|error| team::not_started(&error))?;
    Ok(spec)
}

/// Starts the team.
pub(super) fn make(bond: &str, members: &[String], options: &[(String, String)]) -> Result<(), Failure> {
    team::begin(&PersistedTeam::of(&spec(bond, members, options)?, None)).map(drop)
}

/// What is persisted of a team; none: nothing is.
fn persisted(bond: &str) -> Result<Option<TeamSpec>, Failure> {
    let persisted = StateStore::here().and_then(|store| store.load(bond));
    persisted
        .and_then(|persisted| persisted.map(|persisted| persisted.spec()).transpose())
        .map_err(|error| team::not_started(&error))
}

/// What these options would change of a team that has them, as it is now, the mode first.
///
/// # Errors
/// An option that teams have not, or not with those that it has.
pub(super) fn before(bond: &str, options: &[(String, String)]) -> Result<Option<Vec<(String, String)>>, Failure> {
    let Some(TeamSpec { config: before, .. }) = persisted(bond)? else { return Ok(None) };
    let mut after = before.clone();
    options.iter().try_for_each(|(name, value)| after.set(name, value)).map_err(team::refused)?;
    after.check().map_err(team::refused)?;
    let changed = before.options().into_iter().zip(after.options()).filter(|(was, is)| was != is);
    Ok(Some(changed.map(|((name, was), _)| (name.to_owned(), was)).collect()))
}

/// Changes options while the team runs or, where its mode does not allow that, by a new start.
pub(super) fn set(netlink: &mut Netlink, bond: &str, options: &[(String, String)]) -> Result<(), Failure> {
    let request = Request::Set { options: options.to_vec() };
    match Client::connect(bond)?.order(&request) {
        Ok(done) => {
            done.notes.iter().for_each(|note| say::line(format_args!("note: {}", say::visible(note))));
            Ok(())
        }
        // The kernel's BOND_OPTFLAG_NOSLAVES.
        Err(Refusal { kind: RefusalKind::NotNow, errno: Some(errno), .. }) if errno == Errno::ENOTEMPTY as i32 => {
            start_anew(netlink, bond, options)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Takes the team down and starts it with these options and all others that it had, in its bridge.
fn start_anew(netlink: &mut Netlink, bond: &str, options: &[(String, String)]) -> Result<(), Failure> {
    let Some(before) = persisted(bond)? else {
        return Err(Failure::failed(format!("nothing is persisted of team {bond}")));
    };
    let mut after = before.clone();
    options.iter().try_for_each(|(name, value)| after.config.set(name, value)).map_err(team::refused)?;
    after.config.check().map_err(team::refused)?;
    after.check().map_err(|error| team::not_started(&error))?;
    let link = netlink.link(bond)?.ok_or_else(|| Failure::failed(format!("no device {bond}")))?;
    team::remove(bond)?;
    let begun = team::begin(&PersistedTeam::of(&after, None));
    if begun.is_err() {
        team::begin(&PersistedTeam::of(&before, None))?;
    }
    let index = netlink.link(bond)?.map_or(link.index, |link| link.index);
    if !link.alias.is_empty() {
        netlink.set_alias(index, &link.alias)?;
    }
    netlink.set_master(index, link.master)?;
    netlink.set_up(index, link.up)?;
    begun.map(drop)
}
