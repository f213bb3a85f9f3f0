//! A configuration while it is read: its texts, places in them, what is wrong with them and what stays.

use std::collections::BTreeSet;

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_syntax::At;
use nicteam_syntax::{Place, Source};

use crate::names::Wrong;
use crate::{Disable, Import, Left, Network};

/// More are not collected: the reader of a list of a hundred errors corrects the first one.
const MOST_PROBLEMS: usize = 100;

/// The same of what stays.
const MOST_LEFT: usize = 10_000;

/// Sources that are read, and what was found.
pub struct Reading<'s> {
    sources: &'s [Source],
    /// Of each source, the byte at which each line begins.
    lines: Vec<Vec<usize>>,
    problems: Vec<(usize, Problem)>,
    left: Vec<(At, Left)>,
    /// Where the first one of those that are not listed stands, and how many there are.
    more_left: Option<(At, usize)>,
    disable: Vec<Disable>,
    /// What is to be switched off, and where.
    told: BTreeSet<(At, String)>,
}

impl<'s> Reading<'s> {
    /// Begins to read these sources.
    pub fn new(sources: &'s [Source]) -> Reading<'s> {
        let starts = |source: &Source| -> Vec<usize> {
            let behind = |(newline, _)| newline + 1;
            std::iter::once(0).chain(source.text.match_indices('\n').map(behind)).collect()
        };
        Reading {
            sources,
            lines: sources.iter().map(starts).collect(),
            problems: Vec::new(),
            left: Vec::new(),
            more_left: None,
            disable: Vec::new(),
            told: BTreeSet::new(),
        }
    }

    /// The sources that are read.
    pub fn sources(&self) -> &'s [Source] {
        self.sources
    }

    /// The words at a place.
    pub fn text(&self, at: &At) -> &'s str {
        self.sources.get(at.source).and_then(|source| source.text.get(at.span())).unwrap_or("")
    }

    /// The place as it is shown.
    pub fn place(&self, at: &At) -> Place {
        let Some((source, lines)) = self.sources.get(at.source).zip(self.lines.get(at.source)) else {
            return Place { path: String::new(), line: 1, column: 1 };
        };
        let line = lines.partition_point(|start| *start <= at.start).max(1);
        let before = source.text.get(lines[line - 1]..at.start).unwrap_or("");
        Place { path: source.path.clone(), line, column: 1 + before.chars().count() }
    }

    /// The line of a place, counted from 1.
    pub fn line(&self, at: &At) -> usize {
        self.place(at).line
    }

    /// Something is wrong.
    pub fn wrong(&mut self, at: &At, message: impl Into<String>, hint: impl Into<String>) {
        self.problem(at.source, Problem::at(&at.span(), message).hint(hint));
    }

    /// The same of what two words say: the message and the hint.
    pub fn refuse(&mut self, at: &At, (message, hint): Wrong) {
        self.wrong(at, message, hint);
    }

    /// Something is wrong with a source.
    pub fn problem(&mut self, source: usize, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push((source, problem));
        }
    }

    /// True if nothing was wrong so far.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Something stays where it is, for this reason.
    pub fn left(&mut self, at: &At, team: Option<&str>, why: impl Into<String>) {
        let text = self.text(at).trim().to_owned();
        self.left_as(at, text, team, why);
    }

    /// The same in other words than the text's.
    pub fn left_as(&mut self, at: &At, text: String, team: Option<&str>, why: impl Into<String>) {
        if self.left.len() == MOST_LEFT {
            self.more_left.get_or_insert((at.clone(), 0)).1 += 1;
            return;
        }
        let left = Left { place: self.place(at), text, why: why.into(), team: team.map(str::to_owned) };
        self.left.push((at.clone(), left));
    }

    /// Something is to be switched off in the old place.
    pub fn disable(&mut self, at: &At, what: impl Into<String>, command: Option<String>) {
        let what = what.into();
        // A line may build several teams.
        if self.told.insert((at.clone(), what.clone())) {
            self.disable.push(Disable { place: self.place(at), what, command });
        }
    }

    /// True if this command switches something off already.
    pub fn has_to_disable(&self, command: &str) -> bool {
        self.disable.iter().any(|of| of.command.as_deref() == Some(command))
    }

    /// What was read; what stays is in the order of the sources.
    ///
    /// # Errors
    /// Everything that is wrong with the sources, in their order: a fault in one of them can be the cause of one in another.
    pub fn finish(self, network: Network) -> Result<Import, Diagnostics> {
        let more = self.more_left.as_ref().map(|(at, count)| {
            let (text, why) = (format!("{count} more"), "as those above; no more than 10000 are listed".to_owned());
            (at.clone(), Left { place: self.place(at), text, why, team: None })
        });
        let Reading { sources, mut problems, mut left, disable, .. } = self;
        let wrong = sources.iter().enumerate().filter_map(|(place, source)| {
            let of_it: Vec<Problem> =
                problems.extract_if(.., |(of, _)| *of == place).map(|(_, problem)| problem).collect();
            (!of_it.is_empty()).then(|| Diagnostics::new(&source.path, &source.text, of_it))
        });
        if let Some(diagnostics) = wrong.reduce(Diagnostics::and) {
            return Err(diagnostics);
        }
        left.sort_by(|(a, _), (b, _)| a.cmp(b));
        left.extend(more);
        Ok(Import { network, left: left.into_iter().map(|(_, left)| left).collect(), disable })
    }
}
