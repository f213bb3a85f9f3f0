//! Many names in few words.

/// So many names, or ranges of names, stand one by one.
const NAMED: usize = 4;
/// From so many consecutive names on they are a range.
const RANGE: usize = 3;

/// Up to four names as they are, more of them shorter: consecutive ones as a range, `h0 to h15`, and of many others
/// the first ones, `a, c, f and 9 more`.
///
/// ```
/// assert_eq!(nicteam_record::names(&["a", "b", "c"]), "a, b and c");
/// assert_eq!(nicteam_record::names(&["h0", "h1", "h2", "h3", "h4", "sw"]), "h0 to h4 and sw");
/// ```
pub fn names<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.len() <= NAMED {
        return list(&names);
    }
    let parts = parts(&names);
    if parts.len() <= NAMED {
        return list(&parts.iter().map(|(part, _)| part.as_str()).collect::<Vec<_>>());
    }
    let first = &parts[..NAMED - 1];
    let more = names.len() - first.iter().map(|(_, count)| count).sum::<usize>();
    let first: Vec<&str> = first.iter().map(|(part, _)| part.as_str()).collect();
    format!("{} and {more} more", first.join(", "))
}

/// Ranges and single names, each with the number of names in it.
fn parts(names: &[&str]) -> Vec<(String, usize)> {
    let mut parts = Vec::new();
    let mut rest = names;
    while let Some(first) = rest.first() {
        let length = consecutive(rest);
        let (part, taken) = match length {
            RANGE.. => (format!("{first} to {}", rest[length - 1]), length),
            _ => ((*first).to_owned(), 1),
        };
        parts.push((part, taken));
        rest = &rest[taken..];
    }
    parts
}

/// How many names from the first on differ in their last number alone, and count up by one.
fn consecutive(names: &[&str]) -> usize {
    let follows = |pair: &[&str]| match (numbered(pair[0]), numbered(pair[1])) {
        (Some((stem, number)), Some((other, next))) => stem == other && number.checked_add(1) == Some(next),
        _ => false,
    };
    1 + names.windows(2).take_while(|pair| follows(pair)).count()
}

/// `h` and 12 of `h12`; nothing of a name without a number at its end, or with a number that is written with zeros before it.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &name[stem.len()..];
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((stem, digits.parse().ok()?))
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_stand_as_they_are() {
        assert_eq!(names::<&str>(&[]), "");
        assert_eq!(names(&["h0"]), "h0");
        assert_eq!(names(&["h0", "h1", "h2", "h3"]), "h0, h1, h2 and h3");
    }

    #[test]
    fn consecutive_names_are_a_range() {
        let many: Vec<String> = (0..16).map(|number| format!("h{number}")).collect();
        assert_eq!(names(&many), "h0 to h15");
        assert_eq!(names(&["server", "h8", "h9", "h10", "h11"]), "server and h8 to h11");
        assert_eq!(names(&["a1", "a2", "a3", "b1", "b2", "b3", "c"]), "a1 to a3, b1 to b3 and c");
    }

    #[test]
    fn others_are_counted() {
        assert_eq!(names(&["a", "c", "f", "h", "k"]), "a, c, f and 2 more");
        assert_eq!(names(&["h0", "h1", "h2", "a", "b", "c", "d"]), "h0 to h2, a, b and 2 more");
        assert_eq!(names(&["h0", "h2", "h4", "h6", "h8"]), "h0, h2, h4 and 2 more", "not consecutive");
        assert_eq!(names(&["h08", "h09", "h10", "h11", "h12"]), "h08, h09 and h10 to h12");
        assert_eq!(names(&["h3", "h2", "h1", "h0", "x"]), "h3, h2, h1 and 2 more", "counting down");
    }

    #[test]
    fn numbers_that_no_machine_holds_are_harmless() {
        let big = ["h18446744073709551615", "h18446744073709551616", "h1", "h2", "h4"];
        assert_eq!(names(&big), "h18446744073709551615, h18446744073709551616, h1 and 2 more");
    }
}
