//! Packet sockets that carry whole GSO frames with their offload header.
//!
//! A frame is read and written with its `virtio_net_hdr` (Linux `include/uapi/linux/virtio_net.h`, the 10-byte form).
//! So a 64 KB GSO frame whose checksum is not computed yet passes through a process whole. The outermost VLAN tag of a
//! received frame stands beside it, because the kernel takes it off before any packet socket sees the frame
//! (`__netif_receive_skb_core`); on sending it is put back among the bytes.

mod control;
mod frame;

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

pub(crate) use control::{Control, arrived, control, tag};
use frame::{HEAD, OFFLOAD, TAG};
pub use frame::{Offload, Outgoing, Received, SHIM, Shim, Tag};

use crate::{Context, Error, Result};

/// The most frames a [`Batch`] holds.
pub const BATCH: usize = 32;

/// A socket that receives every frame of one device, those for other hosts
/// included and those sent by this host left out, and sends by it. It never waits.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
}

/// A socket that sends by one device and receives nothing: no frame of the device costs anything for it.
#[derive(Debug)]
pub struct SendSocket {
    fd: OwnedFd,
}

impl SendSocket {
    /// Opens one on the device with this index, in the caller's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32) -> Result<SendSocket> {
        let what = || format!("open a socket to send by device {ifindex}");
        let fd = unbound().context(what)?;
        // Of no protocol, so it hears none.
        bind_to(&fd, ifindex, 0).context(what)?;
        Ok(SendSocket { fd })
    }

    /// Sends one whole frame; false if the device did not take it.
    pub fn send(&self, frame: &[u8]) -> bool {
        // SAFETY: pointer and length belong to one slice, which is only read.
        unsafe { libc::send(self.fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), libc::MSG_DONTWAIT) >= 0 }
    }
}

/// Up to [`BATCH`] frames, in memory that is allocated once.
#[derive(Debug)]
pub struct Batch {
    memory: Box<[u8]>,
    entries: Vec<Entry>,
    unusable: u64,
}

/// What became of frames that were to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames the device took.
    pub frames: u64,
    /// Their bytes, without the tags beside them.
    pub bytes: u64,
    /// Frames it did not take: its queue was full (`ENOBUFS`), it was down
    /// (`ENETDOWN`), gone (`ENXIO`), or the frame too long (`EMSGSIZE`).
    pub drops: u64,
}

/// Where a frame of a batch lies.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Which slot of the memory.
    slot: usize,
    /// Bytes of the frame, its offload header left out.
    len: usize,
    tag: Option<Tag>,
    arrived: Option<Duration>,
}

/// Bytes of an Ethernet header.
const HEADER: usize = 14;
/// Bytes for one frame: the longest GSO frame without BIG TCP
/// (`GSO_LEGACY_MAX_SIZE` 65,536, Ethernet header, an inner tag) and its offload header.
const SLOT: usize = 66 * 1024;
/// Bytes asked for as socket buffers; the kernel doubles them.
const BUFFER_BYTES: libc::c_int = 16 << 20;

impl PacketSocket {
    /// Opens one on the device with this index, in the caller's network
    /// namespace. The device is promiscuous as long as the socket is open.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`, `ENODEV` without such a device.
    pub fn open(ifindex: u32) -> Result<PacketSocket> {
        let what = || format!("open a packet socket on device {ifindex}");
        let socket = PacketSocket { fd: unbound().context(what)? };
        for option in [libc::PACKET_VNET_HDR, libc::PACKET_AUXDATA, libc::PACKET_IGNORE_OUTGOING] {
            set(&socket.fd, libc::SOL_PACKET, option, &1).context(what)?;
        }
        enlarge(&socket.fd, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF).context(what)?;
        enlarge(&socket.fd, libc::SO_SNDBUFFORCE, libc::SO_SNDBUF).context(what)?;
        bind(&socket.fd, ifindex).context(what)?;
        set_promiscuous(&socket.fd, ifindex).context(what)?;
        Ok(socket)
    }

