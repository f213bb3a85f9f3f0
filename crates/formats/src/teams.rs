//! Teams that a configuration tells of piece by piece: in any order, and in several texts.

use nicteam_diagnostics::{Diagnostics, Problem};

use crate::draft::{Conflicts, Draft, check_together};
use crate::names::Wrong;
use crate::reading::{At, Reading};
use crate::{Address, Import, Network, Route, Source};

/// What was read so far.
pub(crate) struct Teams<'s> {
    pub(crate) reading: Reading<'s>,
    /// The teams, in the order of their first mention.
    pub(crate) drafts: Vec<Draft>,
    /// Options that are lists and are given element by element.
    lists: Vec<List>,
    /// Routes without a device.
    loose: Vec<Route>,
    asides: Vec<Aside>,
}

/// Something that stays, if it turns out to name a team or a member.
struct Aside {
    at: At,
    words: Vec<String>,
    why: String,
}

struct List {
    team: String,
    option: &'static str,
    values: Vec<String>,
    at: At,
}

impl<'s> Teams<'s> {
    pub(crate) fn new(sources: &'s [Source]) -> Teams<'s> {
        Teams {
            reading: Reading::new(sources),
            drafts: Vec::new(),
            lists: Vec::new(),
            loose: Vec::new(),
            asides: Vec::new(),
        }
    }

    /// Something is wrong with a text.
    pub(crate) fn problem(&mut self, source: usize, problem: Problem) {
        self.reading.problem(source, problem);
    }

    /// The same, of what names and numbers of devices may be.
    pub(crate) fn wrong(&mut self, at: &At, wrong: Wrong) {
        self.reading.refuse(at, wrong);
    }

    /// Something stays where it is, for this reason; its first line is shown.
    pub(crate) fn left(&mut self, at: &At, why: impl Into<String>, team: Option<&str>) {
        const LONGEST: usize = 100;
        let mut lines = self.reading.text(at).trim().lines();
        let first = lines.next().unwrap_or("").trim_end();
        let mut text: String = first.chars().take(LONGEST).collect();
        if lines.next().is_some() || first.chars().nth(LONGEST).is_some() {
            text.push_str(" ...");
        }
        self.reading.left_as(at, text, team, why);
    }

    /// Something is to be switched off in the old place.
    pub(crate) fn disable(&mut self, at: &At, what: impl Into<String>, command: Option<String>) {
        self.reading.disable(at, what, command);
    }

    /// The team of this name, which is there from now on: its place among [`Teams::drafts`].
    pub(crate) fn team(&mut self, name: &str, at: &At) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.drafts.push(Draft::new(name, at.clone()));
            self.drafts.len() - 1
        })
    }

    /// The team of this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.name == name)
    }

    /// The team that this device is a member of.
    pub(crate) fn team_of(&self, member: &str) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.has_member(member))
    }

    /// Takes a device into a team.
    pub(crate) fn add_member(&mut self, team: usize, member: &str, at: &At) {
        self.drafts[team].member(&mut self.reading, member, at);
    }

    /// Lets a member go.
    pub(crate) fn remove_member(&mut self, team: usize, member: &str) {
        self.drafts[team].members.retain(|of| of.value != member);
    }

    /// Sets an option by the kernel's name.
    pub(crate) fn set(&mut self, team: usize, name: &str, value: &str, at: &At) {
        self.drafts[team].option(&mut self.reading, name, value, at, at);
    }

    /// The value of an option that was set.
    pub(crate) fn option(&self, team: usize, name: &str) -> Option<&str> {
        self.drafts[team].value(name)
    }

    /// Adds an element to an option that is a list.
    pub(crate) fn append(&mut self, team: usize, option: &'static str, value: &str, at: &At) {
        let name = &self.drafts[team].name;
        match self.lists.iter_mut().find(|list| list.team == *name && list.option == option) {
            Some(list) => list.values.push(value.to_owned()),
            None => {
                let values = vec![value.to_owned()];
                self.lists.push(List { team: name.clone(), option, values, at: at.clone() });
            }
        }
    }

    /// A route without a device: it is that team's beside which its next hop is.
    pub(crate) fn loose_route(&mut self, route: Route) {
        self.loose.push(route);
    }

    /// Something that is not taken over, and is told if one of these words is a team or a member.
    pub(crate) fn aside(&mut self, at: &At, words: Vec<String>, why: impl Into<String>) {
        self.asides.push(Aside { at: at.clone(), words, why: why.into() });
    }

    fn settle(&mut self) {
        for route in std::mem::take(&mut self.loose) {
            let beside = |of: &Address| route.via.is_some_and(|via| of.contains(via));
            if let Some(draft) = self.drafts.iter_mut().find(|draft| draft.addresses.iter().any(beside)) {
                draft.add_route(route);
            }
        }
        for Aside { at, words, why } in std::mem::take(&mut self.asides) {
            // A VLAN's device on it, and an alias, too.
            let is_named = |name: &str| {
                let is_on = |word: &str| {
                    word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']))
                };
                words.iter().any(|word| is_on(word))
            };
            let concerns =
                |draft: &&Draft| is_named(&draft.name) || draft.members.iter().any(|member| is_named(&member.value));
            if let Some(name) = self.drafts.iter().find(concerns).map(|draft| draft.name.clone()) {
                self.left(&at, why, Some(&name));
            }
        }
    }

    /// What was read. A team without members is none, and stays.
    ///
    /// # Errors
    /// Everything that is wrong with the texts, in their order.
    pub(crate) fn finish(mut self) -> Result<Import, Diagnostics> {
        for list in std::mem::take(&mut self.lists) {
            if let Some(team) = self.find(&list.team) {
                self.set(team, list.option, &list.values.join(","), &list.at);
            }
        }
        self.settle();
        check_together(&mut self.reading, &self.drafts);
        let mut teams = Vec::new();
        for draft in std::mem::take(&mut self.drafts) {
            if draft.members.is_empty() {
                let (at, name) = (draft.at.clone(), draft.name.clone());
                self.left(&at, "a team has one member at least, and none is named", Some(&name));
                continue;
            }
            teams.push(draft.finish(&mut self.reading, Conflicts::Leave));
        }
        self.reading.finish(Network { teams })
    }
}
