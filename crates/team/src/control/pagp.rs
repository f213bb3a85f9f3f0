//! Whether the switch speaks PAgP, which no team answers.
//!
//! A Catalyst whose ports are in mode `auto` or `desirable` bundles them only with a partner that speaks PAgP, too. It
//! keeps them single otherwise, and a static team meets a switch that learns its address at one port after the other. The
//! team listens in every mode and says so; nothing else follows.

use std::time::Duration;

use nicteam_events::{Effect, Event, PagpHeard};
use nicteam_machine::{MemberId, Time};
use nicteam_wire::{Frame, Pagp};

use super::Team;

/// So long a hello counts: three and a half of those that leave each 30 s, as Cisco's ports wait for a partner.
const LASTS: Duration = Duration::from_secs(105);

impl Team {
    /// The members at whose other end a port speaks PAgP, by place, with what it said last.
    pub fn pagp(&self, now: Time) -> Vec<PagpHeard> {
        let fresh = |(heard, at): &(PagpHeard, Time)| (now.since(*at) <= LASTS).then(|| heard.clone());
        self.pagp.0.values().filter_map(fresh).collect()
    }

    /// A member received something for Cisco's group.
    pub(super) fn hear_pagp(&mut self, member: MemberId, frame: &Frame<'_>, now: Time) {
        let Ok(pagp) = Pagp::decode(frame) else { return };
        if !self.members.contains_key(&member) {
            return;
        }
        let Pagp { local, auto, device_name, port_name, .. } = pagp;
        let heard = PagpHeard { member, device: local.device, device_name, port_name, auto };
        let before = self.pagp.0.insert(member, (heard.clone(), now));
        // Said once, and again where it had been silent or its port was set otherwise.
        let is_new = before.is_none_or(|(before, at)| now.since(at) > LASTS || before.auto != heard.auto);
        if is_new {
            self.effects.push_back(Effect::Event(Event::Pagp(heard)));
        }
    }
}
