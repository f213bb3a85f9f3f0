//! The forwarding thread.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use nicteam_sys::packet::{BATCH, Batch, Outgoing, Received, Sent, Shim};
use nicteam_team::{Action, Choose, Leg, MAX_MEMBERS, MemberId, MemberSet, Plan, Verdict};
use nicteam_wire::constants::{SHORTEST, WIRE_OVERHEAD};
use nicteam_wire::{Frame, GapReport, Hello, Rtag, Vlan};

use super::table::{Shared, Source, Table};
use crate::tag::with_tag;

/// Executes the plan, batch by batch.
///
/// Each round takes at most one batch from each socket that has frames, so
/// that a busy one does not keep the others waiting. Within a socket the order
/// of frames is kept.
///
/// After a round of small batches it lets more gather ([`GATHER`]): a frame in a
/// batch of many costs less processor time than one for which the thread has to
/// be woken. The first frame after a silence does not wait.
pub(super) struct Forwarder {
    shared: Arc<Shared>,
    mover: Mover,
}

/// Moves a batch at a time from a socket to where the plan sends it.
pub(super) struct Mover {
    batch: Batch,
    queues: Queues,
    /// To frames of the batch, before they are sent.
    edits: Vec<Edit>,
}

/// Other bytes for a frame.
struct Edit {
    place: usize,
    offset: usize,
    bytes: [u8; 4],
}

/// How long frames gather; a frame waits as long at most.
const GATHER: Duration = Duration::from_micros(250);
/// A batch of so many frames or bytes is worth its while.
const LARGE_FRAMES: usize = BATCH / 2;
const LARGE_BYTES: usize = 32 * 1024;
/// The most batches of a member that a change of the plan waits for: some
/// milliseconds' worth. Nobody may keep a change off by sending.
const CATCH_UP_BATCHES: usize = 256;

/// Places of the batch by the member that is to send them.
struct Queues {
    by_member: [Vec<Outgoing>; MAX_MEMBERS],
    waiting: MemberSet,
    to_stack: Vec<Outgoing>,
}

impl Forwarder {
    /// Does nothing until it is run.
    pub fn new(shared: Arc<Shared>) -> Forwarder {
        Forwarder { shared, mover: Mover::new() }
    }

    /// Forwards until it is told to stop.
    pub fn run(self) {
        let Forwarder { shared, mut mover } = self;
        let mut stopped = false;
        while !stopped {
            let mut worth_it = false;
            shared.wait(|source| match source {
                Source::Stop => stopped = true,
                Source::Stack => worth_it |= mover.forward_from_stack(&shared, &shared.read()),
                Source::Member(id) => worth_it |= mover.forward_from_member(&shared, &shared.read(), id),
            });
            if !stopped && !worth_it {
                thread::sleep(GATHER);
            }
        }
    }
}

impl Mover {
    pub fn new() -> Mover {
        Mover { batch: Batch::new(), queues: Queues::new(), edits: Vec::new() }
    }

    /// Treats what these members have received by the table as it is. Before it
    /// changes: a frame that a member received as one of the team's is the
    /// team's, and one that a standby received is none, whatever comes after.
    pub fn catch_up(&mut self, shared: &Shared, table: &Table, members: &[MemberId]) {
        for &id in members {
            for _ in 0..CATCH_UP_BATCHES {
                self.forward_from_member(shared, table, id);
                if self.batch.frames().next().is_none() && self.batch.unusable() == 0 {
                    break;
                }
            }
        }
    }

