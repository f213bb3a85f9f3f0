//! The loop that serves clients and the volume.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::address::Address;
use super::connection::{Connection, Wanted};
use super::handshake::Export;
use super::listener::Listener;
use crate::{Error, Kind, Volume, Watch};

/// Serves a volume to the clients that come.
///
/// The server numbers the operations of the volume: no other code submits any while it serves.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    export: Export,
    clients: BTreeMap<u64, Connection>,
    next_client: u64,
    /// Outstanding operations: the client, its number for the operation, and the operation.
    asked: BTreeMap<u64, (u64, u64, Kind)>,
    next_operation: u64,
}

impl Server {
    /// Begins to listen; exports this volume by a name, and to clients that name none.
    ///
    /// # Errors
    /// [`Error::Listen`].
    pub fn bind(address: &Address, name: &str, volume: &dyn Volume) -> Result<Server, Error> {
        let explain = |error: std::io::Error| Error::Listen { place: address.to_string(), reason: error.to_string() };
        let export = Export { name: name.to_owned(), bytes: volume.bytes(), block_bytes: volume.block_bytes() };
        Ok(Server {
            listener: Listener::bind(address).map_err(explain)?,
            export,
            clients: BTreeMap::new(),
            next_client: 0,
            asked: BTreeMap::new(),
            next_operation: 0,
        })
    }

    /// Waits, for so long at most, until a client, the volume or one of `others` has something, and does what follows
    /// from it. A client that breaks a rule is disconnected.
    ///
    /// # Errors
    /// As [`Volume::wait`].
    pub fn turn(
        &mut self,
        volume: &mut dyn Volume,
        limit: Option<Duration>,
        others: &mut [Watch<'_>],
    ) -> Result<(), Error> {
        let ready = self.wait(volume, limit, others)?;
        self.accept();
        for (client, found) in ready {
            if found.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR) {
                self.read(volume, client);
            }
        }
        while let Some(done) = volume.next_done() {
            // The client may be gone.
            let Some((client, cookie, kind)) = self.asked.remove(&done.id) else { continue };
            if kind == Kind::Flush && done.result.is_err() {
                // The lost data may be any client's, and the volume reports it once: each client gets the error by
                // its own next flush.
                self.clients.values_mut().for_each(Connection::fail_next_flush);
            }
            let Some(connection) = self.clients.get_mut(&client) else { continue };
            connection.reply(cookie, kind, done.buffer, done.result.is_ok());
        }
        self.write();
        Ok(())
    }

    /// How many clients are connected.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Which clients are ready, and for what.
    fn wait(
        &mut self,
        volume: &mut dyn Volume,
        limit: Option<Duration>,
        others: &mut [Watch<'_>],
    ) -> Result<Vec<(u64, PollFlags)>, Error> {
        let mut watches = Vec::with_capacity(1 + self.clients.len() + others.len());
        let may_come = self.clients.len() < MOST_CLIENTS;
        let wants = if may_come { PollFlags::POLLIN } else { PollFlags::empty() };
        watches.push(Watch::new(self.listener.as_fd(), wants));
        // One that nothing is wanted of would be found all the same once its client is gone, again and again.
        let watched = self.clients.iter().map(|(number, client)| (*number, client, client.wants()));
        let watched: Vec<_> = watched.filter(|(_, _, wants)| !wants.is_empty()).collect();
        watches.extend(watched.iter().map(|(_, client, wants)| Watch::new(client.fd(), *wants)));
        watches.extend(others.iter().copied());
        volume.wait(limit, &mut watches)?;
        let (of_clients, of_others) = watches[1..].split_at(watched.len());
        others.iter_mut().zip(of_others).for_each(|(other, watch)| other.found = watch.found);
        let found = watched.iter().zip(of_clients).filter(|(_, watch)| !watch.found.is_empty());
        Ok(found.map(|((client, ..), watch)| (*client, watch.found)).collect())
    }

    fn accept(&mut self) {
        while self.clients.len() < MOST_CLIENTS
            && let Ok(Some(stream)) = self.listener.accept()
        {
            self.clients.insert(self.next_client, Connection::new(stream));
            self.next_client += 1;
        }
    }

    fn read(&mut self, volume: &mut dyn Volume, client: u64) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        let mut wanted = Vec::new();
        let is_there = connection.read(&self.export, &mut wanted).is_ok();
        for Wanted { cookie, mut operation } in wanted {
            let (kind, bytes) = (operation.kind, operation.buffer.len());
            operation.id = self.next_operation;
            match volume.submit(operation) {
                Ok(()) => {
                    self.asked.insert(self.next_operation, (client, cookie, kind));
                }
                Err(_) => connection.refuse(cookie, bytes),
            }
            self.next_operation += 1;
        }
        if !is_there {
            self.clients.remove(&client);
        }
    }

    fn write(&mut self) {
        self.clients.retain(|_, connection| connection.write().is_ok() && !connection.is_over());
    }
}

/// More wait until one leaves.
const MOST_CLIENTS: usize = 64;
