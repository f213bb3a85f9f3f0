//! What the user set, kept while the host is up.
//!
//! One file a team, `/run/nicteam/netns-COOKIE/NAME.json`, written whole or not at
//! all. The folder belongs to a network namespace, as the team does; `/run` does
//! not survive a reboot, and neither does a team. Only its owner may read a file:
//! it may hold a key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nicteam_dataplane::Choice;
use nicteam_sys::Context;
use nicteam_team::{Config, ConfigError, MemberId, TeamError};
use nicteam_wire::Mac;
use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::saved::{self, Saved, Whose};
use crate::{Error, TeamSpec};

/// Number of this format.
const SCHEMA: u32 = 1;

/// A team as the user set it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersistedTeam {
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
    /// Open vSwitch's modes: the active member, which the next process begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) active: Option<String>,
    /// Where its process writes what happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// It was read back, so its members may have gone meanwhile; never in a file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) recalled: bool,
}

impl PersistedTeam {
    /// What is kept of this team; its members have the first places.
    pub fn of(spec: &TeamSpec, log: Option<PathBuf>) -> PersistedTeam {
        let members = spec.members.iter().cloned().enumerate().collect();
        PersistedTeam::with_places(spec, members, log)
    }

    /// The same team, of which members may not be there yet: they are missing until they appear, and the team begins with the others.
    pub fn with_members_to_come(self) -> PersistedTeam {
        PersistedTeam { recalled: true, ..self }
    }

    /// Reads what was kept of this team.
    ///
    /// # Errors
    /// The text is of another format, or of another team.
    pub fn parse(team: &str, text: &str) -> Result<PersistedTeam, Error> {
        let damaged = |reason: String| Error::Damaged { team: team.to_owned(), reason };
        let persisted: PersistedTeam = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        if persisted.schema != SCHEMA {
            return Err(damaged(format!("it has format {}, this version reads {SCHEMA}", persisted.schema)));
        }
        if persisted.name != team {
            return Err(damaged(format!("it is of team {}", persisted.name)));
        }
        Ok(persisted)
    }

    /// The same team, going on where an ended process left it, with what that had noted: members have the places that they
    /// had, and one that is gone is waited for.
    pub fn after(self, before: &PersistedTeam) -> PersistedTeam {
        let place_of =
            |device: &String| before.members.iter().find(|(_, known)| *known == device).map(|(place, _)| *place);
        let (known, new): (Vec<_>, Vec<_>) = self.members.into_values().partition(|device| place_of(device).is_some());
        let mut members: BTreeMap<usize, String> =
            known.into_iter().filter_map(|device| Some((place_of(&device)?, device))).collect();
        for device in new {
            let free = (0..).find(|place| !members.contains_key(place)).unwrap_or_default();
            members.insert(free, device);
        }
        let log = self.log.or_else(|| before.log.clone());
        let (tcp_before, active) = (before.tcp_before.clone(), before.active.clone());
        PersistedTeam { members, tcp_before, active, log, recalled: true, ..self }
    }

    /// What is kept of a team whose members have these places.
    pub(crate) fn with_places(
        spec: &TeamSpec,
        members: BTreeMap<usize, String>,
        log: Option<PathBuf>,
    ) -> PersistedTeam {
        let options = spec.config.options().into_iter().map(|(name, value)| (name.to_owned(), value));
        PersistedTeam {
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
            active: None,
            log,
            recalled: false,
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
        let dataplane = Choice::of(self.dataplane.as_deref()).map_err(|_| damaged("its dataplane"))?;
        let (name, members) = (self.name.clone(), self.members.values().cloned().collect());
        Ok(TeamSpec { name, config, members, mac, mtu: self.mtu, dataplane })
    }

    /// The members' devices and places, as far as there are such places.
    pub(crate) fn places(&self) -> Vec<(String, MemberId)> {
        let place = |(&place, device): (&usize, &String)| Some((device.clone(), MemberId::new(place)?));
        self.members.iter().filter_map(place).collect()
    }
}

/// The state of a team from which follows what is kept of it.
#[derive(Debug)]
pub(crate) struct PersistedInputs {
    config: Config,
    mac: Mac,
    mtu: u32,
    places: Vec<(usize, String)>,
    for_successor: ForSuccessor,
}

/// What a team notes for its next process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForSuccessor {
    /// What `net.ipv4.tcp_min_rtt_wlen` was before the team changed it.
    pub(crate) tcp_before: Option<String>,
    /// Open vSwitch's modes: the active member's device.
    pub(crate) active: Option<String>,
}

