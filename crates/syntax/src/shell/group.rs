//! What is open around a command: conditions, groups, loops, and where they end.

use std::ops::Range;

use super::lex::{Item, Part, Raw};

/// What is open around a command, and whether all in it is carried out under a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Braces(bool),
    Parentheses(bool),
    Condition,
}

/// True for `case "$1" in`: a script that is told what to do.
pub(super) fn is_asked(words: &[Raw]) -> bool {
    let is_first = |raw: &Raw| matches!(raw.parts.as_slice(), [.., Part::Variable { name, .. }] if name == "1");
    words.first().and_then(Raw::literal) == Some("case") && words.get(1).is_some_and(is_first)
}

/// The words behind the keywords that a command begins with, which open and close groups.
pub(super) fn opened<'a>(words: &'a [Raw], groups: &mut Vec<Group>, depends: bool) -> &'a [Raw] {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        match first.literal() {
            Some("if" | "while" | "until") => groups.push(Group::Condition),
            Some("case") => {
                groups.push(Group::Condition);
                // `case WORD in`: no command.
                return &[];
            }
            Some("fi" | "done" | "esac") => {
                if let Some(place) = groups.iter().rposition(|group| *group == Group::Condition) {
                    groups.truncate(place);
                }
            }
            Some("{") => groups.push(Group::Braces(depends)),
            Some("}") => {
                if let Some(place) = groups.iter().rposition(|group| matches!(group, Group::Braces(_))) {
                    groups.truncate(place);
                }
            }
            Some("then" | "else" | "elif" | "do" | "!" | "time" | "$") => {}
            _ => break,
        }
        words = rest;
    }
    words
}

/// The item that closes what is open at the beginning of a range; its end, if none does.
pub(super) fn closing(all: &[Item], range: Range<usize>, opens: &[&str], closes: &str) -> usize {
    const AHEAD: &[&str] = &["then", "else", "do", "{", "!", "if", "while", "until", "for", "select"];
    let mut depth = 0_usize;
    for at in range.clone() {
        for word in all[at].words.iter().map_while(Raw::literal) {
            if opens.contains(&word) {
                depth += 1;
            } else if word == closes && depth == 0 {
                return at;
            } else if word == closes {
                depth -= 1;
            }
            if !AHEAD.contains(&word) && word != closes {
                break;
            }
        }
    }
    range.end
}
