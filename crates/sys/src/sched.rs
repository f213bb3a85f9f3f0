//! Which thread gets a processor first.

use std::io;

use crate::{Context, Result};

/// The lowest of the real-time priorities.
const LOWEST: libc::c_int = 1;

/// Lets the calling thread run before all that is not real-time (`SCHED_RR`, the lowest
/// priority). Threads and processes that it starts get no part in that.
///
/// # Errors
/// `EPERM` without CAP_SYS_NICE.
pub fn run_first() -> Result<()> {
    // SAFETY: all-zero bytes are a valid sched_param.
    let mut wish: libc::sched_param = unsafe { std::mem::zeroed() };
    wish.sched_priority = LOWEST;
    // SAFETY: 0 is the calling thread; the call only reads `wish`, which outlives it.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const wish) };
    let result = if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    result.context(|| "run before other threads".to_owned())
}

#[cfg(test)]
mod tests {
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
            Ok(()) => Some((policy(), of_child())),
            Err(error) => {
                assert_eq!(error.source.raw_os_error(), Some(libc::EPERM), "{error}");
                None
            }
        };
        let seen = thread::spawn(of_thread).join().unwrap();
        if let Some(seen) = seen {
            assert_eq!(seen, (libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, libc::SCHED_OTHER));
        }
    }
}
