//! What a process may do beyond its user: capabilities(7).

use std::fs;
use std::io;

use nix::errno::Errno;

use crate::{Context, Result};

/// A capability (include/uapi/linux/capability.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(u32);

impl Capability {
    /// Change devices, addresses, routes, filters, and the settings in `/proc/sys/net`.
    pub const NET_ADMIN: Capability = Capability(12);
    /// Packet sockets.
    pub const NET_RAW: Capability = Capability(13);
    /// Let eBPF programs read the kernel's memory.
    pub const PERFMON: Capability = Capability(38);
    /// Load eBPF programs and make their maps.
    pub const BPF: Capability = Capability(39);

    /// Look into other processes, also those that may more.
    pub const SYS_PTRACE: Capability = Capability(19);

    const SETPCAP: Capability = Capability(8);
    pub(crate) const SYS_ADMIN: Capability = Capability(21);

    /// Its name, as capabilities(7) has it, without `CAP_`, in lower case; of one without a name here its number.
    pub fn name(self) -> String {
        NAMES.get(self.0 as usize).map_or_else(|| self.0.to_string(), |name| (*name).to_owned())
    }

    pub(crate) fn bit(self) -> u64 {
        1 << self.0
    }
}

/// In the order of their numbers.
const NAMES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// Leaves the calling thread these capabilities, as far as it has them, and no way to get others: they are what is permitted and
/// in effect, nothing is inherited, the bounding set has no more where the thread may empty it (`CAP_SETPCAP`), and
/// what it executes gets no rights from a file (`no_new_privs`). Threads that it starts from now on have the same. The user stays who he is.
///
/// # Errors
/// What the kernel says; it has no reason to refuse.
pub fn keep_only(wanted: &[Capability]) -> Result<()> {
    let keep = || -> io::Result<()> {
        let status = fs::read_to_string("/proc/thread-self/status")?;
        let permitted = set_in(&status, "CapPrm:").ok_or(Errno::EINVAL)?;
        let kept = wanted.iter().map(|capability| capability.bit()).fold(0, |all, bit| all | bit) & permitted;
        nix::sys::prctl::set_no_new_privs()?;
        if permitted & Capability::SETPCAP.bit() != 0 {
            leave_in_bounding_set(kept)?;
        }
        set(kept)
    };
    keep().context(|| "give up capabilities".to_owned())
}

/// True if the calling thread has this capability in effect.
pub fn is_effective(capability: Capability) -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    set_in(&status, "CapEff:").unwrap_or(0) & capability.bit() != 0
}

/// What the threads of this process may do, all together: none has a capability that is not here. Sorted by number.
///
/// # Errors
/// `/proc` cannot be read.
pub fn held() -> Result<Vec<Capability>> {
    let read = || -> io::Result<u64> {
        let mut all = 0;
        for thread in fs::read_dir("/proc/self/task")? {
            // One that has ended meanwhile has none.
            let status = fs::read_to_string(thread?.path().join("status")).unwrap_or_default();
            all |= set_in(&status, "CapPrm:").unwrap_or(0);
        }
        Ok(all)
    };
    let all = read().context(|| "read the capabilities of this process".to_owned())?;
    Ok((0..u64::BITS).map(Capability).filter(|capability| all & capability.bit() != 0).collect())
}

/// A line of `/proc/PID/status` that holds a set, in hexadecimal digits.
pub(crate) fn set_in(status: &str, line: &str) -> Option<u64> {
    let digits = status.lines().find_map(|text| text.strip_prefix(line))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

/// Takes all others out of the bounding set.
fn leave_in_bounding_set(kept: u64) -> io::Result<()> {
    for capability in (0..u64::BITS).map(Capability).filter(|capability| kept & capability.bit() == 0) {
        // SAFETY: no pointers; the result is checked.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability.0), 0, 0, 0) } == 0 {
            continue;
        }
        match Errno::last() {
            // The kernel has no more of them.
            Errno::EINVAL => return Ok(()),
            errno => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Makes this the permitted set and the one in effect; nothing is inherited, and with that nothing is ambient.
fn set(kept: u64) -> io::Result<()> {
    /// include/uapi/linux/capability.h: `_LINUX_CAPABILITY_VERSION_3`
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    #[repr(C)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    let half = |shift: u32| {
        let bits = (kept >> shift) as u32;
        Data { effective: bits, permitted: bits, inheritable: 0 }
    };
    // 0 is the calling thread.
    let (header, data) = (Header { version: VERSION, pid: 0 }, [half(0), half(32)]);
    // SAFETY: `header` and `data` are what version 3 of capset(2) reads, and outlive the call; the result is checked.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> Option<u64> {
        set_in(&fs::read_to_string("/proc/thread-self/status").unwrap(), name)
    }

    #[test]
    fn a_thread_keeps_what_is_named_and_its_children_have_no_more() {
        let before = line("CapPrm:").unwrap();
        let wanted = [Capability::NET_ADMIN, Capability::BPF];
        let expected = (Capability::NET_ADMIN.bit() | Capability::BPF.bit()) & before;
        let seen = || ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].map(|name| line(name).unwrap());
        let of_thread = move || {
            keep_only(&wanted).unwrap();
            // Once more is no error.
            keep_only(&wanted).unwrap();
            let bounding = line("CapBnd:").unwrap();
            (seen(), std::thread::spawn(seen).join().unwrap(), bounding)
        };
        let (own, of_child, bounding) = std::thread::spawn(of_thread).join().unwrap();
        assert_eq!(own, [expected, expected, 0, 0]);
        assert_eq!(of_child, own);
        if before & Capability::SETPCAP.bit() != 0 {
            assert_eq!(bounding, expected);
        }
        assert_eq!(line("CapPrm:"), Some(before), "of that thread alone");
    }

    #[test]
    fn a_process_holds_what_any_of_its_threads_does() {
        let own = line("CapPrm:").unwrap();
        std::thread::spawn(move || {
            keep_only(&[]).unwrap();
            let all: u64 = held().unwrap().into_iter().map(Capability::bit).sum();
            assert_eq!(all & own, own, "others have theirs on");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn names_are_the_kernels() {
        assert_eq!(Capability::NET_ADMIN.name(), "net_admin");
        assert_eq!((Capability::BPF.name(), Capability::PERFMON.name()), ("bpf".to_owned(), "perfmon".to_owned()));
        assert_eq!((Capability(40).name(), Capability(63).name()), ("checkpoint_restore".to_owned(), "63".to_owned()));
        assert_eq!(set_in("CapPrm:\t0000000000000001\nCapEff:\tzz\n", "CapPrm:"), Some(1));
        assert_eq!(set_in("CapEff:\tzz\n", "CapEff:"), None);
    }
}
