//! Frames for the control side: they pass the team device and are read at the
//! end behind it, where a filter keeps them from the host's stack.

use std::os::fd::{AsFd, BorrowedFd};

use nicteam_sys::listen::Protocols;
use nicteam_sys::packet::{Batch, PacketSocket};

use super::tc::{self, Point};
use crate::Error;
use crate::tag::with_tag;

/// The reader behind a team device.
pub(super) struct Punted {
    socket: PacketSocket,
    batch: Batch,
}

impl Punted {
    /// Reads at the device with this index; its ingress gets the program.
    pub(super) fn open(index: u32, program: BorrowedFd<'_>) -> Result<Punted, Error> {
        // A packet socket sees a frame before the filter drops it.
        tc::add_clsact(index)?;
        tc::set_filter(index, Point::Ingress, program)?;
        let socket = PacketSocket::open(index)?;
        // Super-frames that are to go twice come here, too, cut.
        socket.hear_only(Protocols { arp: true, neighbours: true, ..Protocols::default() })?;
        Ok(Punted { socket, batch: Batch::new() })
    }

    /// The frames that have arrived.
    pub(super) fn take(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut frames = Vec::new();
        loop {
            self.socket.receive(&mut self.batch)?;
            let before = frames.len();
            frames.extend(self.batch.frames().map(|received| with_tag(&received)));
            if frames.len() == before {
                return Ok(frames);
            }
        }
    }
}

impl AsFd for Punted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Takes the filter off, if there is one.
pub(super) fn clear(index: u32) -> Result<(), Error> {
    match tc::program_at(index, Point::Ingress) {
        // The device is the team's alone, and so is its clsact.
        Some(_) => tc::remove_clsact(index),
        None => Ok(()),
    }
}
