//! What the files of a crate define, import and name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as File;

use super::tokens::{Token, tokens};

/// Names with `::` between them.
pub(super) type Path = Vec<String>;

/// A module: a file, or part of one.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The file's number.
    pub file: usize,
    /// As seen from the crate's root.
    pub module: Path,
    /// What it defines.
    pub defined: BTreeSet<String>,
    /// By the name under which it is imported.
    pub imports: BTreeMap<String, Import>,
    /// Imports of all that a module has.
    pub globs: Vec<Import>,
    /// Paths in the code, single words among them.
    pub used: BTreeSet<Path>,
}

/// A name that a scope imports.
#[derive(Debug)]
pub(super) struct Import {
    /// As it is written.
    pub path: Path,
    /// `pub use`.
    pub is_exported: bool,
}

/// The names of a crate's files, and what is in them.
pub(super) fn read(folder: &File) -> (Vec<String>, Vec<Scope>) {
    let root = ["lib.rs", "main.rs"].into_iter().find(|name| folder.join(name).is_file());
    let root = root.unwrap_or_else(|| panic!("{} has neither lib.rs nor main.rs", folder.display()));
    let (mut files, mut scopes) = (Vec::new(), Vec::new());
    let mut open = vec![(root.to_owned(), Path::new())];
    while let Some((name, module)) = open.pop() {
        let text = fs::read_to_string(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let scope = Scope { file: files.len(), module, ..Scope::default() };
        let (tokens, open_braces) = (tokens(&text), vec![Brace::Module(0)]);
        let mut reader = Reader { tokens, at: 0, open: open_braces, scopes: vec![scope], children: Vec::new() };
        reader.read();
        for Child { name: child, path, scope } in reader.children {
            let module = [reader.scopes[scope].module.as_slice(), &[child]].concat();
            let depth = reader.scopes[0].module.len();
            open.extend(file_of(folder, &name, &module[depth..], path).map(|file| (file, module)));
        }
        files.push(name);
        scopes.append(&mut reader.scopes);
    }
    (files, scopes)
}

/// The file of a module that another file declares, perhaps within others; none if it is made by the build.
fn file_of(folder: &File, declaring: &str, names: &[String], path: Option<String>) -> Option<String> {
    let (parent, name) = declaring.rsplit_once('/').map_or(("", declaring), |(parent, name)| (parent, name));
    let stem = name.trim_end_matches(".rs");
    let mut parts: Vec<&str> = if parent.is_empty() { Vec::new() } else { vec![parent] };
    if path.is_none() && !matches!(stem, "lib" | "main" | "mod") {
        parts.push(stem);
    }
    let candidates = match &path {
        Some(path) => vec![[parts.as_slice(), &[path.as_str()]].concat().join("/")],
        None => {
            parts.extend(names.iter().map(String::as_str));
            let module = parts.join("/");
            vec![format!("{module}.rs"), format!("{module}/mod.rs")]
        }
    };
    candidates.into_iter().find(|file| folder.join(file).is_file())
}

/// A module that a file declares.
struct Child {
    name: String,
    /// `#[path = "..."]`.
    path: Option<String>,
    /// Where.
    scope: usize,
}

enum Brace {
    /// Of the scope with this number.
    Module(usize),
    Other,
}

/// Goes through a file once.
struct Reader {
    tokens: Vec<Token>,
    at: usize,
    /// What was opened and is not closed yet.
    open: Vec<Brace>,
    scopes: Vec<Scope>,
    children: Vec<Child>,
}

impl Reader {
    fn read(&mut self) {
        let mut path = None;
        while self.at < self.tokens.len() {
            let token = self.tokens[self.at].clone();
            match token {
                Token::Sign('#') => path = self.attribute().or(path),
                Token::Sign('{') => self.open.push(Brace::Other),
                Token::Sign('}') => {
                    self.open.pop();
                }
                Token::Sign(';') => path = None,
                Token::Word(word) => self.word(&word, &mut path),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn next(&self, steps: usize) -> Option<&Token> {
        self.tokens.get(self.at + steps)
    }

    fn next_word(&self, steps: usize) -> Option<String> {
        self.next(steps).and_then(Token::word).map(str::to_owned)
    }

    /// The innermost scope.
    fn number(&self) -> usize {
        let module = |brace: &Brace| match brace {
            Brace::Module(number) => Some(*number),
            Brace::Other => None,
        };
        self.open.iter().rev().find_map(module).unwrap_or(0)
    }

    fn scope(&mut self) -> &mut Scope {
        let number = self.number();
        &mut self.scopes[number]
    }

    /// Goes to the end of an attribute; `#[path]`. What is for tests alone is passed over.
    fn attribute(&mut self) -> Option<String> {
        self.at += usize::from(self.next(1).is_some_and(|token| token.is('!')));
        if !self.next(1).is_some_and(|token| token.is('[')) {
            return None;
        }
        self.at += 1;
        let start = self.at + 1;
        self.close('[', ']');
        let inside = &self.tokens[start.min(self.at)..self.at];
        let is_test = inside.iter().filter_map(Token::word).eq(["cfg", "test"]);
        let path = match inside {
            [Token::Word(word), Token::Sign('='), Token::Text(path)] if word == "path" => Some(path.clone()),
            _ => None,
        };
        if is_test {
            self.pass_item();
        }
        path
    }

    /// From an opening sign to its closing one.
    fn close(&mut self, opening: char, closing: char) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            depth += i32::from(token.is(opening)) - i32::from(token.is(closing));
            if depth == 0 {
                return;
            }
            self.at += 1;
        }
    }

    /// From before an item to its last sign.
    fn pass_item(&mut self) {
        while let Some(token) = self.next(1) {
            let (opens, ends) = (token.is('{'), token.is(';'));
            let inner = [('(', ')'), ('[', ']')].into_iter().find(|(opening, _)| token.is(*opening));
            self.at += 1;
            match inner {
                Some((opening, closing)) => self.close(opening, closing),
                None if opens => return self.close('{', '}'),
                None if ends => return,
                None => {}
            }
        }
    }

    fn word(&mut self, word: &str, path: &mut Option<String>) {
        const ITEMS: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "static", "const"];
        let is_at_top = matches!(self.open.last(), Some(Brace::Module(_)));
        match word {
            "mod" => self.module(path.take()),
            "use" if !self.next(1).is_some_and(|token| token.is('<')) => self.import(),
            "macro_rules" if is_at_top => {
                let name = self.next_word(2);
                self.scope().defined.extend(name);
            }
            _ if ITEMS.contains(&word) && is_at_top => {
                let name = self.next_word(1).filter(|name| !ITEMS.contains(&name.as_str()));
                self.scope().defined.extend(name);
            }
            _ => self.path(word),
        }
    }

    fn module(&mut self, path: Option<String>) {
        let Some(name) = self.next_word(1) else { return };
        let number = self.number();
        match self.next(2) {
            Some(Token::Sign(';')) => self.children.push(Child { name, path, scope: number }),
            Some(Token::Sign('{')) => {
                let outer = &self.scopes[number];
                let module = [outer.module.as_slice(), &[name]].concat();
                self.scopes.push(Scope { file: outer.file, module, ..Scope::default() });
                self.open.push(Brace::Module(self.scopes.len() - 1));
                self.at += 2;
            }
            _ => {}
        }
    }

    /// A path in the code, or a word.
    fn path(&mut self, first: &str) {
        let before = self.at.checked_sub(1).map(|before| &self.tokens[before]);
        let follows = before.is_some_and(|token| token.is('.') || *token == Token::Colons);
        let mut path = vec![first.to_owned()];
        while self.next(1) == Some(&Token::Colons)
            && let Some(name) = self.next_word(2)
        {
            path.push(name);
            self.at += 2;
        }
        if !follows {
            self.scope().used.insert(path);
        }
    }

    fn import(&mut self) {
        let before: Vec<&Token> = self.tokens[..self.at].iter().rev().take(4).collect();
        let is_exported = match before.as_slice() {
            [Token::Word(word), ..] => word == "pub",
            // `pub(crate)`, `pub(super)`.
            [Token::Sign(')'), Token::Word(_), Token::Sign('('), Token::Word(word)] => word == "pub",
            _ => false,
        };
        self.at += 1;
        self.tree(&[], is_exported);
    }

    /// What stands behind `use`, or between braces there.
    fn tree(&mut self, start: &[String], is_exported: bool) {
        let mut path = start.to_vec();
        let mut name = None;
        while let Some(token) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Word(word) if word == "as" => {
                    name = self.next_word(1);
                    self.at += 1;
                }
                Token::Word(word) if word == "self" && !start.is_empty() => {}
                Token::Word(word) => path.push(word),
                Token::Sign('*') => {
                    let import = Import { path: std::mem::take(&mut path), is_exported };
                    self.scope().globs.push(import);
                }
                Token::Sign('{') => {
                    self.at += 1;
                    self.tree(&path, is_exported);
                    path.clear();
                }
                Token::Sign(',') => {
                    self.add(std::mem::replace(&mut path, start.to_vec()), name.take(), is_exported);
                }
                Token::Sign('}' | ';') => {
                    let is_empty = path.is_empty() || (path == start && self.tokens[self.at - 1].word().is_none());
                    return self.add(if is_empty { Path::new() } else { path }, name, is_exported);
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn add(&mut self, path: Path, name: Option<String>, is_exported: bool) {
        let name = name.filter(|name| name != "_").or_else(|| path.last().cloned());
        if let Some(name) = name.filter(|_| !path.is_empty()) {
            self.scope().imports.insert(name, Import { path, is_exported });
        }
    }
}
