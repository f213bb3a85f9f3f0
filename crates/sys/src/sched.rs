//! Which thread gets a processor first, and which one.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::Pid;

use crate::{Context, Result};

/// The lowest of the real-time priorities.
const LOWEST: libc::c_int = 1;

/// Lets the calling thread run before all that is not real-time (`SCHED_RR`, the lowest
/// priority). Threads and processes that it starts get no part in that.
///
/// # Errors
/// `EPERM` without CAP_SYS_NICE.
pub fn run_first() -> Result<()> {
    run_as(libc::SCHED_RR, LOWEST).context(|| "run before other threads".to_owned())
}

/// Lets the threads of this process call [`run_first`] after it has given CAP_SYS_NICE up (`RLIMIT_RTPRIO`).
///
/// # Errors
/// `EPERM` without CAP_SYS_RESOURCE.
pub fn allow_to_run_first() -> Result<()> {
    let lowest = LOWEST as nix::sys::resource::rlim_t;
    let allow = setrlimit(Resource::RLIMIT_RTPRIO, lowest, lowest).map_err(io::Error::from);
    allow.context(|| "let threads run before others".to_owned())
}

/// Lets the calling thread run as others do (`SCHED_OTHER`), after [`run_first`].
///
/// # Errors
/// What the kernel says; it has no reason to refuse.
pub fn run_as_others() -> Result<()> {
    run_as(libc::SCHED_OTHER, 0).context(|| "run as other threads do".to_owned())
}

/// Lets the calling thread, and what it starts, run on one processor alone: the one of this number
/// among those that it may run on, which are counted from 0 and over again.
///
/// # Errors
/// `EINVAL` if it was taken from the thread meanwhile.
pub fn keep_to(number: usize) -> Result<()> {
    keep(Pid::from_raw(0), Some(number)).context(|| "keep to one processor".to_owned())
}

/// The same for every thread of another process, counted among the processors of the calling thread; none: all of them.
///
/// # Errors
/// There is no such process, or it is another user's.
pub fn keep_process_to(process: u32, number: Option<usize>) -> Result<()> {
    let keep_all = || {
        for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let thread = thread?.file_name().to_string_lossy().parse().map_err(io::Error::other)?;
            match keep(Pid::from_raw(thread), number) {
                // A thread that ends meanwhile runs nowhere.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                kept => kept?,
            }
        }
        Ok::<_, io::Error>(())
    };
    keep_all().context(|| format!("choose the processors of process {process}"))
}

fn keep(thread: Pid, number: Option<usize>) -> io::Result<()> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let Some(number) = number else { return Ok(sched_setaffinity(thread, &set)?) };
    let allowed: Vec<usize> = (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu) == Ok(true)).collect();
    let mut one = CpuSet::new();
    one.set(allowed[number % allowed.len()])?;
    Ok(sched_setaffinity(thread, &one)?)
}

fn run_as(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid sched_param.
    let mut wish: libc::sched_param = unsafe { std::mem::zeroed() };
    wish.sched_priority = priority;
    // SAFETY: 0 is the calling thread; the call only reads `wish`, which outlives it.
    let result = unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const wish) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use super::*;

    fn policy() -> libc::c_int {
        // SAFETY: asks about the calling thread.
        unsafe { libc::sched_getscheduler(0) }
    }

    #[test]
    fn a_thread_runs_first_and_what_it_starts_does_not() {
        let of_child = || thread::spawn(policy).join().unwrap();
        let of_thread = move || match run_first() {
            Ok(()) => {
                let (first, child) = (policy(), of_child());
                run_as_others().unwrap();
                Some((first, child, policy()))
            }
            Err(error) => {
                assert_eq!(error.source.raw_os_error(), Some(libc::EPERM), "{error}");
                None
            }
        };
        let seen = thread::spawn(of_thread).join().unwrap();
        if let Some(seen) = seen {
            let like_others = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
            assert_eq!(seen, (libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, libc::SCHED_OTHER, like_others));
        }
    }

    #[test]
    fn threads_keep_to_processors_of_their_own() {
        let allowed = || {
            let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
            (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap()).collect::<Vec<usize>>()
        };
        let all = allowed();
        let kept = |number| {
            thread::spawn(move || {
                keep_to(number).unwrap();
                allowed()
            })
            .join()
            .unwrap()
        };
        let each: BTreeSet<Vec<usize>> = (0..all.len()).map(kept).collect();
        assert_eq!(each, all.iter().map(|&cpu| vec![cpu]).collect());
        assert_eq!(kept(all.len()), vec![all[0]], "counted over again");
        assert_eq!(allowed(), all, "of the thread that asks for it alone");
    }
}
