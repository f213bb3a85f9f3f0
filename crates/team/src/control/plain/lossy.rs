//! Members whose segments are lost on the way to hosts that do not stripe.
//!
//! TCP sends lost segments again, and the dataplane says which member carried the first one. A member that loses many
//! times what the others lose costs a connection more than it carries; what all members lose alike, a switch or a host
//! beyond them loses. A queue that was full once loses a burst, which is one member's as often as not: a member
//! that loses does so in most parts of a window. A few losses are a few bursts, which may be one member's by chance: then it has
//! to be the same one several times in a row. Nothing measures a member that sends nothing, so it is tried again: after 10 s,
//! and if that was too soon after twice the time.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_events::PlainEvent;
use nicteam_machine::{MemberId, MemberSet, Time, state};
use nicteam_plan::stripe::PlainMember;

/// Over how long segments are counted, at least.
const WINDOW: Duration = Duration::from_secs(1);
/// The fewest segments sent again that say something.
const FEWEST: u64 = 8;
/// One of so many is too much.
const PART: u64 = 1000;
/// If it is so many times the part that the others lose.
const TIMES: u128 = 4;
/// In so many parts of the window, from one report to the next, it has to have lost something.
const PARTS: u8 = 3;
/// So many segments sent again in a window, and one of so many, are no few bursts. Full queues of a gateway and of a switch gave
/// one member by chance up to 29 of 8,000 at 100 Mbit/s, and 169 of 81,000 at a gigabit.
const CLEAR: u64 = 64;
const CLEAR_PART: u64 = 100;
/// With less it has to be the worst in so many windows in a row.
const IN_A_ROW: u8 = 3;
/// How long a member is left at first, and at most.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(160);

/// The members that lose, and by what that was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Lossy {
    /// Counts at the beginning of the window.
    base: Option<(Time, Vec<PlainMember>)>,
    /// The last counts, how many there were since the beginning, and in how many each member had lost something.
    last: Vec<PlainMember>,
    parts: u8,
    lost_in: BTreeMap<MemberId, u8>,
    /// The worst of the last windows, and of how many in a row.
    suspect: Option<(MemberId, u8)>,
    left: BTreeMap<MemberId, Left>,
}

state!(struct Lossy { base, last, parts, lost_in, suspect, left });

/// A member that was found lossy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Until when it is left, or was.
    pub(super) until: Time,
    /// How long.
    penalty: Duration,
    /// It is left now.
    is_out: bool,
    /// What it sent in the window, and of it sent again.
    pub(super) sent: u64,
    pub(super) resent: u64,
}

state!(struct Left { until, penalty, is_out, sent, resent });

impl Lossy {
    /// Those that are left now.
    pub(super) fn members(&self) -> MemberSet {
        self.left.iter().filter(|(_, left)| left.is_out).map(|(id, _)| *id).collect()
    }

    /// Since when, and why; of one that is left.
    pub(super) fn of(&self, id: MemberId) -> Option<&Left> {
        self.left.get(&id).filter(|left| left.is_out)
    }

    /// When one is tried again.
    pub(super) fn next(&self) -> Option<Time> {
        self.left.values().filter(|left| left.is_out).map(|left| left.until).min()
    }

    /// Only these are members still.
    pub(super) fn retain(&mut self, is_member: impl Fn(MemberId) -> bool) {
        self.left.retain(|id, _| is_member(*id));
        self.suspect = self.suspect.filter(|(id, _)| is_member(*id));
    }

