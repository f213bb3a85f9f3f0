//! Locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value, even if a thread that held it panicked: for values that every
/// holder changes in a single step, so that none can be half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
