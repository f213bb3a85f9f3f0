//! stripe: what the team asks of discovery, and takes from it.
//!
//! Towards everybody who does not stripe the mode is balance-alb: the files
//! under `balance` do that part.

use nicteam_discovery::{Discovery, Own};
use nicteam_events::{Effect, Identity};
use nicteam_machine::{MemberId, Time};
use nicteam_plan::stripe::Note;
use nicteam_wire::{Arp, Frame, Mac, Ndisc, ethertype};

use super::Team;
use super::monitor::millis;
use super::parts::Parts;
use crate::{Choose, TimerReason};

/// What a member is taken to carry where nobody knows, Mbit/s.
const UNKNOWN_RATE_MBPS: u32 = 1000;

impl Team {
    /// Who else stripes, and the paths to them; in stripe alone.
    pub fn discovery(&self) -> Option<&Discovery> {
        self.parts.discovery.as_ref()
    }

    /// What is random of this process: stripe needs it, and balance-tcp's buckets. To be told before there are members.
    pub fn set_identity(&mut self, identity: Identity, now: Time) {
        self.identity = identity;
        let seed = self.seed();
        if let Some(bond) = &mut self.parts.bond {
            bond.reseed(seed);
        }
        self.discover_anew(now);
    }

    /// A number that only this process has.
    pub(super) fn seed(&self) -> u64 {
        // Not a secret number: an observer could compute a part of it from which bucket has which member.
        self.identity.number
    }

    /// Discovery begins, or ends, as the mode wants it. A team that was told no
    /// identity has one of its address and the time, and stamps that anybody can compute.
    pub(super) fn discover_anew(&mut self, now: Time) {
        let Mac([a, b, c, d, e, f]) = self.announcer.mac;
        let [high, low] = ((now.as_nanos() / 1_000_000) as u16).to_be_bytes();
        let system = u64::from_be_bytes([a, b, c, d, e, f, high, low]) ^ self.identity.number;
        let interval = millis(self.config.stripe_interval_ms);
        // What followed from secrets before belongs to the same change.
        let derived: Vec<u64> = self.parts.discovery.iter_mut().flat_map(Discovery::take_derived).collect();
        self.parts.discovery = self.traits.stripes().then(|| {
            let mut discovery = Discovery::new(system, self.identity.secret, interval);
            discovery.set_source(self.source);
            discovery.give_derived(&derived);
            discovery
        });
        self.take_key(now);
    }

    /// Hellos go by the configuration's key.
    pub(super) fn take_key(&mut self, now: Time) {
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.set_keys(self.config.stripe_key.as_ref(), self.config.stripe_key_old.as_ref(), now);
        }
    }

    /// The probes that leave from now on carry this mark: the first four bytes of their stamps, by which the
    /// shell's listening sockets tell echoes of them from other frames. It should be random.
    pub fn mark_probes(&mut self, mark: u32) {
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.mark_probes(mark);
        }
    }

    /// What the dataplane noted of peers' frames, the answer to [`Effect::ReadNotes`].
    pub fn handle_notes(&mut self, notes: &[Note], now: Time) {
        self.assert_drained();
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.handle_notes(notes, now);
            self.after_discovery(now);
        }
    }

    /// A member received a hello.
    pub(super) fn hello(&mut self, member: MemberId, frame: &Frame<'_>, now: Time) {
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.handle_frame(member, frame, now);
            self.after_discovery(now);
        }
    }

    /// A deadline of discovery has come.
    pub(super) fn discover(&mut self, now: Time) {
        // Takes in new addresses of members and of the team.
        self.stripe_members(now);
        self.follow_one_sided(now);
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.handle_timeout(now);
            self.after_discovery(now);
        }
    }

    /// Discovery follows the members' states; the plan follows after it.
    pub(super) fn stripe_members(&mut self, now: Time) {
        let Parts { discovery: Some(discovery), balancer: Some(balancer), .. } = &mut self.parts else { return };
        let (config, team) = (&self.config, self.announcer.mac);
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
        let Some(discovery) = &mut self.parts.discovery else { return };
        let frames = discovery.take_frames().into_iter().map(|(member, frame)| Effect::Transmit { member, frame });
        self.effects.extend(frames);
        match discovery.poll_timeout() {
            Some(at) => self.timers.set(TimerReason::Discovery, at),
            None => self.timers.stop(TimerReason::Discovery),
        }
    }

    /// What the stack says to a peer that stripes: by a path, as its other frames,
    /// and of the team's address, for any path leads there.
    pub(super) fn say_to_peer(&self, bytes: &[u8]) -> Option<(MemberId, Vec<u8>)> {
        let Choose::Stripe(stripe) = &self.plan.choose else { return None };
        let peer = stripe.peer(Frame::parse_untagged(bytes).ok()?.dst())?;
        let path = peer.paths.first()?;
        let (sender, receiver) = (stripe.senders.get(path.sender)?, peer.receivers.get(path.receiver)?);
        Some((sender.id, [&receiver.mac.0, &sender.mac.0, bytes.get(12..)?].concat()))
    }

    /// What the stack says to a group, and this member says already, on the other
    /// segments: by the listener of each, with the address under which the team is
    /// to be found there.
    pub(super) fn say_elsewhere(&self, member: MemberId, bytes: &[u8]) -> Vec<(MemberId, Vec<u8>)> {
        let (Some(discovery), Ok(frame)) = (&self.parts.discovery, Frame::parse_untagged(bytes)) else {
            return Vec::new();
        };
        if !frame.dst().is_multicast() {
            return Vec::new();
        }
        let others = discovery.segments().iter().filter(|(_, members)| !members.contains(member));
        others.filter_map(|(listener, _)| Some((*listener, self.say_as(&frame, *listener)?))).collect()
    }

    /// A frame of ARP or neighbour discovery with a member's address in the place of the team's.
    fn say_as(&self, frame: &Frame<'_>, member: MemberId) -> Option<Vec<u8>> {
        let (own, team) = (self.parts.balancer.as_ref()?.own_mac(member)?, self.announcer.mac);
        let (dst, vlan) = (frame.dst(), frame.vlan());
        let instead = |mac: Mac| if mac == team { own } else { mac };
        match frame.ethertype() {
            ethertype::ARP => {
                let arp = Arp::decode(frame.payload()).ok()?;
                Some(Arp { sender_mac: instead(arp.sender_mac), ..arp }.frame(dst, own, vlan))
            }
            ethertype::IPV6 => {
                let ndisc = Ndisc::decode(frame.payload()).ok()?;
                Some(Ndisc { link_layer: ndisc.link_layer.map(instead), ..ndisc }.frame(dst, own, vlan))
            }
            _ => None,
        }
    }

    fn after_discovery(&mut self, now: Time) {
        if self.parts.discovery.as_mut().is_some_and(|discovery| discovery.take_changed(now)) {
            self.update_plan();
        }
        self.send_hellos();
        if self.parts.discovery.as_mut().is_some_and(Discovery::take_look) {
            self.effects.push_back(Effect::ReadNotes);
        }
    }
}
