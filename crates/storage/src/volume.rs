//! A range of blocks that is read and written asynchronously.

use std::time::Duration;

use crate::{Buffer, Error, IoError, Kind, Watch};

/// A range of blocks that is read and written asynchronously, by one thread: an iSCSI disk ([`crate::Disk`]), or a
/// file of another protocol.
///
/// ```no_run
/// # use nicteam_storage::{Buffer, Error, Kind, Operation, Volume};
/// fn read_block(volume: &mut dyn Volume) -> Result<Buffer, Error> {
///     let buffer = Buffer::new(volume.block_bytes() as usize);
///     volume.submit(Operation { id: 1, kind: Kind::Read, offset: 0, buffer })?;
///     loop {
///         if let Some(done) = volume.next_done() {
///             return done.result.map(|()| done.buffer).map_err(Error::from);
///         }
///         volume.wait(None, &mut [])?;
///     }
/// }
/// ```
pub trait Volume {
    /// Bytes of a block: offsets and lengths are multiples of it.
    fn block_bytes(&self) -> u32;

    /// Its size, bytes.
    fn bytes(&self) -> u64;

    /// Begins an operation. Operations that are outstanding together may be executed in any order.
    ///
    /// # Errors
    /// [`Error::Range`] where it is not within the volume, or not in whole blocks; its buffer is gone then.
    fn submit(&mut self, operation: Operation) -> Result<(), Error>;

    /// Waits until something is done, one of `others` is ready (its `found` says so), or the time has passed; without
    /// a limit if none is given. It may return without any of these. What is done already does not wait.
    ///
    /// # Errors
    /// What the operating system says of waiting; an operation's failure is its own.
    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error>;

    /// The next operation that is over. Each has exactly one.
    fn next_done(&mut self) -> Option<Done>;
}

/// A read, a write or a flush.
#[derive(Clone, Debug)]
pub struct Operation {
    /// A number that the caller chose, to know it again.
    pub id: u64,
    /// What is to be done.
    pub kind: Kind,
    /// Where it begins, bytes.
    pub offset: u64,
    /// What is written, or room for what is read.
    pub buffer: Buffer,
}

/// An operation that is over.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its number.
    pub id: u64,
    /// The buffer that was given, or after a write another one of its size; after a read that failed, and after a
    /// write, its content is undefined.
    pub buffer: Buffer,
    /// Whether it was done.
    pub result: Result<(), IoError>,
    /// How long it took, as the program sees it.
    pub took: Duration,
}

impl Operation {
    /// Whether the operation is one that a volume of this size takes.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn check(&self, block_bytes: u32, bytes: u64) -> Result<(), Error> {
        let (offset, length) = (self.offset, self.buffer.len() as u64);
        let block = u64::from(block_bytes.max(1));
        let is_whole = offset.is_multiple_of(block) && length.is_multiple_of(block) && length > 0;
        let is_within = offset.checked_add(length).is_some_and(|end| end <= bytes);
        match self.kind {
            Kind::Flush => Ok(()),
            _ if is_whole && is_within => Ok(()),
            _ => Err(Error::Range { offset, length, block_bytes, bytes }),
        }
    }

    /// What it is, in words: for errors.
    pub fn words(&self) -> String {
        let verb = match self.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Flush => return "a flush".to_owned(),
        };
        format!("a {verb} of {} bytes at offset {}", self.buffer.len(), self.offset)
    }
}