    /// From now on the kernel notes when each frame arrived ([`Batch::arrived`]).
    /// It does so for all frames of the machine as long as anybody asks for it.
    pub fn note_arrivals(&self) -> Result<()> {
        set(&self.fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1)
            .context(|| "have a packet socket note when frames arrive".to_owned())
    }

    /// Fills the batch with frames that have arrived, in their order; leaves it
    /// empty if none have. A device that went down is no error, and neither is
    /// a frame this form of the offload header cannot describe: it is lost and
    /// counted ([`Batch::unusable`]).
    pub fn receive(&self, batch: &mut Batch) -> Result<()> {
        batch.clear();
        // SAFETY: all-zero bytes are valid for these C structures.
        let (mut headers, mut iovecs) =
            unsafe { (mem::zeroed::<[libc::mmsghdr; BATCH]>(), mem::zeroed::<[libc::iovec; BATCH]>()) };
        let mut controls = [Control::default(); BATCH];
        for (i, slot) in batch.memory.chunks_exact_mut(SLOT).enumerate() {
            iovecs[i] = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: SLOT };
            let header = &mut headers[i].msg_hdr;
            header.msg_iov = &raw mut iovecs[i];
            header.msg_iovlen = 1;
            controls[i].put_into(header);
        }
        // SAFETY: every header points to memory that outlives the call.
        let received = unsafe {
            libc::recvmmsg(
                self.fd.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as _,
                libc::MSG_DONTWAIT as _,
                ptr::null_mut(),
            )
        };
        match check(received) {
            Ok(count) => headers.iter().take(count as usize).enumerate().for_each(|(i, header)| batch.take(i, header)),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN) => {}
                Some(libc::EINVAL) => batch.unusable += 1,
                _ => return Err(Error::new("receive from a packet socket", error)),
            },
        }
        Ok(())
    }

    /// Sends frames of the batch in the order of the queue. A frame the device
    /// does not take is dropped and counted; places the batch does not have are ignored.
    pub fn send(&self, batch: &Batch, queue: &[Outgoing]) -> Sent {
        let mut sent = Sent::default();
        for chunk in queue.chunks(BATCH) {
            self.send_chunk(batch, chunk, &mut sent);
        }
        sent
    }

    /// Sends one whole frame, a tag among its bytes; false if the device did not take it.
    pub fn send_frame(&self, frame: &[u8]) -> bool {
        let offload = [0_u8; OFFLOAD];
        let mut iovecs = [iovec(&offload), iovec(frame)];
        // SAFETY: all-zero bytes are valid for this C structure.
        let mut header = unsafe { mem::zeroed::<libc::msghdr>() };
        header.msg_iov = iovecs.as_mut_ptr();
        header.msg_iovlen = iovecs.len() as _;
        // SAFETY: the header points to memory that outlives the call; it is only read.
        unsafe { libc::sendmsg(self.fd.as_raw_fd(), &header, libc::MSG_DONTWAIT) >= 0 }
    }

    /// Frames that found the receive buffer full since the last call (`PACKET_STATISTICS`).
    pub fn take_lost(&self) -> Result<u64> {
        take_lost(&self.fd)
    }

    /// Each message gathers a head of its own (so that the same frame can leave
    /// by several devices with different addresses) and the payload from the batch.
    fn send_chunk(&self, batch: &Batch, chunk: &[Outgoing], sent: &mut Sent) {
        let mut heads = [[0_u8; HEAD]; BATCH];
        // SAFETY: all-zero bytes are valid for these C structures.
        let (mut headers, mut iovecs) =
            unsafe { (mem::zeroed::<[libc::mmsghdr; BATCH]>(), mem::zeroed::<[[libc::iovec; 2]; BATCH]>()) };
        let mut lens = [0; BATCH];
        let mut count = 0;
        for (outgoing, received) in chunk.iter().filter_map(|out| Some((out, batch.get(out.place)?))) {
            let head = outgoing.head(&received, &mut heads[count]);
            let rest = outgoing.rest(&received);
            iovecs[count] = [iovec(head), iovec(rest)];
            headers[count].msg_hdr.msg_iov = iovecs[count].as_mut_ptr();
            headers[count].msg_hdr.msg_iovlen = 2;
            let tag = if received.tag.is_some() { TAG } else { 0 };
            lens[count] = (head.len() - OFFLOAD - tag + rest.len()) as u64;
            count += 1;
        }
        let mut next = 0;
        while next < count {
            let rest = &mut headers[next..count];
            // SAFETY: every header points to memory that outlives the call; it is only read.
            let taken = unsafe {
                libc::sendmmsg(self.fd.as_raw_fd(), rest.as_mut_ptr(), rest.len() as _, libc::MSG_DONTWAIT as _)
            };
            let end = next + taken.max(0) as usize;
            sent.frames += (end - next) as u64;
            sent.bytes += lens[next..end].iter().sum::<u64>();
            // The call stops at the first frame that is refused: that one is not tried again.
            sent.drops += u64::from(end < count);
            next = end + 1;
        }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Default for Batch {
    fn default() -> Batch {
        Batch::new()
    }
}

impl Batch {
    /// An empty one. Its 2 MB are touched as frames need them.
    pub fn new() -> Batch {
        Batch { memory: vec![0; BATCH * SLOT].into(), entries: Vec::with_capacity(BATCH), unusable: 0 }
    }

    /// The frame at this place.
    pub fn get(&self, place: usize) -> Option<Received<'_>> {
        let entry = self.entries.get(place)?;
        let slot = &self.memory[entry.slot * SLOT..][..OFFLOAD + entry.len];
        let (offload, bytes) = slot.split_first_chunk::<OFFLOAD>()?;
        Some(Received { bytes, tag: entry.tag, offload: Offload::from_bytes(*offload) })
    }

    /// When the frame at this place arrived, by the clock of the day (`CLOCK_REALTIME`),
    /// if the socket notes that ([`PacketSocket::note_arrivals`]).
    pub fn arrived(&self, place: usize) -> Option<Duration> {
        self.entries.get(place)?.arrived
    }

    /// The frames, by place.
    pub fn frames(&self) -> impl Iterator<Item = Received<'_>> {
        (0..self.entries.len()).filter_map(|place| self.get(place))
    }

    /// Frames the last [`PacketSocket::receive`] had to give up: longer than
    /// 64 KB (BIG TCP), or of a kind of segmentation the offload header cannot describe.
    pub fn unusable(&self) -> u64 {
        self.unusable
    }

    /// Puts bytes in the place of a frame's own; none where the frame has no such place.
    pub fn overwrite(&mut self, place: usize, offset: usize, bytes: &[u8]) {
        let Some(&Entry { slot, len, .. }) = self.entries.get(place) else { return };
        let frame = &mut self.memory[slot * SLOT + OFFLOAD..][..len];
        if let Some(own) = frame.get_mut(offset..).and_then(|rest| rest.get_mut(..bytes.len())) {
            own.copy_from_slice(bytes);
        }
    }

    /// Forgets the frames.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.unusable = 0;
    }

    /// Adds a frame of one's own; false if the batch is full or the frame is
    /// shorter than an Ethernet header or longer than 64 KB.
    pub fn push(&mut self, frame: Received<'_>) -> bool {
        let (slot, len) = (self.entries.len(), frame.bytes.len());
        if slot == BATCH || !(HEADER..=SLOT - OFFLOAD).contains(&len) {
            return false;
        }
        let memory = &mut self.memory[slot * SLOT..][..OFFLOAD + len];
        memory[..OFFLOAD].copy_from_slice(&frame.offload.to_bytes());
        memory[OFFLOAD..].copy_from_slice(frame.bytes);
        self.entries.push(Entry { slot, len, tag: frame.tag, arrived: None });
        true
    }

    /// Takes over what the kernel put into a slot.
    fn take(&mut self, slot: usize, header: &libc::mmsghdr) {
        let whole = header.msg_hdr.msg_flags & libc::MSG_TRUNC == 0;
        match (header.msg_len as usize).checked_sub(OFFLOAD) {
            Some(len) if whole && len >= HEADER => {
                let (tag, arrived) = (tag(&header.msg_hdr), arrived(&header.msg_hdr));
                self.entries.push(Entry { slot, len, tag, arrived });
            }
            _ => self.unusable += 1,
        }
    }
}

