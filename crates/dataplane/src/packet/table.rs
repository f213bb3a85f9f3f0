//! What the forwarding thread shares with those who control it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use nicteam_sys::packet::{PacketSocket, Sent};
use nicteam_sys::{Context, Error, Result};
use nicteam_team::stripe::Notes;
use nicteam_team::{MAX_MEMBERS, MemberId, Plan, PlanState, Time};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::Counters;

/// One team's sockets, members and plan.
///
/// The thread holds the table for reading from the receipt of a batch until it
/// has been sent. So when a change has been made, no frame is treated by the
/// old plan any more.
pub(super) struct Shared {
    /// On the end behind the team device.
    pub stack: PacketSocket,
    /// Frames from the stack that no member was asked to send.
    pub unsent: AtomicU64,
    /// Acknowledgements that were suppressed.
    pub withheld: AtomicU64,
    /// When the clock of [`PlanState`] began.
    started: Instant,
    /// What the plan remembers from frame to frame; the thread has it while it chooses.
    state: Mutex<PlanState>,
    /// What happened to peers' frames.
    notes: Mutex<Notes>,
    /// Takes punted frames, each a datagram; never waits.
    punt: UnixDatagram,
    /// Where they come out.
    pub punted: UnixDatagram,
    table: RwLock<Table>,
    epoll: Epoll,
    stop: EventFd,
}

/// The plan and the members it speaks of.
pub(super) struct Table {
    /// The plan in force.
    pub plan: Plan,
    members: [Option<Member>; MAX_MEMBERS],
}

/// An attached member.
pub(super) struct Member {
    /// Its device.
    pub name: String,
    /// On its device.
    pub socket: PacketSocket,
    tx_frames: AtomicU64,
    tx_bytes: AtomicU64,
    tx_drops: AtomicU64,
    rx_frames: AtomicU64,
    rx_bytes: AtomicU64,
    rx_drops: AtomicU64,
}

/// What has something for the forwarding thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The stack sent frames.
    Stack,
    /// A member received frames.
    Member(MemberId),
    /// The thread is to end.
    Stop,
}

/// The most sources there can be: every member, the stack, the stop.
const SOURCES: usize = MAX_MEMBERS + 2;

impl Shared {
    /// With no member and a plan that drops everything. The seed decides the
    /// random choices of a plan alone.
    pub fn new(stack: PacketSocket, seed: u64) -> Result<Shared> {
        let what = || "make the forwarding thread's event queue".to_owned();
        let (punt, punted) = UnixDatagram::pair().context(what)?;
        for end in [&punt, &punted] {
            end.set_nonblocking(true).context(what)?;
        }
        let shared = Shared {
            stack,
            unsent: AtomicU64::new(0),
            withheld: AtomicU64::new(0),
            started: Instant::now(),
            state: Mutex::new(PlanState::new(seed)),
            notes: Mutex::default(),
            punt,
            punted,
            table: RwLock::new(Table { plan: Plan::nobody(), members: [const { None }; MAX_MEMBERS] }),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context(what)?,
            stop: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).context(what)?,
        };
        shared.watch(&shared.stack, Source::Stack)?;
        shared.watch(&shared.stop, Source::Stop)?;
        Ok(shared)
    }

    /// The table as it is; it does not change as long as the guard lives.
    pub fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table, to change it.
    pub fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the plan remembers; nobody else has it as long as the guard lives.
    pub fn state(&self) -> MutexGuard<'_, PlanState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by which the plan's state goes.
    pub fn now(&self) -> Time {
        Time::ZERO + self.started.elapsed()
    }

    /// What is noted of peers' frames; nobody else has it as long as the guard lives.
    pub fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a frame to the control side; false if it does not keep up.
    pub fn punt(&self, frame: &[u8]) -> bool {
        self.punt.send(frame).is_ok()
    }

    /// Adds a member at a place that is free.
    pub fn insert(&self, id: MemberId, member: Member) -> Result<()> {
        let place = &mut self.write().members[id.index()];
        if let Some(other) = place {
            return Err(Error::new(
                format!("attach {} at place {id}, which {} has", member.name, other.name),
                Errno::EEXIST,
            ));
        }
        self.watch(&member.socket, Source::Member(id))?;
        *place = Some(member);
        Ok(())
    }

    /// Takes the member at this place out. Its socket leaves the event queue when it is closed.
    pub fn take(&self, id: MemberId) -> Option<Member> {
        self.write().members[id.index()].take()
    }

    /// Tells the thread to end.
    pub fn stop(&self) {
        // The counter of an event descriptor cannot overflow by one write.
        let _ = self.stop.write(1);
    }

    /// Waits until something is there; calls `each` for every source that has
    /// something. Only an interrupted wait may come to nothing.
    pub fn wait(&self, mut each: impl FnMut(Source)) {
        let mut events = [EpollEvent::empty(); SOURCES];
        let ready = self.epoll.wait(&mut events, EpollTimeout::NONE).unwrap_or(0);
        events.iter().take(ready).filter_map(|event| Source::from_token(event.data())).for_each(&mut each);
    }

    fn watch(&self, descriptor: impl AsFd, source: Source) -> Result<()> {
        let event = EpollEvent::new(EpollFlags::EPOLLIN, source.token());
        self.epoll.add(descriptor, event).context(|| "watch a packet socket".to_owned())
    }
}

