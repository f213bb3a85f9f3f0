//! Taking a team down.

use std::collections::BTreeMap;
use std::path::Path;

use nicteam_daemon::Notes;
use nicteam_daemon::control::{Client, Refusal, RefusalKind, Request, wait_until_free};
use nicteam_dataplane::TeamDevice;
use nicteam_netlink::Netlink;
use nicteam_netlink::object::Neighbour;

use crate::Error;
use crate::awaited;
use crate::done::{Done, Watch};
use crate::found::Found;
use crate::hand::{Hand, device_of};
use crate::journal::{self, Journal};
use crate::managers::network_manager;
use crate::order;
use crate::step::{Step, TEAM};

/// Takes a team down and restores what this boot's `up` found, also after a crash of either. Called again, it does what is
/// left to do. A team that was begun otherwise (`nicteam team add`) is taken down as `nicteam team del` does.
///
/// # Errors
/// There is no such team, or something could not be restored; all the rest is, and a further call tries again.
pub fn take_down(team: &str) -> Result<Done, Error> {
    take_down_watched(team, None)
}

/// The same; steps are told before they are taken.
///
/// # Errors
/// As above.
pub fn take_down_watched(team: &str, watch: Option<Watch<'_>>) -> Result<Done, Error> {
    let notes = Notes::of(team)?;
    let _lock = notes.lock()?.ok_or_else(|| Error::Busy { team: team.to_owned() })?;
    restore(team, &notes, watch)
}

/// The teams that `up` has brought up, or begun to, in this network namespace.
///
/// # Errors
/// The caller may not look.
pub fn teams() -> Result<Vec<String>, Error> {
    journal::teams()
}

/// Restores what is noted; who calls has the lock.
pub(crate) fn restore(team: &str, notes: &Notes, mut watch: Option<Watch<'_>>) -> Result<Done, Error> {
    let awaited = awaited::read(notes)?;
    let Some(journal) = Journal::read(team, notes)? else {
        if !stop(team)? {
            return Err(Error::NoTeam { team: team.to_owned() });
        }
        Journal::remove(notes)?;
        awaited::forget_this(notes, awaited.as_ref())?;
        return Ok(Done { steps: 1, changes: vec![format!("end {team}: its members leave")], notes: Vec::new() });
    };
    let found = &by_now(team, &journal)?;
    let mut hand = Hand::new(team, found, true)?;
    let name = names(team, &journal)?;
    let (mut done, mut first) = (Done::default(), None);
    done.changes.extend(hand_over(team, found));
    let carriers = carriers(team).unwrap_or_else(|| found.members.iter().map(|member| member.index).collect());
    let mut has_ended = false;
    let steps = order::down(team, found, &carriers, &journal.own_routes, &learned(team)?);
    for (number, step) in steps.iter().enumerate() {
        let words = step.words(&name);
        if let Some(Watch(watch)) = &mut watch {
            watch(number, &words);
        }
        done.steps += 1;
        let taken = match step {
            Step::Stop => {
                has_ended = true;
                hand.look_again();
                stop(team)
            }
            step => hand.take(step),
        };
        match taken {
            Ok(true) => done.changes.push(words),
            Ok(false) => {}
            // It comes again, or goes with the team.
            Err(_) if !has_ended => {}
            Err(error) => first = first.or(Some((words, error))),
        }
    }
    done.notes = hand.notes;
    // Where it was told to leave them alone.
    if let Err(error) = network_manager::set_managed(Path::new("/"), team) {
        done.notes.push(format!("NetworkManager was not told that it may have the members of {team} again: {error}"));
    }
    match first {
        None => {
            Journal::remove(notes)?;
            awaited::forget_this(notes, awaited.as_ref())?;
            Ok(done)
        }
        Some((step, error)) => {
            let (team, path) = (team.to_owned(), Journal::path(notes));
            Err(Error::NotRestored { team, step, path, source: Box::new(error) })
        }
    }
}

/// Where one member carries all, the one that gets addresses is to be that one: what it sends would else draw to it what the
/// other has to deliver, for the team's MAC address is where a switch heard it last. What was changed.
fn hand_over(team: &str, found: &Found) -> Option<String> {
    let addressed = found.members.iter().find(|member| member.up && !member.addresses.is_empty())?;
    let mut client = Client::connect(team).ok()?;
    let status = client.status().ok()?;
    let now = status.members.iter().find(|member| member.index == addressed.index)?;
    if status.active.is_none_or(|active| active == now.name) {
        return None;
    }
    let options = vec![("active_slave".to_owned(), now.name.clone())];
    // One that is not up cannot be, and needs not: nobody hears it.
    client.order(&Request::Set { options }).ok()?;
    Some(format!("make {} the active member of {team}", now.name))
}

/// The members that carry the team's frames by now; `None`: nobody runs it who would know.
fn carriers(team: &str) -> Option<Vec<u32>> {
    let status = Client::connect(team).and_then(|mut client| client.status()).ok()?;
    Some(status.members.iter().filter(|member| member.active).map(|member| member.index).collect())
}

/// What was found, with the lifetimes that it has by now.
fn by_now(team: &str, journal: &Journal) -> Result<Found, Error> {
    let mut netlink = Netlink::open()?;
    let device = device_of(&mut netlink, team)?;
    Ok(journal.found.by_now(device, &netlink.address_objects()?, &netlink.routes()?))
}

/// The neighbours that the team's device knows by their MAC addresses.
fn learned(team: &str) -> Result<Vec<Neighbour>, Error> {
    let mut netlink = Netlink::open()?;
    let Some(device) = device_of(&mut netlink, team)? else { return Ok(Vec::new()) };
    let mut neighbours = netlink.neighbours()?;
    neighbours.retain(|known| known.index() == device && known.is_learned() && !known.is_set());
    Ok(neighbours)
}

/// Ends the team, whichever process runs it, also if none does; false if there is none.
fn stop(team: &str) -> Result<bool, Error> {
    match Client::connect(team) {
        Ok(client) => client.remove()?,
        Err(Refusal { kind: RefusalKind::NotRunning, .. }) => {
            wait_until_free(team)?;
            nicteam_daemon::take_down(team)?;
        }
        // A start that was killed before anything of the team was kept may have left its device and members.
        Err(Refusal { kind: RefusalKind::NoTeam, .. }) => return stop_remains(team),
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(true)
}

fn stop_remains(team: &str) -> Result<bool, Error> {
    let links = Netlink::open()?.links()?;
    let found = TeamDevice::among(&links, team);
    let device = matches!(found, Ok(Some(_)) | Err(nicteam_dataplane::Error::Elsewhere { .. }));
    let member = links.iter().any(|link| crate::obstacles::team_of(&link.alias) == Some(team));
    if device || member {
        nicteam_daemon::take_down(team)?;
    }
    Ok(device || member)
}

fn names(team: &str, journal: &Journal) -> Result<impl Fn(u32) -> String, Error> {
    let links = Netlink::open()?.links()?;
    let mut names: BTreeMap<u32, String> = links.into_iter().map(|link| (link.index, link.name)).collect();
    names.extend(journal.found.members.iter().map(|member| (member.index, member.name.clone())));
    names.insert(TEAM, team.to_owned());
    Ok(move |index| names.get(&index).cloned().unwrap_or_else(|| format!("device {index}")))
}
