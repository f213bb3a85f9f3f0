//! The words of `dladm` and its kin: options, and names of aggregations.

use nicteam_diagnostics::Problem;
use nicteam_syntax::shell::Word;

/// Options of the `-aggr` commands: the letter, the long name, whether an argument follows.
const OPTIONS: &[(char, &str, bool)] = &[
    ('l', "link", true),
    ('d', "dev", true),
    ('P', "policy", true),
    ('L', "lacp-mode", true),
    ('T', "lacp-timer", true),
    ('u', "unicast", true),
    ('R', "root-dir", true),
    ('m', "mode", true),
    ('p', "prop", true),
    ('t', "temporary", false),
    ('f', "force", false),
];

/// A command's options, each with its argument, and its other words.
pub(super) type Parts<'a> = (Vec<(char, &'a Word, String)>, Vec<&'a Word>);

pub(super) fn parts(words: &[Word]) -> Result<Parts<'_>, Problem> {
    let (mut options, mut others, mut rest) = (Vec::new(), Vec::new(), words.iter());
    while let Some(word) = rest.next() {
        let Some(option) = word.text.strip_prefix('-').filter(|option| !option.is_empty()) else {
            others.push(word);
            continue;
        };
        let (name, attached) = match option.strip_prefix('-') {
            Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
            None => option
                .split_at_checked(1)
                .map_or((option, None), |(name, rest)| (name, Some(rest).filter(|rest| !rest.is_empty()))),
        };
        let is_it = |(letter, long, _): &&(char, &str, bool)| *long == name || name.chars().eq([*letter]);
        let Some(&(letter, _, has_argument)) = OPTIONS.iter().find(is_it) else {
            let problem = Problem::at(&word.span, format!("`{}` is no option of the -aggr commands", word.text));
            return Err(problem.hint("dladm create-aggr [-P policy] [-L mode] [-T time] [-u address] -l link... NAME"));
        };
        let value = match (has_argument, attached) {
            (false, Some(more)) if !option.starts_with('-') => {
                let problem = Problem::at(&word.span, format!("`-{more}` stands in one word with `-{name}`"));
                return Err(problem.hint(format!("part them: `-{name} -{more}`")));
            }
            (false, _) => String::new(),
            (true, Some(value)) => value.to_owned(),
            (true, None) => {
                let missing = || Problem::at(&word.span, format!("nothing follows `{}`", word.text));
                rest.next().ok_or_else(missing)?.text.clone()
            }
        };
        options.push((letter, word, value));
    }
    Ok((options, others))
}

/// What Solaris 10 calls an aggregation by its number.
pub(super) fn aggr_name(text: &str) -> String {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("aggr{text}"),
        false => text.to_owned(),
    }
}
