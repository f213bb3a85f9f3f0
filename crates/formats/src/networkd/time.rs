//! Spans of time in systemd's words (`systemd.time(7)`): `100ms`, `1s 500ms`, `0.1`; without a unit seconds.

const UNITS: [(&[&str], f64); 7] = [
    (&["us", "usec", "µs", "μs"], 1e-6),
    (&["ms", "msec"], 1e-3),
    (&["", "s", "sec", "second", "seconds"], 1.0),
    (&["m", "min", "minute", "minutes"], 60.0),
    (&["h", "hr", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
    (&["w", "week", "weeks"], 604_800.0),
];

/// Milliseconds, rounded down.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    seconds(text).map(|seconds| (seconds * 1e3 + 1e-6).floor() as u64)
}

/// Whole seconds, rounded down.
pub(super) fn whole_seconds(text: &str) -> Option<u64> {
    seconds(text).map(|seconds| (seconds + 1e-9).floor() as u64)
}

fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| c.is_ascii_digit() || c.is_whitespace()).unwrap_or(rest.len());
        let unit = UNITS.iter().find(|(names, _)| names.contains(&&rest[..letters]))?;
        rest = rest[letters..].trim_start();
        sum += number * unit.1;
    }
    // The kernel's options end far below.
    (sum < 1e9).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_systemds() {
        for (text, expected) in [
            ("100ms", Some(100)),
            ("1s", Some(1000)),
            ("0.1", Some(100)),
            ("0.1s", Some(100)),
            ("1s 500ms", Some(1500)),
            ("2min 30 s", Some(150_000)),
            ("1500us", Some(1)),
            ("0", Some(0)),
            ("", None),
            ("ms", None),
            ("1 parsec", None),
            ("1..2s", None),
            ("99999w", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
        assert_eq!(whole_seconds("1min"), Some(60));
    }
}
