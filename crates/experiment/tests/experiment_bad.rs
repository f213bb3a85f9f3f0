//! Experiment files that are wrong: a reviewed message for each, and no panic for any bytes.

use std::fmt::Write as _;
use std::path::Path;

use nicteam_experiment::{self as experiment, Overrides};

const BAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad");

fn render(name: &str, text: &str) -> String {
    match experiment::parse(name, &format!("{name}.toml"), text, &Overrides::default()) {
        Ok(_) => panic!("{name}.toml has no error"),
        Err(errors) => errors.to_string(),
    }
}

/// `tests/bad/NAME.toml` -> `NAME.stderr`; `UPDATE_GOLDEN=1` rewrites them, for review.
#[test]
fn every_bad_file_is_refused_as_reviewed() {
    let mut names: Vec<_> = std::fs::read_dir(BAD)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 40, "only {} bad files", names.len());
    let mut different = String::new();
    for path in names {
        let name = path.file_stem().unwrap().to_string_lossy();
        let rendered = render(&name, &std::fs::read_to_string(&path).unwrap());
        let golden = Path::new(BAD).join(format!("{name}.stderr"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &rendered).unwrap();
        }
        let reviewed = std::fs::read_to_string(&golden).unwrap_or_default();
        if reviewed != rendered {
            writeln!(different, "--- {name}: reviewed\n{reviewed}\n+++ {name}: now\n{rendered}").unwrap();
        }
    }
    assert!(different.is_empty(), "{different}\nUPDATE_GOLDEN=1 cargo test rewrites them");
}

/// Each of `tests/bad/one-*.toml` is a sound file with one mistake.
#[test]
fn one_mistake_is_one_error() {
    let mut seen = 0;
    for entry in std::fs::read_dir(BAD).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".toml").filter(|name| name.starts_with("one-")) else { continue };
        let rendered = render(name, &std::fs::read_to_string(format!("{BAD}/{name}.toml")).unwrap());
        assert!(rendered.ends_with(&format!("1 error in {name}.toml\n")), "{rendered}");
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} files");
}

#[test]
fn no_golden_file_is_left_over() {
    for entry in std::fs::read_dir(BAD).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("toml").exists(), "{} has no bad file", path.display());
    }
}

#[test]
fn entries_say_where_and_what_to_do() {
    let text = "title = 'x'\n[defaults]\n  ratte = '1gbit'\n";
    let errors = experiment::parse("x", "x.toml", text, &Overrides::default()).unwrap_err();
    let entry = errors.entries().into_iter().find(|entry| entry.message.contains("ratte")).unwrap();
    assert_eq!((entry.line, entry.column), (Some(3), Some(3)));
    assert_eq!(entry.hint.as_deref(), Some("did you mean `rate`?"));
    assert!(errors.render(true).contains("\u{1b}["), "colour was asked for");
    assert!(!errors.render(false).contains('\u{1b}'));
}

#[test]
fn a_hostile_file_writes_no_control_characters() {
    let text = "\u{202e}title = \"\u{1b}[31m\"\n[hosts]\n\"\\u001b[2J\" = 1\n";
    let rendered = render("hostile", text);
    assert!(!rendered.contains(['\u{1b}', '\u{202e}']), "{rendered:?}");
}

/// Small and seeded; the state is the position in the sequence (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Parses, renders and draws; whatever comes out, nothing may panic.
fn digest(text: &str) {
    match experiment::parse("soup", "soup.toml", text, &Overrides::default()) {
        Ok(experiment) => {
            experiment::show(&experiment);
        }
        Err(errors) => {
            assert!(!errors.entries().is_empty());
            for entry in errors.entries() {
                let lines = text.matches('\n').count() + 1;
                assert!(entry.line.is_none_or(|line| (1..=lines).contains(&line)));
            }
            errors.render(true);
        }
    }
}

#[test]
fn random_soup_never_panics() {
    let mut random = Random(0x6e69_6374_6561_6d01);
    for _ in 0..1000 {
        let length = random.below(120);
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        digest(&String::from_utf8_lossy(&bytes));
        let words = [
            "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'''", "\n", "\r", "#", "hosts", "runs", "é", "0x",
            "\t", "\0",
        ];
        digest(&(0..length).map(|_| random.pick(&words)).collect::<String>());
    }
}

#[test]
fn mutated_good_files_never_panic() {
    const PIECES: &[&str] = &[
        "",
        "\"",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "=",
        "-1",
        "0",
        "99999999999999999999",
        "nan",
        "true",
        "a",
        "sw",
        "é\u{202e}",
        "\"1gbit\"",
        "\"::1/64\"",
        "[[]]",
        "\"0s\"",
        "[\"a\"]",
        "1979-05-27",
        "_",
        "\u{feff}",
    ];
    let mutations = if std::env::var_os("NICTEAM_SOAK").is_some() { 250 } else { 60 };
    let mut random = Random(0x6e69_6374_6561_6d02);
    for shipped in experiment::builtin() {
        for _ in 0..mutations {
            let mut text: Vec<char> = shipped.text.chars().collect();
            for _ in 0..=random.below(4) {
                let from = random.below(text.len());
                let to = (from + random.below(12)).min(text.len());
                text.splice(from..to, random.pick(PIECES).chars());
            }
            digest(&text.into_iter().collect::<String>());
        }
    }
}

#[test]
fn a_file_that_asks_for_too_much_is_refused_quickly() {
    let names: Vec<_> = (0..200).map(|i| format!("'h{i}'")).collect();
    let hosts: String = (0..200).map(|i| format!("h{i} = {{}}\n")).collect();
    let many = format!(
        "title = 'x'\n[hosts]\n{hosts}[switches]\ns = {{}}\n[[links]]\nbetween = [[{}], 's']\ncount = 32\n",
        names.join(",")
    );
    assert!(render("many", &many).contains("more than 1024 cables"));
    let runs = "[[runs]]\nname = 'a'\nworkloads = 'w'\n".repeat(1000);
    assert!(render("runs", &runs).contains("has 1000 runs"));
}
