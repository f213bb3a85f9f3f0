//! A script carried out in thought: assignments, loops over words, functions. What follows from the text alone is
//! expanded; all else is marked.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use nicteam_diagnostics::Problem;

use super::command::{Command, Word};
use super::group::{Group, closing, is_asked, opened};
use super::lex::{End, Item, Part, Raw, WORD, items};

/// Commands and turns of loops. Scripts that build bonds carry out a hundredth.
const MOST_COMMANDS: usize = 20_000;
/// Bytes that variables, braces and loops may make of a text: as many as are read of one.
const MOST_EXPANDED: usize = 4 << 20;
/// Functions that call each other, and loops in loops.
const DEEPEST: usize = 16;
/// A loop over arguments that takes none of them away ends there.
const MOST_ARGUMENTS: usize = 64;

/// Carries a part of a text out.
pub(super) struct Run<'a> {
    text: &'a str,
    /// Values; `None`: it has one that does not follow from the text.
    variables: BTreeMap<String, Option<String>>,
    /// Bodies.
    functions: BTreeMap<String, Rc<[Item]>>,
    pub(super) commands: Vec<Command>,
    depth: usize,
    budget: usize,
    /// Bytes that may still be expanded; 0: nothing is, and the script is refused.
    room: Cell<usize>,
}

impl<'a> Run<'a> {
    pub(super) fn new(text: &'a str) -> Run<'a> {
        Run {
            text,
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            commands: Vec::new(),
            depth: 0,
            budget: MOST_COMMANDS,
            room: Cell::new(MOST_EXPANDED),
        }
    }

    /// Gives a variable its value.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), Some(value.to_owned()));
    }

    pub(super) fn all(&mut self) -> Result<(), Problem> {
        let all = items(self.text, 0..self.text.len())?;
        self.block(&all, 0..all.len(), false)?;
        self.has_room(all.last())
    }

    /// True if so many bytes more may be made of the text, which are taken.
    fn may_take(&self, bytes: usize) -> bool {
        let left = self.room.get().saturating_sub(bytes);
        self.room.set(left);
        left > 0
    }

    fn has_room(&self, at: Option<&Item>) -> Result<(), Problem> {
        if self.room.get() > 0 {
            return Ok(());
        }
        let span = at.and_then(|item| item.words.first()).map_or(0..0, |word| word.span.clone());
        let problem = Problem::at(&span, "variables and braces make more than 4 MiB of this script");
        Err(problem.hint("write the commands that build bonds"))
    }

    fn block(&mut self, all: &[Item], range: Range<usize>, conditional: bool) -> Result<(), Problem> {
        if self.depth == DEEPEST {
            return Ok(());
        }
        self.depth += 1;
        // A body without commands takes its time, too.
        self.spend(all.get(range.start))?;
        let (mut groups, mut at) = (Vec::new(), range.start);
        // What precedes it decides whether a command is carried out: `||`, or `&&` behind a test.
        let (mut depends, mut is_tested) = (false, false);
        while at < range.end {
            let item = &all[at];
            self.spend(Some(item))?;
            let is_own = is_asked(&item.words)
                || item.words.first().and_then(Raw::literal) == Some("while")
                    && self.goes_through_arguments(&item.words[1..]);
            let words = if is_own { &item.words } else { opened(&item.words, &mut groups, depends) };
            let is_conditional = conditional
                || depends
                || groups.iter().any(|group| !matches!(group, Group::Braces(false) | Group::Parentheses(false)));
            at = match words.first().and_then(Raw::literal) {
                Some("for" | "select") => self.repeat(all, at..range.end, words, is_conditional)?,
                Some("while") if self.goes_through_arguments(&words[1..]) => {
                    self.each_argument(all, at..range.end, is_conditional)?
                }
                _ if is_asked(&item.words) => self.start(all, at..range.end, is_conditional)?,
                _ => match self.function(all, at..range.end, words) {
                    Some(behind) => behind,
                    None => self.simple(all, at, words, is_conditional)?,
                },
            };
            let last = &all[at - 1];
            is_tested |= matches!(words.first().and_then(Raw::literal), Some("[" | "[[" | "test"));
            depends = match last.end {
                End::Or => true,
                End::And => is_tested,
                End::Open => {
                    groups.push(Group::Parentheses(depends));
                    false
                }
                End::Close => {
                    if matches!(groups.last(), Some(Group::Parentheses(_))) {
                        groups.pop();
                    }
                    false
                }
                End::Plain | End::Pipe | End::Branch => {
                    is_tested = false;
                    false
                }
            };
        }
        self.depth -= 1;
        Ok(())
    }

