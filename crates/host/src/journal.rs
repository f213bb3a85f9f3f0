//! What `up` found, kept until `down` has restored it.
//!
//! `up:NAME.found` in the folder of the network namespace, written before the first change. The folder does not outlive the
//! machine's run, and where somebody has put it on a disk the journal of an earlier run is forgotten: it names its boot.

use nicteam_daemon::Notes;
use nicteam_netlink::object::{Address, Route};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::found::{self, Found};

/// Number of the format.
const SCHEMA: u32 = 1;
/// End of the file's name.
const END: &str = "found";

/// What is noted of a team that is up, or on its way up or down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Journal {
    schema: u32,
    /// The boot of this machine in which it was written.
    boot: String,
    /// Every step of `up` was taken.
    pub(crate) is_up: bool,
    /// The members, by the names of the file.
    pub(crate) members: Vec<String>,
    /// What was there before.
    pub(crate) found: Found,
    /// The addresses that the file gave the team.
    #[serde(with = "found::addresses")]
    pub(crate) own_addresses: Vec<Address>,
    /// The routes that the file gave the team.
    #[serde(with = "found::routes")]
    pub(crate) own_routes: Vec<Route>,
}

impl Journal {
    /// Of a team that is about to come up.
    pub(crate) fn new(members: &[String], found: Found) -> Journal {
        let (own_addresses, own_routes) = (Vec::new(), Vec::new());
        let members = members.to_vec();
        Journal { schema: SCHEMA, boot: boot(), is_up: false, members, found, own_addresses, own_routes }
    }

    /// Reads what is noted of a team; what an earlier boot noted is nothing.
    pub(crate) fn read(team: &str, notes: &Notes) -> Result<Option<Journal>, Error> {
        /// What every format has.
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
            boot: String,
        }
        let Some(text) = notes.read(END)? else { return Ok(None) };
        let damaged =
            |why: String| Error::Journal { team: team.to_owned(), path: notes.path(END).display().to_string(), why };
        let head: Head = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if head.boot != boot() {
            return Ok(None);
        }
        if head.schema != SCHEMA {
            return Err(damaged(format!("it has format {}, this version reads {SCHEMA}", head.schema)));
        }
        serde_json::from_str(&text).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Writes it.
    pub(crate) fn write(&self, notes: &Notes) -> Result<(), Error> {
        let text = serde_json::to_string(self)
            .map_err(|error| nicteam_sys::Error::new("write the journal", std::io::Error::from(error)))?;
        Ok(notes.write(END, &(text + "\n"))?)
    }

    /// Forgets it: nothing is to be restored any more.
    pub(crate) fn remove(notes: &Notes) -> Result<(), Error> {
        Ok(notes.remove(END)?)
    }

    /// The file, for people.
    pub(crate) fn path(notes: &Notes) -> String {
        notes.path(END).display().to_string()
    }
}

/// The teams of this network namespace of which something is noted.
pub(crate) fn teams() -> Result<Vec<String>, Error> {
    Ok(Notes::teams(END)?)
}

/// What tells this run of the machine from all others.
pub(crate) fn boot() -> String {
    // Where the kernel does not tell, a folder in memory does: it is gone at a reboot.
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
