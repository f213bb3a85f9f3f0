//! Options of a team in a text: what the team's own rules refuse, with its place.

use std::ops::Range;

use nicteam_options::ConfigError;

use crate::Problem;

/// An option or a value that is refused, at its name or at its value.
pub fn refused(error: &ConfigError, option: &Range<usize>, value: &Range<usize>) -> Problem {
    let problem = match error {
        ConfigError::UnknownOption { name } => {
            Problem::at(option, format!("no team option `{name}`")).label("unknown option")
        }
        ConfigError::BadValue { option, value: given, .. } => {
            Problem::at(value, format!("`{given}` is no value for the team option `{option}`"))
        }
        ConfigError::Conflict(message) => Problem::at(option, message.as_str()),
    };
    let takes = match error {
        ConfigError::BadValue { expected, .. } => Some(format!("it takes {expected}")),
        _ => None,
    };
    match error.hint().or(takes) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// The place among these options, by their names, of the one that conflicts with the others: a
/// conflict's message begins with it, "`updelay 200` needs ...".
pub fn blamed<'a>(
    error: &ConfigError,
    options: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator,
) -> Option<usize> {
    let ConfigError::Conflict(message) = error else { return None };
    let begins = |name: &str| {
        message.strip_prefix('`').and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(' '))
    };
    options.enumerate().filter(|(_, name)| begins(name)).map(|(place, _)| place).next_back()
}

/// Options that conflict: at the one that conflicts with the others, else at the team's name.
pub fn conflict<'a>(
    error: &ConfigError,
    team: (&str, &Range<usize>),
    options: impl DoubleEndedIterator<Item = (&'a str, &'a Range<usize>)> + ExactSizeIterator + Clone,
) -> Problem {
    let place = blamed(error, options.clone().map(|(name, _)| name)).and_then(|place| options.clone().nth(place));
    let span = place.map_or(team.1, |(_, span)| span);
    Problem::at(span, error.to_string()).hint(format!("change or remove it in team `{}`", team.0))
}