    /// One batch from the team device's stack, to the members the plan chooses; true if it was large.
    fn forward_from_stack(&mut self, shared: &Shared, table: &Table) -> bool {
        // A batch that the system refuses is empty; the next event tries again.
        let _ = shared.stack.receive(&mut self.batch);
        let (mut unsent, mut withheld) = (self.batch.unusable(), 0);
        let mut state = shared.state();
        state.now = shared.now();
        for (place, received) in self.batch.frames().enumerate() {
            let frame = view(&received);
            let action = frame.map_or(Action::Drop, |frame| table.plan.choose(&frame, &mut state));
            let queued = match action {
                Action::Send(members) => self.queues.push(place, members, table),
                Action::Stripe { member, src, dst, without } => {
                    shared.notes().sent(dst);
                    if let (Some(report), Some(frame)) = (without, frame) {
                        self.edits.push(Edit::of(place, &received, &frame, &report));
                    }
                    self.queues.push_leg(place, Leg { member, src, dst }, Shim::Keep, table)
                }
                Action::Redundant { sequence, first, second } => {
                    shared.notes().sent(first.dst);
                    // All segments of a GSO frame would carry the same tag. So it gets none, and leaves once.
                    let tagged = self.batch.get(place).is_some_and(|received| received.offload.gso_type == 0);
                    let shim = if tagged { Shim::Put(Rtag { sequence }.encode()) } else { Shim::Keep };
                    let legs = [Some(first), second.filter(|_| tagged)];
                    let mut queue = |leg: Leg| self.queues.push_leg(place, leg, shim, table);
                    legs.into_iter().flatten().fold(false, |queued, leg| queue(leg) | queued)
                }
                Action::Withhold => {
                    withheld += 1;
                    true
                }
                Action::Punt => shared.punt(&with_tag(&received)),
                Action::Drop => false,
            };
            unsent += u64::from(!queued);
        }
        drop(state);
        shared.unsent.fetch_add(unsent, Relaxed);
        shared.withheld.fetch_add(withheld, Relaxed);
        self.edit();
        self.queues.flush(&self.batch, table);
        is_large(&self.batch)
    }

    /// One batch from a member, to the team device's stack where the
    /// plan says so; true if it was large.
    fn forward_from_member(&mut self, shared: &Shared, table: &Table, id: MemberId) -> bool {
        self.batch.clear();
        // Detached since the event was reported.
        let Some(member) = table.member(id) else { return false };
        // A batch that the system refuses is empty; the next event tries again.
        let _ = member.socket.receive(&mut self.batch);
        let mut drops = self.batch.unusable();
        let (mut duplicates, mut duplicate_bytes, mut withheld) = (0, 0, 0);
        let mut state = shared.state();
        state.now = shared.now();
        for (place, received) in self.batch.frames().enumerate() {
            let frame = view(&received);
            match frame.map_or(Verdict::Drop, |frame| table.plan.receive_once(id, &frame, &mut state)) {
                Verdict::ToTeamAs { src, dst } => {
                    note(shared, table, id, frame);
                    let (src, dst) = (Some(src.0), Some(dst.0));
                    self.queues.to_stack.push(Outgoing { place, src, dst, shim: Shim::Keep });
                }
                Verdict::Untagged { src, dst } => {
                    note(shared, table, id, frame);
                    let (src, dst) = (Some(src.0), Some(dst.0));
                    self.queues.to_stack.push(Outgoing { place, src, dst, shim: Shim::Take });
                }
                Verdict::WithoutGap { src, dst, gap } => {
                    self.edits.extend(frame.map(|frame| Edit::of(place, &received, &frame, &gap)));
                    let (src, dst) = (Some(src.0), Some(dst.0));
                    self.queues.to_stack.push(Outgoing { place, src, dst, shim: Shim::Keep });
                }
                Verdict::Withhold => withheld += 1,
                Verdict::Duplicate => {
                    note(shared, table, id, frame);
                    duplicates += 1;
                    duplicate_bytes += received.bytes.len() as u64;
                }
                Verdict::ToTeam => {
                    note(shared, table, id, frame);
                    self.queues.to_stack.push(Outgoing { place, ..Outgoing::default() });
                }
                Verdict::Echo => {
                    let mut echo = received.bytes.to_vec();
                    // An echo that the system does not take is one that is lost.
                    let _ = Hello::reflect(&mut echo) && member.socket.send_frame(&echo);
                }
                // A program with a socket of its own on the member has received the frame there.
                Verdict::ToMember => {}
                Verdict::Drop => drops += 1,
            }
        }
        drop(state);
        shared.withheld.fetch_add(withheld, Relaxed);
        self.edit();
        let sent = shared.stack.send(&self.batch, &self.queues.to_stack);
        let (frames, bytes) = (sent.frames + duplicates, sent.bytes + duplicate_bytes);
        member.count_received(Sent { frames, bytes, drops: sent.drops + drops });
        self.queues.to_stack.clear();
        is_large(&self.batch)
    }

    /// Does to the batch what is to be done to it.
    fn edit(&mut self) {
        for Edit { place, offset, bytes } in self.edits.drain(..) {
            self.batch.overwrite(place, offset, &bytes);
        }
    }
}

