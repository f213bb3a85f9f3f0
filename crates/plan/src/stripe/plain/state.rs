//! What is remembered of plain hosts from frame to frame.

use nicteam_machine::MemberId;
use nicteam_wire::{Acknowledgement, Frame, Segment};

use super::super::peer::Sender;
use super::super::plan::Stripe;
use super::super::senders::Senders;
use super::choosing;
use super::choosing::Wish;
use super::counts::Counts;
use super::flows::Flows;
use super::hosts::Hosts;
use super::look::Look;
use super::report::PlainReport;
use crate::hash;
use nicteam_options::HashPolicy;
use nicteam_options::StripePlain;

/// Hosts, flows and members.
#[derive(Clone, Debug, Default)]
pub(in crate::stripe) struct PlainState {
    hosts: Hosts,
    flows: Flows,
    counts: Counts,
}

impl PlainState {
    /// The member by which a unicast frame that may be balanced leaves; nothing if it goes as in balance-alb. `turn` counts
    /// the frames that choose.
    pub(in crate::stripe) fn choose(
        &mut self,
        stripe: &Stripe,
        frame: &Frame<'_>,
        senders: &mut Senders,
        turn: &mut u32,
        now: u64,
    ) -> Option<MemberId> {
        let members = members(stripe)?;
        // Whatever goes there, the host is one that is used.
        let (number, host) = self.hosts.send_to(frame.dst(), members.len(), now)?;
        let segment = Segment::of(frame);
        if segment.is_none() && stripe.plain.kind != StripePlain::All {
            return None;
        }
        let flow = match segment {
            Some(segment) => self.flows.with_number(segment.flow),
            None => self.flows.with_hash(hash::hash(HashPolicy::Layer34, frame)),
        };
        let data = segment.filter(|segment| segment.sequence != segment.end);
        let sent_again = data.and_then(|segment| {
            let (_, connection) = flow.connection(segment.flow)?;
            connection.has_sent(&segment).then_some((connection.carrier(segment.sequence), connection))
        });
        let is_again = sent_again.is_some();
        let carrier = sent_again.and_then(|(carrier, connection)| {
            connection.note_sent_again();
            carrier
        });

        let used = choosing::used(host, &members);
        let wish = Wish { bytes: frame.wire_bytes(), kept: flow.kept(number, now), avoid: carrier };
        *turn = turn.wrapping_add(1);
        let look = choosing::choose(&used, wish, senders, *turn, now)?;
        let Look { member, wire_ns, .. } = look;
        senders.send(member, wire_ns, now);
        senders.end_window(now);
        flow.take(number, &look, now);
        if used.len() > 1 {
            host.note_striped(now);
        }
        if let Some(carrier) = carrier {
            self.counts.resent(carrier, frame.segments());
        }
        if let Some(segment) = data.filter(|_| !is_again) {
            flow.note_sent(&segment, member, now);
            self.counts.sent(member, frame.segments());
        }
        host.judge(&members, senders, now);
        Some(member)
    }

    /// The team gets a frame of no peer's: what it acknowledges counts. True if gaps that it reports may come of
    /// frames that went by several members.
    pub(in crate::stripe) fn hear(&mut self, stripe: &Stripe, frame: &Frame<'_>, now: u64) -> bool {
        let acknowledgement = members(stripe).and_then(|_| Acknowledgement::of(frame));
        let Some(Acknowledgement { flow, ack }) = acknowledgement else { return false };
        let Some((number, connection)) = self.flows.with_number(flow).connection(flow) else {
            return self.hosts.with_address(frame.src()).is_some_and(|host| host.was_striped_to(now));
        };
        let Some(host) = self.hosts.get_mut(number) else { return false };
        if let Some(acked) = connection.take_ack(ack, now) {
            host.acked += u64::from(acked.bytes);
            if let Some(trip) = acked.round_trip {
                host.note_round_trip(&trip);
            }
        }
        host.was_striped_to(now)
    }

    /// What is known now; that a host was striped to, once.
    pub(in crate::stripe) fn take_report(&mut self, now: u64) -> PlainReport {
        PlainReport { hosts: self.hosts.take_report(now), members: self.counts.report() }
    }
}

/// The members that may be used; nothing if frames to plain hosts go as in balance-alb.
fn members(stripe: &Stripe) -> Option<Vec<Sender>> {
    let is_off = stripe.plain.kind == StripePlain::Off;
    let members = stripe.senders.iter().filter(|sender| !is_off && stripe.plain.members.contains(sender.id));
    let members: Vec<Sender> = members.copied().collect();
    (members.len() > 1).then_some(members)
}
