//! What a plan says of a frame from the stack.

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::Frame;

use super::action::{Action, Found};
use super::plan::{Choose, Plan};
use super::state::PlanState;
use super::{balance, buckets, hash, stripe};

impl Plan {
    /// The same as [`Plan::choose`], for a dataplane that sees the queue for
    /// which a frame is meant (Linux `skb->queue_mapping`; 0 is none): one that is
    /// a member's `queue_id` leaves by that member (`bond_slave_override`).
    pub fn choose_queued(&self, queue: u16, frame: &Frame<'_>, state: &mut PlanState) -> Action {
        match self.members.iter().find(|line| queue != 0 && line.queue_id == queue) {
            Some(line) => {
                self.note_source(frame, state);
                Action::Send(MemberSet::one(self.member_for(line.id, 0, state)))
            }
            None => self.choose(frame, state),
        }
    }

    /// What to do with a frame that the stack sends.
    pub fn choose(&self, frame: &Frame<'_>, state: &mut PlanState) -> Action {
        self.note_source(frame, state);
        match self.find(frame, state) {
            Found::Member(member, number) => Action::Send(MemberSet::one(self.member_for(member, number, state))),
            Found::Action(action) => action,
        }
    }

    fn note_source(&self, frame: &Frame<'_>, state: &mut PlanState) {
        if self.notes_sources {
            state.sources.note(frame, state.now);
        }
    }

    /// The same, whatever the members' carrier is.
    fn find(&self, frame: &Frame<'_>, state: &mut PlanState) -> Found {
        match &self.choose {
            Choose::Nobody => Found::Action(Action::Drop),
            Choose::One(member) => Found::Member(*member, 0),
            Choose::All(members) if members.is_empty() => Found::Action(Action::Drop),
            Choose::All(members) => Found::Action(Action::Send(*members)),
            Choose::HashOrAll { table, .. } if !table.is_empty() && balance::is_resolution(frame) => {
                Found::Action(Action::Send(table.iter().copied().collect()))
            }
            Choose::Hash { policy, table } | Choose::HashOrAll { policy, table } => {
                send_by(table, hash::hash(*policy, frame))
            }
            Choose::Balance(balance) => balance::find(balance, frame, &mut state.loads),
            Choose::Buckets(buckets) => buckets::find(buckets, frame, &mut state.loads, &mut state.turn),
            Choose::Stripe(stripe) => {
                state.stripe.follow(self.generation);
                Found::Action(stripe::choosing::choose(stripe, frame, state))
            }
            Choose::RoundRobin { igmp, .. } if hash::is_igmp(frame) => Found::Member(*igmp, 0),
            Choose::RoundRobin { members, packets_per_member, .. } => {
                let turn = match packets_per_member {
                    0 => state.next_random(),
                    per_member => {
                        state.round_robin = state.round_robin.wrapping_add(1);
                        state.round_robin / per_member
                    }
                };
                send_by(members, turn)
            }
        }
    }
}

/// `table[number % table.len()]`, or a drop if the table is empty.
fn send_by(table: &[MemberId], number: u32) -> Found {
    let place = (number as usize).checked_rem(table.len());
    match place.and_then(|place| table.get(place)) {
        Some(&member) => Found::Member(member, number),
        None => Found::Action(Action::Drop),
    }
}
