//! Processes: children that end with their parent, signals.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::time::TimeSpec;

use crate::netns::{NetNs, set_loopback_up};
use crate::{Context, Result};

/// Lets the child of `command` be killed when the thread that starts it ends,
/// however it ends (`PR_SET_PDEATHSIG`).
pub fn die_with_parent(command: &mut Command) {
    let parent = nix::unistd::getpid();
    let ask = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // A parent that ended before the line above will send nothing.
        if nix::unistd::getppid() != parent { Err(Errno::ESRCH.into()) } else { Ok(()) }
    };
    // SAFETY: `ask` only makes system calls: it neither allocates nor takes locks.
    unsafe { command.pre_exec(ask) };
}

/// Lets the child of `command` give way to others by so much (`nice`, 0 to 19).
pub fn give_way(command: &mut Command, niceness: i32) {
    // SAFETY: a system call: it neither allocates nor takes locks.
    let ask = move || match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(ask) };
}

/// Gives the child of `command` a network namespace of its own, with the loopback device up.
pub fn in_new_netns(command: &mut Command) {
    let enter = || {
        unshare(CloneFlags::CLONE_NEWNET)?;
        set_loopback_up()
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(enter) };
}

/// Runs the child of `command` in a namespace.
///
/// `command` holds a handle of its own, so that `netns` may be dropped before
/// the start; a failure to make it shows at the start.
pub fn in_netns(command: &mut Command, netns: &NetNs) {
    let handle: io::Result<OwnedFd> = netns.as_fd().try_clone_to_owned();
    let enter = move || match &handle {
        Ok(handle) => Ok(setns(handle, CloneFlags::CLONE_NEWNET)?),
        Err(error) => Err(error.raw_os_error().map_or(Errno::EBADF.into(), io::Error::from_raw_os_error)),
    };
    // SAFETY: as above; an error made of a number does not allocate.
    unsafe { command.pre_exec(enter) };
}

/// Gives the child of `command` this descriptor, under the number that is returned;
/// no other child of this process gets it.
pub fn inherit(command: &mut Command, fd: OwnedFd) -> RawFd {
    let number = fd.as_raw_fd();
    let keep = move || Ok(fcntl(&fd, FcntlArg::F_SETFD(FdFlag::empty())).map(drop)?);
    // SAFETY: as above.
    unsafe { command.pre_exec(keep) };
    number
}

/// How a child ended, and the processor time that it and the descendants it waited for took.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// User and system time.
    pub processor: Duration,
}

/// A handle on a process, readable once it has ended (`pidfd_open`).
pub(crate) fn handle(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the result is checked.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
    if handle < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}

/// Waits until a child has ended, so much time has passed or a termination signal has come; once it has ended, nobody
/// may wait for it again.
pub fn wait(child: &Child, timeout: Duration) -> Result<Option<Ended>> {
    let pid = child.id() as libc::pid_t;
    let what = || format!("wait for process {pid}");
    let handle = handle(pid).context(what)?;
    let awaited = [Some(handle.as_fd()), termination_event()].into_iter().flatten();
    let mut awaited: Vec<PollFd<'_>> = awaited.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match nix::poll::ppoll(&mut awaited, Some(TimeSpec::from_duration(timeout)), None) {
        Ok(_) | Err(Errno::EINTR) => try_wait(pid).context(what),
        Err(error) => Err(io::Error::from(error)).context(what),
    }
}

/// Looks whether a child has ended.
fn try_wait(pid: libc::pid_t) -> io::Result<Option<Ended>> {
    let mut status = 0;
    // SAFETY: all-zero bytes are valid for this C structure.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: both pointers are to memory that outlives the call.
    let ended = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
    if ended < 0 {
        return Err(io::Error::last_os_error());
    }
    let time = |of: libc::timeval| Duration::new(of.tv_sec as u64, of.tv_usec as u32 * 1000);
    let processor = time(usage.ru_utime) + time(usage.ru_stime);
    Ok((ended == pid).then(|| Ended { status: ExitStatus::from_raw(status), processor }))
}

/// Makes this process the parent of descendants whose own parent ended (`PR_SET_CHILD_SUBREAPER`).
pub fn adopt_orphans() -> Result<()> {
    nix::sys::prctl::set_child_subreaper(true).context(|| "adopt orphans".to_owned())
}

/// Number and name of each running child of this process, whichever of its threads started it.
pub fn children() -> Result<Vec<String>> {
    let read = || -> io::Result<Vec<String>> {
        let mut children = Vec::new();
        for thread in std::fs::read_dir("/proc/self/task")? {
            let of_thread = std::fs::read_to_string(thread?.path().join("children"))?;
            children.extend(of_thread.split_whitespace().filter_map(running));
        }
        Ok(children)
    };
    read().context(|| "read the children of this process".to_owned())
}

/// Number and name of a process; none if it has ended.
fn running(pid: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_none_or(|state| state.starts_with(['Z', 'X']));
    (!has_ended).then(|| format!("{pid} {}", field("Name:").unwrap_or_default()))
}

/// From now on SIGINT, SIGTERM and SIGHUP only set a flag. Call once, early.
///
/// SIGHUP stays ignored where it is (nohup(1)): the work is to outlive the terminal.
///
/// System calls that wait return `EINTR` when one comes. Children start with
/// the default again (exec resets handlers).
pub fn catch_termination() -> Result<()> {
    let catch = || {
        if EVENT.get().is_none() {
            let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
            EVENT.set(event).ok();
        }
        let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // SAFETY: `note` is safe in a signal handler, see there.
            let before = unsafe { sigaction(signal, &action) }?;
            if signal == Signal::SIGHUP && matches!(before.handler(), SigHandler::SigIgn) {
                // SAFETY: it is the action that was there; no handler belongs to it.
                unsafe { sigaction(signal, &before) }?;
            }
        }
        Ok::<_, Errno>(())
    };
    catch().context(|| "catch the signals that end a process".to_owned())
}

/// The signal that came since [`catch_termination`], if one did; the last of several.
pub fn termination() -> Option<i32> {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// Readable from the first termination signal on, for those who poll; `None`
/// before [`catch_termination`]. Not to be read from.
pub fn termination_event() -> Option<BorrowedFd<'static>> {
    EVENT.get().map(AsFd::as_fd)
}

/// Sleeps until the time has passed or a termination signal has come.
pub fn sleep_or_termination(duration: Duration) {
    let Some(event) = termination_event() else {
        return thread::sleep(duration);
    };
    let start = Instant::now();
    // Another signal may end a poll early.
    while let Some(left) = duration.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        let timeout = TimeSpec::from_duration(left);
        match nix::poll::ppoll(&mut [PollFd::new(event, PollFlags::POLLIN)], Some(timeout), None) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return,
            Err(_) => return thread::sleep(left),
        }
    }
}

/// The termination signal that came last; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Readable once a termination signal came. A flag alone would be missed by
/// a thread that looks at it just before it goes to sleep.
static EVENT: OnceLock<EventFd> = OnceLock::new();

/// The handler: an atomic store, and a write whose result does not matter;
/// neither allocates nor locks, and `errno` is kept for the code interrupted.
extern "C" fn note(signal: libc::c_int) {
    let errno = Errno::last_raw();
    SIGNAL.store(signal, Ordering::SeqCst);
    if let Some(event) = EVENT.get() {
        event.write(1).ok();
    }
    Errno::set_raw(errno);
}
