//! Impaired links: what carries frames between the two cables of each.
//!
//! An impaired link is two cables. Each leads from one of its ends to a
//! namespace that belongs to nobody else, where one thread takes frames from
//! the one by a packet socket, does to them what was declared
//! ([`nicteam_impair`]), and sends them by the other. What limits the link's
//! rate stays with the ends: a frame is delayed behind its sender's queue, as
//! on a real wire.
//!
//! A delay counts from the moment at which the kernel took the frame from the
//! cable, not from that at which the thread read it: how soon the thread runs
//! does not matter as long as that is within the delay. What left later than
//! declared is counted ([`LATE`]), and so is what had to be dropped.
//!
//! Carrier follows: an end that goes down loses the other end its carrier
//! ([`carrier`]).

mod carrier;
mod carry;

use std::mem;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nicteam_impair::{Counts, Room};
use nicteam_record::Relayed;
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::Failure;
use crate::agent::Output;
use crate::lock::lock;
use crate::protocol::{Message, RelaySpec};

/// A frame that leaves so much later than declared counts as late.
pub(crate) const LATE: Duration = Duration::from_millis(1);

/// What may be on its way in one direction of a link. [`nicteam_impair::MOST_ON_THE_WAY`] of
/// full frames leave half of it to what comes in bursts.
const ROOM: Room = Room { frames: 1 << 18, bytes: 2 * nicteam_impair::MOST_ON_THE_WAY };

/// The impaired links of a lab; they go with this value.
#[derive(Debug)]
pub(crate) struct Relay {
    links: Vec<Arc<Link>>,
    stop: Arc<EventFd>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads share of one impaired link.
#[derive(Debug)]
struct Link {
    spec: RelaySpec,
    /// One of its ends is down.
    is_cut: AtomicBool,
    /// By the end that sends.
    tallies: [Mutex<Tally>; 2],
}

/// What became of the frames of one direction.
#[derive(Debug, Default)]
struct Tally {
    counts: Counts,
    /// Not read in time, or of a kind that a packet socket cannot take over.
    dropped: u64,
    /// Not taken by the other cable, which happens where the device at its end is down.
    refused: u64,
    late: u64,
    /// Since the last sample.
    latest_us: u64,
}

impl Relay {
    /// Begins to carry frames. Call in the namespace of the near ends. What goes
    /// wrong later is told to `output`.
    pub(crate) fn start(specs: Vec<RelaySpec>, output: &Output) -> Result<Relay, Failure> {
        let link = |spec| Arc::new(Link { spec, is_cut: AtomicBool::new(false), tallies: Default::default() });
        let links: Vec<Arc<Link>> = specs.into_iter().map(link).collect();
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let mut relay = Relay { links: links.clone(), stop: stop.clone(), threads: Vec::new() };
        let carrier = carry::Carrier::open(&links)?;
        relay.spawn("relay", output, move || carrier.run(&stop))?;
        Ok(relay)
    }

    /// From now on carrier follows.
    pub(crate) fn follow_carrier(&mut self, output: &Output) -> Result<(), Failure> {
        let (stop, follower) = (self.stop.clone(), carrier::Follower::open(&self.links)?);
        self.spawn("relay carrier", output, move || follower.run(&stop))
    }

    /// What became of frames so far, two directions a link.
    pub(crate) fn sample(&self) -> Vec<Relayed> {
        let of_link = |link: &Arc<Link>| {
            let ways = link.spec.ends.iter().zip(&link.tallies);
            ways.map(|(end, tally)| lock(tally).sample(&end.node, &end.device)).collect::<Vec<_>>()
        };
        self.links.iter().flat_map(of_link).collect()
    }

    fn spawn(
        &mut self,
        name: &str,
        output: &Output,
        work: impl FnOnce() -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let output = output.clone();
        let tell = move || {
            if let Err(error) = work() {
                // A closed pipe ends the agent by its standard input, not here.
                let _ = output.say(&Message::Trouble { text: format!("frames are no longer carried: {error}") });
            }
        };
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(tell)?);
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // The counter of an event descriptor cannot overflow by one write.
        let _ = self.stop.write(1);
        for thread in self.threads.drain(..) {
            // It has told what it had to tell.
            let _ = thread.join();
        }
    }
}

impl Tally {
    fn sample(&mut self, node: &str, device: &str) -> Relayed {
        Relayed {
            node: node.to_owned(),
            device: device.to_owned(),
            frames: self.counts.frames,
            lost: self.counts.lost,
            duplicated: self.counts.duplicated,
            reordered: self.counts.reordered,
            cut: self.counts.cleared + self.refused,
            dropped: self.counts.crowded_out + self.dropped,
            late: self.late,
            latest_us: mem::take(&mut self.latest_us),
        }
    }
}
