//! Command lines: words as a POSIX shell would split them (XCU 2.2, quoting), without a shell, and what stands for
//! something that only a run knows.

/// What may stand in braces.
pub(super) const PLACEHOLDERS: [&str; 4] = ["address", "port", "data_port", "client_port"];

/// Splits a command line into words: at white space, but for what stands in quotes or behind `\`. Nothing else that a
/// shell knows means anything: `$`, `*`, `|`, `>` and `;` are themselves.
pub(super) fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote (') is not closed")? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or("a quote (\") is not closed")? {
                        '"' => break,
                        '\\' => match chars.next().ok_or("a quote (\") is not closed")? {
                            c @ ('"' | '\\' | '$' | '`') => text.push(c),
                            c => text.extend(['\\', c]),
                        },
                        c => text.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next().ok_or("nothing follows the last \\")?),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let words = |line| split(line).unwrap();
        assert_eq!(words(" iperf3  -c\t{address}\n-t 10 "), ["iperf3", "-c", "{address}", "-t", "10"]);
        assert_eq!(words(r#"a 'b c' "d \"e\" \f" g\ h '' x'y'"z""#), ["a", "b c", r#"d "e" \f"#, "g h", "", "xyz"]);
        assert_eq!(words("a $HOME *|>;"), ["a", "$HOME", "*|>;"]);
        assert_eq!(words(""), Vec::<String>::new());
        for broken in ["a 'b", "a \"b", "a \"b\\", "a \\"] {
            assert!(split(broken).is_err(), "{broken}");
        }
    }
}