impl Table {
    /// The member at this place.
    pub fn member(&self, id: MemberId) -> Option<&Member> {
        self.members[id.index()].as_ref()
    }

    /// The members, by place.
    pub fn members(&self) -> impl Iterator<Item = (MemberId, &Member)> {
        let places = (0..MAX_MEMBERS).filter_map(MemberId::new);
        places.zip(&self.members).filter_map(|(id, member)| Some((id, member.as_ref()?)))
    }
}

impl Member {
    /// One that has carried nothing yet.
    pub fn new(name: String, socket: PacketSocket) -> Member {
        let zero = || AtomicU64::new(0);
        Member {
            name,
            socket,
            tx_frames: zero(),
            tx_bytes: zero(),
            tx_drops: zero(),
            rx_frames: zero(),
            rx_bytes: zero(),
            rx_drops: zero(),
        }
    }

    /// Sends one frame and counts it.
    pub fn transmit(&self, frame: &[u8]) {
        self.count_sent(if self.socket.send_frame(frame) {
            Sent { frames: 1, bytes: frame.len() as u64, drops: 0 }
        } else {
            Sent { drops: 1, ..Sent::default() }
        });
    }

    /// Counts what this member sent.
    pub fn count_sent(&self, sent: Sent) {
        self.tx_frames.fetch_add(sent.frames, Relaxed);
        self.tx_bytes.fetch_add(sent.bytes, Relaxed);
        self.tx_drops.fetch_add(sent.drops, Relaxed);
    }

    /// Counts what this member received and the stack got or did not get.
    pub fn count_received(&self, delivered: Sent) {
        self.rx_frames.fetch_add(delivered.frames, Relaxed);
        self.rx_bytes.fetch_add(delivered.bytes, Relaxed);
        self.rx_drops.fetch_add(delivered.drops, Relaxed);
    }

    /// What it carried. What its receive buffer had no room for is among the drops.
    pub fn counters(&self) -> Result<Counters> {
        let lost = self.socket.take_lost()?;
        self.rx_drops.fetch_add(lost, Relaxed);
        Ok(Counters {
            tx_frames: self.tx_frames.load(Relaxed),
            tx_bytes: self.tx_bytes.load(Relaxed),
            tx_drops: self.tx_drops.load(Relaxed),
            rx_frames: self.rx_frames.load(Relaxed),
            rx_bytes: self.rx_bytes.load(Relaxed),
            rx_drops: self.rx_drops.load(Relaxed),
        })
    }
}

impl Source {
    const STACK: u64 = MAX_MEMBERS as u64;
    const STOP: u64 = Source::STACK + 1;

    /// The number that the event queue keeps for this source.
    fn token(self) -> u64 {
        match self {
            Source::Member(id) => id.index() as u64,
            Source::Stack => Source::STACK,
            Source::Stop => Source::STOP,
        }
    }

    fn from_token(token: u64) -> Option<Source> {
        match token {
            Source::STACK => Some(Source::Stack),
            Source::STOP => Some(Source::Stop),
            place => MemberId::new(place as usize).map(Source::Member),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_a_token_of_its_own() {
        let members = (0..MAX_MEMBERS).filter_map(MemberId::new).map(Source::Member);
        for source in members.chain([Source::Stack, Source::Stop]) {
            assert_eq!(Source::from_token(source.token()), Some(source));
        }
        assert_eq!(Source::from_token(SOURCES as u64), None);
    }
}
