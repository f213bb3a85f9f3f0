//! ARP and neighbour discovery: what the stack says of itself, and what clients say.

use std::net::IpAddr;

use nicteam_machine::MemberId;
use nicteam_wire::{Arp, Frame, Mac, Ndisc, NdiscKind, ethertype};

use super::rlb::{Pair, World};
use super::{Balancer, Situation};

impl Balancer {
    /// What the stack says (`rlb_arp_xmit`). What says the team's address to one
    /// client says the address of that client's member instead, and leaves by it.
    /// The rest leaves as it is, by the active member.
    pub(super) fn say(&mut self, bytes: &[u8], at: &Situation<'_>) -> Option<(MemberId, Vec<u8>)> {
        let said = Frame::parse_untagged(bytes).ok().and_then(|frame| match frame.ethertype() {
            ethertype::ARP => self.say_arp(&frame, at),
            ethertype::IPV6 if at.config.rlb_ipv6 => self.say_ndisc(&frame, at),
            _ => None,
        });
        said.or_else(|| at.active.map(|active| (active, bytes.to_vec())))
    }

    /// What a member heard (`rlb_arp_recv`).
    pub(super) fn hear(&mut self, bytes: &[u8], at: &Situation<'_>) {
        let Ok(frame) = Frame::parse_untagged(bytes) else { return };
        match frame.ethertype() {
            ethertype::ARP => {
                if let Ok(arp) = Arp::decode(frame.payload()) {
                    self.hear_arp(&arp, at);
                }
            }
            ethertype::IPV6 if at.config.rlb_ipv6 => {
                if let Ok(ndisc) = Ndisc::decode(frame.payload()) {
                    self.hear_ndisc(&ndisc, at);
                }
            }
            _ => {}
        }
    }

    fn say_arp(&mut self, frame: &Frame<'_>, at: &Situation<'_>) -> Option<(MemberId, Vec<u8>)> {
        let arp = Arp::decode(frame.payload()).ok()?;
        let (server, client) = (IpAddr::from(arp.sender_ip), IpAddr::from(arp.target_ip));
        // Gratuitous ARP and probes (RFC 5227) speak to everybody, and who probes has no address yet.
        if arp.sender_mac != at.team || server == client || server.is_unspecified() || client.is_unspecified() {
            return None;
        }
        let to = match arp.operation {
            Arp::REPLY => unicast(arp.target_mac),
            Arp::REQUEST => unicast(frame.dst()),
            _ => return None,
        };
        let (member, mac) = self.assign(Pair { server, client }, to, frame, at)?;
        if to.is_none() {
            self.told_all(server, at);
            return None;
        }
        Some((member, Arp { sender_mac: mac, ..arp }.frame(frame.dst(), mac, frame.vlan())))
    }

    fn say_ndisc(&mut self, frame: &Frame<'_>, at: &Situation<'_>) -> Option<(MemberId, Vec<u8>)> {
        let ndisc = Ndisc::decode(frame.payload()).ok()?;
        let to = unicast(frame.dst());
        let (server, client) = match ndisc.kind {
            NdiscKind::Solicitation => (ndisc.src, ndisc.target),
            NdiscKind::Advertisement { .. } => (ndisc.target, ndisc.dst),
        };
        // Duplicate detection and what is said to all nodes.
        if server.is_unspecified() || client.is_multicast() || ndisc.link_layer.is_none_or(|mac| mac != at.team) {
            return None;
        }
        let (member, mac) = self.assign(Pair { server: server.into(), client: client.into() }, to, frame, at)?;
        Some((member, Ndisc { link_layer: Some(mac), ..ndisc }.frame(frame.dst(), mac, frame.vlan())))
    }

    /// The member for a client and its address.
    fn assign(
        &mut self,
        pair: Pair,
        client_mac: Option<Mac>,
        frame: &Frame<'_>,
        at: &Situation<'_>,
    ) -> Option<(MemberId, Mac)> {
        let world = World { channels: &self.told, active: at.active, addresses: &self.addresses, now: at.now };
        let (member, moved) = self.rlb.choose(pair, client_mac, at.team, frame.vlan(), &world);
        self.outbox.extend(moved);
        let member = member?;
        Some((member, self.addresses.of(member)?))
    }

    fn told_all(&mut self, server: IpAddr, at: &Situation<'_>) {
        let world = World { channels: &self.told, active: at.active, addresses: &self.addresses, now: at.now };
        self.rlb.told_all(server, &world, at.now);
    }

    fn hear_arp(&mut self, arp: &Arp, at: &Situation<'_>) {
        if self.is_ours(arp.sender_mac, at) {
            return;
        }
        let (sender, target) = (IpAddr::from(arp.sender_ip), IpAddr::from(arp.target_ip));
        self.rlb.heard(sender, arp.sender_mac);
        if arp.operation == Arp::REPLY {
            self.rlb.answered(Pair { server: target, client: sender }, arp.sender_mac, at.now);
        }
    }

    fn hear_ndisc(&mut self, ndisc: &Ndisc, at: &Situation<'_>) {
        let Some(mac) = ndisc.link_layer.filter(|&mac| !self.is_ours(mac, at)) else { return };
        if let NdiscKind::Advertisement { .. } = ndisc.kind {
            self.rlb.heard(ndisc.target.into(), mac);
            self.rlb.answered(Pair { server: ndisc.dst.into(), client: ndisc.target.into() }, mac, at.now);
        }
    }

    /// A frame of ours that a switch flooded back.
    fn is_ours(&self, mac: Mac, at: &Situation<'_>) -> bool {
        mac == at.team || self.addresses.owner(mac).is_some()
    }
}

fn unicast(mac: Mac) -> Option<Mac> {
    (!mac.is_multicast()).then_some(mac)
}
