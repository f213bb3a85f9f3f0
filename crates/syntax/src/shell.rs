//! Lines of a shell script, as far as commands go that follow from the text alone.
//!
//! Quotes, comments, continued lines, here-documents and the operators between commands; `NAME=value` and what stands for
//! it, loops over words that are known, functions. A word in which something else is expanded is marked, and so is a
//! command that is carried out under a condition.

mod braces;
mod command;
mod group;
mod lex;
mod run;

use std::borrow::Cow;

pub use command::{Command, Word};
pub use lex::{NoValue, line_end, value};

use nicteam_diagnostics::Problem;

/// The commands of a text.
///
/// # Errors
/// A quote that is not closed; loops without end.
pub fn commands(text: &str) -> Result<Vec<Command>, Problem> {
    let text = without_prompts(text);
    let mut run = run::Run::new(&text);
    run.all()?;
    Ok(run.commands)
}

/// The commands of a line that a program has a shell carry out, where these variables have values.
///
/// # Errors
/// A quote that is not closed; loops without end.
pub fn line(text: &str, variables: &[(&str, &str)]) -> Result<Vec<Command>, Problem> {
    let mut run = run::Run::new(text);
    variables.iter().for_each(|(name, value)| run.set(name, value));
    run.all()?;
    Ok(run.commands)
}

/// The word behind another one.
///
/// # Errors
/// There is none.
pub fn argument<'a>(of: &Word, words: &mut impl Iterator<Item = &'a Word>) -> Result<&'a Word, Problem> {
    words.next().ok_or_else(|| Problem::at(&of.span, format!("nothing follows `{}`", of.text)))
}

/// Lines that were copied with the prompt of root are no comments: each line begins with `# ` or `$ `.
fn without_prompts(text: &str) -> Cow<'_, str> {
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let is_copied = lines.all(|line| line.starts_with("# ") || line.starts_with("$ "));
    // A blank in its place: what stands behind it stays where it was.
    let unprompted = |line: &str| match line.trim_start().starts_with("# ") {
        true => line.replacen('#', " ", 1),
        false => line.to_owned(),
    };
    match is_copied && text.contains("# ") {
        true => Cow::Owned(text.split_inclusive('\n').map(unprompted).collect()),
        false => Cow::Borrowed(text),
    }
}

