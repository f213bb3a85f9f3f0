//! Holds senders until the start.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::lock;

/// Closed at first; then open; then the traffic is over.
#[derive(Debug, Default)]
pub(super) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    stopped: AtomicBool,
}

impl Gate {
    /// Opens it.
    pub(super) fn let_through(&self) {
        *lock(&self.open) = true;
        self.opened.notify_all();
    }

    /// Waits until it is open.
    pub(super) fn wait(&self) {
        let mut open = lock(&self.open);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the traffic; who still waits is let through to see that.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.let_through();
    }

    /// True once the traffic is over.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
