//! What a configuration asks for of a host's teams, whatever format it stands in.

use std::collections::BTreeMap;

use nicteam_options::{Config, ConfigError};
use nicteam_syntax::Place;
use nicteam_wire::Mac;

use crate::{Address, Route};

/// The teams of a host: what each format is read to, and written from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Its teams, in the order of their source.
    pub teams: Vec<Team>,
}

impl Network {
    /// The teams, each behind those that are its members; else in their order.
    pub fn lowest_first(&self) -> Vec<&Team> {
        let names: BTreeMap<&str, usize> =
            self.teams.iter().enumerate().map(|(place, team)| (team.name.as_str(), place)).collect();
        let (mut ordered, mut seen) = (Vec::with_capacity(self.teams.len()), vec![false; self.teams.len()]);
        for first in 0..self.teams.len() {
            // A team, and how many of its members were looked at; the one above it is ahead.
            let mut open = if std::mem::replace(&mut seen[first], true) { Vec::new() } else { vec![(first, 0)] };
            while let Some((place, looked)) = open.last_mut() {
                let team = &self.teams[*place];
                let Some(member) = team.members.get(*looked) else {
                    ordered.push(team);
                    open.pop();
                    continue;
                };
                *looked += 1;
                // Those that stand on each other come once.
                if let Some(&below) = names.get(member.as_str())
                    && !std::mem::replace(&mut seen[below], true)
                {
                    open.push((below, 0));
                }
            }
        }
        ordered
    }
}

/// A team of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Team {
    /// Name of its device, 1 to 12 characters.
    pub name: String,
    /// Its members' devices, in their order.
    pub members: Vec<String>,
    /// The options that the source gives, each once, by the kernel's names with values in the kernel's words, `mode` first.
    pub options: Vec<(String, String)>,
    /// Its MAC address; `None`: the first member's.
    pub mac: Option<Mac>,
    /// Its MTU and its members', bytes; `None`: the smallest of the members'.
    pub mtu: Option<u32>,
    /// Whether it takes router advertisements, as `net.ipv6.conf.NAME.accept_ra` has it, 0 to 2; `None`: as the first member.
    pub accept_ra: Option<u8>,
    /// What executes it, `bpf` or `packet`; `None`: what the machine can.
    pub dataplane: Option<String>,
    /// Its addresses, IPv4 and IPv6, with the lengths of their prefixes.
    pub addresses: Vec<Address>,
    /// Routes by it.
    pub routes: Vec<Route>,
}

impl Team {
    /// The configuration that its options make.
    ///
    /// # Errors
    /// An option or a value that the kernel would refuse, too, or options that do not go together.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        for (name, value) in &self.options {
            config.set(name, value)?;
        }
        config.check()?;
        Ok(config)
    }
}

/// What was read from a format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// What could be taken over.
    pub network: Network,
    /// What could not, with its place: it is listed, and stays a comment in our own format.
    pub left: Vec<Left>,
    /// What to switch off in the old place, so that not two owners build the same device.
    pub disable: Vec<Disable>,
}

/// Something of a configuration that could not be taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where it stands.
    pub place: Place,
    /// The words of the source.
    pub text: String,
    /// Why it stays, and what to do about it.
    pub why: String,
    /// The team that it concerns, if it concerns one alone.
    pub team: Option<String>,
}

/// Something to switch off in the old place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disable {
    /// Where the old owner is configured.
    pub place: Place,
    /// What to do, as a sentence: "comment out lines 3 to 11 (`iface bond0`)".
    pub what: String,
    /// The command that does it, where one does: `nmcli connection modify bond0 connection.autoconnect no`.
    pub command: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_stand_behind_their_members() {
        let team = |name: &str, members: &[&str]| Team {
            name: name.to_owned(),
            members: members.iter().map(|member| (*member).to_owned()).collect(),
            ..Team::default()
        };
        let order = |teams: &[Team]| {
            let network = Network { teams: teams.to_vec() };
            network.lowest_first().into_iter().map(|team| team.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            order(&[team("top", &["a", "b"]), team("c", &["e3"]), team("b", &["e2"]), team("a", &["e1", "c"])]),
            "c a b top"
        );
        assert_eq!(order(&[team("a", &["b"]), team("b", &["a"])]), "b a", "it ends");
    }
}
