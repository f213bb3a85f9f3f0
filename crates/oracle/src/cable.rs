//! Cables from a guest's ports to devices of the host.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;

use nicteam_sys::packet::{Batch, Offload, PacketSocket, Received};
use nicteam_sys::{Error, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};

/// A cable from a guest's port to a device of the host: what the device receives
/// the port receives, what the port sends the device sends. Carrier does not pass. Checksums that a sender left to its
/// device are computed. GSO frames do not pass, so the device's other end must make none.
///
/// A thread of this process hands the frames over as long as the guest lives: its
/// kernel gives a socket up for good that once said that its device is down.
#[derive(Debug)]
pub struct Cable(OwnedFd);

/// Bytes of the longest frame that passes.
const LONGEST: usize = 2048;

impl Cable {
    /// Ends in the device with this index of the caller's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32) -> Result<Cable> {
        let failed = |error: std::io::Error| Error::new(format!("lay a cable to device {ifindex}"), error);
        let device = PacketSocket::open(ifindex)?;
        let flags = SockFlag::SOCK_CLOEXEC;
        let (ours, guests) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).map_err(|errno| failed(errno.into()))?;
        thread::Builder::new()
            .name(format!("cable {ifindex}"))
            .spawn(move || {
                // It ends with the guest; if the device is gone, nothing passes.
                let _ = carry(&device, &ours);
            })
            .map_err(failed)?;
        Ok(Cable(guests))
    }

    /// What the guest's kernel reads frames from and writes them to.
    pub(crate) fn into_guests_end(self) -> OwnedFd {
        self.0
    }
}

/// Hands frames over until the guest is gone.
fn carry(device: &PacketSocket, guest: &OwnedFd) -> std::result::Result<(), Errno> {
    let (mut batch, mut frame) = (Batch::new(), vec![0; LONGEST]);
    loop {
        let mut ready = [device.as_fd(), guest.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        poll(&mut ready, PollTimeout::NONE)?;
        device.receive(&mut batch).map_err(|_| Errno::ENXIO)?;
        for frame in batch.frames().filter_map(finished) {
            // What the guest has no room for is lost, as on any wire.
            let _ = send(guest.as_raw_fd(), &frame, MsgFlags::MSG_DONTWAIT);
        }
        loop {
            match recv(guest.as_raw_fd(), &mut frame, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return Ok(()),
                Ok(len) => {
                    device.send_frame(&frame[..len]);
                }
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                Err(errno) => return Err(errno),
            }
        }
    }
}

/// A frame as it goes over a wire, its tag and its checksum in it.
fn finished(received: Received<'_>) -> Option<Vec<u8>> {
    const MACS: usize = 12;
    let Offload { flags, gso_type, csum_start, csum_offset, .. } = received.offload;
    let mut frame = received.bytes.to_vec();
    if gso_type != 0 || frame.len() > LONGEST {
        return None;
    }
    if flags & Offload::NEEDS_CHECKSUM != 0 {
        let start = usize::from(csum_start);
        let sum = checksum(frame.get(start..)?);
        // What stands there so far is the sum of the pseudo-header.
        frame.get_mut(start + usize::from(csum_offset)..)?.get_mut(..2)?.copy_from_slice(&sum.to_be_bytes());
    }
    if let Some(tag) = received.tag {
        let at = MACS.min(frame.len());
        frame.splice(at..at, tag.protocol.to_be_bytes().into_iter().chain(tag.tci.to_be_bytes()));
    }
    Some(frame)
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_that_was_left_to_the_device_is_computed() {
        // The example of RFC 1071, section 3, behind a field for the checksum.
        let bytes = [0, 0, 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7];
        let offload = Offload { flags: Offload::NEEDS_CHECKSUM, ..Offload::default() };
        let received = Received { bytes: &bytes, tag: None, offload };
        assert_eq!(finished(received).unwrap()[..2], [0x22, 0x0d]);
        assert_eq!(finished(Received { offload: Offload { csum_start: 99, ..offload }, ..received }), None);
        let whole = Received { offload: Offload { gso_type: 1, ..offload }, ..received };
        assert_eq!(finished(whole), None);
    }
}