    /// One command or turn more: loops in loops, and functions that call each other, end somewhere.
    fn spend(&mut self, at: Option<&Item>) -> Result<(), Problem> {
        if self.budget == 0 {
            let span = at.and_then(|item| item.words.first()).map_or(0..0, |word| word.span.clone());
            let problem = Problem::at(&span, format!("this script carries out more than {MOST_COMMANDS} commands"));
            return Err(problem.hint("leave its loops out, or write the commands that build bonds"));
        }
        self.budget -= 1;
        self.has_room(at)
    }

    /// `for NAME in WORDS; do ...; done`: the place behind it.
    fn repeat(
        &mut self,
        all: &[Item],
        range: Range<usize>,
        words: &[Raw],
        conditional: bool,
    ) -> Result<usize, Problem> {
        let start = range.start + 1;
        let done = closing(all, start..range.end, &["for", "select", "while", "until"], "done");
        let behind = (done + 1).min(range.end);
        let Some(name) = words.get(1).and_then(Raw::literal) else {
            // `for ((i = 0; i < 4; i++))`.
            let is_body = |item: &Item| item.words.first().and_then(Raw::literal) == Some("do");
            let body = (start..done).find(|at| is_body(&all[*at])).unwrap_or(done);
            let counters = all[start..body].iter().filter_map(|item| assignment(item.words.first()?));
            self.variables.extend(counters.map(|(name, _)| (name, None)));
            self.block(all, body..done, conditional)?;
            return Ok(behind);
        };
        let values = match words.get(2).and_then(Raw::literal) {
            Some("in") => self.words(&words[3..]),
            _ => self.words(&[all_arguments()]),
        };
        match values.iter().all(|value| value.unknown.is_none()) {
            true => {
                for value in values {
                    self.variables.insert(name.to_owned(), Some(value.text));
                    self.block(all, start..done, conditional)?;
                }
            }
            // Once is enough to see what it is about.
            false => {
                self.variables.insert(name.to_owned(), None);
                self.block(all, start..done, conditional)?;
            }
        }
        Ok(behind)
    }

    /// True for the test of `while [ $# -gt 0 ]` or `while [ -n "$1" ]` where there are arguments.
    fn goes_through_arguments(&self, test: &[Raw]) -> bool {
        let is_one = |part: &Part| match part {
            Part::Variable { name, .. } => name == "1",
            Part::Other(text) => text == "$#",
            _ => false,
        };
        matches!(test.first().and_then(Raw::literal), Some("[" | "[[" | "test"))
            && test.iter().any(|word| word.parts.iter().any(is_one))
            && matches!(self.variables.get("1"), Some(Some(_)))
    }

    /// `while [ $# -gt 0 ]; do ...; shift; done`: the place behind it.
    fn each_argument(&mut self, all: &[Item], range: Range<usize>, conditional: bool) -> Result<usize, Problem> {
        let start = range.start + 1;
        let done = closing(all, start..range.end, &["for", "select", "while", "until"], "done");
        let mut left = MOST_ARGUMENTS;
        while left > 0 && self.variables.contains_key("1") {
            self.block(all, start..done, conditional)?;
            left -= 1;
        }
        Ok((done + 1).min(range.end))
    }