/// A larger buffer, past the system's limit where that is allowed (not in a user namespace), else up to it.
pub(crate) fn enlarge(fd: &OwnedFd, force: libc::c_int, ask: libc::c_int) -> io::Result<()> {
    set(fd, libc::SOL_SOCKET, force, &BUFFER_BYTES).or_else(|_| set(fd, libc::SOL_SOCKET, ask, &BUFFER_BYTES))
}

/// A packet socket that receives nothing before it is bound.
pub(crate) fn unbound() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set_promiscuous(fd: &OwnedFd, ifindex: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: ifindex as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Frames that found the receive buffer of a packet socket full since the last call.
pub(crate) fn take_lost(fd: &OwnedFd) -> Result<u64> {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = mem::size_of_val(&stats) as libc::socklen_t;
    // SAFETY: pointer and length belong to one structure.
    let result = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, (&raw mut stats).cast(), &mut len)
    };
    check(result).context(|| "read the statistics of a packet socket".to_owned())?;
    Ok(u64::from(stats.tp_drops))
}

/// Lets frames through alone that a classic BPF program takes.
pub(crate) fn attach(fd: &OwnedFd, program: &[libc::sock_filter]) -> io::Result<()> {
    // The kernel only reads the program, of at most 65,535 instructions.
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    set(fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Binds a packet socket to every frame type of one device.
pub(crate) fn bind(fd: &OwnedFd, ifindex: u32) -> io::Result<()> {
    bind_to(fd, ifindex, libc::ETH_P_ALL as u16)
}

/// Binds a packet socket to one frame type of one device.
pub(crate) fn bind_to(fd: &OwnedFd, ifindex: u32, ethertype: u16) -> io::Result<()> {
    // SAFETY: all-zero bytes are valid for this C structure.
    let mut address = unsafe { mem::zeroed::<libc::sockaddr_ll>() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    address.sll_ifindex = ifindex as i32;
    let len = mem::size_of_val(&address) as libc::socklen_t;
    // SAFETY: pointer and length belong to one structure.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), len) }).map(drop)
}

/// Sets a socket option. A value that holds a pointer must point to what lives now.
pub(crate) fn set<T>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let len = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length belong to one value.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, ptr::from_ref(value).cast(), len) }).map(drop)
}

