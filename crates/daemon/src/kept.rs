//! What the user set, kept while the host is up.
//!
//! One file a team, `/run/nicteam/netns-COOKIE/NAME.json`, written whole or not at
//! all. The folder belongs to a network namespace, as the team does; `/run` does
//! not survive a reboot, and neither does a team. Only its owner may read a file:
//! it may hold a key.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nicteam_dataplane::{Choice, Kind};
use nicteam_sys::{Context, netns};
use nicteam_team::{Config, ConfigError, MemberId, TeamError};
use serde::{Deserialize, Serialize};

use crate::{Error, TeamSpec};

/// Number of this format.
const SCHEMA: u32 = 1;
/// Where the files are; the environment may name another folder.
const FOLDER: &str = "/run/nicteam";
const FOLDER_VARIABLE: &str = "NICTEAM_STATE_DIR";

/// A team as the user set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Number of this format.
    schema: u32,
    /// Name of its device.
    pub name: String,
    /// Every option by the kernel's name.
    options: BTreeMap<String, String>,
    /// Members' devices, each with its place, 0 to 31.
    members: BTreeMap<usize, String>,
    /// Its address, if the user named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
    /// Its MTU, bytes, if the user named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mtu: Option<u32>,
    /// `bpf` or `packet`, if the user named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dataplane: Option<String>,
    /// What `net.ipv4.tcp_min_rtt_wlen` was before the team changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tcp_before: Option<String>,
    /// Where its process writes what happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

impl Kept {
    /// What is kept of this team; its members have the first places.
    pub fn of(spec: &TeamSpec, log: Option<PathBuf>) -> Kept {
        let members = spec.members.iter().cloned().enumerate().collect();
        Kept::with_places(spec, members, log)
    }

    /// Reads what was kept of this team.
    ///
    /// # Errors
    /// The text is of another format, or of another team.
    pub fn parse(team: &str, text: &str) -> Result<Kept, Error> {
        let damaged = |reason: String| Error::Damaged { team: team.to_owned(), reason };
        let kept: Kept = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        if kept.schema != SCHEMA {
            return Err(damaged(format!("it has format {}, this version reads {SCHEMA}", kept.schema)));
        }
        if kept.name != team {
            return Err(damaged(format!("it is of team {}", kept.name)));
        }
        Ok(kept)
    }

    /// What is kept of a team whose members have these places.
    pub(crate) fn with_places(spec: &TeamSpec, members: BTreeMap<usize, String>, log: Option<PathBuf>) -> Kept {
        let options = spec.config.options().into_iter().map(|(name, value)| (name.to_owned(), value));
        Kept {
            schema: SCHEMA,
            name: spec.name.clone(),
            options: options.collect(),
            members,
            mac: spec.mac.map(|mac| mac.to_string()),
            mtu: spec.mtu,
            dataplane: match spec.dataplane {
                Choice::Auto => None,
                Choice::Force(kind) => Some(kind.to_string()),
            },
            tcp_before: None,
            log,
        }
    }

    /// The team to run.
    ///
    /// # Errors
    /// An option or a value that this version does not know.
    pub fn spec(&self) -> Result<TeamSpec, Error> {
        let mut config = Config::default();
        let unknown = |name: &String| Config::OPTIONS.iter().all(|option| option.name != name);
        if let Some(name) = self.options.keys().find(|name| unknown(name)) {
            let error = ConfigError::UnknownOption { name: name.clone() };
            return Err(TeamError::from(error).into());
        }
        // In the order in which the kernel would take them.
        for option in Config::OPTIONS {
            if let Some(value) = self.options.get(option.name) {
                config.set(option.name, value).map_err(TeamError::from)?;
            }
        }
        let damaged = |what: &str| Error::Damaged { team: self.name.clone(), reason: format!("{what} makes no sense") };
        let mac = self.mac.as_deref().map(str::parse).transpose().map_err(|_| damaged("its address"))?;
        let dataplane = match self.dataplane.as_deref() {
            None => Choice::Auto,
            Some("bpf") => Choice::Force(Kind::Bpf),
            Some("packet") => Choice::Force(Kind::Packet),
            Some(_) => return Err(damaged("its dataplane")),
        };
        let (name, members) = (self.name.clone(), self.members.values().cloned().collect());
        Ok(TeamSpec { name, config, members, mac, mtu: self.mtu, dataplane })
    }

    /// The members' devices and places, as far as there are such places.
    pub(crate) fn places(&self) -> Vec<(String, MemberId)> {
        let place = |(&place, device): (&usize, &String)| Some((device.clone(), MemberId::new(place)?));
        self.members.iter().filter_map(place).collect()
    }
}

