//! "Did you mean": the nearest of the names that would have been right.

/// The candidate nearest to what was written, if it is near enough to be a slip.
///
/// Letter case, `_` and `-` do not count; a candidate that begins with what was
/// written (three letters or more) is as good as one slip.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = fold(written);
    if written.is_empty() || written.len() > 64 {
        return None;
    }
    let allowed = (written.len() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let slips = if written.len() >= 3 && folded.starts_with(&written) {
                1.min(distance(&written, &folded))
            } else {
                distance(&written, &folded)
            };
            // A name of one letter is nobody's slip.
            let alike = slips <= allowed && slips * 2 <= written.len().max(folded.len());
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

fn fold(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment distance: insertions, deletions, changes and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                let swap: &Vec<usize> = &before;
                least = least.min(swap[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
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
