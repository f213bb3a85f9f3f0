//! stripe: what the team asks of discovery, and takes from it.
//!
//! Towards everybody who does not stripe the mode is balance-alb: the files
//! under `balance` do that part.

use nicteam_wire::{Frame, Hello, Mac};

use super::monitor::millis;
use super::{Effect, Team};
use crate::stripe::{Discovery, Note, Own};
use crate::{Config, MemberId, Mode, Time, TimerReason};

/// What a member is taken to carry where nobody knows, Mbit/s.
const UNKNOWN_RATE_MBPS: u32 = 1000;

impl Team {
    /// Who else stripes, and the paths to them; in stripe alone.
    pub fn discovery(&self) -> Option<&Discovery> {
        self.discovery.as_ref()
    }

    /// A random number, from which stripe takes the one that no other team has and
    /// no earlier run of this one ([`nicteam_wire::Hello::system`]). To be told
    /// before there are members.
    pub fn set_identity(&mut self, random: u64, now: Time) {
        self.identity = random;
        self.discovery = Team::discovery_for(&self.config, self.announcer.mac, random, now);
    }

    /// Discovery of a team with this configuration, if that stripes. A team that
    /// was told no identity has one of its address and the time.
    pub(super) fn discovery_for(config: &Config, mac: Mac, identity: u64, now: Time) -> Option<Discovery> {
        let Mac([a, b, c, d, e, f]) = mac;
        let [high, low] = ((now.as_nanos() / 1_000_000) as u16).to_be_bytes();
        let system = u64::from_be_bytes([a, b, c, d, e, f, high, low]) ^ identity;
        let interval = millis(config.stripe_interval_ms);
        (config.mode == Mode::Stripe).then(|| Discovery::new(system, interval))
    }

    /// What the dataplane noted of peers' frames, the answer to [`Effect::ReadNotes`].
    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        self.assert_drained();
        if let Some(discovery) = &mut self.discovery {
            discovery.handle_notes(notes, now);
            self.after_discovery();
        }
    }

    /// A member received a hello.
    pub(super) fn hello(&mut self, member: MemberId, frame: &Frame<'_>, now: Time) {
        if let (Some(discovery), Some(Ok(hello))) = (&mut self.discovery, Hello::of_frame(frame)) {
            discovery.handle_hello(member, frame.src(), hello, now);
            self.after_discovery();
        }
    }

    /// A deadline of discovery has come.
    pub(super) fn discover(&mut self, now: Time) {
        // What a member was told of its address, and the team of its own, since.
        self.stripe_members(now);
        if let Some(discovery) = &mut self.discovery {
            discovery.handle_timeout(now);
            self.after_discovery();
        }
    }

    /// Discovery follows the members' states; the plan follows after it.
    pub(super) fn stripe_members(&mut self, now: Time) {
        let Some(discovery) = &mut self.discovery else { return };
        let (config, balancer, team) = (&self.config, &self.balancer, self.announcer.mac);
        let own = self.members.iter().filter_map(|(&id, member)| {
            let rate = config.stripe_rate_of(&member.name).or(member.link.speed_mbps);
            Some(Own {
                id,
                mac: balancer.own_mac(id)?,
                rate_mbps: rate.unwrap_or(UNKNOWN_RATE_MBPS),
                usable: member.is_live(),
            })
        });
        discovery.set_own(team, own.collect(), now);
    }

    /// Hellos that wait until the plan is in force.
    pub(super) fn send_hellos(&mut self) {
        let Some(discovery) = &mut self.discovery else { return };
        let frames = discovery.take_frames().into_iter().map(|(member, frame)| Effect::Transmit { member, frame });
        self.effects.extend(frames);
        match discovery.poll_timeout() {
            Some(at) => self.timers.set(TimerReason::Discovery, at),
            None => self.timers.stop(TimerReason::Discovery),
        }
    }

    fn after_discovery(&mut self) {
        if self.discovery.as_mut().is_some_and(Discovery::take_changed) {
            self.update_plan();
        }
        self.send_hellos();
        if self.discovery.as_mut().is_some_and(Discovery::take_look) {
            self.effects.push_back(Effect::ReadNotes);
        }
    }
}