/// The files of the teams of one network namespace.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// Of the calling thread's network namespace.
    pub fn here() -> Result<Shelf, Error> {
        let root = std::env::var_os(FOLDER_VARIABLE).map_or_else(|| PathBuf::from(FOLDER), PathBuf::from);
        Ok(Shelf { folder: root.join(netns::id()?) })
    }

    /// The file of a team.
    pub fn path(&self, team: &str) -> PathBuf {
        self.folder.join(format!("{team}.json"))
    }

    /// Keeps a team, in place of what was kept of it before.
    ///
    /// # Errors
    /// The folder cannot be made or written to; what was kept before is kept on.
    pub fn keep(&self, kept: &Kept) -> Result<(), Error> {
        let path = self.path(&kept.name);
        let aside = self.folder.join(format!("{}.json.new", kept.name));
        let text = serde_json::to_string_pretty(kept).map_err(std::io::Error::other);
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| write_private(&aside, &(text? + "\n")))
            .and_then(|()| fs::rename(&aside, &path));
        Ok(written.context(|| {
            format!("keep team {} in {} (${FOLDER_VARIABLE} names another folder)", kept.name, self.folder.display())
        })?)
    }

    /// Forgets a team; no error if it was not kept.
    pub fn forget(&self, team: &str) -> Result<(), Error> {
        match fs::remove_file(self.path(team)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(nicteam_sys::Error::new(format!("remove {}", self.path(team).display()), error).into())
            }
            _ => {
                // The last one takes the folder along.
                let _ = fs::remove_dir(&self.folder);
                Ok(())
            }
        }
    }

    /// What is kept of a team, if anything is.
    ///
    /// # Errors
    /// The file cannot be read, or its text is not a team.
    pub fn recall(&self, team: &str) -> Result<Option<Kept>, Error> {
        let path = self.path(team);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.context(|| format!("read {}", path.display()))?,
        };
        Kept::parse(team, &text).map(Some)
    }

    /// The names of the teams that are kept, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| team_of(&entry.path())).collect();
        names.sort();
        names
    }
}

/// Writes a file that only its owner may read.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    const OWNER_ALONE: u32 = 0o600;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(OWNER_ALONE).open(path)?;
    // One that an earlier attempt left has the mode that it has.
    file.set_permissions(Permissions::from_mode(OWNER_ALONE))?;
    file.write_all(text.as_bytes())
}

fn team_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".json").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> TeamSpec {
        let mut config = Config::default();
        for (name, value) in [("mode", "active-backup"), ("primary", "eth1"), ("updelay", "200")] {
            config.set(name, value).unwrap();
        }
        TeamSpec {
            name: "team0".to_owned(),
            config,
            members: vec!["eth0".to_owned(), "eth1".to_owned()],
            mac: Some("02:00:00:00:00:aa".parse().unwrap()),
            mtu: Some(9000),
            dataplane: Choice::Force(Kind::Packet),
        }
    }

    #[test]
    fn only_the_owner_may_read_it() {
        let path = std::env::temp_dir().join(format!("nicteam-kept-{}", std::process::id()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        // One that is left over from elsewhere, too.
        fs::write(&path, "longer than what comes").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write_private(&path, "{}").unwrap();
        let found = (mode(&path), fs::read_to_string(&path).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(found, (0o600, "{}".to_owned()));
    }

    #[test]
    fn a_key_is_kept() {
        let mut spec = spec();
        spec.config = Config::default();
        for (name, value) in [("mode", "stripe"), ("stripe_key", "0123456789abcdef")] {
            spec.config.set(name, value).unwrap();
        }
        assert_eq!(Kept::of(&spec, None).spec().unwrap().config, spec.config);
        assert!(!format!("{spec:?}").contains("0123456789abcdef"));
    }

    #[test]
    fn what_was_set_comes_back() {
        let kept = Kept::of(&spec(), Some("/var/log/team0.log".into()));
        let text = serde_json::to_string(&kept).unwrap();
        let back = Kept::parse("team0", &text).unwrap();
        assert_eq!(back, kept);
        let (a, b) = (spec(), back.spec().unwrap());
        assert_eq!(
            (a.name, a.config, a.members, a.mac, a.mtu, a.dataplane),
            (b.name, b.config, b.members, b.mac, b.mtu, b.dataplane)
        );
    }

    #[test]
    fn damaged_files_are_refused_with_a_reason() {
        let text = serde_json::to_string(&Kept::of(&spec(), None)).unwrap();
        for end in 0..text.len() {
            assert!(Kept::parse("team0", &text[..end]).is_err(), "{}", &text[..end]);
        }
        let refused = |from: &str, to: &str| {
            let damaged = text.replace(from, to);
            assert_ne!(damaged, text);
            Kept::parse("team0", &damaged).and_then(|kept| kept.spec()).unwrap_err().to_string()
        };
        assert!(refused("\"schema\":1", "\"schema\":2").contains("format 2"));
        assert!(refused("\"team0\"", "\"team1\"").contains("team1"));
        assert!(refused("\"updelay\":\"200\"", "\"updelay\":\"x\"").contains("updelay"));
        assert!(refused("updelay", "upsidedown").contains("no option `upsidedown`"));
        assert!(refused("02:00", "02:zz").contains("address"));
        assert!(refused("\"packet\"", "\"magic\"").contains("dataplane"));
    }
}
