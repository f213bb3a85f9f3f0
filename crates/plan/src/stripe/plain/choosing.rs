//! By which member a frame to a plain host is sent first.

use nicteam_machine::MemberId;

use super::super::limits::LEAD;
use super::super::peer::Sender;
use super::super::senders::{Senders, wire_ns};
use super::hosts::Host;
use super::look::Look;

/// A flow leaves its member where another one is free earlier by this, nanoseconds.
const SLACK: u64 = nicteam_machine::constants::PLAIN_SLACK_NS;

/// What a frame asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// What it takes on the wire, bytes.
    pub(super) bytes: u32,
    /// The member that its flow keeps.
    pub(super) kept: Option<MemberId>,
    /// The one that others are better than.
    pub(super) avoid: Option<MemberId>,
}

/// The members that are used towards a host: the first `width` from its home on.
pub(super) fn used(host: &Host, members: &[Sender]) -> Vec<Sender> {
    host.in_turn(members).take(host.width).map(|(_, sender)| *sender).collect()
}

/// The one of these by which a frame is sent first, or that its flow keeps; of equal ones the next in turn.
pub(super) fn choose(used: &[Sender], wish: Wish, senders: &Senders, turn: u32, now: u64) -> Option<Look> {
    let first = (turn as usize).checked_rem(used.len())?;
    let (behind, ahead) = used.split_at(first);
    let look = |sender: &Sender| {
        let penalty = if wish.avoid == Some(sender.id) { LEAD.as_nanos() as u64 } else { 0 };
        Look {
            member: sender.id,
            start: senders.free_at(sender.id, now) + penalty,
            wire_ns: wire_ns(wish.bytes, sender.rate_mbps),
        }
    };
    let looks = || ahead.iter().chain(behind).map(look);
    let best = looks().min_by_key(|look| look.start + look.wire_ns)?;
    let kept = looks().find(|look| wish.kept == Some(look.member));
    Some(kept.filter(|kept| kept.start <= best.start + SLACK).unwrap_or(best))
}

#[cfg(test)]
mod tests {
    use nicteam_wire::Mac;

    use super::*;

    const MS: u64 = 1_000_000;
    /// What 1250 bytes take at 100 Mbit/s.
    const WIRE_NS: u64 = MS / 10;

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    fn used(rates_mbps: &[u32]) -> Vec<Sender> {
        let sender = |(place, &rate_mbps)| Sender { id: id(place), mac: Mac([2; 6]), rate_mbps, lost_token: 0 };
        rates_mbps.iter().enumerate().map(sender).collect()
    }

    const FREE: Wish = Wish { bytes: 1250, kept: None, avoid: None };

    fn by(used: &[Sender], wish: Wish, senders: &Senders, turn: u32) -> usize {
        choose(used, wish, senders, turn, MS).unwrap().member.index()
    }

    #[test]
    fn equal_ones_are_taken_in_turn_and_longer_ones_later() {
        let (used, mut senders) = (used(&[100; 3]), Senders::default());
        assert_eq!([0, 1, 2, 3, u32::MAX].map(|turn| by(&used, FREE, &senders, turn)), [0, 1, 2, 0, 0]);
        senders.send(id(1), WIRE_NS, MS);
        assert_eq!([0, 1, 2].map(|turn| by(&used, FREE, &senders, turn)), [0, 2, 2]);
        assert!(choose(&[], FREE, &senders, 0, MS).is_none());
    }

    #[test]
    fn what_a_frame_takes_on_the_wire_counts() {
        let (used, mut senders) = (used(&[100, 1000]), Senders::default());
        senders.send(id(1), WIRE_NS * 8 / 10, MS);
        assert_eq!([0, 1].map(|turn| by(&used, FREE, &senders, turn)), [1, 1]);
        senders.send(id(1), WIRE_NS * 2 / 10, MS);
        assert_eq!([0, 1].map(|turn| by(&used, FREE, &senders, turn)), [0, 0]);
    }

    #[test]
    fn a_flow_leaves_its_member_for_one_that_is_free_a_millisecond_earlier() {
        let (used, mut senders) = (used(&[100; 3]), Senders::default());
        let kept = Wish { kept: Some(id(2)), ..FREE };
        senders.send(id(2), SLACK, MS);
        assert_eq!([0, 1, 2].map(|turn| by(&used, kept, &senders, turn)), [2; 3]);
        senders.send(id(2), 1, MS);
        assert_eq!([0, 1, 2].map(|turn| by(&used, kept, &senders, turn)), [0, 1, 0]);
        assert_eq!(by(&used[..2], kept, &Senders::default(), 1), 1, "it is not used any more");
    }

    #[test]
    fn who_lost_a_frame_does_not_carry_it_again_where_there_is_another() {
        let (used, senders) = (used(&[100; 2]), Senders::default());
        let again = Wish { kept: Some(id(0)), avoid: Some(id(0)), ..FREE };
        assert_eq!([0, 1].map(|turn| by(&used, again, &senders, turn)), [1; 2]);
        assert_eq!(by(&used[..1], again, &senders, 0), 0);
    }
}