/// A word as a shell reads it: as it is, or in single quotes.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
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
        let commands = commands("for i in $1; do ip $i; done\nip a || true\nif x; then y; fi; z \"$v\"\n").unwrap();
        let marks: Vec<(&str, bool, bool)> =
            commands.iter().map(|of| (of.name(), of.is_conditional, of.unknown().is_none())).collect();
        let expected = [
            ("ip", false, false),
            ("ip", false, true),
            ("true", true, true),
            ("x", true, true),
            ("y", true, true),
            ("z", false, false),
        ];
        assert_eq!(marks, expected);
    }

    #[test]
    fn what_nothing_closes_is_of_its_line_alone() {
        assert_eq!(lines("a `b\nc $(d\ne ${f\ng"), ["a `b", "c $(d", "e ${f", "g"]);
        assert_eq!(lines(r#"a $'b\'c\td' $"e""#), ["a b'c\td e"]);
        assert_eq!(line_end("A='b\nc' # d'\ne"), 12);
        assert_eq!(line_end("A='b\nc"), 4);
    }

    #[test]
    fn values_have_places() {
        let known = |name: &str| (name == "A").then_some("xy");
        let (value, length) = value("'b'\"$A\"{1,2} # c", known, 9).unwrap();
        assert_eq!((value.text.as_str(), length), ("bxy{1,2}", 12));
        assert_eq!(value.spans[..4], [1..2, 4..6, 4..6, 7..8]);
        assert_eq!(lex::value("$B", known, 9), Err(NoValue::Unknown));
        assert_eq!(lex::value("`b`", known, 9), Err(NoValue::Unknown));
        assert_eq!(lex::value("a b", known, 9), Err(NoValue::More));
        assert_eq!(lex::value("a&", known, 9), Err(NoValue::More));
        assert_eq!(lex::value("'a", known, 9), Err(NoValue::Open));
        assert_eq!(lex::value("$A$A$A$A$A", known, 9), Err(NoValue::Long));
    }

    #[test]
    fn an_open_quote_is_pointed_at() {
        assert_eq!(commands("a 'b").unwrap_err().span, Some(2..3));
    }

    /// The commands, each in one piece.
    fn lines(text: &str) -> Vec<String> {
        words(text).iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn variables_have_their_values() {
        assert_eq!(lines("B=bond0 M='a b'\nip $B ${B}.5 \"$M\" x$M'$B'"), ["ip bond0 bond0.5 a b xa b$B"]);
        let commands = commands("M='a b'; ip \"$M\" $M; if x; then M=c; fi; y $M").unwrap();
        assert_eq!(commands[0].words.len(), 4);
        assert_eq!(commands[2].words[1].unknown.as_deref(), Some("$M"), "a condition decides which value it has");
        assert_eq!(
            lines("IP=/sbin/ip; export A=1; $IP $A; L=(a b); for i in \"${L[@]}\"; do x $i; done"),
            ["ip 1", "x a", "x b"]
        );
    }

    #[test]
    fn the_same_program_elsewhere_is_the_same() {
        let text = "IP=/sbin/ip\n[ -x \"$IP\" ] || IP=/bin/ip\n$IP link\nA=/x/a\n[ -x $A ] || A=/x/b\n$A\n";
        let commands = commands(text).unwrap();
        let of = |name: &str| commands.iter().find(|of| of.name() == name);
        assert!(of("ip").is_some_and(|of| of.unknown().is_none()), "{commands:?}");
        let other = commands.last().unwrap().unknown().unwrap();
        assert!(other.hint.unwrap().starts_with("a condition"), "{commands:?}");
    }

    #[test]
    fn loops_and_functions_are_carried_out() {
        let text = "add() {\n  for i in $2; do\n    ip $i $1\n  done\n}\nadd b 'x y'\nfor n in 0 1; do for m in 5; do e$n.$m; done; done\nz";
        assert_eq!(lines(text), ["ip x b", "ip y b", "e0.5", "e1.5", "z"]);
        assert_eq!(lines("function f {\n a\n}\nb\nf\ng()\n{\nc\n}\n"), ["b", "a"]);
        assert_eq!(lines("f() { a; }\nip - <<E\nf\nE\n"), ["ip -"], "the document's command calls it");
        assert_eq!(lines("f() { a $1; }\ng() { f x; b $1; }\ng y"), ["a x", "b y"]);
        assert!(commands("f() { f; f; }\nf").is_err(), "it ends");
    }

    #[test]
    fn loops_in_loops_end_without_a_command_in_them() {
        for begin in ["while [ $# -gt 0 ]; do\n", "for i in 1 2 3 4 5 6 7 8; do\n"] {
            let nested = format!("f() {{ {}{}}}\nf a", begin.repeat(20), "done; ".repeat(20));
            assert!(commands(&nested).is_err(), "{begin}");
        }
    }

    #[test]
    fn what_is_expanded_has_an_end() {
        let doubled = "a=abcdefgh\n".to_owned() + &"a=$a$a\n".repeat(28) + "ip link set $a up\n";
        let braces = "echo ".to_owned() + &"{a,b}".repeat(22);
        let words = "a='a b c d e f g h'\n".to_owned() + &"a=\"$a $a\"\n".repeat(14) + &"echo $a\n".repeat(100);
        for text in [doubled, braces, words] {
            let problem = commands(&text).unwrap_err();
            assert!(problem.message.contains("make more than 4 MiB"), "{}", problem.message);
        }
    }

    #[test]
    fn here_documents_are_a_commands_input() {
        let commands = commands("X=1\nip -b - <<EOF\nlink add $X\nit's\nEOF\ncat <<-'E' >f\n\tip a\n\tE\nz").unwrap();
        let names: Vec<&str> = commands.iter().map(Command::name).collect();
        assert_eq!(names, ["ip", "cat", "z"]);
        assert_eq!(commands[0].input, [], "its quote is open");
        assert_eq!(commands[1].input[0].name(), "ip");
    }

    #[test]
    fn prompts_and_runners_are_no_programs() {
        assert_eq!(lines("# pfexec a b\n$ sudo -n -u x c\n"), ["a b", "c"]);
        assert_eq!(lines("# a b\nc\nroot@host:~# d\nLANG=C e"), ["c", "d", "e"]);
    }

    #[test]
    fn what_depends_on_a_test_is_conditional() {
        let commands = commands("[ -d x ] && a && b\nc && d || { e; f; }\ng").unwrap();
        let conditional: Vec<&str> = commands.iter().filter(|of| of.is_conditional).map(Command::name).collect();
        assert_eq!(conditional, ["a", "b", "e", "f"]);
    }
}
