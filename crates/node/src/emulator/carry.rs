//! The thread that carries frames.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nicteam_impair::OneWay;
use nicteam_sys::packet::{BATCH, Batch, Offload, Outgoing, PacketSocket, Received, Tag};
use nicteam_wire::SlowPdu;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use super::link::{LATE, Link, ROOM, Tally};
use crate::error::Failure;
use crate::lock;

/// How long frames gather after a round of few: one of many costs less
/// processor time a frame than one for which the thread has to be woken. Longer
/// delays than this hide it.
const GATHER: Duration = Duration::from_micros(100);
/// A round of so many frames is worth its while.
const MANY: usize = 16;
/// Batches that one socket may fill before the others have their turn.
const BATCHES: usize = 8;

/// Carries frames over all impaired links.
pub(super) struct Carrier {
    /// Near end `i` belongs to end `i % 2` of link `i / 2`.
    ends: Vec<NearEnd>,
    incoming: Batch,
    outgoing: Batch,
}

/// The near end of a cable, and what is done to the frames that come from it.
struct NearEnd {
    socket: PacketSocket,
    link: Arc<Link>,
    /// Which end of the link is at the other end of this cable.
    end: usize,
    way: OneWay<Arc<Frame>>,
    /// No frame that is still to be read arrived before.
    read_up_to: Duration,
}

/// A frame on its way.
struct Frame {
    bytes: Box<[u8]>,
    tag: Option<Tag>,
    offload: Offload,
}

impl Carrier {
    /// In the caller's namespace.
    pub fn open(links: &[Arc<Link>]) -> Result<Carrier, Failure> {
        let ends = links.iter().flat_map(|link| [0, 1].map(|end| NearEnd::open(link, end)));
        let ends = ends.collect::<Result<Vec<NearEnd>, Failure>>()?;
        Ok(Carrier { ends, incoming: Batch::new(), outgoing: Batch::new() })
    }

    /// Until `stop` can be read.
    pub fn run(mut self, stop: &EventFd) -> Result<(), Failure> {
        // The default of 50 us would be added to every delay.
        nix::sys::prctl::set_timerslack(1)?;
        while !self.wait(stop)? {
            let frames = self.round()?;
            if frames < MANY {
                thread::sleep(GATHER);
            }
        }
        Ok(())
    }

