//! Signals as something that can be read.

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::{Context, Result};

/// Signals that no longer act on the process, but wait to be read.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// These, for the calling thread and those that it starts from now on: call it while there is one. Children get
    /// them again as ever.
    ///
    /// # Errors
    /// What the kernel says; it has no reason to refuse but a lack of descriptors.
    pub fn catch(signals: &[Signal]) -> Result<Signals> {
        let set: SigSet = signals.iter().copied().collect();
        let catch = || {
            set.thread_block()?;
            SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        };
        catch().map(Signals).map_err(std::io::Error::from).context(|| "catch signals".to_owned())
    }

    /// The next one that has come; `None`: none has.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn next(&self) -> Result<Option<Signal>> {
        let read = self.0.read_signal().map_err(std::io::Error::from).context(|| "read signals".to_owned())?;
        Ok(read.and_then(|info| Signal::try_from(info.ssi_signo as i32).ok()))
    }
}

impl AsFd for Signals {
    /// Readable once one has come.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_read_in_its_time() {
        // A thread's mask is its own, and so is what is sent to it alone.
        let of_thread = || {
            let signals = Signals::catch(&[Signal::SIGHUP]).unwrap();
            assert_eq!(signals.next().unwrap(), None);
            nix::sys::signal::raise(Signal::SIGHUP).unwrap();
            (signals.next().unwrap(), signals.next().unwrap())
        };
        assert_eq!(std::thread::spawn(of_thread).join().unwrap(), (Some(Signal::SIGHUP), None));
    }
}