/// For sending: the kernel only reads what it points to.
fn iovec(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const FRAME: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0, 0xaa, 0xbb];
    pub(super) const OFFLOADED: Offload =
        Offload { flags: 1, gso_type: 1, hdr_len: 54, gso_size: 1448, csum_start: 34, csum_offset: 16 };

    pub(super) fn received(tag: Option<Tag>) -> Received<'static> {
        Received { bytes: &FRAME, tag, offload: OFFLOADED }
    }

    #[test]
    fn a_batch_returns_what_was_pushed() {
        let mut batch = Batch::new();
        let tagged = received(Some(Tag { protocol: 0x88a8, tci: 7 }));
        assert!(batch.push(tagged) && batch.push(received(None)));
        assert_eq!(batch.frames().collect::<Vec<_>>(), [tagged, received(None)]);
        assert_eq!(batch.get(2), None);
    }

    #[test]
    fn a_batch_refuses_what_does_not_fit() {
        let mut batch = Batch::new();
        assert!(!batch.push(Received { bytes: &FRAME[..13], ..received(None) }));
        assert!(!batch.push(Received { bytes: &vec![0; SLOT], ..received(None) }));
        assert!((0..BATCH).all(|_| batch.push(received(None))));
        assert!(!batch.push(received(None)));
    }
}
