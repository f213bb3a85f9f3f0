//! What the kernel says beside a frame.

use std::mem;
use std::ptr;
use std::time::Duration;

use super::frame::Tag;

/// Room for the control messages of a frame: a `tpacket_auxdata` and a `timespec`.
const CONTROL: usize = 96;

/// Memory for control messages, aligned for their headers.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct Control([u8; CONTROL]);

impl Default for Control {
    fn default() -> Control {
        Control([0; CONTROL])
    }
}

impl Control {
    /// Lets this header's control messages go here; it must not outlive this memory.
    pub(crate) fn put_into(&mut self, header: &mut libc::msghdr) {
        header.msg_control = ptr::from_mut(self).cast();
        header.msg_controllen = CONTROL as _;
    }
}

/// The tag that the kernel reports beside a frame.
pub(crate) fn tag(header: &libc::msghdr) -> Option<Tag> {
    let aux: libc::tpacket_auxdata = control(header, libc::SOL_PACKET, libc::PACKET_AUXDATA)?;
    if aux.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let has_protocol = aux.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if has_protocol { aux.tp_vlan_tpid } else { libc::ETH_P_8021Q as u16 };
    Some(Tag { protocol, tci: aux.tp_vlan_tci })
}

/// When the kernel says that a frame arrived, by the clock of the day.
pub(crate) fn arrived(header: &libc::msghdr) -> Option<Duration> {
    let time: libc::timespec = control(header, libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS)?;
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

/// What the kernel put into the control message of this kind, which must hold a
/// plain structure of numbers, `T`.
pub(crate) fn control<T: Copy>(header: &libc::msghdr, level: libc::c_int, kind: libc::c_int) -> Option<T> {
    // SAFETY: the kernel filled the control messages of this header, whose
    // memory is alive, and reports their length in it.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() };
    while let Some(message) = next {
        // SAFETY: no pointers.
        let len = unsafe { libc::CMSG_LEN(mem::size_of::<T>() as _) };
        if (message.cmsg_level, message.cmsg_type) == (level, kind) && message.cmsg_len >= len as _ {
            // SAFETY: the message is long enough for this structure, perhaps unaligned.
            return Some(unsafe { libc::CMSG_DATA(message).cast::<T>().read_unaligned() });
        }
        // SAFETY: the message is one of this header's.
        next = unsafe { libc::CMSG_NXTHDR(header, message).as_ref() };
    }
    None
}
