//! TAP devices: Ethernet devices whose other end is a file descriptor.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::{Context, Result};

/// A TAP device of the namespace it was opened in; it goes with this value,
/// and has carrier as long as it is up.
///
/// It takes GSO frames and frames without checksums from the stack, as a
/// veth end does. Nothing here waits. What is read from and written to its
/// descriptor is a frame behind its offload header (`virtio_net_hdr`, 10 bytes), as
/// with a [`PacketSocket`](crate::packet::PacketSocket).
#[derive(Debug)]
pub struct Tap {
    file: File,
}

/// Bytes of the offload header (`struct virtio_net_hdr`) in front of each frame.
const OFFLOAD: usize = 10;

impl Tap {
    /// Makes a device of this name, in the caller's network namespace.
    ///
    /// # Errors
    /// `ENOENT` or `EACCES` where `/dev/net/tun` is missing or closed to the
    /// caller, `EBUSY` if a device has the name, `EINVAL` if it is no device's
    /// name (1 to 15 bytes).
    pub fn open(name: &str) -> Result<Tap> {
        let open = || {
            let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
            let tap = Tap { file };
            tap.set_name(name)?;
            tap.set_offloads()?;
            Ok::<_, io::Error>(tap)
        };
        open().context(|| format!("make the TAP device {name}"))
    }

    /// The next frame that the host sends by the device, if there is one, in
    /// place of what the buffer holds; what it leaves undone (checksums,
    /// segments) stays undone. A frame is cut to the buffer's capacity, at most 64 KiB.
    pub fn receive(&self, frame: &mut Vec<u8>) -> Result<bool> {
        frame.resize(frame.capacity().clamp(OFFLOAD, 1 << 16), 0);
        match (&self.file).read(frame) {
            Ok(len) => {
                frame.truncate(len);
                frame.drain(..OFFLOAD.min(len));
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                frame.clear();
                Ok(false)
            }
            Err(error) => Err(error).context(|| "receive from a TAP device".to_owned()),
        }
    }

    /// Hands the host a frame as if the device had received it; false if the
    /// device is down.
    pub fn send(&self, frame: &[u8]) -> Result<bool> {
        match (&self.file).write_vectored(&[IoSlice::new(&[0; OFFLOAD]), IoSlice::new(frame)]) {
            Ok(_) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            Err(error) => Err(error).context(|| format!("send {} bytes into a TAP device", frame.len())),
        }
    }

    /// `TUNSETIFF`: makes the device.
    fn set_name(&self, name: &str) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The name is ended by a zero byte, so the last place stays free; an
        // empty one would have the kernel choose.
        if name.is_empty() || name.len() >= request.ifr_name.len() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // SAFETY: the descriptor is open and `request` is what TUNSETIFF reads and writes.
        check(unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })
    }

    /// `TUNSETOFFLOAD`: what the stack may leave undone.
    fn set_offloads(&self) -> io::Result<()> {
        let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
        // SAFETY: the descriptor is open; the argument is a number.
        check(unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(offloads)) })
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
