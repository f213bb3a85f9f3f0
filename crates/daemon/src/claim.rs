//! Whose a device is, and what it was before.
//!
//! A file a device, `device:INDEX.lock`, in the folder of its network namespace: so it belongs to one device of one
//! namespace. The process of the team has the file's lock as long as the device is its member, so of two that
//! want it one gets it. What stands in it outlives the process. A device of the same index may be another by
//! then: what is noted counts only for one that still bears a team's marks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nicteam_netlink::Link;
use nicteam_sys::Context;
use nix::fcntl::Flock;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::folder::{Folder, Opened};
use crate::original::Original;

/// Number of the format.
const SCHEMA: u32 = 1;
/// What surrounds the index in the file's name; no team has such a name.
const PREFIX: &str = "device:";
const SUFFIX: &str = ".lock";
/// The longest record, bytes.
const LONGEST: usize = 4096;

/// The right to have a device as a member.
#[derive(Debug)]
pub(crate) struct Claim {
    folder: Opened,
    name: String,
    file: Flock<File>,
}

/// What is noted of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    schema: u32,
    /// The team that has it.
    pub(crate) team: String,
    /// Its name when it joined.
    pub(crate) device: String,
    /// What it was, in the words of its alias.
    was: String,
}

impl Record {
    /// Of a device that joins.
    pub(crate) fn new(team: &str, device: &str, original: &Original) -> Record {
        let (team, device) = (team.to_owned(), device.to_owned());
        Record { schema: SCHEMA, was: original.to_text(&team), team, device }
    }

    /// What the device was.
    pub(crate) fn original(&self) -> Option<Original> {
        Original::from_text(&self.was).filter(|(team, _)| *team == self.team).map(|(_, original)| original)
    }

    fn parse(text: &[u8]) -> Option<Record> {
        let record: Record = serde_json::from_slice(text).ok()?;
        (record.schema == SCHEMA && record.original().is_some()).then_some(record)
    }
}

impl Claim {
    /// Takes a device, or says who has it.
    pub(crate) fn take(device: &Link) -> Result<Claim, Error> {
        let (folder, name) = (Folder::here()?.make()?, name_of(device.index));
        let locked = folder.lock(&name).context(|| format!("take the lock of {}", device.name))?;
        match locked {
            Some(file) => Ok(Claim { folder, name, file }),
            None => {
                // Its owner writes it once, whole.
                let record = folder.read(&name).ok().flatten().and_then(|text| Record::parse(text.as_bytes()));
                let team = record.map_or_else(|| "another, which is just starting".to_owned(), |record| record.team);
                Err(Error::Member { device: device.name.clone(), team })
            }
        }
    }

    /// Takes what an ended process noted of a device; `None` if there is nothing, or a process has it.
    pub(crate) fn left(index: u32) -> Result<Option<Claim>, Error> {
        let Some(folder) = Folder::here()?.open()? else { return Ok(None) };
        let name = name_of(index);
        if !folder.at(&name).exists() {
            return Ok(None);
        }
        let take = || if folder.is_locked(&name)? { Ok(None) } else { folder.lock(&name) };
        let file = take().context(|| format!("take the lock of device {index}"))?;
        Ok(file.map(|file| Claim { folder, name, file }))
    }

    /// True if a process has this device.
    pub(crate) fn is_held(index: u32) -> Result<bool, Error> {
        let Some(folder) = Folder::here()?.open()? else { return Ok(false) };
        Ok(folder.is_locked(&name_of(index)).context(|| format!("see who has device {index}"))?)
    }

    /// What is noted, if that can be of this device: a team's filter is on it, or its alias says so, or it has its name
    /// still and takes all multicast frames, as members do.
    pub(crate) fn record(&self, device: &Link) -> Option<Record> {
        let record = Record::parse(&self.text().ok()?)?;
        let alike = device.all_multicast && device.name == record.device;
        let marked = alike || Original::from_alias(&device.alias).is_some();
        (marked || nicteam_dataplane::is_member(&device.name, device.index)).then_some(record)
    }

    /// Notes what a device was; before anything of it is changed.
    pub(crate) fn write(&self, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_vec(record).map_err(io::Error::from);
        let written = text.and_then(|text| {
            self.file.write_all_at(&text, 0)?;
            self.file.set_len(text.len() as u64)
        });
        Ok(written.context(|| format!("note what {} was", record.device))?)
    }

    /// Gives the device up for good: it is what it was, or gone.
    pub(crate) fn release(self) {
        // Nothing is noted any more, so it goes with the value.
        let _ = self.file.set_len(0);
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = vec![0; LONGEST];
        let len = self.file.read_at(&mut text, 0)?;
        text.truncate(len);
        Ok(text)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.text().is_ok_and(|text| text.is_empty()) {
            // While nobody else can have it: the next one makes a new file.
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// Forgets devices that are gone.
pub(crate) fn forget_gone(links: &[Link]) -> Result<(), Error> {
    let Some(folder) = Folder::here()?.open()? else { return Ok(()) };
    let indexes = folder.names().into_iter().filter_map(|name| {
        let index = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        index.parse::<u32>().ok()
    });
    for index in indexes.filter(|index| links.iter().all(|link| link.index != *index)) {
        if let Some(claim) = Claim::left(index)? {
            claim.release();
        }
    }
    Ok(())
}

fn name_of(index: u32) -> String {
    format!("{PREFIX}{index}{SUFFIX}")
}
