//! Which of the files that are given ifupdown reads, and where: those that `source` and its kin name.

use nicteam_drafts::names::fits;
use nicteam_syntax::Source;

use super::lines::{Line, lines};

/// Files that a line names, by a path that counts from the folder of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sourced {
    /// `source`: files that fit a pattern of the shell's.
    Files(String),
    /// `source-directory`: the files of a folder whose names are made of letters, digits, `_` and `-` alone.
    Folder(String),
}

/// What the lines of a file name to be read, too.
pub fn sourced(source: &Source) -> Vec<Sourced> {
    lines(0, &source.text).iter().flat_map(named).collect()
}

/// What a line names. Of several words the first alone counts from the folder of its file, the others from wherever `ifup`
/// is called: they are none, unless they begin with `/`.
pub(super) fn named(line: &Line) -> Vec<Sourced> {
    let words = line.words().into_iter().map(|(word, _)| word).enumerate();
    let words = words.filter(|(at, word)| *at == 0 || word.starts_with('/')).map(|(_, word)| word);
    match line.name.as_str() {
        "source" => words.map(Sourced::Files).collect(),
        "source-directory" | "source-dir" => words.map(Sourced::Folder).collect(),
        _ => Vec::new(),
    }
}

impl Sourced {
    /// True if a path may be one of those that are named, by its last two parts.
    pub(super) fn may_be(&self, path: &str) -> bool {
        let (pattern, is_folder) = match self {
            Sourced::Files(pattern) => (pattern.clone(), false),
            Sourced::Folder(folder) => (format!("{}/*", folder.trim_end_matches('/')), true),
        };
        let split = |path: &str| {
            let mut parts = path.trim_end_matches('/').rsplit('/');
            (parts.next().unwrap_or("").to_owned(), parts.next().map(str::to_owned))
        };
        let ((file, folder), (wanted, wanted_folder)) = (split(path), split(&pattern));
        let same_folder = folder.zip(wanted_folder).is_none_or(|(folder, wanted)| fits(&folder, &wanted));
        let is_plain = || file.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        // As a shell has it: a pattern finds no hidden file.
        let is_seen = !file.starts_with('.') || wanted.starts_with('.');
        same_folder && is_seen && fits(&file, &wanted) && (!is_folder || is_plain())
    }
}

/// The files that are given.
pub(super) struct Given<'s> {
    sources: &'s [Source],
    is_read: Vec<bool>,
}

impl<'s> Given<'s> {
    pub(super) fn new(sources: &'s [Source]) -> Given<'s> {
        Given { sources, is_read: vec![false; sources.len()] }
    }

    /// Files to begin with: `interfaces`, or else those that no other one names, and at last all, for some may name each other.
    pub(super) fn roots(&self) -> Vec<usize> {
        let all = || 0..self.sources.len();
        let is_main = |at: &usize| self.sources[*at].path.rsplit('/').next() == Some("interfaces");
        if all().any(|at| is_main(&at)) {
            return all().filter(is_main).collect();
        }
        let named: Vec<Vec<Sourced>> = self.sources.iter().map(sourced).collect();
        let is_named = |at: &usize| {
            let mut others = named.iter().enumerate().filter(|(by, _)| by != at).flat_map(|(_, named)| named);
            others.any(|of| of.may_be(&self.sources[*at].path))
        };
        all().filter(|at| !is_named(at)).chain(all()).collect()
    }

    /// Those that were not read.
    pub(super) fn unread(&self) -> Vec<usize> {
        (0..self.sources.len()).filter(|at| !self.is_read[*at]).collect()
    }

    /// The text of a file, the first time.
    pub(super) fn open(&mut self, source: usize) -> Option<&'s str> {
        let is_read = self.is_read.get_mut(source).filter(|is_read| !**is_read)?;
        *is_read = true;
        Some(&self.sources[source].text)
    }

    /// Those that a line names, in the order of their paths.
    pub(super) fn named_by(&self, line: &Line) -> Vec<usize> {
        let named = named(line);
        let is_it = |at: &usize| *at != line.at.source && named.iter().any(|of| of.may_be(&self.sources[*at].path));
        let mut found: Vec<usize> = (0..self.sources.len()).filter(is_it).collect();
        found.sort_by_key(|at| &self.sources[*at].path);
        found
    }
}
