//! Who hears what is still sent to a member that was lost.
//!
//! Linux 6.1 drivers/net/bonding/bond_alb.c, `rlb_teach_disabled_mac_on_primary`:
//! for ten seconds the active member listens to the lost one's address, and
//! teaches it to its switch. The kernel's device takes such frames, but its stack
//! then takes them for another host's; here they reach it. In stripe this spans the
//! time until the peers have heard that a member has another address.

use std::time::Duration;

use nicteam_events::Effect;
use nicteam_machine::{MemberId, Time};
use nicteam_wire::Mac;

use super::inherited::Inherited;
use super::{Balancer, Situation};
use crate::Receive;

/// `RLB_PROMISC_TIMEOUT`.
const LASTS: Duration = Duration::from_secs(10);

impl Balancer {
    /// Members are lost, or back, or the active one is another, or time has passed.
    pub(super) fn inherit(&mut self, lost: Option<MemberId>, at: &Situation<'_>) -> Vec<Effect> {
        let heir = self.active.filter(|&active| self.is_live(active) && at.traits.balances_receiving());
        let before = self.inherited;
        self.inherited = before.filter(|inherited| {
            let same = self.addresses.of(inherited.lost) == Some(inherited.mac);
            heir.is_some() && same && inherited.until > at.now && !self.is_live(inherited.lost)
        });
        // One that is back teaches its switch that it has its address itself.
        if let Some(back) = before.map(|inherited| inherited.lost).filter(|&lost| self.is_live(lost)) {
            self.teach(back);
        }
        let new = lost.filter(|_| heir.is_some()).and_then(|lost| Some((lost, self.addresses.of(lost)?)));
        if let Some((lost, mac)) = new.filter(|(_, mac)| *mac != at.team) {
            self.inherited = Some(Inherited { lost, mac, until: at.now + LASTS });
        }
        let hears = heir.filter(|_| self.inherited.is_some());
        if let (Some(heir), Some(Inherited { mac, .. })) = (hears, self.inherited)
            && (self.hears != hears || before.map(|before| before.mac) != Some(mac))
        {
            self.teach_as(heir, mac);
        }
        let effect = |member: Option<MemberId>, on| member.map(|member| Effect::TakeAll { member, on });
        let effects = match (self.hears == hears, self.hears, hears) {
            (true, ..) => Vec::new(),
            (false, old, new) => effect(old, false).into_iter().chain(effect(new, true)).collect(),
        };
        self.hears = hears;
        effects
    }

    /// Until when the active member hears what is sent to a lost one.
    pub(super) fn inherits_until(&self) -> Option<Time> {
        self.inherited.map(|inherited| inherited.until)
    }

    /// What the active member receives.
    pub(super) fn receive_as_active(&self, team: Mac) -> Receive {
        match self.inherited {
            Some(Inherited { mac, .. }) => Receive::DeliverAnd { own: mac, team },
            None => Receive::Deliver,
        }
    }
}
