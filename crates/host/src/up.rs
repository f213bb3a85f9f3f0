//! Bringing a team up.
//!
//! What is found is noted before anything is changed. Then step by step: the team starts and its members join, it gets what
//! stands on them, and they lose it. A step that fails undoes all; a process that is killed leaves what the next
//! [`bring_up`] goes on with, or [`crate::down::take_down`] undoes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nicteam_daemon::control::{Client, Request, TeamState, teams};
use nicteam_daemon::{Notes, PersistedTeam, StateStore};
use nicteam_dataplane::TeamDevice;
use nicteam_formats::Team;
use nicteam_netlink::Netlink;
use nicteam_netlink::object::Route;
use nicteam_sys::process;

use crate::awaited;
use crate::check::{self, Plan, Wanted};
use crate::down;
use crate::facts::Facts;
use crate::hand::{Hand, device_of};
use crate::journal::Journal;
use crate::managers::network_manager;
use crate::order;
use crate::step::{Step, TEAM};
use crate::survey::Survey;
use crate::{Error, Refusal};

pub use crate::done::{Done, Watch};

/// How a team is brought up.
#[derive(Debug)]
pub struct Options<'a> {
    /// Where other managers' files are looked for: `/`.
    pub root: PathBuf,
    /// Bring it up although a manager of the network claims its members, or something else is in the way that the kernel
    /// would allow: the refusals become notes.
    pub force: bool,
    /// Members whose devices are not there are no obstacle: the process of the team waits for them. For a boot.
    pub members_may_come: bool,
    /// Hears of each step before it is taken: its number, counted from 0, and what it is.
    pub watch: Option<Watch<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { root: PathBuf::from("/"), force: false, members_may_come: false, watch: None }
    }
}

/// Starts the team: as a process of its own, or in this one. The team runs when it returns.
pub type Start<'a> = &'a mut dyn FnMut(&PersistedTeam) -> Result<(), String>;

/// Brings a team up. Called again, it does what is left to do, which may be nothing.
///
/// # Errors
/// Something is in the way, a step failed, or a signal came between two steps; then what was done is undone, unless the team was up before. What could not be
/// undone is [`crate::down::take_down`]'s to try again.
pub fn bring_up(team: &Team, start: Start<'_>, options: Options<'_>) -> Result<Done, Error> {
    let notes = Notes::of(&team.name)?;
    let _lock = notes.lock()?.ok_or_else(|| Error::Busy { team: team.name.clone() })?;
    let before = Journal::read(&team.name, &notes)?;
    let (survey, teams) = (Survey::take(&team.members)?, teams()?);
    let (root, waits) = (options.root.as_path(), options.members_may_come);
    let facts = Facts { survey: &survey, teams: &teams, journal: before.as_ref(), coming: &[], waits, root };
    let (mut plan, wanted) = check::plan(team, &facts);
    if options.force {
        plan.notes.extend(plan.refusals.drain(..).map(|refusal| refusal.to_string()));
    }
    if !plan.refusals.is_empty() {
        return Err(Error::Refused { refusals: plan.refusals });
    }
    let was_up = before.as_ref().is_some_and(|journal| journal.is_up);
    let mut way = Way { team, notes: &notes, root, journal: before, start, watch: options.watch, told: 0 };
    match way.go(&wanted, &plan) {
        Ok(done) => Ok(done),
        Err(error) if was_up || way.journal.is_none() => Err(error),
        Err(error) => {
            // The first error is the one to report; what cannot be restored stays noted.
            let _ = down::restore(&team.name, &notes, None);
            Err(error)
        }
    }
}

/// So long the kernel may take to send by a team that has a carrier. It delays its own worker by no more on purpose
/// (`linkwatch_nextevent`), and not for virtual devices.
const LINK_WATCH: Duration = Duration::from_secs(1);

/// A team on its way up.
struct Way<'a, 'b> {
    team: &'a Team,
    notes: &'a Notes,
    root: &'a Path,
    journal: Option<Journal>,
    start: Start<'a>,
    watch: Option<Watch<'b>>,
    told: usize,
}

