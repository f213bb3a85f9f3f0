//! What of a file is prose: a page without its code, the comments and strings of a source.

/// A page: code, fenced or between backticks, becomes dots. Lines stay where they are.
pub fn of_page(page: &str) -> String {
    let (mut prose, mut is_fenced, mut is_code) = (String::new(), false, false);
    for line in page.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence {
            prose.push_str(&dots(line));
            continue;
        }
        // A span of code ends with its paragraph at the latest.
        is_code &= !line.trim().is_empty();
        for c in line.chars() {
            is_code ^= c == '`';
            prose.push(if is_code && !c.is_whitespace() { '.' } else { c });
        }
    }
    prose
}

/// A source in Rust or C: all but comments and strings becomes dots. Lines stay where they are.
pub fn of_source(source: &str) -> String {
    let (mut prose, mut rest) = (String::new(), source);
    while let Some(first) = rest.chars().next() {
        let (length, words) = piece(rest, first);
        let (piece, behind) = rest.split_at(length);
        prose.push_str(&match words {
            Words::None => dots(piece),
            Words::Comment => piece.replace(['/', '!'], " "),
            Words::String => of_string(piece),
        });
        rest = behind;
    }
    prose
}

enum Words {
    None,
    Comment,
    String,
}

/// How long the first piece of a source is, and what it is.
fn piece(rest: &str, first: char) -> (usize, Words) {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Words::Comment);
    }
    if rest.starts_with("/*") {
        return (until("*/", 2), Words::Comment);
    }
    if first == '"' {
        return (end_of_string(rest), Words::String);
    }
    let prefix = rest.find(|c: char| c != 'b' && c != 'r').unwrap_or(0);
    let hashes = rest[prefix..].find(|c| c != '#').unwrap_or(0);
    if rest[..prefix].ends_with('r') && rest[prefix + hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        return (until(&end, prefix + hashes + 1), Words::String);
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if is_name(first) {
        return (rest.find(|c| !is_name(c)).unwrap_or(rest.len()), Words::None);
    }
    (if first == '\'' { end_of_character(rest) } else { first.len_utf8() }, Words::None)
}

fn end_of_string(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    rest.len()
}

/// A character between quotes, or the quote of a lifetime alone.
fn end_of_character(rest: &str) -> usize {
    let mut behind = rest.char_indices().skip(1);
    match (behind.next(), behind.next()) {
        (Some((_, '\\')), Some((at, _))) => rest[at + 1..].find('\'').map_or(1, |end| at + end + 2),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// A string without its escapes, and without the names of what is put into it.
fn of_string(string: &str) -> String {
    let (mut words, mut chars) = (String::new(), string.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => words.push(chars.next().filter(|next| *next == '\n').unwrap_or(' ')),
            '{' => {
                let behind = chars.as_str();
                let name = behind.find(|c: char| c.is_whitespace() || "{}\"\\".contains(c)).unwrap_or(0);
                words.push('.');
                if behind[name..].starts_with('}') {
                    chars = behind[name..].chars();
                }
            }
            _ => words.push(c),
        }
    }
    words
}

fn dots(code: &str) -> String {
    code.chars().map(|c| if c.is_whitespace() { c } else { '.' }).collect()
}

/// What parts phrases: a full stop, another sign, code.
const BREAK: &str = ".";

/// The words of a prose in lower case, each with its line, and what parts phrases.
pub fn words(prose: &str) -> Vec<(usize, String)> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '\'');
    let mut words: Vec<(usize, String)> = Vec::new();
    for (index, line) in prose.lines().enumerate() {
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if is_word(c) {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push((index + 1, std::mem::take(&mut word)));
            }
            // Stars are emphasis, or the edge of a comment.
            let parts = !c.is_whitespace() && c != '*';
            if parts && words.last().is_none_or(|(_, last)| last != BREAK) {
                words.push((index + 1, BREAK.to_owned()));
            }
        }
    }
    words
}

#[test]
fn a_page_without_code_is_prose() {
    let page = "One `two\nthree` four.\n```sh\nfive\n```\n| six |\n";
    let found: Vec<_> = words(&of_page(page)).into_iter().filter(|(_, word)| word.len() > 1).collect();
    let wanted = [(1, "one"), (2, "four"), (6, "six")].map(|(line, word)| (line, word.to_owned()));
    assert_eq!(found, wanted);
}

#[test]
fn comments_and_strings_are_prose() {
    let source = "//! One\nfn two<'a>(c: &'a str) { '\"'; '\\''; '\\u{7f}' } /* three\n * four */\n\
                  let s = \"five\\nsix {seven:?} \\\"eight\\\" \\\n nine\"; br#\"ten \" eleven\"#; // twelve\nthirteen";
    let found: Vec<_> = words(&of_source(source)).into_iter().filter(|(_, word)| word.len() > 2).collect();
    let wanted = [
        (1, "one"),
        (2, "three"),
        (3, "four"),
        (4, "five"),
        (4, "six"),
        (4, "eight"),
        (5, "nine"),
        (5, "ten"),
        (5, "eleven"),
        (5, "twelve"),
    ];
    assert_eq!(found, wanted.map(|(line, word)| (line, word.to_owned())));
}
