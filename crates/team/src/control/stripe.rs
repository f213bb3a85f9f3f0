//! stripe: what the team asks of discovery, and takes from it.
//!
//! Towards everybody who does not stripe the mode is balance-alb: the files
//! under `balance` do that part.

use nicteam_wire::{Frame, Hello, Mac};

use super::{Effect, Team};
use crate::stripe::{Discovery, Own};
use crate::{MemberId, Mode, Time, TimerReason};

/// What a member is taken to carry where nobody knows, Mbit/s.
const UNKNOWN_RATE_MBPS: u32 = 1000;

impl Team {
    /// Who else stripes, and the paths to them; in stripe alone.
    pub fn discovery(&self) -> Option<&Discovery> {
        self.discovery.as_ref()
    }

    /// Discovery of a team in this mode, with a number of its own: its address,
    /// which no other team on the segment has, and when it began.
    pub(super) fn discovery_for(mode: Mode, mac: Mac, now: Time) -> Option<Discovery> {
        let Mac([a, b, c, d, e, f]) = mac;
        let began_ms = (now.as_nanos() / 1_000_000) as u16;
        let [high, low] = began_ms.to_be_bytes();
        (mode == Mode::Stripe).then(|| Discovery::new(u64::from_be_bytes([a, b, c, d, e, f, high, low])))
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
    }
}
