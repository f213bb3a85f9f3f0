//! What balance-tlb and balance-alb brought: two parts that other modes can have, too, each without the other.
//!
//! - [`Buckets`] share load: which member each bucket of frames leaves by.
//! - The [`Balancer`] keeps members that have addresses of their own: who has which, the learning packets that switches need,
//!   and, where neighbours are told one member's address each, the clients.
//!
//! The rules are those of Linux 6.1 drivers/net/bonding/bond_alb.c; the files
//! beside this one name the functions and the differences. What concerns all:
//! the kernel looks every 100 ms what is to be done, this does it at once.

mod addresses;
mod buckets;
mod events;
mod inherit;
mod inherited;
mod resolution;
mod rlb;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use nicteam_events::Effect;
use nicteam_machine::state;
use nicteam_machine::{MemberId, MemberSet, Time};
use nicteam_options::mode::{Addresses as Have, Traits};
use nicteam_wire::{Mac, Vlan, learning_packet};

pub(super) use self::buckets::Buckets;

use self::addresses::Addresses;
use self::buckets::Channel;
use self::inherited::Inherited;
use self::rlb::Rlb;
use super::monitor::Members;
use crate::{Config, Receive, Rewrite};

/// Between two assignments (`BOND_TLB_REBALANCE_INTERVAL`).
pub(super) const REBALANCE: Duration = Duration::from_secs(10);

/// How long a process that takes no punted frames is waited for: the stack's own
/// question is asked again after a second.
pub(super) const PUNT_LEASE: Duration = Duration::from_millis(900);

/// What a team keeps whose members have addresses of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Balancer {
    addresses: Addresses,
    rlb: Rlb,
    channels: Vec<Channel>,
    /// Those of them that clients are told: they are not silent.
    told: Vec<Channel>,
    /// Who was active when addresses were given last.
    active: Option<MemberId>,
    /// balance-alb: a lost member's address, and who hears what is sent to it.
    inherited: Option<Inherited>,
    hears: Option<MemberId>,
    /// VLANs above the team, without 0.
    vlans: Vec<u16>,
    /// Frames that wait until the plan is in force.
    outbox: Vec<(MemberId, Vec<u8>)>,
}

state!(struct Balancer { addresses, rlb, channels, told, active, inherited, hears, vlans, outbox });

/// What follows depends on.
pub(super) struct Situation<'a> {
    pub(super) config: &'a Config,
    pub(super) traits: &'a Traits,
    pub(super) team: Mac,
    pub(super) members: &'a Members,
    pub(super) active: Option<MemberId>,
    /// Members that no answer comes back by; not all that are live.
    pub(super) silent: MemberSet,
    pub(super) now: Time,
}

impl Balancer {
    /// The address that a member's device is to carry. In balance-tlb all carry
    /// the team's, and their own stand in frames alone, as in the kernel
    /// (`alb_set_slave_mac_addr`).
    pub(super) fn device_mac(&self, traits: &Traits, id: MemberId, team: Mac) -> Mac {
        match traits.addresses {
            Have::Own => self.addresses.of(id).unwrap_or(team),
            Have::Team | Have::FailOverMac | Have::OwnInFrames => team,
        }
    }

    /// A member had this address before it joined.
    pub(super) fn set_permanent(&mut self, id: MemberId, mac: Mac, at: &Situation<'_>) -> Vec<Effect> {
        self.addresses.join(id, mac, at.team);
        let changed = (self.active == Some(id)).then(|| self.addresses.give_team(id, None, at.team)).flatten();
        self.announce_addresses(&[Some(id), changed], at)
    }

    /// The team has another address (`bond_alb_set_mac_address`).
    pub(super) fn set_team(&mut self, at: &Situation<'_>) -> Vec<Effect> {
        let Some(active) = self.active else { return Vec::new() };
        let changed = self.addresses.give_team(active, self.addresses.owner(at.team), at.team);
        self.announce_addresses(&[Some(active), changed], at)
    }

    /// A member has left.
    pub(super) fn leave(&mut self, id: MemberId, at: &Situation<'_>) -> Vec<Effect> {
        self.active.take_if(|active| *active == id);
        let heir = self.addresses.leave(id, at.team);
        self.announce_addresses(&[heir], at)
    }

    /// The VLANs above the team, each once.
    pub(super) fn set_vlans(&mut self, vlans: impl Iterator<Item = u16>) {
        self.vlans = vlans.filter(|&vlan| vlan != 0).collect();
        self.vlans.sort_unstable();
        self.vlans.dedup();
    }

