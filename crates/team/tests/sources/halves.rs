//! The two halves: what happens for each frame (`frame`) does not know what happens for each event (`control`), and
//! what both share knows neither. In `frame` no two files need each other.

use std::collections::BTreeMap;

use super::tree::{Source, below, project};

#[test]
fn what_happens_for_each_frame_knows_nothing_of_events() {
    let team = Team::read();
    assert!(team.needs.keys().any(|file| file.starts_with("control/")), "no files of the other half");
    for (file, needs) in &team.needs {
        let is_frame = file.starts_with("frame/");
        let is_shared = !is_frame && !file.starts_with("control/") && file != "lib.rs";
        for need in needs {
            assert!(!(is_frame || is_shared) || !need.starts_with("control/"), "{file} needs {need}");
            assert!(!is_shared || !need.starts_with("frame/"), "{file} needs {need}");
            assert!(!is_frame || need != "lib.rs", "{file} needs what stands in several files under one name");
        }
    }
}

#[test]
fn no_two_files_of_the_frame_half_need_each_other() {
    let team = Team::read();
    let files: Vec<&String> = team.needs.keys().filter(|file| file.starts_with("frame/")).collect();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        if let Some(circle) = team.way(file, file) {
            panic!("a circle: {}", circle.join(" needs "));
        }
    }
}

/// What each file of the crate needs of other files.
#[derive(Default)]
struct Team {
    needs: BTreeMap<String, Vec<String>>,
}

impl Team {
    fn read() -> Team {
        let sources = below(&project().join("crates/team/src"));
        let files: BTreeMap<Vec<String>, &str> =
            sources.iter().map(|source| (module(&source.path), source.path.as_str())).collect();
        let root = sources.iter().find(|source| source.path == "lib.rs").expect("lib.rs");
        // What the crate calls by a name of its own, and where that stands.
        let known: BTreeMap<String, Vec<String>> =
            uses(root, &files).into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect();
        let mut team = Team::default();
        for source in &sources {
            let mut needs: Vec<String> = uses(source, &files)
                .into_iter()
                .map(|path| match path.first().and_then(|name| known.get(name)) {
                    Some(place) if !files.contains_key(&path[..1]) => home(place, &files),
                    _ => home(&path, &files),
                })
                .filter(|need| *need != source.path)
                .collect();
            needs.sort();
            needs.dedup();
            team.needs.insert(source.path.clone(), needs);
        }
        team
    }

    /// A way from one file to another by what each needs, the second at its end; at least one step.
    fn way(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut before: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for need in self.needs.get(file).into_iter().flatten() {
                if need == to {
                    let mut way = vec![to.to_owned()];
                    let mut at = file;
                    while at != from {
                        way.push(at.to_owned());
                        at = before[at];
                    }
                    way.push(from.to_owned());
                    way.reverse();
                    return Some(way);
                }
                if !before.contains_key(need.as_str()) && need != from {
                    before.insert(need, file);
                    open.push(need);
                }
            }
        }
        None
    }
}

/// The module that a file is: `frame/stripe/mod.rs` is `frame::stripe`.
fn module(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The file in which this stands: the innermost one whose module the path leads through.
fn home(path: &[String], files: &BTreeMap<Vec<String>, &str>) -> String {
    let innermost = (0..=path.len()).rev().find_map(|length| files.get(&path[..length]));
    innermost.map_or_else(String::new, |file| (*file).to_owned())
}

/// All paths of the crate that a file names, from the crate's root on.
fn uses(source: &Source, files: &BTreeMap<Vec<String>, &str>) -> Vec<Vec<String>> {
    let here = module(&source.path);
    // Who may see something is no need of it.
    let code = source.code.replace("(in crate::", "(");
    let mut found = Vec::new();
    for statement in code.split(';') {
        let Some((_, tree)) = statement.rsplit_once("use ").filter(|(before, _)| is_declaration(before)) else {
            continue;
        };
        for path in spelled_out(tree.trim()) {
            let child: Vec<String> = here.iter().chain(path.first()).cloned().collect();
            let is_child = files.contains_key(&child);
            match path.first().map(String::as_str) {
                Some("crate" | "self" | "super") => found.push(from_root(&path, &here)),
                Some(_) if is_child => found.push(here.iter().chain(&path).cloned().collect()),
                _ => {}
            }
        }
    }
    // And paths that stand where they are used.
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for path in code.split(|c: char| !is_word(c)).filter(|text| text.contains("::") && !text.ends_with("::")) {
        let path: Vec<String> = path.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
        match path.first().map(String::as_str) {
            Some("crate" | "self" | "super") => found.push(from_root(&path, &here)),
            Some(first) => {
                let child: Vec<String> = here.iter().map(String::as_str).chain([first]).map(str::to_owned).collect();
                if files.contains_key(&child) {
                    found.push(child);
                }
            }
            None => {}
        }
    }
    found
}

/// True if a `use` after this begins a declaration.
fn is_declaration(before: &str) -> bool {
    let last = before.rsplit(['{', '}', '\n']).next().unwrap_or_default().trim();
    last.is_empty() || last.starts_with("pub")
}

/// The paths that a tree of a `use` stands for: `a::{b, c::d}` for `a::b` and `a::c::d`.
fn spelled_out(tree: &str) -> Vec<Vec<String>> {
    let Some((before, inner)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or_default();
        return vec![name.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()];
    };
    let start: Vec<String> =
        before.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("a part").push(c);
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(spelled_out).map(|path| start.iter().cloned().chain(path).collect()).collect()
}

/// A path from the crate's root on.
fn from_root(path: &[String], here: &[String]) -> Vec<String> {
    let mut at = here.to_vec();
    let mut rest = path.iter();
    for word in rest.by_ref() {
        match word.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => {
                at.push(word.clone());
                break;
            }
        }
    }
    at.extend(rest.cloned());
    at
}
