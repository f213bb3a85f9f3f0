//! Other people's formats (crate `formats`).

use nicteam_formats::{FORMATS, Import, Source, WRITERS, toml};
use nicteam_vsctl::{self as ovs_vsctl, Switch};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("vsctl", vsctl), ("imports", imports)];

/// A command line, a word a line of text, is refused with a word it points at, or is read, can be written down, and does
/// something or nothing to a switch.
pub fn vsctl(bytes: &[u8]) -> bool {
    let words: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    let check = |error: ovs_vsctl::Error| {
        assert!(error.place <= words.len());
        let _ = (error.to_string(), error.hint(), error.pointed(&words));
        false
    };
    match ovs_vsctl::parse(&words) {
        Ok(line) => {
            assert_eq!(ovs_vsctl::parse(&line.words()).as_ref(), Ok(&line));
            Switch::default().apply(&line).map_or_else(check, |_| true)
        }
        Err(error) => check(error),
    }
}

/// Texts, each below a line `=== PATH`, are refused by every format with reasons that can be shown, or are teams that our own
/// file and every other one can be written of.
pub fn imports(bytes: &[u8]) -> bool {
    let sources = sources(&String::from_utf8_lossy(bytes));
    let mut taken = false;
    for format in FORMATS {
        let is_its_own = sources.iter().any(|source| format.recognises(source));
        match format.read(&sources) {
            Ok(import) => {
                assert_whole(&import, &sources);
                taken |= !import.network.teams.is_empty();
            }
            Err(diagnostics) => {
                assert!(!diagnostics.entries().is_empty());
                // It takes longer than all the rest.
                assert!(!is_its_own || !diagnostics.render(true).is_empty());
            }
        }
    }
    taken
}

fn sources(text: &str) -> Vec<Source> {
    let mut sources = vec![Source::new("-", "")];
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("=== "), sources.last_mut()) {
            (Some(path), _) => sources.push(Source::new(path.trim(), "")),
            (None, Some(last)) => last.text.push_str(line),
            (None, None) => {}
        }
    }
    sources.retain(|source| !source.text.is_empty());
    sources
}

/// Teams are sound, places are there, and our own file says the same.
fn assert_whole(import: &Import, sources: &[Source]) {
    for place in import.left.iter().map(|left| &left.place).chain(import.disable.iter().map(|disable| &disable.place)) {
        let lines = |source: &Source| source.text.split('\n').count();
        assert!(sources.iter().any(|source| source.path == place.path && place.line <= lines(source)), "{place:?}");
    }
    for team in &import.network.teams {
        assert!(team.config().is_ok(), "{team:?}");
    }
    let text = toml::write(import);
    let back = toml::read(&[Source::new("a.toml", text.clone())]);
    let back = back.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(back, import.network, "{text}");
    for writer in WRITERS {
        let _ = writer.write(&import.network);
    }
}