    /// `case "$1" in start) ...;; esac`: what starts is carried out; the place behind it.
    fn start(&mut self, all: &[Item], range: Range<usize>, conditional: bool) -> Result<usize, Problem> {
        let esac = closing(all, range.start + 1..range.end, &["case"], "esac");
        let mut branch = range.start;
        while branch < esac {
            let end = (branch..esac).find(|at| all[*at].end == End::Branch).map_or(esac, |at| at + 1);
            let pattern = (branch..end).find(|at| all[*at].end == End::Close).unwrap_or(end - 1);
            let words = || all[branch..=pattern].iter().flat_map(|item| &item.words).filter_map(Raw::literal);
            if words().any(|word| matches!(word, "start" | "up")) {
                self.block(all, pattern + 1..end, conditional)?;
            }
            branch = end;
        }
        Ok((esac + 1).min(range.end))
    }

    /// `NAME() { ...; }`: the place behind it.
    fn function(&mut self, all: &[Item], range: Range<usize>, words: &[Raw]) -> Option<usize> {
        let at = range.start;
        let (name, has_keyword) = match words.first()?.literal()? {
            "function" => (words.get(1)?.literal()?, true),
            name => (name, false),
        };
        let has_parentheses =
            all[at].end == End::Open && all.get(at + 1).is_some_and(|of| of.words.is_empty() && of.end == End::Close);
        let is_open = has_keyword && words.len() == 3 && words[2].literal() == Some("{");
        if !(has_parentheses || is_open || has_keyword && words.len() == 2) {
            return None;
        }
        let mut body = if has_parentheses { at + 2 } else { at + 1 };
        // The brace may stand on the next line.
        while body < range.end && all[body].words.is_empty() {
            body += 1;
        }
        let inner = (if is_open { body } else { body + 1 }).min(range.end);
        let end = closing(all, inner..range.end, &["{"], "}");
        self.functions.insert(name.to_owned(), Rc::from(&all[body.min(end)..end]));
        Some((end + 1).clamp(at + 1, range.end))
    }

    /// A command, an assignment, a call: the place behind it.
    fn simple(&mut self, all: &[Item], at: usize, words: &[Raw], conditional: bool) -> Result<usize, Problem> {
        let item = &all[at];
        if let Some(behind) = self.assign(all, at, words, conditional) {
            return Ok(behind);
        }
        let mut command = Command {
            words: self.words(words),
            output: item.output.as_ref().and_then(|word| self.words(std::slice::from_ref(word)).pop()),
            is_conditional: conditional,
            input: Vec::new(),
        };
        strip(&mut command.words);
        let Some(first) = command.words.first_mut() else { return Ok(at + 1) };
        if let Some((_, name)) = first.text.rsplit_once('/') {
            first.text = name.to_owned();
        }
        let name = first.text.clone();
        if name == "shift" {
            let count = command.arguments().first().map_or(Ok(1), |word| word.text.parse::<usize>());
            count.into_iter().for_each(|count| self.shift(count));
            return Ok(at + 1);
        }
        let is_piped = at > 0 && all[at - 1].end == End::Pipe;
        if let Some(written) =
            self.commands.last_mut().filter(|last| is_piped && name == "tee" && last.output.is_none())
        {
            written.output = command.words.pop();
            return Ok(at + 1);
        }
        match self.functions.get(&name).cloned() {
            Some(body) => {
                let outer = self.variables.clone().into_iter().filter(|(name, _)| is_argument(name));
                self.arguments(command.arguments());
                self.block(&body, 0..body.len(), conditional)?;
                self.arguments(&[]);
                self.variables.extend(outer);
            }
            None => {
                if let Some(range) = item.input.clone() {
                    let outer = std::mem::take(&mut self.commands);
                    // What is no script may have open quotes.
                    if let Ok(lines) = items(self.text, range) {
                        self.block(&lines, 0..lines.len(), conditional)?;
                    }
                    command.input = std::mem::replace(&mut self.commands, outer);
                }
                self.commands.push(command);
            }
        }
        Ok(at + 1)
    }

