//! Options that stand ahead of the first command.

use super::commands::COMMANDS;
use super::error::ErrorKind;

/// What becomes of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is one of the first command's.
    OfCommand,
    /// Nothing is done.
    DryRun,
    /// A line of output a command.
    OneLine,
    /// It is taken and changes nothing here.
    Taken,
    /// The same, with seconds as its value.
    Timeout,
    /// It asks for what is not there; what to do instead.
    Refused(&'static str),
}

/// Name, whether a value follows, meaning.
const GENERAL: &[(&str, bool, Meaning)] = &[
    ("--db", true, Meaning::Refused("there is no database: leave it out; nicteam works in this network namespace")),
    ("--no-wait", false, Meaning::Taken),
    ("--no-syslog", false, Meaning::Taken),
    ("--retry", false, Meaning::Taken),
    ("--timeout", true, Meaning::Timeout),
    ("--dry-run", false, Meaning::DryRun),
    ("--oneline", false, Meaning::OneLine),
    ("--verbose", false, Meaning::Refused("`nicteam team events BOND` tells what happens to a bond")),
    ("--log-file", false, Meaning::Refused("`nicteam team events BOND` tells what happens to a bond")),
    ("--syslog-target", true, Meaning::Refused("nothing is written to the system's log: leave it out")),
    ("--format", true, Meaning::Refused("no command here prints a table: leave it out")),
    ("--data", true, Meaning::Refused("no command here prints a table: leave it out")),
    ("--no-headings", false, Meaning::Refused("no command here prints a table: leave it out")),
    ("--pretty", false, Meaning::Refused("no command here prints a table: leave it out")),
    ("--bare", false, Meaning::Refused("no command here prints a table: leave it out")),
    ("--commands", false, Meaning::Refused("`nicteam ovs vsctl --help` lists the commands")),
    ("--options", false, Meaning::Refused("`nicteam ovs vsctl --help` lists the options")),
    ("--version", false, Meaning::Refused("`nicteam --version`")),
];

/// Every option by its name, those of commands among them.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let own = COMMANDS.iter().flat_map(|command| command.options.iter().copied());
    GENERAL.iter().map(|(name, ..)| *name).chain(own)
}

/// True if an option's value may be the next word.
pub fn has_value(option: &str) -> bool {
    GENERAL.iter().any(|(name, has_value, _)| *name == option && *has_value)
}

/// What to do instead of an option that is refused.
pub(super) fn instead(option: &str) -> Option<&'static str> {
    GENERAL.iter().find_map(|(name, _, meaning)| match meaning {
        Meaning::Refused(instead) if *name == option => Some(*instead),
        _ => None,
    })
}

/// What a word ahead of the first command means, and how many words it takes.
pub(super) fn read(word: &str, next: Option<&String>) -> Result<(Meaning, usize), ErrorKind> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let (name, value) = match word.strip_prefix("-t") {
        Some(rest) if !word.starts_with("--") => ("--timeout", Some(rest).filter(|rest| !rest.is_empty())),
        _ => (name, value),
    };
    if COMMANDS.iter().any(|command| command.options.contains(&name)) {
        return match value {
            Some(_) => Err(ErrorKind::GeneralArgument(name.to_owned())),
            None => Ok((Meaning::OfCommand, 1)),
        };
    }
    let Some((_, has_value, meaning)) = GENERAL.iter().find(|(known, ..)| *known == name) else {
        let letter = word.chars().nth(1).filter(|_| !word.starts_with("--"));
        return Err(letter.map_or_else(|| ErrorKind::UnknownOption(name.to_owned()), ErrorKind::UnknownLetter));
    };
    if let Meaning::Refused(_) = meaning {
        return Err(ErrorKind::OtherOption(name.to_owned()));
    }
    let (value, taken) = match (has_value, value, next) {
        (false, Some(_), _) => return Err(ErrorKind::GeneralArgument(name.to_owned())),
        (true, None, None) => return Err(ErrorKind::OptionValue(name.to_owned())),
        (true, None, Some(next)) => (Some(next.as_str()), 2),
        (_, value, _) => (value, 1),
    };
    match value {
        Some(text) if *meaning == Meaning::Timeout && text.parse::<u32>().is_err() => {
            Err(ErrorKind::BadTimeout(text.to_owned()))
        }
        _ => Ok((*meaning, taken)),
    }
}
