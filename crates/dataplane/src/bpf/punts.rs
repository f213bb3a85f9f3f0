//! Frames for the control side: the program at the end behind the team device puts them into a ring.

use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};

use super::libbpf_log::attempt;
use crate::Error;

/// What reads the ring of a team.
pub(super) struct Punts {
    /// Locked by nobody: it makes what has one shareable.
    ring: Mutex<RingBuffer<'static>>,
    descriptor: RawFd,
    taken: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Punts {
    /// Reads from now on, and what is there already.
    pub(super) fn open(map: &MapHandle) -> Result<Punts, Error> {
        attempt(
            || "read the frames that a team's programs punt".to_owned(),
            || -> libbpf_rs::Result<Punts> {
                let taken = Arc::new(Mutex::new(Vec::new()));
                let to = taken.clone();
                let mut ring = RingBufferBuilder::new();
                ring.add(map, move |bytes| {
                    to.lock().unwrap_or_else(PoisonError::into_inner).extend(frame_of(bytes));
                    0
                })?;
                let ring = ring.build()?;
                Ok(Punts { descriptor: ring.epoll_fd(), ring: Mutex::new(ring), taken })
            },
        )
    }

    /// The frames that have arrived.
    pub(super) fn take(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let ring = self.ring.get_mut().unwrap_or_else(PoisonError::into_inner);
        attempt(|| "read the frames that a team's programs punt".to_owned(), || ring.consume())?;
        Ok(std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl AsFd for Punts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is the ring's own, which lives as long as this.
        unsafe { BorrowedFd::borrow_raw(self.descriptor) }
    }
}

/// The frame that a `struct punted` of `bpf/plan.h` holds, the tag beside it put among its bytes.
fn frame_of(record: &[u8]) -> Option<Vec<u8>> {
    const MACS: usize = 12;
    let (head, frame) = record.split_at_checked(8)?;
    let frame = frame.get(..usize::from(u16::from_ne_bytes([head[0], head[1]])))?;
    let (macs, rest) = frame.split_at_checked(MACS)?;
    let tag = if head[2..4] == [0, 0] { &[] } else { &head[2..6] };
    Some([macs, tag, rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(len: u16, tag: [u8; 4], frame: &[u8]) -> Vec<u8> {
        [&len.to_ne_bytes()[..], &tag, &[0, 0], frame, &[0xee; 9]].concat()
    }

    #[test]
    fn a_tag_stands_behind_the_addresses() {
        let frame: Vec<u8> = (0..20).collect();
        assert_eq!(frame_of(&record(20, [0; 4], &frame)).unwrap(), frame);
        let tagged = frame_of(&record(20, [0x81, 0, 0x20, 7], &frame)).unwrap();
        assert_eq!(tagged, [&frame[..12], &[0x81, 0, 0x20, 7], &frame[12..]].concat());
    }

    #[test]
    fn what_is_cut_is_no_frame() {
        assert_eq!(frame_of(&[0; 7]), None);
        assert_eq!(frame_of(&record(3, [0; 4], &[1, 2, 3])), None, "no addresses");
        assert_eq!(frame_of(&record(400, [0; 4], &[0; 60])), None, "longer than the record");
    }
}
