//! Markdown of the key reference: lines of 100 columns, and tables whose cells are short.

/// Columns of a line.
const WIDTH: usize = 100;
/// The longest meaning that stands in a table whole.
const LONGEST_MEANING: usize = 90;
/// The longest of the other cells.
const LONGEST_CELL: usize = 48;

/// What stands in the table of a meaning, and what stands below it.
///
/// A long one ends in the table with its first sentence, or its first clause before a semicolon.
pub fn beginning(meaning: &str) -> (&str, String) {
    if meaning.len() <= LONGEST_MEANING {
        return (meaning, String::new());
    }
    let sentence = meaning.find(". ").map(|end| end + 1);
    let (first, rest) = match sentence.or_else(|| meaning.find("; ")) {
        Some(end) => meaning.split_at(end),
        None => (meaning, ""),
    };
    (first, rest.trim_start_matches([';', ' ']).to_owned())
}

/// A cell as it stands in the table; a long one goes to `more`, behind `lead`.
pub fn cell(text: String, lead: &str, more: &mut String) -> String {
    if text.len() <= LONGEST_CELL {
        return text;
    }
    let end = match more.chars().last() {
        None => "",
        Some('.') => " ",
        Some(_) => ". ",
    };
    more.push_str(&format!("{end}{lead} {}", full_stop(text)));
    "see below".to_owned()
}

/// A sentence that ends as one.
pub fn full_stop(mut text: String) -> String {
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

/// A paragraph in lines of 100 columns. The first begins with `lead`, the others are indented as far.
pub fn wrapped(lead: &str, text: &str) -> String {
    let mut out = lead.to_owned();
    let mut column = lead.len();
    for (place, word) in words(text).into_iter().enumerate() {
        let length = word.chars().count();
        if place > 0 && column + 1 + length > WIDTH {
            out.push_str(&format!("\n{:indent$}", "", indent = lead.len()));
            column = lead.len();
        } else if place > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

/// Words, each code span whole.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut begin, mut in_code) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '`' => in_code = !in_code,
            ' ' if !in_code => {
                words.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[begin..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_meaning_is_whole() {
        assert_eq!(beginning("One. Two."), ("One. Two.", String::new()));
    }

    #[test]
    fn a_long_meaning_ends_with_its_first_sentence_or_clause() {
        let rest = "b".repeat(LONGEST_MEANING);
        assert_eq!(beginning(&format!("a: b; c. {rest}.")), ("a: b; c.", format!("{rest}.")));
        assert_eq!(beginning(&format!("a: b; {rest}")), ("a: b", rest));
    }

    #[test]
    fn a_long_cell_goes_below() {
        let mut more = "Text".to_owned();
        assert_eq!(cell("short".to_owned(), "It takes", &mut more), "short");
        assert_eq!(cell("x".repeat(49), "It takes", &mut more), "see below");
        assert_eq!(more, format!("Text. It takes {}.", "x".repeat(49)));
    }

    #[test]
    fn lines_are_filled_and_code_is_whole() {
        let text = format!("{} `two words` end", "x".repeat(90));
        assert_eq!(wrapped("- ", &text), format!("- {}\n  `two words` end\n", "x".repeat(90)));
    }
}
