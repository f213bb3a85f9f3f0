//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest to what was written, if it is near enough to be a slip.
///
/// Letter case, `_` and `-` do not count; a candidate that begins with what was
/// written (three letters or more) is as good as one slip.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = fold(written);
    let letters = written.chars().count();
    if written.is_empty() || letters > 64 {
        return None;
    }
    let allowed = (letters / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let begins = letters >= 3 && folded.starts_with(&written);
            let distance = strsim::osa_distance(&written, &folded);
            let slips = if begins { distance.min(1) } else { distance };
            // A name of one letter is never suggested for another.
            let alike = slips <= allowed && slips * 2 <= letters.max(folded.chars().count());
            alike.then_some((slips, candidate))
        })
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c`, each in backquotes, for messages; at most ten are named.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 10;
    let names: Vec<_> = names.into_iter().collect();
    let mut quoted: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        quoted.push(format!("{} more", names.len() - SHOWN));
    }
    match quoted.pop() {
        None => "none".to_owned(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} and {last}", quoted.join(", ")),
    }
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let modes = ["balance-rr", "active-backup", "balance-xor", "broadcast"];
        assert_eq!(nearest("balance-r", modes), Some("balance-rr"));
        assert_eq!(nearest("balance_rr", modes), Some("balance-rr"));
        assert_eq!(nearest("Active-Backup", modes), Some("active-backup"));
        assert_eq!(nearest("brodacast", modes), Some("broadcast"));
        assert_eq!(nearest("802.3ad", modes), None);
        assert_eq!(nearest("", modes), None);
        assert_eq!(nearest("c", ["a", "b"]), None);
        assert_eq!(nearest("bb", ["a", "b"]), Some("b"));
    }

    #[test]
    fn a_beginning_is_enough() {
        assert_eq!(nearest("conn", ["connections", "congestion"]), Some("connections"));
    }

    #[test]
    fn lists_read_as_a_sentence() {
        assert_eq!(list([]), "none");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
