//! Members whose devices are not there: not when their team was taken over (unplugged, renamed, or somebody else's by then),
//! or not any more. The team goes on with those that are there, says who is missing, and takes them in when they appear.

use nicteam_netlink::{Link, Netlink};
use nicteam_team::{MAX_MEMBERS, MemberId, TeamError};

use super::Shell;
use crate::persistence::{MissingMember, Persistence};
use crate::ports::{self, Candidate};
use crate::{Error, Happened, Problem, TeamSpec};

/// The devices of a team to be. Of a team that is taken over those that cannot join are noted as missing.
pub(super) fn find(
    netlink: &mut Netlink,
    spec: &TeamSpec,
    mut persistence: Option<&mut Persistence>,
) -> Result<Vec<Candidate>, Error> {
    let mut found: Vec<Candidate> = Vec::new();
    for (at, device) in spec.members.iter().enumerate() {
        if spec.members[..at].contains(device) {
            return Err(TeamError::Duplicate(device.clone()).into());
        }
        let recalled = persistence.as_mut().filter(|persistence| persistence.recalled);
        let mut wanted = ports::find(netlink, &spec.name, device);
        if recalled.is_some()
            && matches!(wanted, Err(Error::NoDevice { .. }))
            && let Some(renamed) = ports::find_renamed(netlink, &spec.name, device)?
        {
            wanted = Ok(renamed);
        }
        match (wanted, recalled) {
            (Ok(candidate), _) => found.push(candidate),
            (Err(error), Some(persistence)) => {
                let Some(id) = persistence.place_of(device) else { return Err(error) };
                let (device, why) = (device.clone(), words(&error));
                persistence.missing.push(MissingMember { id, device, why, tried: None });
            }
            (Err(error), None) => return Err(error),
        }
    }
    Ok(found)
}

impl Shell {
    /// The members that are not there, by place.
    pub(super) fn missing(&self) -> &[MissingMember] {
        self.persistence.as_ref().map_or(&[], |persistence| &persistence.missing)
    }

    /// Reports the members that are missing.
    pub(super) fn say_missing(&self) {
        for MissingMember { device, why, .. } in self.missing() {
            self.note(Happened::Trouble { text: format!("member {device} is missing: {why}") });
        }
    }

    /// Keeps the place of a member whose device is gone: a USB adapter is plugged in again, a driver made its devices anew.
    /// A team that nobody keeps forgets it.
    pub(super) fn await_return(&mut self, id: MemberId, device: String) {
        let Some(persistence) = &mut self.persistence else { return };
        persistence.missing.push(MissingMember { id, device, why: "its device is gone".to_owned(), tried: None });
    }

    /// What is wrong with members that are not there.
    pub(super) fn missing_problems(&self) -> impl Iterator<Item = Problem> {
        let team = &self.device.name;
        self.missing().iter().map(move |MissingMember { device, why, .. }| Problem {
            text: format!("member {device} is missing: {why}"),
            hint: format!("it joins when the device appears; `nicteam team member del {team} {device}` removes it"),
        })
    }

    /// The lowest place that neither a member has nor one that is missing.
    pub(super) fn free_place(&self) -> Option<MemberId> {
        let taken = |id: &MemberId| {
            let present = self.members.iter().any(|member| member.port.id == *id);
            present || self.missing().iter().any(|missing| missing.id == *id)
        };
        (0..MAX_MEMBERS).filter_map(MemberId::new).find(|id| !taken(id))
    }

    /// The place that waits for this device.
    pub(super) fn place_reserved_for(&self, device: &str) -> Option<MemberId> {
        self.missing().iter().find(|missing| missing.device == device).map(|missing| missing.id)
    }

    /// Waits for a device no more; true if it was missing.
    pub(super) fn give_up(&mut self, device: &str) -> bool {
        let Some(persistence) = &mut self.persistence else { return false };
        let before = persistence.missing.len();
        persistence.missing.retain(|missing| missing.device != device);
        persistence.missing.len() != before
    }

    /// Takes a missing member in, if this device is one: once each time that it appears, or its master changes.
    pub(super) fn welcome(&mut self, link: &Link) -> Result<(), Error> {
        let Some(persistence) = &mut self.persistence else { return Ok(()) };
        let Some(missing) = persistence.missing.iter_mut().find(|missing| missing.device == link.name) else {
            return Ok(());
        };
        let seen = (link.index, link.master);
        if missing.tried.replace(seen) == Some(seen) {
            return Ok(());
        }
        let added = self.add_member(&link.name);
        if let (Err(error), Some(persistence)) = (&added, &mut self.persistence) {
            let waiting = persistence.missing.iter_mut().filter(|missing| missing.device == link.name);
            waiting.for_each(|missing| missing.why = words(error));
        }
        added
    }
}

/// An error without its hint, which speaks to who added the member.
fn words(error: &Error) -> String {
    let words = error.to_string();
    words.split_once("; hint: ").map_or(words.clone(), |(message, _)| message.to_owned())
}