impl PersistedInputs {
    /// `places`: the members' and those that are missing, each with its device.
    pub(crate) fn new<'a>(
        config: &Config,
        mac: Mac,
        mtu: u32,
        places: impl Iterator<Item = (usize, &'a str)>,
        for_successor: &ForSuccessor,
    ) -> PersistedInputs {
        let places = places.map(|(place, name)| (place, name.to_owned())).collect();
        PersistedInputs { config: config.clone(), mac, mtu, places, for_successor: for_successor.clone() }
    }

    /// True of this state.
    pub(crate) fn is<'a>(
        &self,
        config: &Config,
        mac: Mac,
        mtu: u32,
        mut places: impl Iterator<Item = (usize, &'a str)>,
        for_successor: &ForSuccessor,
    ) -> bool {
        let mut own = self.places.iter();
        let mut has = |place, name| own.next().is_some_and(|own| own.0 == place && own.1 == name);
        let same_places = places.all(|(place, name)| has(place, name)) && own.next().is_none();
        let same = self.mac == mac && self.mtu == mtu && self.for_successor == *for_successor;
        same_places && same && self.config == *config
    }
}

/// The files of the teams of one network namespace.
#[derive(Clone, Debug)]
pub struct StateStore {
    folder: Folder,
}

impl StateStore {
    /// Of the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel does not say which that is.
    pub fn here() -> Result<StateStore, Error> {
        Ok(StateStore { folder: Folder::here()? })
    }

    /// The file of a team.
    pub fn path(&self, team: &str) -> PathBuf {
        self.folder.path().join(file_of(team))
    }

    /// Keeps a team, in place of what was kept of it before.
    ///
    /// # Errors
    /// The folder cannot be made or written to; what was kept before is kept on.
    pub fn save(&self, persisted: &PersistedTeam) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(persisted).map_err(std::io::Error::other);
        let operation = || format!("keep team {} in {}", persisted.name, self.folder.path().display());
        let opened = self.folder.make()?;
        Ok(text.and_then(|text| opened.write(&file_of(&persisted.name), &(text + "\n"))).context(operation)?)
    }

    /// Forgets a team, and what its processes were told; no error if it was not kept.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn forget(&self, team: &str) -> Result<(), Error> {
        let Some(opened) = self.folder.open()? else { return Ok(()) };
        let recordings = saved::forget(&opened, team);
        let removed = opened.remove(&file_of(team)).and(recordings);
        Ok(removed.context(|| format!("remove {}", self.path(team).display()))?)
    }

    /// What a process of a team was told lately, as far as it had saved that: a file that can be replayed, cut off at its end.
    ///
    /// # Errors
    /// The caller may not look.
    pub fn recording(&self, team: &str, whose: Whose) -> Result<Option<Vec<u8>>, Error> {
        saved::read(&self.folder, team, whose)
    }

    /// The files in which a team's process saves what it is told.
    pub(crate) fn saved(&self, team: &str) -> Saved {
        Saved::new(&self.folder, team)
    }

    /// What is kept of a team, if anything is.
    ///
    /// # Errors
    /// The file cannot be read, or its text is not a team.
    pub fn load(&self, team: &str) -> Result<Option<PersistedTeam>, Error> {
        let Some(opened) = self.folder.open()? else { return Ok(None) };
        let text = opened.read(&file_of(team)).context(|| format!("read {}", self.path(team).display()))?;
        text.map(|text| Ok(PersistedTeam { recalled: true, ..PersistedTeam::parse(team, &text)? })).transpose()
    }
}

