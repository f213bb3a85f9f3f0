//! Patterns of file names (`fnmatch`), which configuration files of other programs use for names of devices, too.

use std::ffi::CString;

/// True if the whole text fits the pattern: `*`, `?`, `[a-z]`, `[!a-z]`, a backslash before a character that is to stand for
/// itself (`fnmatch(3)` without flags, as systemd and netplan call it). Neither fits if it has a zero byte.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (Ok(pattern), Ok(text)) = (CString::new(pattern), CString::new(text)) else { return false };
    // SAFETY: both are strings that end with a zero byte and outlive the call, which only reads them.
    unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        let cases = [
            ("en*", "enp3s0", true),
            ("en*", "eth0", false),
            ("eth?", "eth10", false),
            ("eth[0-2]", "eth2", true),
            ("eth[!0-2]", "eth2", false),
            ("eth\\*", "eth*", true),
            ("eth\\*", "eth1", false),
            ("*", "", true),
            ("eth[", "eth1", false),
            ("a\0", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
