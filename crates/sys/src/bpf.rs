//! Which eBPF programs and maps there are on the machine, also those of other programs (bpf(2)).
//!
//! A number is of one object as long as that lives: the kernel counts on, and begins anew only behind 2^31.

use std::collections::BTreeSet;
use std::fs;

use nix::errno::Errno;

use crate::{Error, Result};

/// What the kernel numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Programs.
    Program,
    /// Maps.
    Map,
}

/// A program or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// The kernel's number of it.
    pub id: u32,
}

/// All programs and maps that live: held by a process, a filter or a link, or pinned.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`.
pub fn objects() -> Result<BTreeSet<Object>> {
    let mut found = BTreeSet::new();
    for kind in [Kind::Program, Kind::Map] {
        let mut last = 0;
        while let Some(id) = next(kind, last)? {
            found.insert(Object { kind, id });
            last = id;
        }
    }
    Ok(found)
}

/// The programs and maps that a process has open; none if it has ended or may not be looked at.
pub fn held_by(pid: i32) -> BTreeSet<Object> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = descriptors.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.filter_map(|text| object_in(&text)).collect()
}

/// What the kernel says of a descriptor (Linux kernel/bpf/syscall.c, `bpf_prog_show_fdinfo`, `bpf_map_show_fdinfo`).
fn object_in(text: &str) -> Option<Object> {
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    let of = |kind| move |id| Object { kind, id };
    number("map_id:").map(of(Kind::Map)).or_else(|| number("prog_id:").map(of(Kind::Program)))
}

/// The one behind this number.
fn next(kind: Kind, id: u32) -> Result<Option<u32>> {
    /// `union bpf_attr`, the part of `BPF_*_GET_NEXT_ID` (include/uapi/linux/bpf.h).
    #[repr(C)]
    struct GetNextId {
        start_id: u32,
        next_id: u32,
        open_flags: u32,
    }
    let command: libc::c_int = match kind {
        Kind::Program => 11,
        Kind::Map => 12,
    };
    let mut attributes = GetNextId { start_id: id, next_id: 0, open_flags: 0 };
    // SAFETY: the kernel reads and writes the structure, of the size that it is told, and keeps no pointer to it.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, &raw mut attributes, std::mem::size_of::<GetNextId>()) };
    match result {
        0 => Ok(Some(attributes.next_id)),
        _ if Errno::last() == Errno::ENOENT => Ok(None),
        _ => Err(Error::new("list eBPF programs and maps", Errno::last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_names_its_object() {
        let map = "pos:\t0\nflags:\t02000002\nmap_type:\t2\nmap_id:\t77\nowner_prog_type:\t3\n";
        assert_eq!(object_in(map), Some(Object { kind: Kind::Map, id: 77 }));
        let program = "pos:\t0\nprog_type:\t3\nprog_tag:\t00\nprog_id:\t12\n";
        assert_eq!(object_in(program), Some(Object { kind: Kind::Program, id: 12 }));
        assert_eq!(object_in("pos:\t0\nmnt_id:\t15\n"), None);
    }
}
