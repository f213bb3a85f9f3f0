//! One word for one thing, the field's own; prose that fits a screen; pages that are read in one go.

mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that only this project used, in all their forms, and the right one.
struct Private {
    not: &'static [&'static str],
    but: &'static str,
    /// Ordinary phrases that have such a word.
    fine: &'static [&'static str],
}

/// Only what is ordinary English nowhere. A name in code or between backticks is none of these words.
const PRIVATE: &[Private] = &[
    Private {
        not: &["mend", "mends", "mended", "mending"],
        but: "repair; of TCP: a sender in loss recovery, retransmission",
        fine: &[],
    },
    Private {
        not: &["tell of", "tells of", "told of", "telling of"],
        but: "report (a gap: by SACK), name, list",
        fine: &[],
    },
    Private { not: &["withhold", "withholds", "withheld", "withholding"], but: "suppress (the ACK)", fine: &[] },
    Private { not: &["wire is taken"], but: "transmit backlog", fine: &[] },
    Private { not: &["lateness"], but: "queueing-delay estimate", fine: &[] },
    Private {
        not: &["super-frame", "super-frames", "superframe", "superframes", "super frame", "super frames"],
        but: "GSO frame",
        fine: &[],
    },
    Private { not: &["true packet", "true packets"], but: "MTU-sized packet", fine: &[] },
    Private { not: &["ears"], but: "listening sockets", fine: &[] },
    Private { not: &["linger", "lingers", "lingered", "lingering"], but: "drain period", fine: &[] },
    Private { not: &["shelf", "shelves"], but: "persisted state", fine: &[] },
    Private { not: &["deaf"], but: "not receiving", fine: &[] },
    Private { not: &["heir", "heirs"], but: "successor", fine: &[] },
    Private { not: &["dealt"], but: "assigned", fine: &["dealt with"] },
    Private { not: &["judge", "judges"], but: "reference implementation; check, decide by", fine: &[] },
    Private { not: &["relay", "relays"], but: "link emulator", fine: &["dhcp relay"] },
    Private { not: &["stolen"], but: "steal time", fine: &[] },
    Private {
        not: &["of the limit"],
        but: "utilisation, share of the limit",
        fine: &["share of the limit", "part of the limit", "cause of the limit"],
    },
    Private { not: &["whoever"], but: "a noun: the program, the user, the host that ...", fine: &[] },
];

/// Generated: its words and long notes are those of result files.
const GENERATED: &str = "docs/figures.md";

/// Columns of prose, for pages that do not have [`COLUMNS`].
const WIDE: [(&str, usize); 3] = [("ARCHITECTURE.md", 120), ("CHANGELOG.md", 120), (GENERATED, usize::MAX)];
const COLUMNS: usize = 100;

/// Pages that are read in one go, and their lines.
const SHORT: [(&str, usize); 2] = [("README.md", 120), ("ARCHITECTURE.md", 250)];

/// Private words that comments and strings of sources still have. Numbers may only fall: a crate that is not here has none.
const LEFT: &[(&str, usize)] = &[
    ("crates/cli", 3),
    ("crates/experiment", 3),
    ("crates/lab", 4),
    ("crates/node", 10),
    ("crates/record", 6),
    ("crates/report", 6),
    ("crates/team", 1),
    ("crates/tune", 1),
    ("xtask", 2),
];

#[test]
fn pages_use_the_words_of_the_field() {
    let pages = pages().into_iter().filter(|page| page != GENERATED);
    let found: Vec<String> = pages.flat_map(|page| found_in(&page, &text::of_page(&read(&page)))).collect();
    assert!(found.is_empty(), "{} private words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn prose_fits_a_screen() {
    let mut wide = Vec::new();
    for page in pages() {
        let columns = WIDE.iter().find(|(name, _)| *name == page).map_or(COLUMNS, |(_, columns)| *columns);
        let text = read(&page);
        let of_page = wide_lines(&text, columns);
        wide.extend(of_page.map(|(line, width)| format!("{page}:{line}: {width} columns, at most {columns}")));
    }
    assert!(wide.is_empty(), "{} lines are too wide:\n{}", wide.len(), wide.join("\n"));
}

#[test]
fn short_pages_stay_short() {
    for (page, most) in SHORT {
        let lines = read(page).lines().count();
        assert!(lines <= most, "{page} has {lines} lines, at most {most}");
    }
}

#[test]
fn private_words_of_sources_only_become_fewer() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        let part: Vec<&str> = source.split('/').take(if source.starts_with("crates/") { 2 } else { 1 }).collect();
        let words = found_in(&source, &text::of_source(&read(&source)));
        found.entry(part.join("/")).or_default().extend(words);
    }
    found.retain(|_, words| !words.is_empty());
    let left: BTreeMap<&str, usize> = LEFT.iter().copied().collect();
    let now: BTreeMap<&str, usize> = found.iter().map(|(part, words)| (part.as_str(), words.len())).collect();
    let table: String = now.iter().map(|(part, count)| format!("    ({part:?}, {count}),\n")).collect();
    for (part, words) in &found {
        let most = left.get(part.as_str()).copied().unwrap_or(0);
        assert!(
            words.len() <= most,
            "{part} has {} private words, at most {most}; where a file moved to another crate LEFT is now\n{table}{}",
            words.len(),
            words.join("\n")
        );
    }
    assert!(now == left, "fewer private words than LEFT says, so that it has to become\n{table}");
}