impl Way<'_, '_> {
    fn go(&mut self, wanted: &Wanted, plan: &Plan) -> Result<Done, Error> {
        let mut done = Done { notes: plan.notes.clone(), ..Done::default() };
        let resumed = self.note(wanted)?;
        let mut hand = Hand::new(&self.team.name, &wanted.found, false)?;
        // Members that are gone wait to return, and what they had is at the team.
        hand.notes.clear();
        let name = names(&self.team.name, wanted)?;
        for step in self.obsolete(wanted).iter().chain(&wanted.steps) {
            if process::termination().is_some() {
                return Err(Error::Interrupted { team: self.team.name.clone() });
            }
            let words = step.words(&name);
            // Nobody needs an address announced that has not moved.
            if matches!(step, Step::Announce { .. }) && done.changes.is_empty() {
                continue;
            }
            self.tell(&words);
            done.steps += 1;
            let changed = match step {
                Step::Start => self.begin(&mut done)?,
                Step::SetNeighbour(neighbour) if resumed && !neighbour.is_set() => false,
                step => hand.take(step)?,
            };
            if changed {
                done.changes.push(words);
            }
        }
        done.notes.append(&mut hand.notes);
        self.finish(wanted)?;
        Ok(done)
    }

    /// Notes what was found, before anything is changed; true if it was noted before and every step was taken.
    fn note(&mut self, wanted: &Wanted) -> Result<bool, Error> {
        if let Some(journal) = &self.journal {
            return Ok(journal.is_up);
        }
        awaited::forget_missed(self.notes)?;
        let journal = Journal::new(&self.team.members, wanted.found.clone());
        journal.write(self.notes)?;
        self.journal = Some(journal);
        Ok(false)
    }

    /// Every step was taken.
    fn finish(&mut self, wanted: &Wanted) -> Result<(), Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let (addresses, routes) = (&wanted.own.addresses, &wanted.own.routes);
        if journal.is_up && journal.own_addresses == *addresses && journal.own_routes == *routes {
            return Ok(());
        }
        (journal.is_up, journal.own_addresses, journal.own_routes) = (true, addresses.clone(), routes.clone());
        journal.write(self.notes)
    }

    /// What an earlier file gave the team, or let it keep of the members', and this one does not.
    fn obsolete(&self, wanted: &Wanted) -> Vec<Step> {
        let Some(journal) = &self.journal else { return Vec::new() };
        let routes = journal.own_routes.iter().filter(|route| !wanted.own.routes.contains(route));
        let addresses = journal.own_addresses.iter().filter(|address| !wanted.own.addresses.contains(address));
        let addresses = addresses.cloned().map(Step::RemoveAddress);
        // Of a team that is up, the members' routes are the team's.
        let known: Vec<&Route> = order::replaced(&journal.found, &journal.own_routes).collect();
        let replaced = order::replaced(&journal.found, &wanted.own.routes)
            .filter(|route| journal.is_up && !known.contains(route))
            .map(|route| order::on_team(route, &journal.found));
        routes.cloned().chain(replaced).map(Step::RemoveRoute).chain(addresses).collect()
    }

    fn tell(&mut self, words: &str) {
        if let Some(Watch(watch)) = &mut self.watch {
            watch(self.told, words);
        }
        self.told += 1;
    }

    /// Starts the team, or gives a running one the options of the file.
    fn begin(&mut self, done: &mut Done) -> Result<bool, Error> {
        let team = &self.team.name;
        let persisted = check::persisted(self.team)?;
        let state = teams()?.into_iter().find(|listed| listed.team == *team).map(|listed| listed.state);
        if state == Some(TeamState::Running) {
            return self.adjust(done);
        }
        self.keep_network_manager_off(done);
        let left = StateStore::here()?.load(team).ok().flatten();
        let persisted = left.map_or_else(|| persisted.clone(), |left| persisted.clone().after(&left));
        (self.start)(&persisted).map_err(|why| Error::NotStarted { team: team.clone(), why })?;
        self.wait_until_it_sends()?;
        Ok(true)
    }

    /// Traffic that moves to the team before would be lost. Without a carrier there is nothing to wait for: the team has no member
    /// to send by yet.
    fn wait_until_it_sends(&self) -> Result<(), Error> {
        let mut netlink = Netlink::open()?;
        if let Some(index) = device_of(&mut netlink, &self.team.name)? {
            netlink.link_once(index, LINK_WATCH, |link| link.running || !link.carrier)?;
        }
        Ok(())
    }

    /// It is told, where it runs, that members are unmanaged while they are the team's. What they carry is noted by now.
    fn keep_network_manager_off(&self, done: &mut Done) {
        let (team, behind) = (&self.team.name, TeamDevice::end_behind(&self.team.name));
        let devices: Vec<&str> = self.team.members.iter().map(String::as_str).chain([behind.as_str()]).collect();
        if let Err(error) = network_manager::set_unmanaged(self.root, team, &devices) {
            done.notes.push(format!("NetworkManager was not told to leave the members of {team} alone: {error}"));
        }
    }

    fn adjust(&mut self, done: &mut Done) -> Result<bool, Error> {
        let mut client = Client::connect(&self.team.name)?;
        let status = client.status()?;
        let members: Vec<&str> = status.members.iter().map(|member| member.name.as_str()).collect();
        let others: Vec<&str> =
            members.iter().filter(|name| !self.team.members.iter().any(|m| m == *name)).copied().collect();
        if !others.is_empty() {
            done.notes.push(format!(
                "{} has members that the file does not name: {}; hint: `nicteam team member del` lets them go",
                self.team.name,
                others.join(", ")
            ));
        }
        if self.team.options.is_empty() {
            return Ok(false);
        }
        let changed = client.order(&Request::Set { options: self.team.options.clone() })?.changed;
        done.changes.extend(changed.iter().map(|change| format!("set {change}")));
        Ok(false)
    }
}

