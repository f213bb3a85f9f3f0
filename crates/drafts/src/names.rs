//! Names and numbers of devices that every format has.

use nicteam_wire::Mac;

/// The longest name of a team's device, bytes: that of its other end has a suffix of three.
pub const LONGEST_TEAM_NAME: usize = 12;
/// The longest name of a device, bytes (`IFNAMSIZ` less the end of the string).
const LONGEST_NAME: usize = 15;
/// The MTUs there are, bytes: from what every IPv4 link carries (RFC 791) to the longest packet.
const MTU: std::ops::RangeInclusive<u32> = 68..=65_535;

/// What is wrong, and what to do about it.
pub type Wrong = (String, &'static str);

/// Refuses what the kernel refuses as a device's name (`dev_valid_name`), and what another format could not hold.
pub fn check_device(name: &str) -> Result<(), Wrong> {
    let bad = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    if name.is_empty() || name.len() > LONGEST_NAME || matches!(name, "." | "..") || name.contains(bad) {
        let hint = "a device's name has 1 to 15 bytes without `/`, `:` and white space";
        return Err((format!("`{}` is no name of a device", shown(name)), hint));
    }
    Ok(())
}

/// Refuses what cannot be the name of a team's device.
pub fn check_team(name: &str) -> Result<(), Wrong> {
    check_device(name)?;
    if !name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%') {
        return Err((format!("`{}` cannot be the name of a team", shown(name)), "letters, digits, `-`, `_` and `.`"));
    }
    if name.len() > LONGEST_TEAM_NAME {
        let hint = "a team's name has at most 12 bytes: choose a shorter one, here and where the device is used";
        return Err((format!("`{name}` is too long for the name of a team"), hint));
    }
    Ok(())
}

/// A MAC address that a device can have.
pub fn host_mac(text: &str) -> Result<Mac, Wrong> {
    let form = "six two-digit hexadecimal bytes, the first of them even: `02:00:00:00:00:01`";
    match text.parse::<Mac>() {
        Ok(mac) if mac.is_multicast() || mac == Mac::default() => {
            Err((format!("`{mac}` is no address that a device can have"), form))
        }
        Ok(mac) => Ok(mac),
        Err(_) => Err((format!("`{}` is no MAC address", shown(text)), form)),
    }
}

/// An MTU, bytes.
pub fn mtu(text: &str) -> Result<u32, Wrong> {
    let number = text.parse().ok().filter(|number| MTU.contains(number) && !text.starts_with('+'));
    number.ok_or_else(|| (format!("`{}` is no MTU", shown(text)), "a whole number from 68 to 65535, bytes: `9000`"))
}

/// Whether router advertisements are taken, in the kernel's numbers.
pub fn accept_ra(text: &str) -> Result<u8, Wrong> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        "2" => Ok(2),
        other => Err((
            format!("`{}` is no value for `accept_ra`", shown(other)),
            "0 takes no router advertisements, 1 does unless the host forwards, 2 always",
        )),
    }
}

/// True if a name fits a shell's pattern: `*`, `?`, `[0-3]`, `[!0-3]`.
pub fn fits(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut of, mut star) = (0, 0, None);
    while at < text.len() {
        if pattern.get(of) == Some(&'*') {
            star = Some((of, at));
            of += 1;
        } else if let Some(length) = fitting(&pattern[of.min(pattern.len())..], text[at]) {
            (at, of) = (at + 1, of + length);
        } else if let Some((behind, from)) = star {
            star = Some((behind, from + 1));
            (of, at) = (behind + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[of.min(pattern.len())..].iter().all(|c| *c == '*')
}

/// The length of what stands for one character at the beginning of a pattern, if this one fits.
fn fitting(pattern: &[char], c: char) -> Option<usize> {
    let first = *pattern.first()?;
    // A `]` that stands first is one of the characters.
    let end = |from: usize| pattern.iter().skip(from + 1).position(|c| *c == ']').map(|at| from + 1 + at);
    let is_not = matches!(pattern.get(1), Some('!' | '^'));
    let begin = 1 + usize::from(is_not);
    match end(begin).filter(|_| first == '[') {
        None => (first == '?' || first == c).then_some(1),
        Some(end) => {
            let (mut set, mut is_in) = (&pattern[begin..end], false);
            while let Some((low, rest)) = set.split_first() {
                (is_in, set) = match rest {
                    ['-', high, rest @ ..] => (is_in || (*low..=*high).contains(&c), rest),
                    _ => (is_in || *low == c, rest),
                };
            }
            (is_in != is_not).then_some(end + 1)
        }
    }
}

/// A word in a message: not longer than a line, without control characters.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() { shown + "..." } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_a_shells() {
        let cases = [
            ("eth*", "eth0", true),
            ("eth?", "eth10", false),
            ("*.d/b*", "x.d/bond0", true),
            ("eth[0-2]", "eth2", true),
            ("eth[!0-2]", "eth2", false),
            ("e[]t]h0", "eth0", true),
            ("eth[", "eth[", true),
            ("*[ab]", "aab", true),
            ("", "", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(fits(text, pattern), expected, "{pattern} {text}");
        }
    }
}