    /// `NAME=value ...`, `NAME=(a b)`: the place behind it, if this is one.
    fn assign(&mut self, all: &[Item], at: usize, words: &[Raw], conditional: bool) -> Option<usize> {
        const DECLARE: &[&str] = &["export", "readonly", "local", "declare", "typeset"];
        let is_declared = words.first().and_then(Raw::literal).is_some_and(|word| DECLARE.contains(&word));
        let words = if is_declared { &words[1..] } else { words };
        if words.is_empty() || !is_declared && !words.iter().all(|word| assignment(word).is_some()) {
            return is_declared.then_some(at + 1);
        }
        for (name, value) in words.iter().filter_map(assignment) {
            let mut unknown = false;
            let value = self.joined(&value, &mut unknown);
            let program = |path: &str| path.rsplit_once('/').map(|(_, program)| program.to_owned());
            let held = self.variables.get(&name).cloned().flatten();
            // The same program, wherever it lies.
            let is_same = held.is_some_and(|held| program(&held).is_some_and(|of| program(&value) == Some(of)));
            unknown |= conditional && !is_same;
            self.variables.insert(name, Some(value).filter(|_| !unknown));
        }
        let list = all.get(at + 1).filter(|list| all[at].end == End::Open && list.end == End::Close);
        if let (Some(list), Some((name, _))) = (list, words.last().and_then(assignment)) {
            let values = self.words(&list.words);
            let is_known = !conditional && values.iter().all(|value| value.unknown.is_none());
            let joined = values.iter().map(|value| value.text.as_str()).collect::<Vec<_>>().join(" ");
            self.variables.insert(name, Some(joined).filter(|_| is_known));
            return Some(at + 2);
        }
        Some(at + 1)
    }

    /// Binds `$1` and so on.
    fn arguments(&mut self, words: &[Word]) {
        self.variables.retain(|name, _| !is_argument(name));
        if words.is_empty() {
            return;
        }
        let known = |word: &Word| Some(word.text.clone()).filter(|_| word.unknown.is_none());
        self.variables.extend(words.iter().enumerate().map(|(at, word)| ((at + 1).to_string(), known(word))));
        let all = words.iter().map(known).collect::<Option<Vec<_>>>().map(|all| all.join(" "));
        self.variables.extend(["@", "*"].map(|name| (name.to_owned(), all.clone())));
    }

    /// Of 1, `$2` is `$1` from now on.
    fn shift(&mut self, count: usize) {
        let number = |name: &String| name.parse::<usize>().ok();
        let rest: Vec<Option<String>> =
            (count.saturating_add(1)..).map_while(|at| self.variables.get(&at.to_string())).cloned().collect();
        self.variables.retain(|name, _| number(name).is_none());
        let all = rest.iter().cloned().collect::<Option<Vec<_>>>().map(|all| all.join(" "));
        self.variables.extend(rest.into_iter().enumerate().map(|(at, value)| ((at + 1).to_string(), value)));
        for name in ["@", "*"] {
            if let Some(value) = self.variables.get_mut(name) {
                value.clone_from(&all);
            }
        }
    }

