//! Numbers for people.

/// A rate: `940 Mbit/s`.
pub(crate) fn rate(bps: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bps >= *unit).unwrap_or((1.0, "bit/s"));
    format!("{} {name}", short(bps / unit))
}

/// A number of bytes: `64 KB`.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1.0, "bytes"));
    format!("{} {name}", short(bytes / unit))
}

/// A share: `35 %`.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share > 0.0 && share < 0.01 => "under 0.01 %".to_owned(),
        share => format!("{} %", short(share)),
    }
}

/// Three figures are enough.
fn short(number: f64) -> String {
    match number {
        number if number >= 99.95 || number == 0.0 => format!("{number:.0}"),
        number if number >= 9.995 => trimmed(format!("{number:.1}")),
        number => trimmed(format!("{number:.2}")),
    }
}

fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1 flow`, `2 flows`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [rate(0.0), rate(940.4e6), rate(1e9), rate(12_345.0)],
            ["0 bit/s", "940 Mbit/s", "1 Gbit/s", "12.3 kbit/s"]
        );
        assert_eq!(
            [percent(1.0), percent(0.5), percent(0.0123), percent(1e-6)],
            ["100 %", "50 %", "1.23 %", "under 0.01 %"]
        );
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
