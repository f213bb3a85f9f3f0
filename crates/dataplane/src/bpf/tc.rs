//! tc filters with eBPF programs.
//!
//! A filter attached by netlink belongs to the device, not to the process that
//! attached it (a TCX link would go with its process): so a team forwards on
//! when its owner dies. All functions work in the caller's network namespace.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libbpf_sys::{bpf_tc_hook, bpf_tc_opts};
use nicteam_netlink::{FilterPlace, Netlink};

use super::libbpf_log::attempt;
use crate::Error;

/// Where a filter of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// What the end behind the team device receives: what the stack sent.
    Behind,
    /// What a member receives.
    Ingress,
    /// What the team device or a member sends.
    Egress,
    /// What a member receives, where earlier versions have their filter.
    FormerIngress,
}

const HANDLE: u32 = 1;
/// Nobody else has anything to do at the end behind; other programs that go over all devices take 1.
const FIRST: u32 = 2;
/// On the team device and on members there is room before ours and behind it, as there is before and behind
/// what a bond does: `tc` puts a filter without a priority of its own before
/// those there are, and this is what it gives to the first.
const WITH_ROOM: u32 = crate::kind::MEMBER_PREF as u32;
const FORMER: u32 = 1;

/// Gives the device the queueing discipline that filters need. False if it had it.
pub(super) fn add_clsact(index: u32) -> Result<bool, Error> {
    attempt(
        || format!("add a clsact to interface {index}"),
        || {
            let mut hook = hook(index, Point::Ingress);
            // SAFETY: `hook` is a complete `bpf_tc_hook` whose `sz` says so.
            match check(unsafe { libbpf_sys::bpf_tc_hook_create(&mut hook) }) {
                Ok(()) => Ok(true),
                Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(false),
                Err(error) => Err(error),
            }
        },
    )
}

/// Takes it away, and every filter with it. It is no error if it or the device is gone.
pub(super) fn remove_clsact(index: u32) -> Result<(), Error> {
    attempt(
        || format!("remove the clsact of interface {index}"),
        || {
            let mut hook = hook(index, Point::Ingress);
            hook.attach_point |= libbpf_sys::BPF_TC_EGRESS;
            // SAFETY: as above.
            unless_gone(check(unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut hook) }))
        },
    )
}

/// The identifier of the program in our place; `None` if there is none.
pub(super) fn program_at(index: u32, point: Point) -> Option<u32> {
    let query = || {
        let hook = hook(index, point);
        let mut opts = opts(priority(point));
        // SAFETY: both are complete and say so in `sz`.
        check(unsafe { libbpf_sys::bpf_tc_query(&hook, &mut opts) }).map(|()| opts.prog_id)
    };
    attempt(String::new, query).ok().filter(|&id| id != 0)
}

/// The name of the filter in our place.
pub(super) fn filter_name(index: u32, point: Point) -> nicteam_sys::Result<Option<String>> {
    let priority = priority(point) as u16;
    let place = FilterPlace { index, egress: point.is_egress(), priority, handle: HANDLE };
    Netlink::open()?.filter_name(place)
}

/// Attaches the program, in one step if one is there: every frame meets the old
/// one or the new one.
pub(super) fn set_filter(index: u32, point: Point, program: BorrowedFd<'_>) -> Result<(), Error> {
    attempt(
        || format!("attach a filter to interface {index}"),
        || {
            let hook = hook(index, point);
            let mut opts = opts(priority(point));
            opts.prog_fd = program.as_raw_fd();
            opts.flags = libbpf_sys::BPF_TC_F_REPLACE;
            // SAFETY: as above.
            check(unsafe { libbpf_sys::bpf_tc_attach(&hook, &mut opts) })
        },
    )
}

/// Detaches our program. It is no error if it or the device is gone.
pub(super) fn remove_filter(index: u32, point: Point) -> Result<(), Error> {
    attempt(
        || format!("detach the filter of interface {index}"),
        || {
            let hook = hook(index, point);
            // SAFETY: as above.
            unless_gone(check(unsafe { libbpf_sys::bpf_tc_detach(&hook, &opts(priority(point))) }))
        },
    )
}

fn hook(index: u32, point: Point) -> bpf_tc_hook {
    bpf_tc_hook {
        sz: size_of::<bpf_tc_hook>() as _,
        ifindex: index as i32,
        attach_point: if point.is_egress() { libbpf_sys::BPF_TC_EGRESS } else { libbpf_sys::BPF_TC_INGRESS },
        ..bpf_tc_hook::default()
    }
}

fn opts(priority: u32) -> bpf_tc_opts {
    bpf_tc_opts { sz: size_of::<bpf_tc_opts>() as _, handle: HANDLE, priority, ..bpf_tc_opts::default() }
}

fn priority(point: Point) -> u32 {
    match point {
        Point::Behind => FIRST,
        Point::Ingress | Point::Egress => WITH_ROOM,
        Point::FormerIngress => FORMER,
    }
}

impl Point {
    pub(super) fn is_egress(self) -> bool {
        self == Point::Egress
    }
}

/// libbpf returns 0 or a negative error number.
fn check(result: i32) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-result)) }
}

/// `EINVAL` is what the kernel says of a filter where there is no clsact.
fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::EINVAL)) => Ok(()),
        other => other,
    }
}
