//! Teams that a configuration describes piece by piece: in any order, and in several texts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::Command;

use crate::draft::{Conflicts, Draft, check_together};
use crate::names::Wrong;
use crate::reading::Reading;
use crate::{Address, Import, Network, Route};

/// What was read so far.
pub struct Teams<'s> {
    /// What is found while the sources are read.
    pub reading: Reading<'s>,
    /// The teams, in the order of their first mention.
    pub drafts: Vec<Draft>,
    /// Options that are lists and are given element by element.
    lists: Vec<List>,
    /// Routes without a device.
    loose: Vec<Loose>,
    asides: Vec<Aside>,
    aliases: Vec<Alias>,
    /// What was told, and where: a loop comes by several times.
    told: BTreeSet<(At, String)>,
    /// The members of the one bond that names none.
    members: Vec<String>,
    /// Places among the teams, by their names.
    places: RefCell<BTreeMap<String, usize>>,
}

/// Routes that one line adds.
struct Loose {
    routes: Vec<Route>,
    at: At,
    /// What of it a team's route has no place for, as a sentence.
    ignored: Option<String>,
}

/// Another device that a team stands behind.
struct Alias {
    name: String,
    team: String,
    /// Why it is not the team itself; `None`: what is said of it is said of the team.
    why: Option<String>,
}

/// Something that stays, if it turns out to name a team or a member.
struct Aside {
    at: At,
    words: Vec<String>,
    what: What,
}

enum What {
    /// It stays, for this reason.
    Stays(String),
    /// It cannot be read.
    Wrong(Problem),
}

struct List {
    team: String,
    option: &'static str,
    values: Vec<String>,
    at: At,
}

impl<'s> Teams<'s> {
    /// Begins to read these sources; there is no team yet.
    pub fn new(sources: &'s [Source]) -> Teams<'s> {
        Teams::of(Reading::new(sources), Vec::new())
    }

    /// Teams that were read already.
    pub fn of(reading: Reading<'s>, drafts: Vec<Draft>) -> Teams<'s> {
        Teams {
            reading,
            drafts,
            lists: Vec::new(),
            loose: Vec::new(),
            asides: Vec::new(),
            aliases: Vec::new(),
            told: BTreeSet::new(),
            members: Vec::new(),
            places: RefCell::default(),
        }
    }

    /// The same, with the members of the one bond that names none.
    pub fn with_members(self, members: &[String]) -> Teams<'s> {
        Teams { members: members.to_vec(), ..self }
    }

    /// Reads one text after the other; what is wrong with one keeps nobody from the next.
    pub fn each(
        &mut self,
        sources: &'s [Source],
        mut read: impl FnMut(&mut Teams<'s>, usize, &'s Source) -> Result<(), Problem>,
    ) {
        for (source, of) in sources.iter().enumerate() {
            read(self, source, of).unwrap_or_else(|problem| self.problem(source, problem));
        }
    }

    /// The same of scripts, command by command.
    pub fn each_command(&mut self, sources: &'s [Source], take: impl Fn(&mut Teams<'s>, usize, &Command)) {
        self.each(sources, |teams, source, of| {
            let commands = of.commands().map_err(Problem::clone)?;
            commands.iter().for_each(|command| take(teams, source, command));
            Ok(())
        });
    }

    /// Something is wrong with a text.
    pub fn problem(&mut self, source: usize, problem: Problem) {
        let at = At::new(source, problem.span.clone().unwrap_or_default());
        if self.told.insert((at, problem.message.clone())) {
            self.reading.problem(source, problem);
        }
    }

    /// The same, of what names and numbers of devices may be.
    pub fn wrong(&mut self, at: &At, wrong: Wrong) {
        self.reading.refuse(at, wrong);
    }

    /// Something stays where it is, for this reason; its first line is shown.
    pub fn left(&mut self, at: &At, why: impl Into<String>, team: Option<&str>) {
        const LONGEST: usize = 100;
        let why = why.into();
        if !self.told.insert((at.clone(), why.clone())) {
            return;
        }
        let mut lines = self.reading.text(at).trim().lines();
        let first = lines.next().unwrap_or("").trim_end();
        let mut text: String = first.chars().take(LONGEST).collect();
        if lines.next().is_some() || first.chars().nth(LONGEST).is_some() {
            text.push_str(" ...");
        }
        self.reading.left_as(at, text, team, why);
    }

