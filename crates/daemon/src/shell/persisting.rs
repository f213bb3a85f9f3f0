//! Writes to the state folder what the next process of the team needs.

use nicteam_wire::Mac;

use super::Shell;
use crate::persisted::{ForSuccessor, PersistedInputs, PersistedTeam};
use crate::{Error, TeamSpec};

impl Shell {
    /// Keeps the team as it is to be now, if that has changed.
    pub(super) fn persist(&mut self) {
        let Some(persistence) = &mut self.persistence else { return };
        let places = || {
            let places = self.members.iter().map(|member| (member.port.id.index(), member.port.name.as_str()));
            places.chain(persistence.missing.iter().map(|missing| (missing.id.index(), missing.device.as_str())))
        };
        let config = self.team.config();
        let active = self.team.active().filter(|_| config.mode.traits().openvswitch);
        let name_of =
            |id| self.members.iter().find(|member| member.port.id == id).map(|member| member.port.name.clone());
        let for_successor =
            ForSuccessor { tcp_before: self.tcp.before().map(str::to_owned), active: active.and_then(name_of) };
        // After each step, and nearly always the same: nothing is copied to find that out.
        if persistence
            .persisted_inputs
            .as_ref()
            .is_some_and(|of| of.is(config, self.mac, self.mtu, places(), &for_successor))
        {
            return;
        }
        persistence.persisted_inputs = Some(PersistedInputs::new(config, self.mac, self.mtu, places(), &for_successor));
        let named = |mac: Mac| persistence.spec.mac.map(|_| mac);
        let spec = TeamSpec {
            config: config.clone(),
            mac: named(self.mac),
            mtu: persistence.spec.mtu.map(|_| self.mtu),
            ..persistence.spec.clone()
        };
        let places = places().map(|(place, name)| (place, name.to_owned())).collect();
        let mut persisted = PersistedTeam::with_places(&spec, places, persistence.log.clone());
        (persisted.tcp_before, persisted.active) = (for_successor.tcp_before, for_successor.active);
        if persistence.persisted.as_ref() == Some(&persisted) {
            return;
        }
        let written = persistence.store.save(&persisted);
        // Tried again when something else changes, not at each step.
        persistence.persisted = Some(persisted);
        self.tell(written);
    }

    /// Saves what the team was told, if it is due. Who could not, will not: a full folder is no place for it.
    pub(super) fn save_recording(&mut self) {
        let now = self.clock.now();
        let Some(saved) = &mut self.saved else { return };
        if let Err(error) = saved.save_if_due(&self.team, now) {
            self.saved = None;
            self.tell(Err::<(), _>(error));
        }
    }

    /// Forgets the team: it has ended.
    pub(super) fn forget(&self) -> Result<(), Error> {
        self.persistence.as_ref().map_or(Ok(()), |persistence| persistence.store.forget(&self.device.name))
    }
}
