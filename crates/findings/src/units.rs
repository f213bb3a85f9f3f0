//! Numbers and lists in words.

pub use nicteam_record::{names, thousands};

/// A rate with its unit: `941.2 Mbit/s`, `3.76 Gbit/s`; `-` where there is no number.
pub fn rate(bps: f64) -> String {
    if !bps.is_finite() || bps < 0.0 {
        return "-".to_owned();
    }
    match bps {
        // The bounds are where the smaller unit would round up to four digits.
        _ if bps >= 999.95e6 => format!("{:.2} Gbit/s", bps / 1e9),
        _ if bps >= 999.95e3 => format!("{:.1} Mbit/s", bps / 1e6),
        _ if bps >= 1e3 => format!("{:.1} kbit/s", bps / 1e3),
        _ => format!("{bps:.0} bit/s"),
    }
}

/// A rate in Mbit/s, without its unit: `427.3`; `-` where there is no number.
pub fn mbps(bps: f64) -> String {
    if bps.is_finite() && bps >= 0.0 { format!("{:.1}", bps / 1e6) } else { "-".to_owned() }
}

/// What went down and up as people write it: `427.3 = 312.5 down + 114.8 up`.
pub fn down_and_up(download_bps: f64, upload_bps: f64) -> String {
    let total = download_bps + upload_bps;
    format!("{} = {} down + {} up", mbps(total), mbps(download_bps), mbps(upload_bps))
}

/// A link's rate, without decimals it does not have: `100 Mbit/s`, `2.5 Gbit/s`.
pub fn link_rate(bps: u64) -> String {
    let (unit, scale) = match bps {
        1_000_000_000.. => ("Gbit/s", 1e9),
        1_000_000.. => ("Mbit/s", 1e6),
        1_000.. => ("kbit/s", 1e3),
        _ => ("bit/s", 1.0),
    };
    let text = format!("{:.3}", bps as f64 / scale);
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A rate in the units of copying files: `117.7 MB/s`; `-` where there is no number.
pub fn megabytes(bps: f64) -> String {
    if bps.is_finite() && bps >= 0.0 { format!("{:.1} MB/s", bps / 8e6) } else { "-".to_owned() }
}

/// The same in the units of IOmeter, which prints MiB/s as MB/s: `112.2 MiB/s`.
pub fn mebibytes(bps: f64) -> String {
    if bps.is_finite() && bps >= 0.0 { format!("{:.1} MiB/s", bps / 8.0 / 1_048_576.0) } else { "-".to_owned() }
}

/// Bytes in the greatest unit that divides them: `128 KiB`, `1 GiB`, `1000 bytes`.
pub fn bytes(count: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(shift, _)| count > 0 && count.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{count} bytes"), |(shift, unit)| format!("{} {unit}", count >> shift))
}

/// A ratio with two decimals; `-` where there is no number.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "-".to_owned() }
}

/// A share in per cent, with one decimal below ten: `2.5 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        value if !value.is_finite() => "-".to_owned(),
        0.0 => "0 %".to_owned(),
        value if value < 9.95 => format!("{value:.1} %"),
        value => format!("{value:.0} %"),
    }
}

/// `part / whole`, or 0 where there is no whole.
pub fn share(part: f64, whole: f64) -> f64 {
    let share = part / whole;
    if share.is_finite() { share } else { 0.0 }
}

/// `one` to `twelve`, then digits.
pub fn number(count: usize) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// `1 connection`, `2 connections`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// Hosts: up to four in their order, more of them in the order of their numbers and each once, so that they make ranges.
pub fn hosts<S: AsRef<str>>(items: &[S]) -> String {
    const FEW: usize = 4;
    let mut hosts: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if hosts.len() > FEW {
        let numbered = |name: &str| {
            let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
            (name[..stem].to_owned(), name[stem..].parse::<u64>().ok())
        };
        hosts.sort_by_cached_key(|name| numbered(name));
        hosts.dedup();
    }
    names(&hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_take_the_unit_that_fits() {
        assert_eq!(rate(94_123_456.0), "94.1 Mbit/s");
        assert_eq!(rate(3.764e9), "3.76 Gbit/s");
        assert_eq!(rate(999.99e6), "1.00 Gbit/s");
        assert_eq!(rate(1500.0), "1.5 kbit/s");
        assert_eq!(rate(0.0), "0 bit/s");
        assert_eq!(rate(f64::NAN), "-");
        assert_eq!(link_rate(100_000_000), "100 Mbit/s");
        assert_eq!(link_rate(2_500_000_000), "2.5 Gbit/s");
        assert_eq!(link_rate(98_400_000), "98.4 Mbit/s");
    }

    #[test]
    fn bytes_are_said_as_those_who_copy_files_do() {
        assert_eq!((megabytes(941.5e6).as_str(), mebibytes(941.5e6).as_str()), ("117.7 MB/s", "112.2 MiB/s"));
        assert_eq!((megabytes(f64::NAN).as_str(), mebibytes(-1.0).as_str()), ("-", "-"));
        let said = [0, 1000, 8192, 3 << 20, 1 << 30].map(bytes);
        assert_eq!(said, ["0 bytes", "1000 bytes", "8 KiB", "3 MiB", "1 GiB"]);
    }

    #[test]
    fn lists_and_numbers_read_as_english() {
        assert_eq!(list(&["a"; 0]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(hosts(&["h10", "h2", "h1", "h2", "h3", "a"]), "a, h1 to h3 and h10");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(number(4), "four");
        assert_eq!(number(13), "13");
        assert_eq!(plural(1, "link"), "1 link");
        assert_eq!(percent(0.0321), "3.2 %");
        assert_eq!(share(1.0, 0.0), 0.0);
    }
}