    /// A value without its being split.
    fn joined(&self, parts: &[Part], unknown: &mut bool) -> String {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(&part.text),
                Part::Variable { name, .. } => match self.variables.get(name) {
                    Some(Some(value)) if self.may_take(value.len()) => text.push_str(value),
                    _ => *unknown = true,
                },
                Part::Each(..) | Part::Other(_) => *unknown = true,
            }
        }
        text
    }

    /// Words with what is known of their variables put in.
    fn words(&self, raws: &[Raw]) -> Vec<Word> {
        raws.iter().flat_map(|raw| self.expand(raw)).collect()
    }

    fn expand(&self, raw: &Raw) -> Vec<Word> {
        // A word for each of what stands in braces, before anything else.
        if let Some(place) = raw.parts.iter().position(|part| matches!(part, Part::Each(..)))
            && let Part::Each(each, span) = &raw.parts[place]
        {
            let with = |text: &String| {
                if !self.may_take(raw.size()) {
                    return Vec::new();
                }
                let mut one = raw.clone();
                one.parts[place] = Part::text(text, span);
                self.expand(&one)
            };
            return each.iter().flat_map(with).collect();
        }
        let empty = || Word { text: String::new(), span: raw.span.clone(), unknown: None, is_set: false };
        // The last one goes on; `None`: nothing of it is there yet.
        let (mut words, mut current): (Vec<Word>, Option<Word>) = (Vec::new(), None);
        for part in &raw.parts {
            let (value, is_split) = match part {
                Part::Text(text) => (Ok(text.text.clone()), false),
                Part::Each(..) => (Ok(String::new()), false),
                Part::Variable { name, is_quoted, .. } => match self.variables.get(name) {
                    // As many words at most as bytes.
                    Some(Some(value)) if self.may_take(value.len() * if *is_quoted { 1 } else { WORD / 2 }) => {
                        (Ok(value.clone()), !is_quoted)
                    }
                    _ => (Err(format!("${name}")), false),
                },
                Part::Other(text) => (Err(text.clone()), false),
            };
            match value {
                Ok(value) if is_split => {
                    let mut pieces = value.split_whitespace().peekable();
                    if value.starts_with(char::is_whitespace) {
                        words.extend(current.take());
                    }
                    while let Some(piece) = pieces.next() {
                        current.get_or_insert_with(empty).text.push_str(piece);
                        if pieces.peek().is_some() || value.ends_with(char::is_whitespace) {
                            words.extend(current.take());
                        }
                    }
                }
                Ok(value) => current.get_or_insert_with(empty).text.push_str(&value),
                Err(unknown) => {
                    let word = current.get_or_insert_with(empty);
                    word.text.push_str(&unknown);
                    word.is_set |=
                        word.unknown.is_none() && self.variables.contains_key(unknown.trim_start_matches('$'));
                    word.unknown.get_or_insert(unknown);
                }
            }
        }
        words.extend(current);
        words
    }
}

/// True for `1` and its kin, `@` and `*`.
fn is_argument(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit() || c == '@' || c == '*')
}

/// `"$@"`, which a `for` without `in` goes through.
fn all_arguments() -> Raw {
    Raw { parts: vec![Part::Variable { name: "@".to_owned(), is_quoted: false, span: 0..0 }], span: 0..0 }
}

/// The name and the value of `NAME=value`.
fn assignment(word: &Raw) -> Option<(String, Vec<Part>)> {
    let (Part::Text(first), rest) = word.parts.split_first()? else { return None };
    let (name, value) = first.text.split_once('=')?;
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let parts = std::iter::once(Part::text(value, &word.span)).chain(rest.iter().cloned());
    is_name(name).then(|| (name.to_owned(), parts.collect()))
}

/// Takes away what stands ahead of a program: a copied prompt, `sudo` and its kin, variables of its own.
fn strip(words: &mut Vec<Word>) {
    const RUNNERS: &[&str] = &["sudo", "pfexec", "doas", "exec", "command", "env", "nohup"];
    let is_prompt =
        |word: &Word| word.text.contains('@') && word.text.ends_with(['#', '$', '%', '>']) && word.unknown.is_none();
    if words.first().is_some_and(is_prompt) {
        words.remove(0);
    }
    let mut is_behind = false;
    while let Some(first) = words.first() {
        let (text, before) = (first.text.as_str(), first.text.split('=').next().unwrap_or(""));
        let is_variable = text.contains('=') && before.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_runner = RUNNERS.contains(&text.rsplit('/').next().unwrap_or(""));
        // `sudo -u root`.
        let has_argument = is_behind && matches!(text, "-u" | "-g");
        if !(is_runner || is_variable || is_behind && text.starts_with('-')) {
            break;
        }
        is_behind |= is_runner;
        words.drain(..(1 + usize::from(has_argument)).min(words.len()));
    }
}
