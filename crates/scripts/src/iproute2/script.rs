//! Commands, carried out in thought: what they have built so far.

use nicteam_drafts::Teams;
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::Command;

/// Commands, carried out in thought.
pub struct Script<'a> {
    pub teams: Teams<'a>,
    /// Options of every new bond: the driver's parameters.
    pub(super) defaults: Vec<(String, String, At)>,
    /// Bonds that the driver makes by itself.
    pub(super) made_by_driver: Vec<String>,
    /// Devices put under masters that no line ahead of it makes: the master, and where.
    pub(super) without_master: Vec<(String, At)>,
    /// Teams that no command of these builds.
    pub owned_elsewhere: Vec<String>,
}

impl<'a> Script<'a> {
    pub fn new(sources: &'a [Source], members: &[String]) -> Script<'a> {
        Script {
            teams: Teams::new(sources).with_members(members),
            defaults: Vec::new(),
            made_by_driver: Vec::new(),
            without_master: Vec::new(),
            owned_elsewhere: Vec::new(),
        }
    }

    /// A command that is not taken over, and is told if it names a team or a member.
    pub fn maybe(&mut self, command: &Command, spot: &At, why: impl Into<String>) {
        self.teams.aside(spot, command.pieces(), why);
    }

    /// The team of a bond.
    pub fn team(&mut self, name: &str, spot: &At) -> usize {
        self.teams.team(name, spot)
    }

    /// The options of every new bond.
    pub(super) fn default(&mut self, name: &str, value: &str, spot: &At) {
        self.defaults.push((name.to_owned(), value.to_owned(), spot.clone()));
    }
}