    /// Takes in what all members have sent, and of it sent again, ever. Of those that are used now the worst is left, if
    /// it is bad enough and not the only one.
    pub(super) fn take_report(&mut self, counts: &[PlainMember], used: MemberSet, now: Time) -> Option<PlainEvent> {
        let last = std::mem::replace(&mut self.last, counts.to_vec());
        let Some((since, base)) = &self.base else {
            self.base = Some((now, counts.to_vec()));
            return None;
        };
        let part = difference(&last, counts).unwrap_or_default();
        self.parts = self.parts.saturating_add(1);
        for member in part.iter().filter(|member| member.resent > 0) {
            let lost_in = self.lost_in.entry(member.id).or_default();
            *lost_in = lost_in.saturating_add(1);
        }
        if now.since(*since) < WINDOW {
            return None;
        }
        let window = difference(base, counts);
        self.base = Some((now, counts.to_vec()));
        let (parts, lost_in) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.lost_in));
        let steady =
            lost_in.into_iter().filter(|(_, lost_in)| *lost_in >= PARTS.min(parts)).map(|(id, _)| id).collect();
        self.judge(&window.unwrap_or_default(), used, steady, now)
    }

    /// Those whose time has come are tried again.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Vec<PlainEvent> {
        let back = self.left.iter_mut().filter(|(_, left)| left.is_out && left.until <= now);
        back.map(|(&member, left)| {
            left.is_out = false;
            PlainEvent::Tried { member }
        })
        .collect()
    }

    /// `steady`: who has lost in most parts of the window.
    fn judge(&mut self, window: &[PlainMember], used: MemberSet, steady: MemberSet, now: Time) -> Option<PlainEvent> {
        let sum = |count: fn(&PlainMember) -> u64| window.iter().map(count).fold(0, u64::saturating_add);
        let all = (sum(|of| of.sent), sum(|of| of.resent));
        let others = |of: &PlainMember| (all.0.saturating_sub(of.sent), all.1.saturating_sub(of.resent));
        let is_lossy = |of: &&PlainMember| {
            let (others_sent, others_resent) = others(of);
            // What the others would have had to send again if they lost the same part, times what it sent.
            let expected = u128::from(of.resent) * u128::from(others_sent);
            let sent = u128::from(of.sent);
            used.contains(of.id)
                && steady.contains(of.id)
                && used != MemberSet::one(of.id)
                && of.resent >= FEWEST
                && u128::from(of.resent) * u128::from(PART) >= sent
                && others_sent > 0
                && expected >= u128::from(FEWEST) * sent
                && expected >= TIMES.saturating_mul(u128::from(others_resent) * sent)
        };
        // By the part that is lost: one with nothing but losses is the worst.
        let part = |of: &PlainMember| (u128::from(of.resent) << 32) / u128::from(of.sent.max(1));
        let suspect = self.suspect.take();
        let worst = *window.iter().filter(is_lossy).max_by_key(|of| part(of))?;
        let in_a_row = suspect.filter(|(id, _)| *id == worst.id).map_or(1, |(_, windows)| windows.saturating_add(1));
        let is_clear = worst.resent >= CLEAR && worst.resent.saturating_mul(CLEAR_PART) >= worst.sent;
        if !is_clear && in_a_row < IN_A_ROW {
            self.suspect = Some((worst.id, in_a_row));
            return None;
        }
        let before = self.left.get(&worst.id).filter(|left| now.since(left.until) < left.penalty);
        let penalty = before.map_or(FIRST, |left| (left.penalty * 2).min(LONGEST));
        let PlainMember { id: member, sent, resent } = worst;
        self.left.insert(member, Left { until: now + penalty, penalty, is_out: true, sent, resent });
        let (others_sent, others_resent) = others(&worst);
        Some(PlainEvent::Lossy { member, sent, resent, others_sent, others_resent, left_for: penalty })
    }
}