    /// Lets everything follow the members' states.
    pub(super) fn follow(&mut self, at: &Situation<'_>) -> Vec<Effect> {
        let live = at.members.iter().filter(|(_, member)| member.is_live());
        let channels: Vec<Channel> =
            live.map(|(&id, member)| Channel { id, speed_mbps: member.link.speed_mbps }).collect();
        let told: Vec<Channel> = channels.iter().filter(|channel| !at.silent.contains(channel.id)).copied().collect();
        let told = if told.is_empty() { channels.clone() } else { told };
        let before = std::mem::replace(&mut self.channels, channels);
        let told_before = std::mem::replace(&mut self.told, told);
        let has = |channels: &[Channel], id: MemberId| channels.iter().any(|channel| channel.id == id);
        for gone in told_before.iter().filter(|channel| !has(&self.told, channel.id)) {
            self.rlb.lose(gone.id, &self.told, at.now);
        }
        if self.told.iter().any(|channel| !told_before.contains(channel)) {
            self.rlb.rebalance(&self.told, at.now);
        }
        let lost = before.iter().map(|channel| channel.id).rfind(|&id| !has(&self.channels, id));
        let mut effects = match at.active {
            Some(active) if self.active != Some(active) => {
                let changed = self.addresses.give_team(active, self.active, at.team);
                self.active = Some(active);
                self.announce_addresses(&[Some(active), changed], at)
            }
            _ => Vec::new(),
        };
        effects.extend(self.inherit(lost, at));
        if !at.config.rlb_ipv6 {
            let told = self.rlb.give_up_ipv6(at.active, &self.addresses);
            self.outbox.extend(told);
        }
        self.update_clients(at.now);
        effects
    }

    /// Every living member teaches its switch its address.
    pub(super) fn learn(&mut self) {
        let ids: Vec<MemberId> = self.channels.iter().map(|channel| channel.id).collect();
        ids.into_iter().for_each(|id| self.teach(id));
    }

    /// Clients whose time has come are told their members.
    pub(super) fn update_clients(&mut self, now: Time) {
        let updates = self.rlb.updates(&self.addresses, now);
        self.outbox.extend(updates);
    }

    /// When clients are to be told their members.
    pub(super) fn updates_due(&self) -> Option<Time> {
        self.rlb.due()
    }

    /// What is to be sent now.
    pub(super) fn take_frames(&mut self) -> impl Iterator<Item = Effect> + '_ {
        self.outbox.drain(..).map(|(member, frame)| Effect::Transmit { member, frame })
    }

    /// Where a host with this Ethernet address can be asked by ARP: its IPv4 addresses that the stack has spoken to.
    pub(super) fn places_of(&self, mac: Mac) -> Vec<(Ipv4Addr, Option<Vlan>)> {
        let place = |(ip, vlan)| match ip {
            IpAddr::V4(ip) => Some((ip, vlan)),
            IpAddr::V6(_) => None,
        };
        self.rlb.addresses_of(mac).filter_map(place).collect()
    }

    /// Hosts that the stack has spoken to since, by IPv4; the last first.
    pub(super) fn spoken_since(&self, since: Time) -> Vec<Mac> {
        self.rlb.spoken_since(since)
    }

    /// All addresses of such a host that the stack has spoken to, in order.
    pub(super) fn addresses_of(&self, mac: Mac) -> Vec<IpAddr> {
        let mut addresses: Vec<IpAddr> = self.rlb.addresses_of(mac).map(|(ip, _)| ip).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// The address by which a member is known on the wire.
    pub(super) fn own_mac(&self, id: MemberId) -> Option<Mac> {
        self.addresses.of(id)
    }

    /// What a member receives: the active one everything, the others what is sent to their own addresses. (The kernel's also
    /// hear what is sent to strangers, which their stack or bridge then gets
    /// from every member.)
    pub(super) fn receive(&self, team: Mac, id: MemberId, active: bool) -> Receive {
        match self.addresses.of(id) {
            _ if active => self.receive_as_active(team),
            Some(own) if self.is_live(id) => Receive::Own { own, team },
            _ => Receive::Drop,
        }
    }

    /// What is written into the frames that a member sends (`bond_do_alb_xmit`).
    pub(super) fn rewrite(&self, id: MemberId, active: bool) -> Rewrite {
        Rewrite { src: if active { None } else { self.addresses.of(id) }, dst: None }
    }

    fn is_live(&self, id: MemberId) -> bool {
        self.channels.iter().any(|channel| channel.id == id)
    }

    /// After addresses changed: the devices get theirs, the switches learn them
    /// and the clients are told (`alb_fasten_mac_swap`).
    fn announce_addresses(&mut self, changed: &[Option<MemberId>], at: &Situation<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for id in changed.iter().copied().flatten() {
            if at.traits.addresses == Have::Own
                && let Some(mac) = self.addresses.of(id)
            {
                effects.push(Effect::SetMac { member: Some(id), mac });
            }
            if self.is_live(id) {
                self.teach(id);
                self.rlb.readdressed(id, at.now);
            }
        }
        effects
    }

    /// A member teaches its switch its address (`alb_send_learning_packets`).
    fn teach(&mut self, id: MemberId) {
        if let Some(mac) = self.addresses.of(id) {
            self.teach_as(id, mac);
        }
    }

    /// A member teaches its switch this address.
    fn teach_as(&mut self, id: MemberId, mac: Mac) {
        let vlans = std::iter::once(None).chain(self.vlans.iter().map(|&vlan| Vlan::customer(vlan)));
        self.outbox.extend(vlans.map(|vlan| (id, learning_packet(mac, vlan))));
    }
}
