//! Brace expansion.

/// Bytes of `{a,b}` or `{0..3}` at the beginning of a text, and what it stands for.
pub(super) fn braces(text: &str) -> Option<(usize, Vec<String>)> {
    let inner = text.strip_prefix('{')?.split('}').next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,".contains(c);
    if !text[1 + inner.len()..].starts_with('}') || !inner.chars().all(is_plain) {
        return None;
    }
    let each = match inner.split_once("..") {
        Some((first, last)) => sequence(first, last)?,
        None if inner.contains(',') => inner.split(',').map(str::to_owned).collect(),
        None => return None,
    };
    Some((inner.len() + 2, each))
}

/// Whole numbers, up or down.
pub(super) fn sequence(first: &str, last: &str) -> Option<Vec<String>> {
    let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
    let up = (first..=last).map(|number| number.to_string());
    let down = (last..=first).rev().map(|number| number.to_string());
    (first.abs_diff(last) < 256).then(|| if first <= last { up.collect() } else { down.collect() })
}
