//! Lines of a shell script, as far as commands go that stand there as they are carried out.
//!
//! Quotes, comments, continued lines and the operators between commands (POSIX.1-2017, 2.3 Token Recognition). Nothing is
//! expanded: a word with `$` or a backquote in it is marked, and so is a command that is carried out under a condition.

use std::ops::Range;

use nicteam_diagnostics::Problem;

use crate::rest::Rest;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without quotes.
    pub(crate) text: String,
    /// Bytes of the text, with them.
    pub(crate) span: Range<usize>,
    /// False if the shell would put something in place of a part of it.
    pub(crate) is_literal: bool,
}

/// A command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words, one at least: the program's name first, without its folder; without `sudo` and its kin.
    pub(crate) words: Vec<Word>,
    /// Where its output goes, if that is a file.
    pub(crate) output: Option<Word>,
    /// True within `if`, `for` and their kin, and behind `||`.
    pub(crate) is_conditional: bool,
}

impl Command {
    /// The program.
    pub(crate) fn name(&self) -> &str {
        self.words.first().map_or("", |word| word.text.as_str())
    }

    /// Its arguments.
    pub(crate) fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// All of it in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        let all = self.words.iter().chain(&self.output).map(|word| &word.span);
        let start = all.clone().map(|span| span.start).min().unwrap_or(0);
        start..all.map(|span| span.end).max().unwrap_or(start)
    }

    /// What stands in its words, in one piece: the names of devices that it is about.
    pub(crate) fn pieces(&self) -> Vec<String> {
        let parts = |word: &Word| -> Vec<String> {
            let parts = word.text.split(|c: char| !(c.is_alphanumeric() || "-_.:".contains(c)));
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        self.words.iter().chain(&self.output).flat_map(parts).collect()
    }

    /// False if the shell would put something in place of one of its words.
    pub(crate) fn is_literal(&self) -> bool {
        self.words.iter().chain(&self.output).all(|word| word.is_literal)
    }
}

/// The commands of a text.
///
/// # Errors
/// A quote that is not closed.
pub(crate) fn commands(text: &str) -> Result<Vec<Command>, Problem> {
    let mut script = Script::default();
    let mut rest = Rest::of(text);
    while let Some(token) = rest.token()? {
        script.take(token);
    }
    script.end(false);
    Ok(script.commands)
}

/// A word as a shell reads it: as it is, or in single quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What a text is made of.
enum Token {
    Word(Word),
    /// The end of a command; true: what follows is carried out if it failed.
    End(bool),
    /// What follows names a file; true: this command writes its output there.
    Redirection(bool),
}

/// What was read of a script.
#[derive(Default)]
struct Script {
    commands: Vec<Command>,
    pending: Command,
    redirection: Option<bool>,
    /// `if`, `for` and their kin that are open.
    depth: usize,
    is_alternative: bool,
}

impl Script {
    fn take(&mut self, token: Token) {
        match token {
            Token::Word(word) => match self.redirection.take() {
                Some(true) => self.pending.output = Some(word),
                Some(false) => {}
                None => self.pending.words.push(word),
            },
            Token::Redirection(writes) => self.redirection = Some(writes),
            Token::End(is_alternative) => self.end(is_alternative),
        }
    }

    fn end(&mut self, is_alternative: bool) {
        self.redirection = None;
        let mut command = std::mem::take(&mut self.pending);
        let mut opens = false;
        while let Some(first) = command.words.first().filter(|word| word.is_literal) {
            match first.text.as_str() {
                "if" | "while" | "until" => self.depth += 1,
                "for" | "case" | "select" => (self.depth, opens) = (self.depth + 1, true),
                "fi" | "done" | "esac" | "}" => self.depth = self.depth.saturating_sub(1),
                "{" => self.depth += 1,
                "then" | "else" | "elif" | "do" | "!" | "sudo" | "exec" | "command" | "$" | "time" => {}
                _ => break,
            }
            command.words.remove(0);
            if opens {
                // `for NAME in WORDS`, `case WORD in`: no command.
                command.words.clear();
            }
        }
        if let Some(first) = command.words.first_mut() {
            if let Some((_, name)) = first.text.rsplit_once('/') {
                first.text = name.to_owned();
            }
            command.is_conditional = self.depth > 0 || self.is_alternative;
            self.commands.push(command);
        }
        self.is_alternative = is_alternative;
    }
}

