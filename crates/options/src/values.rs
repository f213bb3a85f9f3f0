//! What an option takes, and how it is read from text.

use std::fmt;

use crate::error::ConfigError;

/// What an option takes. Its `Display` says so in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these names, or the kernel's number for it.
    Names(&'static [&'static str]),
    /// A number from 0 to `max`, or one of these words for one.
    Number {
        /// The largest.
        max: u32,
        /// Words that stand for a number.
        words: &'static [(&'static str, u32)],
    },
    /// A number from 1 to `max`, or one of these words for one.
    Positive {
        /// The largest.
        max: u32,
        /// Words that stand for a number.
        words: &'static [(&'static str, u32)],
    },
    /// The name of a network device, or nothing.
    Device,
    /// Text of another form.
    Text {
        /// The form, in words.
        takes: &'static str,
        /// A value that is taken.
        example: &'static str,
    },
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Names(names) => f.write_str(&one_of(names.iter().copied())),
            Values::Number { max, words } => write_range(f, 0, *max, words),
            Values::Positive { max, words } => write_range(f, 1, *max, words),
            Values::Text { takes, .. } => f.write_str(takes),
            Values::Device => {
                f.write_str("a device name of 1 to 15 bytes without `/`, `:` and white space, or nothing")
            }
        }
    }
}

fn write_range(f: &mut fmt::Formatter<'_>, min: u32, max: u32, words: &[(&str, u32)]) -> fmt::Result {
    write!(f, "{min} to {max}")?;
    words.iter().try_for_each(|(word, number)| write!(f, ", {word} ({number})"))
}

/// What stands for a secret that is shown.
pub(crate) const HIDDEN: &str = "(hidden)";
/// The kernel's `INT_MAX`.
pub(crate) const INT_MAX: u32 = i32::MAX as u32;
/// Names in a sentence. A name with a comma in it stands in backticks.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted = |name: &str| if name.contains(',') { format!("`{name}`") } else { name.to_owned() };
    format!("one of {}", names.map(quoted).collect::<Vec<_>>().join(", "))
}

/// The number that this text is, or the one its word stands for.
pub(crate) fn number(option: &'static str, values: Values, text: &str) -> Result<u32, ConfigError> {
    let word = text.trim();
    let (min, max, words) = match values {
        Values::Number { max, words } => (0, max, words),
        Values::Positive { max, words } => (1, max, words),
        // No number is one of these.
        Values::Names(_) | Values::Device | Values::Text { .. } => (1, 0, [].as_slice()),
    };
    let named = || words.iter().find(|&&(name, _)| name == word).map(|&(_, number)| number);
    let found = digits(word).filter(|number| (min..=max).contains(number)).or_else(named);
    found.ok_or_else(|| ConfigError::BadValue { option, value: text.to_owned(), expected: values.to_string() })
}

/// Decimal digits and nothing else, as far as they fit.
pub(crate) fn digits(word: &str) -> Option<u32> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { word.parse().ok() } else { None }
}

/// A device name as `dev_valid_name` has it; none for an empty text.
pub(crate) fn device(option: &'static str, text: &str) -> Result<Option<String>, ConfigError> {
    let name = text.trim();
    let bad = |c: char| c == '/' || c == ':' || c == '\0' || c.is_whitespace();
    if name.len() > 15 || name == "." || name == ".." || name.contains(bad) {
        let expected = Values::Device.to_string();
        return Err(ConfigError::BadValue { option, value: text.to_owned(), expected });
    }
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

/// The candidate with the fewest edits to `word`, if they are few: at most a
/// third of its letters.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.trim().to_ascii_lowercase().replace('-', "_");
    candidates
        .map(|candidate| (distance(&word, &candidate.replace('-', "_")), candidate))
        .filter(|&(edits, candidate)| edits * 3 <= candidate.len().max(3))
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance in bytes. Words longer than any name are not compared.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    if a.len() > LONGEST {
        return usize::MAX / 3;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
