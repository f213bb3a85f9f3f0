//! How often a switch learns a known address at another port.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nicteam_netlink::Learned;
use nicteam_node::Failure;
use nicteam_record::MacMoveSample;
use nix::poll::{PollFd, PollFlags, poll};

/// A bridge tells of each move. They are read so often that the socket has room for them and the reader costs little.
const PAUSE: Duration = Duration::from_millis(5);
/// So long nothing has to move before the reader looks whether it is to end.
const LOOK_MS: u16 = 100;

/// Counts until it is dropped.
#[derive(Debug)]
pub(super) struct Moves {
    counted: Arc<Counted>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counted {
    moves: AtomicU64,
    overruns: AtomicU64,
    stop: AtomicBool,
}

impl Moves {
    /// Counts from now on what the bridges of this namespace learn.
    pub(super) fn start() -> Result<Moves, Failure> {
        let counted: Arc<Counted> = Arc::default();
        let (mut learned, counts) = (Learned::open()?, Arc::clone(&counted));
        let thread = std::thread::Builder::new().name("mac-moves".to_owned()).spawn(move || {
            while !counts.stop.load(Ordering::Relaxed) {
                let mut readable = [PollFd::new(learned.as_fd(), PollFlags::POLLIN)];
                // Interrupted, it looks all the same.
                let _ = poll(&mut readable, LOOK_MS);
                let counted = learned.counted();
                counts.moves.fetch_add(counted.moves, Ordering::Relaxed);
                counts.overruns.fetch_add(counted.overruns, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
            }
        })?;
        Ok(Moves { counted, thread: Some(thread) })
    }

    /// So far.
    pub(super) fn sample(&self) -> MacMoveSample {
        let Counted { moves, overruns, .. } = &*self.counted;
        MacMoveSample { moves: moves.load(Ordering::Relaxed), overruns: overruns.load(Ordering::Relaxed) }
    }
}

impl Drop for Moves {
    fn drop(&mut self) {
        self.counted.stop.store(true, Ordering::Relaxed);
        // It does not panic, and there would be nobody to tell.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