#[test]
fn private_words_are_found() {
    let found = |text: &str| found_in("page", &text::of_page(text)).len();
    assert_eq!(found("a sender that\nmends a loss is *told\nof* it"), 2, "also across lines");
    assert_eq!(found("Mending."), 1);
    assert_eq!(found("a share of the limit, `withheld` and `of_limit`, dealt with. Told: of mendacity"), 0);
    assert_eq!(found("0.9 of the limit"), 1);
}

#[test]
fn wide_prose_is_found() {
    let wide = |text: &str| wide_lines(text, 20).map(|(line, _)| line).collect::<Vec<_>>();
    let words = "many words in a line, more than twenty columns";
    assert_eq!(wide(&format!("short\n{words}\n- {words}")), [2, 3]);
    assert_eq!(wide(&format!("```\n{words}\n```\n| {words} |\n[name]: {words}")), [0; 0]);
    assert_eq!(wide("- [a link with words](https://example.com/long/path),\n<https://example.com/long/path>"), [0; 0]);
    assert_eq!(wide("see [a link with words](https://example.com/path)"), [1]);
    assert_eq!(wide("zwanzig Zeichen: äöü"), [0; 0], "characters, not bytes");
}

/// `FILE:LINE: word: the right one` for each private word of a prose.
fn found_in(file: &str, prose: &str) -> Vec<String> {
    let words = text::words(prose);
    let is_at = |at: usize, phrase: &str| {
        let mut rest = words[at..].iter();
        phrase.split(' ').all(|wanted| rest.next().is_some_and(|(_, word)| word == wanted))
    };
    let is_within = |at: usize, fine: &str| {
        let length = fine.split(' ').count();
        (at.saturating_sub(length - 1)..=at).any(|start| is_at(start, fine))
    };
    let mut by_first: BTreeMap<&str, Vec<(&str, &Private)>> = BTreeMap::new();
    for private in PRIVATE {
        for phrase in private.not {
            let first = phrase.split(' ').next().unwrap_or(phrase);
            by_first.entry(first).or_default().push((phrase, private));
        }
    }
    let mut found = Vec::new();
    for (at, (line, word)) in words.iter().enumerate() {
        for (phrase, private) in by_first.get(word.as_str()).into_iter().flatten() {
            if is_at(at, phrase) && !private.fine.iter().any(|fine| is_within(at, fine)) {
                found.push(format!("{file}:{line}: \"{phrase}\": {}", private.but));
            }
        }
    }
    found
}

/// The lines of prose that have more columns, with their widths. Tables, code, and lines that are one link are none.
fn wide_lines(text: &str, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_prose = !is_fenced && !is_fence && !line.trim_start().starts_with('|') && !is_one_link(line);
        let width = line.chars().count();
        (is_prose && width > columns).then_some((index + 1, width))
    })
}

/// A link's definition, a link that is all of its line, or an address.
fn is_one_link(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '*', '!', ' ']).trim_end_matches(['.', ',', ';', ':']);
    match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, behind)) if behind.starts_with(':') => true,
        Some((_, behind)) => behind.starts_with('(') && behind.find(')') == Some(behind.len() - 1),
        None => !line.contains(' '),
    }
}

/// The pages of the repository, from its root.
fn pages() -> Vec<String> {
    let mut pages = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned).to_vec();
    pages.extend(files_below("docs", &["md"]));
    pages
}

fn sources() -> Vec<String> {
    let below = ["crates", "xtask", "bpf"].into_iter().flat_map(|folder| files_below(folder, &["rs", "c", "h"]));
    // This file has them all, as data.
    below.filter(|source| !source.starts_with("crates/cli/tests/words")).collect()
}

fn files_below(folder: &str, extensions: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    for entry in entries.map(Result::unwrap) {
        let path = format!("{folder}/{}", entry.file_name().to_str().expect("names are UTF-8"));
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&path, extensions));
        } else if Path::new(&path).extension().is_some_and(|found| extensions.iter().any(|one| found == *one)) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
