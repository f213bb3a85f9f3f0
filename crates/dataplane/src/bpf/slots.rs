//! Plans in the kernel: exchanged at once, never changed under a reader.
//!
//! The plan in force is never changed: the kernel takes all slots as one value, in
//! which that plan's bytes are what they were. A new one goes into a free slot, then
//! the slot's number is stored; a program that starts after that executes the
//! new plan. One that started before may still read the old slot, so a slot is
//! free again only after an RCU grace period. That takes milliseconds (8 to 20
//! measured, Linux 6.18), too long for a failover: a thread waits for it when half of the slots
//! are used up, and a plan only if plans follow each other faster than that.

use std::array;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread::{self, JoinHandle};

use nicteam_wire::Mac;

use super::constants::PLAN_SLOTS;
use super::failover::Failover;
use super::layout::Plan;
use super::maps::Maps;
use super::peers::{Changes, Key, Peers};
use crate::Error;

/// The slots of one team.
pub(super) struct Slots {
    /// The plan in force, and its peers.
    current: Plan,
    peers: Arc<Peers>,
    /// The peers that each slot holds; if that is not known, the addresses that it may have in the index.
    held: [Result<Arc<Peers>, BTreeSet<Mac>>; PLAN_SLOTS as usize],
    /// Whose streams there are as far as there is room.
    streams: Option<Arc<Peers>>,
    active: u32,
    /// A bit for each slot that no program can be reading.
    free: u32,
    /// The thread that waits for readers, and the slots that are free when it ends.
    waits: Option<(JoinHandle<()>, u32)>,
}

impl Slots {
    /// Of new maps: all slots hold the plan that drops everything.
    pub(super) fn new() -> Slots {
        Slots {
            current: Plan::default(),
            peers: Arc::default(),
            held: array::from_fn(|_| Ok(Arc::default())),
            streams: None,
            active: 0,
            free: all_but(0),
            waits: None,
        }
    }

    /// Of maps in use: which slots are still read is not known.
    pub(super) fn taken_over(maps: &Maps) -> Result<Slots, Error> {
        let active = maps.control()?.active % PLAN_SLOTS;
        let mut held = array::from_fn(|_| Err(BTreeSet::new()));
        for key in maps.indexed()? {
            if let Some(Err(known)) = held.get_mut(key.slot() as usize) {
                known.insert(key.mac());
            }
        }
        let (current, peers) = (maps.plan(active)?, Arc::default());
        Ok(Slots { current, peers, held, streams: None, active, free: 0, waits: None })
    }

    /// The plan in force.
    pub(super) fn current(&self) -> &Plan {
        &self.current
    }

    /// Where it is.
    pub(super) fn active(&self) -> u32 {
        self.active
    }

    /// Its peers.
    pub(super) fn peers(&self) -> &Peers {
        &self.peers
    }

    /// The maps that hold peers are new ones.
    pub(super) fn forget_peers(&mut self) {
        self.peers = Arc::default();
        self.held = array::from_fn(|_| Ok(Arc::default()));
        self.streams = None;
    }

    /// Puts a plan in force, with the peers of the last one.
    pub(super) fn install(&mut self, maps: &Maps, failover: &Failover, plan: Plan) -> Result<(), Error> {
        self.install_with(maps, failover, plan, Arc::clone(&self.peers)).map(|_| ())
    }

    /// Puts a plan in force; how many peers and addresses of peers had to be written or removed.
    pub(super) fn install_with(
        &mut self,
        maps: &Maps,
        failover: &Failover,
        plan: Plan,
        peers: Arc<Peers>,
    ) -> Result<usize, Error> {
        self.take_free();
        let slot = self.free.trailing_zeros();
        let written = self.set_peers(maps, slot, &peers)?;
        failover.clear(slot);
        maps.set_plan(slot, &plan)?;
        // The plan must be there before its number is.
        fence(Ordering::SeqCst);
        let mut control = maps.control()?;
        control.active = slot;
        maps.set_control(&control)?;
        self.free &= !(1 << slot);
        self.active = slot;
        self.current = plan;
        self.peers = peers;
        if self.waits.is_none() && self.free.count_ones() < PLAN_SLOTS / 2 {
            // Those that were left before it began.
            let left = all_but(slot) & !self.free;
            self.waits = thread::Builder::new().spawn(wait_for_readers).ok().map(|thread| (thread, left));
        }
        Ok(written)
    }