impl Rest<'_> {
    fn skip(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    fn token(&mut self) -> Result<Option<Token>, Problem> {
        loop {
            match self.peek() {
                None => return Ok(None),
                Some(' ' | '\t' | '\r') => drop(self.next()),
                Some('\\') if self.text[self.at..].starts_with("\\\n") => self.at += 2,
                Some('\\') if self.text[self.at..].starts_with("\\\r\n") => self.at += 3,
                Some('#') => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                Some('\n' | ';' | '(' | ')') => {
                    self.next();
                    return Ok(Some(Token::End(false)));
                }
                Some('&') => {
                    self.next();
                    self.skip('&');
                    return Ok(Some(Token::End(false)));
                }
                Some('|') => {
                    self.next();
                    return Ok(Some(Token::End(self.skip('|'))));
                }
                Some('>') => {
                    self.next();
                    self.skip('>');
                    self.skip('|');
                    return Ok(Some(Token::Redirection(!self.skip('&'))));
                }
                Some('<') => {
                    while self.skip('<') || self.skip('&') || self.skip('-') {}
                    return Ok(Some(Token::Redirection(false)));
                }
                Some(_) => return self.word().map(Some),
            }
        }
    }

    fn word(&mut self) -> Result<Token, Problem> {
        let start = self.at;
        let (mut text, mut is_literal) = (String::new(), true);
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '(' | ')' | '&' | '|' | '<' => break,
                '>' => break,
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(escaped) => text.push(escaped),
                    }
                }
                '\'' | '"' => is_literal &= self.quoted(next, &mut text)?,
                _ => {
                    is_literal &= !matches!(next, '$' | '`') || next == '$' && self.is_lonely_dollar();
                    text.push(next);
                    self.next();
                }
            }
        }
        // `2>` and its kin: the number of what is redirected.
        if self.peek() == Some('>') && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.next();
            self.skip('>');
            let is_output = text == "1" && !self.skip('&');
            self.skip('&');
            return Ok(Token::Redirection(is_output));
        }
        Ok(Token::Word(Word { text, span: start..self.at, is_literal }))
    }

    /// A dollar of its own: the prompt of a line that was copied.
    fn is_lonely_dollar(&self) -> bool {
        self.text[self.at + 1..].chars().next().is_none_or(char::is_whitespace)
    }

    /// Text between quotes; true if it stands there as it is.
    fn quoted(&mut self, quote: char, text: &mut String) -> Result<bool, Problem> {
        let (start, mut is_literal) = (self.at, true);
        self.next();
        loop {
            match self.next() {
                None => {
                    let problem = Problem::at(&(start..start + 1), format!("the quote {quote} is not closed"));
                    return Err(problem.hint("a quote ends with the same character"));
                }
                Some(end) if end == quote => return Ok(is_literal),
                Some('\\') if quote == '"' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => text.push(escaped),
                    Some(other) => text.extend(['\\', other]),
                },
                Some(inner) => {
                    is_literal &= quote != '"' || !matches!(inner, '$' | '`');
                    text.push(inner);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let of = |command: Command| command.words.into_iter().map(|word| word.text).collect();
        commands(text).unwrap().into_iter().map(of).collect()
    }

    #[test]
    fn commands_are_parted() {
        let text = "sudo /sbin/ip link \\\n  add \"a b\" 'c'd # no\n# none\nx; y && z|w\n";
        let expected: [&[&str]; 5] = [&["ip", "link", "add", "a b", "cd"], &["x"], &["y"], &["z"], &["w"]];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn output_goes_to_a_file() {
        let commands = commands("echo +eth1 >/sys/x 2>/dev/null\nls 2>&1 > a\n").unwrap();
        let outputs: Vec<&str> = commands.iter().map(|of| of.output.as_ref().unwrap().text.as_str()).collect();
        assert_eq!(outputs, ["/sys/x", "a"]);
        assert_eq!(commands[0].words.len(), 2);
    }

    #[test]
    fn conditions_and_variables_are_marked() {
        let commands = commands("for i in a b; do ip $i; done\nip a || true\nif x; then y; fi; z \"$v\"\n").unwrap();
        let marks: Vec<(&str, bool, bool)> =
            commands.iter().map(|of| (of.name(), of.is_conditional, of.is_literal())).collect();
        let expected = [
            ("ip", true, false),
            ("ip", false, true),
            ("true", true, true),
            ("x", true, true),
            ("y", true, true),
            ("z", false, false),
        ];
        assert_eq!(marks, expected);
    }

    #[test]
    fn an_open_quote_is_pointed_at() {
        assert_eq!(commands("a 'b").unwrap_err().span, Some(2..3));
    }
}
