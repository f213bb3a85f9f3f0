//! A team with all that belongs to it on a host: its socket, and what is kept of it.

use std::os::fd::BorrowedFd;

use nicteam_dataplane::Kind;
use nicteam_sys::{capabilities, sched};

use crate::control::{Server, Sockets};
use crate::lock::Lock;
use crate::persisted::{ForSuccessor, PersistedTeam, StateStore};
use crate::persistence::Persistence;
use crate::{Entry, Error, NEEDED, ProcessOptions, RunningTeam, TeamHandle};

/// A team that runs, is kept, and can be talked to ([`crate::control`]).
#[derive(Debug)]
pub struct Service {
    // Dropped first: then every answer has been given before the process ends.
    server: Server,
    team: RunningTeam,
}

impl Service {
    /// Starts a team, or takes over the one that an ended process left, in the
    /// network namespace of the calling thread. `listener` hears everything that
    /// happens, from the start on.
    ///
    /// # Errors
    /// It cannot be run, or its sockets cannot be had; then nothing is left, and a team that an ended process
    /// left stays as it was. That it cannot be kept is no error: the listener hears of it.
    pub fn start(persisted: &PersistedTeam, listener: Box<dyn Fn(&Entry) + Send>) -> Result<Service, Error> {
        Service::start_with(persisted, listener, ProcessOptions::default())
    }

    /// The same, with habits of its own.
    ///
    /// # Errors
    /// As above; a thread that keeps capabilities is no error, the listener hears of it.
    pub fn start_with(
        persisted: &PersistedTeam,
        listener: Box<dyn Fn(&Entry) + Send>,
        options: ProcessOptions,
    ) -> Result<Service, Error> {
        let spec = persisted.spec()?;
        let lock = Lock::take(&spec.name)?;
        // Before anything of the team is touched: what cannot be talked to is not started.
        let sockets = Sockets::bind(&spec.name, &lock)?;
        let store = StateStore::here()?;
        let (spec_kept, places, log) = (spec.clone(), persisted.places(), persisted.log.clone());
        let for_successor = ForSuccessor { tcp_before: persisted.tcp_before.clone(), active: persisted.active.clone() };
        let recalled = persisted.recalled;
        let (persisted, missing) = (None, Vec::new());
        let persistence = Persistence {
            store,
            spec: spec_kept,
            places,
            for_successor,
            log,
            listener,
            persisted,
            persisted_inputs: None,
            recalled,
            missing,
        };
        // The listener hears what the notices say.
        let confined = options.confined;
        if confined {
            // Where it may not now, it could not later.
            let _ = sched::allow_to_run_first();
        }
        let team = RunningTeam::begin(spec, Box::new(drop), lock, Some(persistence), options)?;
        if confined {
            // The control threads are started with what this one has then.
            capabilities::keep_only(&NEEDED)?;
        }
        match Server::start(sockets, team.handle().clone()) {
            Ok(server) => Ok(Service { server, team }),
            // One that was taken over goes on as its predecessor left it.
            Err(error) if team.is_taken_over() => Err(error),
            Err(error) => {
                // The first error is the one to report.
                let _ = team.remove();
                Err(error)
            }
        }
    }

    /// Its device.
    pub fn name(&self) -> &str {
        self.team.name()
    }

    /// What asks its thread.
    pub fn handle(&self) -> &TeamHandle {
        self.team.handle()
    }

    /// What executes its plan.
    pub fn dataplane(&self) -> Kind {
        self.team.dataplane()
    }

    /// Waits until the team has ended, or `interrupt` is readable.
    pub fn wait(&self, interrupt: Option<BorrowedFd<'_>>) -> Result<(), Error> {
        self.team.wait(interrupt)
    }

    /// Ends the process's part and leaves the team as it is, for the next process: an eBPF team forwards on.
    pub fn leave(self) {
        drop(self);
    }

    /// Takes the team down, unless it has ended or was left for another process.
    ///
    /// # Errors
    /// Of what could not be undone, the first; or why it ended by itself.
    pub fn end(self) -> Result<(), Error> {
        let Service { server, team } = self;
        let ended = team.remove();
        drop(server);
        ended
    }
}
