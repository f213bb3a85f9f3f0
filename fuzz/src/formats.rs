//! Other people's formats (crate `formats`).

use nicteam_formats::ovs_vsctl::{self, Switch};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("vsctl", vsctl)];

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
