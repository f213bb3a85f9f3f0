//! Plans in the kernel: exchanged at once, never changed under a reader.
//!
//! The plan in force is never changed: the kernel takes all slots as one value, in
//! which that plan's bytes are what they were. A new one goes into a free slot, then
//! the slot's number is stored; a program that starts after that executes the
//! new plan. One that started before may still read the old slot, so a slot is
//! free again only after an RCU grace period. That takes milliseconds (8 to 20
//! measured, Linux 6.18), too long for a failover: a thread waits for it when half of the slots
//! are used up, and a plan only if plans follow each other faster than that.

use std::collections::BTreeMap;
use std::sync::atomic::{Ordering, fence};
use std::thread::{self, JoinHandle};

use super::failover::Failover;
use super::layout::{PLAN_SLOTS, Plan};
use super::object::Maps;
use super::peers::{Key, Peers};
use crate::Error;

/// The slots of one team.
pub(super) struct Slots {
    /// The plan in force, and its peers.
    current: Plan,
    peers: Peers,
    /// What the index says of the peers of each slot.
    indexed: BTreeMap<u32, Vec<Key>>,
    active: u32,
    /// A bit for each slot that no program can be reading.
    free: u32,
    /// Who waits for readers, and which slots are free when he is done.
    waits: Option<(JoinHandle<()>, u32)>,
}

impl Slots {
    /// Of new maps: all slots hold the plan that drops everything.
    pub(super) fn new() -> Slots {
        Slots {
            current: Plan::default(),
            peers: Peers::default(),
            indexed: BTreeMap::new(),
            active: 0,
            free: all_but(0),
            waits: None,
        }
    }

    /// Of maps in use: which slots are still read is not known.
    pub(super) fn taken_over(maps: &Maps) -> Result<Slots, Error> {
        let active = maps.control()?.active % PLAN_SLOTS;
        let (peers, indexed) = (Peers::default(), maps.indexed()?);
        Ok(Slots { current: maps.plan(active)?, peers, indexed, active, free: 0, waits: None })
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

    /// Puts a plan in force, with the peers of the last one.
    pub(super) fn install(&mut self, maps: &Maps, failover: &Failover, plan: Plan) -> Result<(), Error> {
        self.install_with(maps, failover, plan, self.peers.clone())
    }

    /// Puts a plan in force.
    pub(super) fn install_with(
        &mut self,
        maps: &Maps,
        failover: &Failover,
        plan: Plan,
        peers: Peers,
    ) -> Result<(), Error> {
        self.take_free();
        let slot = self.free.trailing_zeros();
        self.set_peers(maps, slot, &peers)?;
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
        Ok(())
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

    /// Writes the peers of a slot that nobody reads.
    fn set_peers(&mut self, maps: &Maps, slot: u32, peers: &Peers) -> Result<(), Error> {
        self.indexed.remove(&slot).unwrap_or_default().iter().try_for_each(|key| maps.remove_address(key))?;
        maps.keep_streams(peers.teams())?;
        maps.set_class(slot, &peers.class)?;
        for (number, line) in peers.lines.iter().enumerate() {
            maps.set_peer(slot, number as u32, line)?;
        }
        let index = peers.index(slot);
        index.iter().try_for_each(|(key, entry)| maps.set_address(key, entry))?;
        self.indexed.insert(slot, index.into_iter().map(|(key, _)| key).collect());
        Ok(())
    }
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
