//! Memory that a command reads into or writes from.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes that move into a session with a command and back with its [`crate::Event::Done`], without being copied;
/// after a write perhaps others.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Buffer(Box<[u8]>);

impl Buffer {
    /// A buffer of so many zero bytes.
    pub fn new(bytes: usize) -> Buffer {
        Buffer(vec![0; bytes].into_boxed_slice())
    }

    /// The bytes as a vector.
    pub fn into_vec(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Buffer {
        Buffer(bytes.into_boxed_slice())
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}