    /// Waits until a frame has come or is due; true if `stop` can be read.
    fn wait(&self, stop: &EventFd) -> Result<bool, Failure> {
        let next = self.ends.iter().filter_map(|end| end.way.poll_timeout()).min();
        let timeout = next.map(|due| TimeSpec::from_duration(due.saturating_sub(monotonic())));
        let mut ready: Vec<PollFd<'_>> = Vec::with_capacity(self.ends.len() + 1);
        ready.push(PollFd::new(stop.as_fd(), PollFlags::POLLIN));
        ready.extend(self.ends.iter().map(|end| PollFd::new(end.socket.as_fd(), PollFlags::POLLIN)));
        match ppoll(&mut ready, timeout, None) {
            Ok(_) => Ok(ready[0].any().unwrap_or(true)),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what has come and sends what is due; how many frames that were.
    fn round(&mut self) -> Result<usize, Failure> {
        let clocks = Clocks::read();
        let mut frames = 0;
        for number in 0..self.ends.len() {
            // The two near ends of a link stand side by side.
            let far = number ^ 1;
            frames += self.ends[number].read(&clocks, &mut self.incoming)?;
            let [near, far] = self.ends.get_disjoint_mut([number, far]).map_err(|error| error.to_string())?;
            frames += near.send(&far.socket, &mut self.outgoing);
        }
        Ok(frames)
    }
}

impl NearEnd {
    /// Of the cable to this end of the link.
    fn open(link: &Arc<Link>, end: usize) -> Result<NearEnd, Failure> {
        let way = link.spec.ways[end];
        let socket = PacketSocket::open(link.spec.ends[end].near_index)?;
        socket.note_arrivals()?;
        let way = OneWay::new(way.impairments, way.seed, ROOM)?;
        Ok(NearEnd { socket, link: link.clone(), end, way, read_up_to: monotonic() })
    }

    /// Takes in what has come; how many frames that were.
    fn read(&mut self, clocks: &Clocks, batch: &mut Batch) -> Result<usize, Failure> {
        let (mut frames, mut dropped, mut refused) = (0, 0, 0);
        let faults = &self.link.faults[self.end];
        if let Some(impairments) = faults.take_change() {
            self.way.change(impairments)?;
        }
        let drop_lacpdus = faults.drop_lacpdus();
        for _ in 0..BATCHES {
            self.socket.receive(batch)?;
            dropped += batch.unusable();
            let read_at = monotonic();
            for (place, frame) in batch.frames().enumerate() {
                let arrived = batch.arrived(place).map_or(read_at, |time| clocks.monotonic(time));
                // The clock of the day may be set at any moment.
                self.read_up_to = arrived.clamp(self.read_up_to, read_at.max(self.read_up_to));
                frames += 1;
                if drop_lacpdus && matches!(SlowPdu::parse(frame.bytes), Ok(SlowPdu::Lacp(_))) {
                    refused += 1;
                    continue;
                }
                self.way.handle_frame(self.read_up_to, Arc::new(Frame::copy(&frame)), frame.bytes.len());
            }
            if batch.get(0).is_none() {
                // Nothing is left that came before the clocks were read.
                self.read_up_to = self.read_up_to.max(clocks.now);
                break;
            }
        }
        // A buffer that had no room for a frame was full.
        if frames >= BATCH {
            dropped += self.socket.take_lost()?;
        }
        let mut tally = lock(&self.link.tallies[self.end]);
        (tally.dropped, tally.refused) = (tally.dropped + dropped, tally.refused + refused);
        drop(tally);
        Ok(frames)
    }

    /// Sends what is due by the other cable; how many frames that were.
    fn send(&mut self, far: &PacketSocket, batch: &mut Batch) -> usize {
        if self.link.carries_nothing(self.end) {
            self.way.clear();
        }
        let (mut frames, mut due, mut queue) = (0, Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        loop {
            batch.clear();
            due.clear();
            queue.clear();
            while queue.len() < BATCH
                && let Some(output) = self.way.poll_output(self.read_up_to)
            {
                // It came out of a batch and so fits into one.
                match output.flip {
                    None => batch.push(output.frame.received()),
                    Some(flip) => batch.push(output.frame.corrupted(flip).received()),
                };
                queue.push(Outgoing { place: queue.len(), ..Outgoing::default() });
                due.push(output.due);
            }
            let refused = far.send(batch, &queue).drops;
            frames += queue.len();
            let mut tally = lock(&self.link.tallies[self.end]);
            tally.counts = self.way.counts();
            tally.refused += refused;
            tally.note_delays(&due, monotonic());
            if queue.len() < BATCH {
                return frames;
            }
        }
    }
}

impl Tally {
    /// Counts frames that were due then and sent now.
    fn note_delays(&mut self, due: &[Duration], now: Duration) {
        for delay in due.iter().map(|due| now.saturating_sub(*due)) {
            self.late += u64::from(delay > LATE);
            self.latest_us = self.latest_us.max(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX));
        }
    }
}

impl Frame {
    fn copy(frame: &Received<'_>) -> Frame {
        Frame { bytes: frame.bytes.into(), tag: frame.tag, offload: frame.offload }
    }

    /// With one bit changed. What is left to do for the wire is done before, so that the change is seen.
    fn corrupted(&self, flip: u64) -> Frame {
        let mut bytes = self.bytes.clone();
        let Offload { flags, csum_start, csum_offset, .. } = self.offload;
        let start = usize::from(csum_start);
        if flags & Offload::NEEDS_CHECKSUM != 0
            && let Some(summed) = bytes.get(start..)
        {
            let sum = nicteam_wire::internet_checksum(summed).to_be_bytes();
            if let Some(field) = bytes[start..].get_mut(usize::from(csum_offset)..) {
                field.iter_mut().zip(sum).for_each(|(byte, sum)| *byte = sum);
            }
        }
        let bits = (bytes.len() as u64 * 8).max(1);
        let (byte, bit) = ((flip % bits / 8) as usize, flip % 8);
        bytes.iter_mut().skip(byte).take(1).for_each(|byte| *byte ^= 1 << bit);
        Frame { bytes, tag: self.tag, offload: Offload::default() }
    }

    fn received(&self) -> Received<'_> {
        Received { bytes: &self.bytes, tag: self.tag, offload: self.offload }
    }
}

/// Two clocks at one moment.
struct Clocks {
    /// The clock of the day, by which the kernel notes arrivals.
    day: Duration,
    /// The one that only goes forward, a moment later: so no arrival is taken for earlier than it was.
    now: Duration,
}

impl Clocks {
    fn read() -> Clocks {
        let day = clock(ClockId::CLOCK_REALTIME);
        Clocks { day, now: monotonic() }
    }

    /// The same moment by the clock that only goes forward.
    fn monotonic(&self, time: Duration) -> Duration {
        (self.now + time).saturating_sub(self.day)
    }
}

fn monotonic() -> Duration {
    clock(ClockId::CLOCK_MONOTONIC)
}

fn clock(id: ClockId) -> Duration {
    // Both clocks exist on every Linux; the call cannot fail.
    clock_gettime(id).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_by_both_clocks() {
        let (second, ms) = (Duration::from_secs(1), Duration::from_millis(1));
        let clocks = Clocks { day: 1_700_000_000 * second, now: 5 * second };
        assert_eq!(clocks.monotonic(clocks.day - ms), 5 * second - ms);
        assert_eq!(clocks.monotonic(clocks.day + ms), 5 * second + ms);
        assert_eq!(clocks.monotonic(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn a_corrupted_frame_has_the_checksum_of_what_was_sent() {
        // The words from 4 on, with a checksum at 6 that is still to be computed.
        let bytes: Box<[u8]> = Box::new([9, 9, 9, 9, 0x12, 0x34, 0, 0, 0x56, 0x78]);
        let flags = Offload::NEEDS_CHECKSUM;
        let offload = Offload { flags, csum_start: 4, csum_offset: 2, ..Offload::default() };
        let frame = Frame { bytes, tag: None, offload };
        let last_bit = 9 * 8;
        let corrupted = frame.corrupted(80 + last_bit);
        assert_eq!(&corrupted.bytes[..], [9, 9, 9, 9, 0x12, 0x34, 0x97, 0x53, 0x56, 0x79]);
        assert_eq!(corrupted.offload, Offload::default());
    }
}