impl Edit {
    /// Takes out of a frame what it says of a gap.
    fn of(place: usize, received: &Received<'_>, frame: &Frame<'_>, gap: &GapReport) -> Edit {
        let header = received.bytes.len() - frame.payload().len();
        Edit { place, offset: header + gap.at, bytes: gap.without() }
    }
}

impl Queues {
    fn new() -> Queues {
        Queues {
            by_member: [const { Vec::new() }; MAX_MEMBERS],
            waiting: MemberSet::EMPTY,
            to_stack: Vec::with_capacity(BATCH),
        }
    }

    /// Queues a frame for those of the members that are attached; false if none is.
    fn push(&mut self, place: usize, members: MemberSet, table: &Table) -> bool {
        let mut queued = false;
        for id in members.iter().filter(|&id| table.member(id).is_some()) {
            self.by_member[id.index()].push(outgoing(place, &table.plan, id));
            self.waiting.insert(id);
            queued = true;
        }
        queued
    }

    /// Queues a frame for a path's member, with its addresses; false if the member is not attached.
    fn push_leg(&mut self, place: usize, leg: Leg, shim: Shim, table: &Table) -> bool {
        let Leg { member: id, src, dst } = leg;
        if table.member(id).is_none() {
            return false;
        }
        self.by_member[id.index()].push(Outgoing { place, src: Some(src.0), dst: Some(dst.0), shim });
        self.waiting.insert(id);
        true
    }

    /// Sends what is queued, member by member.
    fn flush(&mut self, batch: &Batch, table: &Table) {
        for id in self.waiting.iter() {
            let queue = &mut self.by_member[id.index()];
            if let Some(member) = table.member(id) {
                member.count_sent(member.socket.send(batch, queue));
            }
            queue.clear();
        }
        self.waiting = MemberSet::EMPTY;
    }
}

/// Notes that a member received a frame, if that is a peer's; one for a group is no traffic.
fn note(shared: &Shared, table: &Table, id: MemberId, frame: Option<Frame<'_>>) {
    if let (Choose::Stripe(stripe), Some(frame)) = (&table.plan.choose, frame)
        && !frame.dst().is_multicast()
        && let Some(peer) = stripe.peer(frame.src())
        && peer.receivers.iter().any(|receiver| receiver.mac == frame.src())
    {
        shared.notes().heard(id, frame.src());
    }
}

/// A frame with what the plan writes into those that this member sends.
fn outgoing(place: usize, plan: &Plan, id: MemberId) -> Outgoing {
    let rewrite = plan.member(id).map(|line| line.rewrite).unwrap_or_default();
    Outgoing { place, src: rewrite.src.map(|mac| mac.0), dst: rewrite.dst.map(|mac| mac.0), shim: Shim::Keep }
}

fn is_large(batch: &Batch) -> bool {
    let (frames, bytes) = batch.frames().fold((0, 0), |(n, sum), received| (n + 1, sum + received.bytes.len()));
    frames >= LARGE_FRAMES || bytes >= LARGE_BYTES
}

/// The frame as the plan sees it: a tag beside it is beside it here, too.
fn view<'a>(received: &Received<'a>) -> Option<Frame<'a>> {
    let frame = Frame::parse(received.bytes).ok()?;
    let frame = frame.with_segments(segments(received)).with_wire_bytes(wire_bytes(received));
    Some(match received.tag {
        Some(tag) => frame.with_vlan(Vlan { protocol: tag.protocol, tci: tag.tci }),
        None => frame,
    })
}

/// Bytes that a frame takes on the wire; a GSO frame takes those of all its segments, each with its own headers.
fn wire_bytes(received: &Received<'_>) -> u32 {
    let (bytes, headers) = (received.bytes.len() as u32, u32::from(received.offload.hdr_len));
    let frames = segments(received);
    (bytes + (frames - 1) * headers).max(SHORTEST as u32) + frames * WIRE_OVERHEAD as u32
}

/// The number of segments that a GSO frame is cut into; 1 of any other frame.
fn segments(received: &Received<'_>) -> u32 {
    let (headers, size) = (u32::from(received.offload.hdr_len), u32::from(received.offload.gso_size));
    match size {
        0 => 1,
        _ => (received.bytes.len() as u32).saturating_sub(headers).div_ceil(size).max(1),
    }
}