/// What was counted in between; nothing if counting began anew.
fn difference(before: &[PlainMember], after: &[PlainMember]) -> Option<Vec<PlainMember>> {
    let of = |now: &PlainMember| {
        let (sent, resent) =
            before.iter().find(|of| of.id == now.id).map_or((0, 0), |before| (before.sent, before.resent));
        Some(PlainMember { id: now.id, sent: now.sent.checked_sub(sent)?, resent: now.resent.checked_sub(resent)? })
    };
    after.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    /// The member that is found if each sent, and retransmitted, so many segments in a second, several seconds long.
    fn found(window: &[(u64, u64)]) -> Option<usize> {
        found_after(&[window; IN_A_ROW as usize]).map(|(member, _)| member)
    }

    /// The member that is found by seconds in which each sent, and retransmitted, so many segments, and after how many.
    fn found_after(windows: &[&[(u64, u64)]]) -> Option<(usize, usize)> {
        let (mut lossy, places) = (Lossy::default(), windows[0].len());
        let used = (0..places).map(id).collect();
        let mut all: Vec<PlainMember> = (0..places).map(|at| PlainMember { id: id(at), sent: 0, resent: 0 }).collect();
        assert_eq!(lossy.take_report(&all, used, Time::ZERO), None);
        windows.iter().enumerate().find_map(|(at, window)| {
            for (member, (sent, resent)) in all.iter_mut().zip(*window) {
                member.sent = member.sent.saturating_add(*sent);
                member.resent = member.resent.saturating_add(*resent);
            }
            let event = lossy.take_report(&all, used, Time::ZERO + WINDOW * (at as u32 + 1))?;
            Some((event.member().index(), at + 1))
        })
    }

    #[test]
    fn few_losses_have_to_be_the_same_member_s_several_times() {
        let [first, second, none] = [[(8000, 16), (8000, 4)], [(8000, 4), (8000, 16)], [(8000, 1), (8000, 1)]];
        assert_eq!(found_after(&[&first, &first, &first]), Some((0, 3)));
        assert_eq!(found_after(&[&first, &first, &second, &first, &first]), None, "full queues that met one by chance");
        assert_eq!(found_after(&[&first, &first, &none, &first, &first]), None);
        assert_eq!(found_after(&[&[(8000, 125), (8000, 10)]]), Some((0, 1)), "so many are no chance");
        let gigabit: [(u64, u64); 2] = [(81_000, 169), (77_000, 13)];
        assert_eq!(found_after(&[&gigabit, &gigabit]), None);
        assert_eq!(found_after(&[&gigabit, &gigabit, &gigabit]), Some((0, 3)));
    }

    /// Whether the second member is found that loses so much in each quarter of a second, of 20,000 segments, for some seconds.
    fn found_in_parts(lost: [u64; 4]) -> bool {
        let mut lossy = Lossy::default();
        let used = (0..2).map(id).collect();
        let (mut sent, mut resent, mut found) = (0, 0, false);
        for (quarter, lost) in [0].into_iter().chain([lost; IN_A_ROW as usize].concat()).enumerate() {
            let members = [(sent, 0), (sent, resent + lost)];
            let member = |(place, (sent, resent)): (usize, (u64, u64))| PlainMember { id: id(place), sent, resent };
            let members: Vec<PlainMember> = members.into_iter().enumerate().map(member).collect();
            found |= lossy.take_report(&members, used, Time::ZERO + WINDOW / 4 * quarter as u32).is_some();
            (sent, resent) = (sent + 20_000, resent + lost);
        }
        found
    }

    #[test]
    fn a_burst_says_nothing_of_a_member() {
        assert!(found_in_parts([60, 60, 60, 60]));
        assert!(found_in_parts([0, 80, 80, 80]));
        assert!(!found_in_parts([240, 0, 0, 0]), "a queue was full once");
        assert!(!found_in_parts([0, 0, 120, 120]), "at the turn of two parts");
    }

    #[test]
    fn who_loses_many_times_what_the_others_lose_is_left() {
        assert_eq!(found(&[(80_000, 0), (80_000, 240)]), Some(1));
        assert_eq!(found(&[(80_000, 240), (80_000, 450), (80_000, 0)]), None, "three times what the others lose");
        assert_eq!(found(&[(80_000, 10), (80_000, 500), (80_000, 0)]), Some(1));
        assert_eq!(found(&[(80_000, 0), (80_000, 79)]), None, "less than one of a thousand");
        assert_eq!(found(&[(5000, 0), (5000, 7)]), None, "too few to say something");
        assert_eq!(found(&[(80_000, 240), (80_000, 240)]), None, "a switch beyond them loses");
        assert_eq!(found(&[(0, 0), (80_000, 240)]), None, "nobody to compare with");
        assert_eq!(found(&[(1000, 0), (80_000, 240)]), None, "too little to compare with");
        assert_eq!(found(&[(80_000, 240)]), None, "it is the only one");
        assert_eq!(found(&[(80_000, 0), (0, 30)]), Some(1), "all that it sent is gone");
        assert_eq!(found(&[(80_000, 400), (80_000, 0), (80_000, 900), (80_000, 0)]), Some(2), "the worst first");
        assert_eq!(found(&[(u64::MAX / 4, 0), (u64::MAX / 4, u64::MAX / 8)]), Some(1));
    }
}