/// The names of devices, for people.
fn names(team: &str, wanted: &Wanted) -> Result<impl Fn(u32) -> String, Error> {
    let links = Netlink::open()?.links()?;
    let mut names: BTreeMap<u32, String> = links.into_iter().map(|link| (link.index, link.name)).collect();
    names.extend(wanted.found.members.iter().map(|member| (member.index, member.name.clone())));
    names.insert(TEAM, team.to_owned());
    Ok(move |index| names.get(&index).cloned().unwrap_or_else(|| format!("device {index}")))
}

/// What a file is refused for that is still active where it came from.
pub fn refuse_active(import: &nicteam_formats::Import) -> Vec<Refusal> {
    /// Where the programs that the formats belong to look for them.
    const LIVE: [&str; 8] = [
        "/etc/network/",
        "/etc/netplan/",
        "/etc/sysconfig/network-scripts/",
        "/etc/sysconfig/network/",
        "/etc/systemd/network/",
        "/run/systemd/network/",
        "/etc/NetworkManager/",
        "/run/NetworkManager/",
    ];
    let resolved = |path: &str| std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let is_live = |path: &str| LIVE.iter().any(|live| resolved(path).starts_with(live));
    let active = import.disable.iter().filter(|disable| is_live(&disable.place.path));
    let refusal = |disable: &nicteam_formats::Disable| {
        let what = format!("{}: this configuration is still active where it comes from", disable.place);
        let command = disable.command.as_ref().map_or_else(String::new, |command| format!(": `{command}`"));
        Refusal::new(what, format!("{}{command}", disable.what))
    };
    active.map(refusal).collect()
}

#[cfg(test)]
mod tests {
    use nicteam_formats::{Disable, Import, Place};

    use super::*;

    #[test]
    fn a_file_is_active_where_its_program_looks_for_it() {
        let at = |path: &str| {
            let place = Place { path: path.to_owned(), line: 1, column: 1 };
            let disable = Disable { place, what: "switch it off".to_owned(), command: None };
            !refuse_active(&Import { disable: vec![disable], ..Import::default() }).is_empty()
        };
        // The second is SUSE's.
        for path in
            ["/etc/sysconfig/network-scripts/ifcfg-bond0", "/etc/sysconfig/network/ifcfg-bond0", "/etc/netplan/a.yaml"]
        {
            assert!(at(path), "{path}");
        }
        for path in ["/root/etc/sysconfig/network/ifcfg-bond0", "/etc/nicteam/team0.toml", "-"] {
            assert!(!at(path), "{path}");
        }
    }
}