fn file_of(team: &str) -> String {
    format!("{team}.json")
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use nicteam_dataplane::Kind;

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
    fn another_state_is_noticed() {
        let (config, mac) = (spec().config, Mac([2, 0, 0, 0, 0, 1]));
        let places = [(0, "eth0"), (3, "eth1")];
        let nothing = ForSuccessor::default();
        let of = PersistedInputs::new(&config, mac, 1500, places.into_iter(), &nothing);
        assert!(of.is(&config, mac, 1500, places.into_iter(), &nothing));
        let other = Config { updelay_ms: 300, ..config.clone() };
        assert!(!of.is(&other, mac, 1500, places.into_iter(), &nothing));
        assert!(!of.is(&config, Mac([2, 0, 0, 0, 0, 2]), 1500, places.into_iter(), &nothing));
        assert!(!of.is(&config, mac, 9000, places.into_iter(), &nothing));
        for for_successor in [
            ForSuccessor { tcp_before: Some("300".to_owned()), ..ForSuccessor::default() },
            ForSuccessor { active: Some("eth1".to_owned()), ..ForSuccessor::default() },
        ] {
            assert!(!of.is(&config, mac, 1500, places.into_iter(), &for_successor));
        }
        for places in [
            &places[..1],
            &[(0, "eth0"), (3, "eth2")],
            &[(0, "eth0"), (2, "eth1")],
            &[places[0], places[1], (4, "eth2")],
        ] {
            assert!(!of.is(&config, mac, 1500, places.iter().copied(), &nothing), "{places:?}");
        }
    }

    #[test]
    fn a_key_is_kept() {
        let mut spec = spec();
        spec.config = Config::default();
        for (name, value) in [("mode", "stripe"), ("stripe_key", "0123456789abcdef")] {
            spec.config.set(name, value).unwrap();
        }
        assert_eq!(PersistedTeam::of(&spec, None).spec().unwrap().config, spec.config);
        assert!(!format!("{spec:?}").contains("0123456789abcdef"));
    }

    #[test]
    fn the_next_process_of_a_team_knows_the_places_of_its_members() {
        let named =
            |members: &[&str]| TeamSpec { members: members.iter().map(|m| (*m).to_owned()).collect(), ..spec() };
        let places = BTreeMap::from([(1, "eth1".to_owned()), (4, "eth0".to_owned())]);
        let before =
            PersistedTeam { tcp_before: Some("300".into()), ..PersistedTeam::with_places(&spec(), places, None) };
        let after = PersistedTeam::of(&named(&["eth0", "eth2", "eth1", "eth3"]), None).after(&before);
        let members: Vec<(usize, &str)> = after.members.iter().map(|(place, name)| (*place, name.as_str())).collect();
        assert_eq!(members, [(0, "eth2"), (1, "eth1"), (2, "eth3"), (4, "eth0")]);
        assert!(after.recalled && after.tcp_before.as_deref() == Some("300"));
    }

    #[test]
    fn what_was_set_comes_back() {
        let persisted = PersistedTeam::of(&spec(), Some("/var/log/team0.log".into()));
        let text = serde_json::to_string(&persisted).unwrap();
        let back = PersistedTeam::parse("team0", &text).unwrap();
        assert_eq!(back, persisted);
        let (a, b) = (spec(), back.spec().unwrap());
        assert_eq!(
            (a.name, a.config, a.members, a.mac, a.mtu, a.dataplane),
            (b.name, b.config, b.members, b.mac, b.mtu, b.dataplane)
        );
    }

    #[test]
    fn damaged_files_are_refused_with_a_reason() {
        let text = serde_json::to_string(&PersistedTeam::of(&spec(), None)).unwrap();
        for end in 0..text.len() {
            assert!(PersistedTeam::parse("team0", &text[..end]).is_err(), "{}", &text[..end]);
        }
        let refused = |from: &str, to: &str| {
            let damaged = text.replace(from, to);
            assert_ne!(damaged, text);
            PersistedTeam::parse("team0", &damaged).and_then(|persisted| persisted.spec()).unwrap_err().to_string()
        };
        assert!(refused("\"schema\":1", "\"schema\":2").contains("format 2"));
        assert!(refused("\"team0\"", "\"team1\"").contains("team1"));
        assert!(refused("\"updelay\":\"200\"", "\"updelay\":\"x\"").contains("updelay"));
        assert!(refused("updelay", "upsidedown").contains("no option `upsidedown`"));
        assert!(refused("02:00", "02:zz").contains("address"));
        assert!(refused("\"packet\"", "\"magic\"").contains("dataplane"));
    }
}
