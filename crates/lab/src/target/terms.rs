//! What a kind of target is.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::net::SocketAddr;

use crate::engine::Absent;
use crate::error::Failure;
use crate::protocol::ServeTarget;
use crate::say::Output;

/// Who serves storage in the network namespace of the caller.
pub trait Kind: fmt::Debug + Sync {
    /// Its name in the file and in the record.
    fn name(&self) -> &'static str;

    /// Whether this machine has it; asked before anything is built.
    ///
    /// # Errors
    /// It has not.
    fn is_there(&self) -> Result<(), Absent>;

    /// Serves storage, and returns once it can be used. If that ends unasked, `output` is told. Call from the thread that
    /// lives as long as the agent.
    ///
    /// # Errors
    /// It cannot be served, in words for the lab's user.
    fn serve(&self, target: &ServeTarget, output: &Output) -> Result<Box<dyn Served>, Failure>;
}

/// Storage that is served; it ends with this value.
pub trait Served: fmt::Debug + Send {
    /// The program.
    fn program(&self) -> &'static str;

    /// Its version.
    fn version(&self) -> String;

    /// Addresses and ports at which it is to be had.
    fn portals(&self) -> Vec<SocketAddr>;

    /// What it was told, by its own words.
    fn configured(&self) -> BTreeMap<String, String>;

    /// Processes that work for it.
    fn processes(&self) -> Vec<u32>;

    /// What it holds, byte for byte.
    fn backing(&self) -> &File;

    /// Kills what serves it, as a crash would. What was written stays.
    ///
    /// # Errors
    /// It does not end.
    fn kill(&mut self) -> Result<(), Failure>;

    /// Serves it again after that, and returns once it can be used.
    ///
    /// # Errors
    /// As for [`Kind::serve`].
    fn restart(&mut self) -> Result<(), Failure>;
}
