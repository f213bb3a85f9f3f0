//! What a kind of target is.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::net::SocketAddr;

use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::ServeTarget;

use crate::background::Background;
use crate::engine::Absent;

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
    fn serve(&self, target: &ServeTarget, output: &Output) -> Result<Served, Failure>;
}

/// Who serves a target, as often as it is started.
pub(crate) trait Server: fmt::Debug + Send {
    /// Starts it, and returns once it can be used; what runs, in the order in which it is to end.
    ///
    /// # Errors
    /// As for [`Kind::serve`].
    fn start(&self) -> Result<Vec<Background>, Failure>;
}

/// What is to be said of a target.
#[derive(Clone, Debug)]
pub struct Said {
    /// The program.
    pub program: &'static str,
    /// Its version.
    pub version: String,
    /// Addresses and ports at which it is to be had.
    pub portals: Vec<SocketAddr>,
    /// What it was told, by its own words.
    pub configured: BTreeMap<String, String>,
}

/// Storage that is served; it ends with this value.
#[derive(Debug)]
pub struct Served {
    said: Said,
    backing: File,
    server: Box<dyn Server>,
    /// None after it was killed.
    running: Vec<Background>,
}

impl Served {
    /// Starts a server of what `backing` holds, byte for byte.
    ///
    /// # Errors
    /// As for [`Kind::serve`].
    pub(crate) fn start(said: Said, backing: File, server: Box<dyn Server>) -> Result<Served, Failure> {
        let running = server.start()?;
        Ok(Served { said, backing, server, running })
    }

    /// What is to be said of it.
    pub fn said(&self) -> &Said {
        &self.said
    }

    /// Processes that work for it.
    pub fn processes(&self) -> Vec<u32> {
        self.running.iter().flat_map(Background::processes).collect()
    }

    /// What it holds, byte for byte.
    pub fn backing(&self) -> &File {
        &self.backing
    }

    /// Kills what serves it, as a crash would. What was written stays.
    ///
    /// # Errors
    /// It does not end.
    pub fn kill(&mut self) -> Result<(), Failure> {
        self.running.drain(..).try_for_each(|mut running| running.kill())
    }

    /// Serves it again after that, and returns once it can be used.
    ///
    /// # Errors
    /// As for [`Kind::serve`].
    pub fn restart(&mut self) -> Result<(), Failure> {
        self.kill()?;
        self.running = self.server.start()?;
        Ok(())
    }
}