    /// Sees to it that a slot is free.
    fn take_free(&mut self) {
        let must = self.free == 0;
        if let Some((thread, left)) = self.waits.take_if(|(thread, _)| must || thread.is_finished())
            && thread.join().is_ok()
        {
            self.free |= left & all_but(self.active);
        }
        if self.free == 0 {
            wait_for_readers();
            self.free = all_but(self.active);
        }
    }

    /// Makes a slot that nobody reads hold these peers: writes what differs from those that it holds.
    fn set_peers(&mut self, maps: &Maps, slot: u32, peers: &Arc<Peers>) -> Result<usize, Error> {
        if !self.streams.as_ref().is_some_and(|known| known.teams().eq(peers.teams())) {
            maps.keep_streams(peers.teams())?;
            self.streams = Some(Arc::clone(peers));
        }
        let held = &mut self.held[(slot % PLAN_SLOTS) as usize];
        let before = std::mem::replace(held, Err(BTreeSet::new()));
        let changes = peers.changes(before.as_deref());
        let written = write(maps, slot, &changes);
        *held = match &written {
            Ok(_) => Ok(Arc::clone(peers)),
            Err(_) => {
                let known = before.map_or_else(|known| known, |before| before.indexed().collect());
                Err(known.into_iter().chain(peers.indexed()).collect())
            }
        };
        written
    }
}

/// Writes what changes in a slot; how many peers and addresses that were.
fn write(maps: &Maps, slot: u32, changes: &Changes<'_>) -> Result<usize, Error> {
    changes.gone.iter().try_for_each(|mac| maps.remove_address(&Key::new(slot, *mac)))?;
    if let Some(class) = changes.class {
        maps.set_class(slot, class)?;
    }
    changes.lines.iter().try_for_each(|(number, line)| maps.set_peer(slot, *number, line))?;
    changes.index.iter().try_for_each(|(mac, entry)| maps.set_address(&Key::new(slot, *mac), entry))?;
    Ok(changes.lines.len() + changes.gone.len() + changes.index.len())
}

fn all_but(slot: u32) -> u32 {
    ((1u64 << PLAN_SLOTS) - 1) as u32 & !(1 << slot)
}

/// Waits until every program that is running now has ended: the kernel answers
/// `MEMBARRIER_CMD_GLOBAL` with an RCU grace period (membarrier(2)). Where the
/// kernel refuses (`nohz_full`), the slots' order is the protection: the next
/// one was left 15 plans ago.
fn wait_for_readers() {
    // SAFETY: the call takes no pointer.
    unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

/// It loads programs.
#[cfg(test)]
mod live {
    use super::*;
    use crate::Programs;
    use crate::bpf::available;
    use crate::bpf::object::Object;
    use nicteam_sys::netns::is_network_root;

    #[test]
    fn plans_beyond_the_slots_follow_each_other() {
        if !is_network_root() || available().is_err_and(|reason| reason.contains("not permitted")) {
            eprintln!("SKIPPED: plans_beyond_the_slots_follow_each_other: no root");
            return;
        }
        let object = Object::load(Programs::WithoutStripe, None).unwrap();
        let (mut slots, failover) = (Slots::new(), object.maps.failover().unwrap());
        for generation in 1..=u64::from(PLAN_SLOTS) * 2 {
            let before = object.maps.control().unwrap().active;
            slots.install(&object.maps, &failover, Plan { generation, ..Plan::default() }).unwrap();
            let active = object.maps.control().unwrap().active;
            assert_ne!(active, before);
            assert_eq!(object.maps.plan(active).unwrap().generation, generation);
        }
    }
}