    /// Something is to be switched off in the old place.
    pub fn disable(&mut self, at: &At, what: impl Into<String>, command: Option<String>) {
        self.reading.disable(at, what, command);
    }

    /// The team of this name, which is there from now on: its place among [`Teams::drafts`].
    pub fn team(&mut self, name: &str, at: &At) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.drafts.push(Draft::new(name, at.clone()));
            self.places.get_mut().insert(name.to_owned(), self.drafts.len() - 1);
            self.drafts.len() - 1
        })
    }

    /// The team of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<usize> {
        let is_it = |alias: &&Alias| alias.name == name && alias.why.is_none();
        let name = self.aliases.iter().find(is_it).map_or(name, |alias| &alias.team);
        let mut places = self.places.borrow_mut();
        // Code that adds, removes or renames drafts does not update the index, so a stale one is made anew.
        if places.len() != self.drafts.len() || places.get(name).is_some_and(|place| self.drafts[*place].name != name) {
            places.clear();
            let all = self.drafts.iter().enumerate().rev();
            places.extend(all.map(|(place, draft)| (draft.name.clone(), place)));
        }
        places.get(name).copied()
    }

    /// Gives a team another name, by which the lines that follow call it.
    pub fn rename(&mut self, team: usize, to: &str, at: &At) {
        let from = std::mem::replace(&mut self.drafts[team].name, to.to_owned());
        self.places.get_mut().clear();
        self.drafts[team].at = at.clone();
        self.lists.iter_mut().filter(|list| list.team == from).for_each(|list| to.clone_into(&mut list.team));
        self.aliases.iter_mut().filter(|alias| alias.team == from).for_each(|alias| to.clone_into(&mut alias.team));
    }

    /// From now on what is said of this device concerns the team; of the team itself, unless there is a reason why not.
    pub fn alias(&mut self, name: &str, team: usize, why: Option<String>) {
        let team = self.drafts[team].name.clone();
        self.aliases.push(Alias { name: name.to_owned(), team, why });
    }

    /// Why a device that a team stands behind is not the team itself: a VLAN on it, or a bridge that it is in.
    pub fn why_not(&self, name: &str) -> Option<String> {
        let why = self.aliases.iter().find(|alias| alias.name == name).map(|alias| alias.why.clone());
        why.unwrap_or_else(|| {
            let base = name.split(['.', ':']).next().filter(|base| *base != name)?;
            self.find(base).map(|_| format!("{name} sits on the team as it sat on the bond: keep this line"))
        })
    }

    /// The team that this device is a member of.
    pub fn team_of(&self, member: &str) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.has_member(member))
    }

    /// Takes a device into a team.
    pub fn add_member(&mut self, team: usize, member: &str, at: &At) {
        self.drafts[team].member(&mut self.reading, member, at);
    }

    /// Lets a member go.
    pub fn remove_member(&mut self, team: usize, member: &str) {
        self.drafts[team].members.retain(|of| of.value != member);
    }

    /// Sets an option by the kernel's name.
    pub fn set(&mut self, team: usize, name: &str, value: &str, at: &At) {
        self.drafts[team].option(&mut self.reading, name, value, at, at);
    }

    /// The value of an option that was set.
    pub fn option(&self, team: usize, name: &str) -> Option<&str> {
        self.drafts[team].value(name)
    }

    /// Adds an element to an option that is a list.
    pub fn append(&mut self, team: usize, option: &'static str, value: &str, at: &At) {
        let name = &self.drafts[team].name;
        match self.lists.iter_mut().find(|list| list.team == *name && list.option == option) {
            Some(list) => list.values.push(value.to_owned()),
            None => {
                let values = vec![value.to_owned()];
                self.lists.push(List { team: name.clone(), option, values, at: at.clone() });
            }
        }
    }

    /// Routes of a line that names no device: they are that team's beside which the next hop of the last one is.
    pub fn loose_routes(&mut self, routes: Vec<Route>, at: &At, ignored: Option<String>) {
        self.loose.push(Loose { routes, at: at.clone(), ignored });
    }

    /// Something that is not taken over, and is told if one of these words is a team or a member.
    pub fn aside(&mut self, at: &At, words: Vec<String>, why: impl Into<String>) {
        self.asides.push(Aside { at: at.clone(), words, what: What::Stays(why.into()) });
    }

    /// Something that cannot be read, which is an error if one of these words is a team or a member.
    pub fn wrong_aside(&mut self, at: &At, words: Vec<String>, problem: Problem) {
        self.asides.push(Aside { at: at.clone(), words, what: What::Wrong(problem) });
    }

    fn settle(&mut self) {
        for Loose { routes, at, ignored } in std::mem::take(&mut self.loose) {
            let via = routes.last().and_then(|route| route.via);
            let beside = |of: &Address| via.is_some_and(|via| of.contains(via));
            let draft = self.drafts.iter_mut().find(|draft| draft.addresses.iter().any(beside));
            let Some(draft) = draft else {
                let why = "no team has an address beside its next hop: if it leads by a team, give the team that address \
                           and this route";
                self.left(&at, why, None);
                continue;
            };
            routes.into_iter().for_each(|route| draft.add_route(route));
            let name = draft.name.clone();
            if let Some(why) = ignored {
                self.left(&at, why, Some(&name));
            }
        }
        for Aside { at, words, what } in std::mem::take(&mut self.asides) {
            let Some(name) = self.concerned(&words) else { continue };
            match what {
                What::Stays(why) => self.left(&at, why, Some(&name)),
                What::Wrong(problem) => self.problem(at.source, problem),
            }
        }
    }

    /// The team that one of these words names: it, a member, or a device that it stands behind.
    fn concerned(&self, words: &[String]) -> Option<String> {
        // A VLAN's device on it, and an alias, too.
        let is_named = |name: &str| {
            let is_on = |word: &str| {
                word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']))
            };
            words.iter().any(|word| is_on(word))
        };
        let concerns =
            |draft: &&Draft| is_named(&draft.name) || draft.members.iter().any(|member| is_named(&member.value));
        let alias = || self.aliases.iter().find(|alias| is_named(&alias.name)).map(|alias| alias.team.clone());
        self.drafts.iter().find(concerns).map(|draft| draft.name.clone()).or_else(alias)
    }

    /// Gives the one team without members those that were named for it.
    fn give_members(&mut self) {
        let members = std::mem::take(&mut self.members);
        if members.is_empty() {
            return;
        }
        let empty: Vec<usize> = (0..self.drafts.len()).filter(|team| self.drafts[*team].members.is_empty()).collect();
        let at = self.drafts.first().map_or_else(|| At::new(0, 0..0), |draft| draft.at.clone());
        match empty.as_slice() {
            [team] => {
                let at = self.drafts[*team].at.clone();
                members.iter().for_each(|member| self.add_member(*team, member, &at));
            }
            [] => self.reading.wrong(&at, "no bond without members is in there", "leave `--members` out"),
            several => {
                let names: Vec<&str> = several.iter().map(|team| self.drafts[*team].name.as_str()).collect();
                let message = format!("several bonds name no members: {}", names.join(", "));
                self.reading.wrong(&at, message, "`--members` names those of one: import the bonds one by one");
            }
        }
    }

    /// Teams without members are none, and stay.
    pub fn leave_empty(&mut self) {
        self.give_members();
        let (empty, drafts) = std::mem::take(&mut self.drafts).into_iter().partition(|draft| draft.members.is_empty());
        self.drafts = drafts;
        for Draft { at, name, members_hint, .. } in empty {
            let why = format!("a team has one member at least, and none is named: {members_hint}");
            match self.reading.text(&at) {
                "" => self.reading.left_as(&at, name.clone(), Some(&name), why),
                _ => self.left(&at, why, Some(&name)),
            }
        }
    }

    /// What was read. A team without members is none, and stays.
    ///
    /// # Errors
    /// Everything that is wrong with the texts, in their order.
    pub fn finish(mut self) -> Result<Import, Diagnostics> {
        for list in std::mem::take(&mut self.lists) {
            if let Some(team) = self.find(&list.team) {
                self.set(team, list.option, &list.values.join(","), &list.at);
            }
        }
        self.settle();
        check_together(&mut self.reading, &self.drafts);
        self.leave_empty();
        let drafts = std::mem::take(&mut self.drafts).into_iter();
        let teams = drafts.map(|draft| draft.finish(&mut self.reading, Conflicts::Leave)).collect();
        self.reading.finish(Network { teams })
    }
}
