//! Values in netplan's words.

/// What Open vSwitch's part of a file is to a team.
pub(super) const OPENVSWITCH: &str = "it is Open vSwitch's; a team is none of its ports";

/// `true`, `false` and the other words that YAML 1.1 has for them, as netplan takes them.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "y" => Some(true),
        "false" | "off" | "no" | "n" => Some(false),
        _ => None,
    }
}

/// Milliseconds; `bare_ms` is what a number without a unit counts, 1 for milliseconds. netplan hands units over to networkd
/// (systemd.time(7)); what is less than a millisecond is dropped.
pub(super) fn milliseconds(text: &str, bare_ms: u64) -> Option<u64> {
    let (mut total_us, mut rest) = (0_u64, text.trim());
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?.trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit_us = match rest.get(..letters)? {
            "" => bare_ms * 1000,
            "us" | "usec" => 1,
            "ms" | "msec" => 1000,
            "s" | "sec" | "second" | "seconds" => 1_000_000,
            "m" | "min" | "minute" | "minutes" => 60_000_000,
            "h" | "hr" | "hour" | "hours" => 3_600_000_000,
            _ => return None,
        };
        rest = rest.get(letters..)?.trim_start();
        total_us = total_us.checked_add(number.checked_mul(unit_us)?)?;
    }
    Some(total_us / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_networkds() {
        let cases = [("100", 1, 100), ("100ms", 1, 100), ("1s", 1, 1000), ("1min 30s", 1, 90_000), ("2", 1000, 2000)];
        for (text, bare_ms, expected) in cases {
            assert_eq!(milliseconds(text, bare_ms), Some(expected), "{text}");
        }
        for text in ["", "s", "1 fortnight", "-1", "1.5s", "99999999999999999999"] {
            assert_eq!(milliseconds(text, 1), None, "{text}");
        }
    }
}
