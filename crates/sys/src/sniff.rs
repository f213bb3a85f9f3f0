//! Packet sockets that hear what a device receives and sends, for captures and for a look at headers. They change nothing: the
//! device does not become promiscuous, and no frame is taken from anybody.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use crate::packet::{self, Control, Tag};
use crate::{Context, Result};

/// The most frames that one call reads.
const BATCH: usize = 32;
/// Bytes kept of a frame: the longest without BIG TCP.
const SLOT: usize = 66 * 1024;

/// An instruction of a classic BPF program (`struct sock_filter`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub code: u16,
    /// Instructions to skip where a test holds.
    pub jt: u8,
    /// And where it does not.
    pub jf: u8,
    /// Its operand.
    pub k: u32,
}

/// Hears one device. It never waits.
#[derive(Debug)]
pub struct Sniffer {
    fd: OwnedFd,
}

/// Memory for the frames of one call, to be used again.
#[derive(Debug)]
pub struct Room {
    bytes: Box<[u8]>,
    /// Bytes of it that a frame gets.
    slot: usize,
}

/// To whom a frame was sent, as the kernel sees it (`sll_pkttype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// This host.
    Host,
    /// All hosts.
    Broadcast,
    /// A group.
    Multicast,
    /// Another host.
    Other,
    /// It was sent by this host.
    Outgoing,
}

/// A frame that was heard.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// From the destination address on; the tag beside it left out.
    pub bytes: &'a [u8],
    /// Bytes that it had, without the tag beside it. Only captures ask for it; else those that were read.
    pub original: usize,
    /// The tag beside it, if it is a capture.
    pub tag: Option<Tag>,
    /// To whom it went.
    pub to: To,
    /// When, by the clock of the day. Zero if it is no capture.
    pub at: Duration,
}

impl Default for Room {
    fn default() -> Room {
        Room::of(BATCH, SLOT)
    }
}

impl Room {
    /// For so many frames in one call, at most 32, and so many bytes of each.
    pub(crate) fn of(frames: usize, slot: usize) -> Room {
        Room { bytes: vec![0; frames.min(BATCH) * slot].into(), slot }
    }
}

impl Sniffer {
    /// Opens one on the device with this index, in the caller's network namespace. Frames that the program refuses are not
    /// heard; an empty program refuses none.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device, `EINVAL` of a program that is none.
    pub fn open(ifindex: u32, program: &[Instruction]) -> Result<Sniffer> {
        let filter = |step: &Instruction| libc::sock_filter { code: step.code, jt: step.jt, jf: step.jf, k: step.k };
        // The kernel takes 4096; a length that is cut short is refused as a program that has no end.
        let filters: Vec<libc::sock_filter> = program.iter().map(filter).collect();
        let prepare = |fd: &OwnedFd| {
            packet::set(fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
            packet::set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)?;
            packet::enlarge(fd, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF)
        };
        Sniffer::prepared(ifindex, &filters, prepare).context(|| format!("capture on device {ifindex}"))
    }

    /// The same with these options of the socket and this program of the kernel's.
    pub(crate) fn prepared(
        ifindex: u32,
        program: &[libc::sock_filter],
        prepare: impl FnOnce(&OwnedFd) -> io::Result<()>,
    ) -> io::Result<Sniffer> {
        // Of no protocol before the bind, so nothing is heard that the program would refuse.
        let sniffer = Sniffer { fd: packet::unbound()? };
        prepare(&sniffer.fd)?;
        if !program.is_empty() {
            sniffer.attach(program)?;
        }
        packet::bind(&sniffer.fd, ifindex)?;
        Ok(sniffer)
    }

    /// Another program from now on.
    pub(crate) fn attach(&self, program: &[libc::sock_filter]) -> io::Result<()> {
        packet::attach(&self.fd, program)
    }

    /// Hands over what was heard, as many frames as there is room for; how many. A device that is set down is no error.
    ///
    /// # Errors
    /// `ENODEV`, `ENXIO`: the device is gone.
    pub fn receive(&self, room: &mut Room, mut take: impl FnMut(Heard<'_>)) -> Result<usize> {
        // SAFETY: all-zero bytes are valid for these C structures.
        let (mut headers, mut iovecs): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) = unsafe { mem::zeroed() };
        // SAFETY: the same.
        let mut from: [libc::sockaddr_ll; BATCH] = unsafe { mem::zeroed() };
        let mut controls = [Control::default(); BATCH];
        for (i, slot) in room.bytes.chunks_exact_mut(room.slot).enumerate() {
            iovecs[i] = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: room.slot };
            let header = &mut headers[i].msg_hdr;
            header.msg_iov = &raw mut iovecs[i];
            header.msg_iovlen = 1;
            header.msg_name = (&raw mut from[i]).cast();
            header.msg_namelen = mem::size_of::<libc::sockaddr_ll>() as _;
            controls[i].put_into(header);
        }
        let frames = room.bytes.len() / room.slot;
        let (fd, flags) = (self.fd.as_raw_fd(), libc::MSG_DONTWAIT as _);
        // SAFETY: every header points to memory that outlives the call.
        let received = unsafe { libc::recvmmsg(fd, headers.as_mut_ptr(), frames as _, flags, ptr::null_mut()) };
        let count = match packet::check(received) {
            Ok(count) => count as usize,
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN) => 0,
                _ => return Err(crate::Error::new("read the frames of a device", error)),
            },
        };
        for (i, header) in headers.iter().take(count).enumerate() {
            let bytes = &room.bytes[i * room.slot..][..(header.msg_len as usize).min(room.slot)];
            let to = match from[i].sll_pkttype {
                libc::PACKET_HOST => To::Host,
                libc::PACKET_BROADCAST => To::Broadcast,
                libc::PACKET_MULTICAST => To::Multicast,
                libc::PACKET_OUTGOING => To::Outgoing,
                _ => To::Other,
            };
            let header = &header.msg_hdr;
            let aux: Option<libc::tpacket_auxdata> = packet::control(header, libc::SOL_PACKET, libc::PACKET_AUXDATA);
            let original = aux.map_or(bytes.len(), |aux| aux.tp_len as usize).max(bytes.len());
            let (tag, at) = (packet::tag(header), packet::arrived(header).unwrap_or_default());
            take(Heard { bytes, original, tag, to, at });
        }
        Ok(count)
    }

    /// Frames that found the socket's buffer full since the last call (`PACKET_STATISTICS`).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn take_lost(&self) -> Result<u64> {
        packet::take_lost(&self.fd)
    }
}

impl AsFd for Sniffer {
    /// Readable once a frame has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
