//! The text -> teams.

// The crate: this format has the same name.
use ::toml::Spanned;
use ::toml::de::{DeString, DeTable, DeValue};

use nicteam_diagnostics::{Diagnostics, Problem, list, nearest, toml_syntax};
use nicteam_drafts::Reading;
use nicteam_drafts::draft::{Conflicts, Draft, check_together};
use nicteam_drafts::names::shown;
use nicteam_drafts::{Import, Network, Route};
use nicteam_options::{Config, ConfigOption};
use nicteam_syntax::At;
use nicteam_syntax::Source;

use super::keys::{DATAPLANES, KEYS, Key, Takes};

/// What to do about a file that is none of ours.
const NOT_TOML: &str = "docs/import.md describes the file; `nicteam import` reads those of other programs";

pub(super) fn read(sources: &[Source]) -> Result<Import, Diagnostics> {
    let mut reading = Reading::new(sources);
    let mut drafts = Vec::new();
    for (source, text) in sources.iter().enumerate() {
        read_source(&mut reading, source, &text.text, &mut drafts);
        if !reading.is_sound() {
            return reading.finish(Network::default());
        }
    }
    check_together(&mut reading, &drafts);
    let teams = drafts.into_iter().map(|draft| draft.finish(&mut reading, Conflicts::Refuse)).collect();
    reading.finish(Network { teams })
}

fn read_source(reading: &mut Reading<'_>, source: usize, text: &str, drafts: &mut Vec<Draft>) {
    let (file, errors) = DeTable::parse_recoverable(text);
    if let Some(problem) = toml_syntax::not_toml(&errors, text, NOT_TOML) {
        return reading.problem(source, problem);
    }
    if !errors.is_empty() {
        // What else is wrong may be an echo of these.
        let (problems, _) = toml_syntax::problems(&errors, text);
        return problems.into_iter().for_each(|problem| reading.problem(source, problem));
    }
    for (name, value) in in_file_order(file.get_ref()) {
        let at = At::new(source, name.span());
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("teams", DeValue::Table(teams)) => {
                for (name, value) in in_file_order(teams) {
                    drafts.extend(read_team(reading, source, name, value));
                }
            }
            ("teams", other) => reading.wrong(
                &At::new(source, value.span()),
                format!("`teams` must be a table, not {}", type_name(other)),
                "write a section [teams.NAME] for each team",
            ),
            (other, _) => reading.wrong(
                &at,
                format!("unknown key `{}` at the top of the file", shown(other)),
                "everything stands in sections [teams.NAME]",
            ),
        }
    }
}

type Name<'i> = Spanned<DeString<'i>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// Entries by their place in the text (the parser sorts them by name).
fn in_file_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Name<'i>, &'t Value<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn read_team(reading: &mut Reading<'_>, source: usize, name: &Name<'_>, value: &Value<'_>) -> Option<Draft> {
    let mut draft = Draft::new(name.get_ref(), At::new(source, name.span()));
    draft.members_hint = "name at least one device".to_owned();
    let DeValue::Table(table) = value.get_ref() else {
        let message = format!("`{}` must be a table, not {}", shown(&draft.name), type_name(value.get_ref()));
        reading.wrong(
            &At::new(source, value.span()),
            message,
            format!("write a section [teams.{}]", shown(&draft.name)),
        );
        return None;
    };
    for (name, value) in in_file_order(table) {
        let (name_at, at) = (At::new(source, name.span()), At::new(source, value.span()));
        match (KEYS.iter().find(|key| key.name == name.get_ref().as_ref()), ConfigOption::named(name.get_ref())) {
            (Some(key), _) => read_key(reading, &mut draft, key, value, &at),
            (None, Some(option)) => match option_text(value.get_ref()) {
                Some(text) => {
                    if draft.value(option.name).is_some() {
                        let message = format!("`{}` is given twice", option.name);
                        reading.wrong(&name_at, message, "an option stands once; remove one of the two");
                    } else {
                        draft.own_option(reading, option.name, &text, &name_at, &at);
                    }
                }
                None => {
                    let message = format!("the option `{}` cannot be {}", option.name, type_name(value.get_ref()));
                    reading.wrong(&at, message, "options are text, whole numbers, `true` or `false`");
                }
            },
            (None, None) => reading.problem(source, unknown_key(name)),
        }
    }
    if table.get("members").is_none() {
        let problem = Problem::at(&draft.at.span(), format!("team `{}` has no `members`", shown(&draft.name)));
        reading.problem(source, problem.hint("add `members = [\"eth1\", \"eth2\"]`: the devices that it is made of"));
    }
    Some(draft)
}

fn option_text(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Boolean(on) => u8::from(*on).to_string(),
        _ => return None,
    })
}

fn unknown_key(name: &Name<'_>) -> Problem {
    let keys = || KEYS.iter().map(|key| key.name);
    let names = keys().chain(Config::OPTIONS.iter().map(|option| option.name));
    let problem = Problem::at(&name.span(), format!("unknown key `{}` in [teams.NAME]", shown(name.get_ref())));
    problem.label("unknown key").hint(match nearest(name.get_ref(), names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are {}, and the options of bonding by the kernel's names", list(keys())),
    })
}

fn read_key(reading: &mut Reading<'_>, draft: &mut Draft, key: &Key, value: &Value<'_>, at: &At) {
    match (key.takes, value.get_ref()) {
        (Takes::Devices, DeValue::Array(items)) if items.is_empty() => {
            reading.wrong(at, "`members` names no device", "name at least one: `members = [\"eth1\", \"eth2\"]`");
        }
        (Takes::Devices | Takes::Addresses | Takes::Routes, DeValue::Array(items)) => {
            for item in items {
                let at = At::new(at.source, item.span());
                match item.get_ref() {
                    DeValue::String(text) => read_item(reading, draft, key.takes, text, &at),
                    other => wrong_type(reading, key, other, &at),
                }
            }
        }
        (Takes::Mac, DeValue::String(text)) => draft.set_mac(reading, text, at),
        (Takes::Mtu, DeValue::Integer(integer)) if integer.radix() == 10 => {
            draft.set_mtu(reading, integer.as_str(), at);
        }
        (Takes::AcceptRa, DeValue::Integer(integer)) if integer.radix() == 10 => {
            draft.set_accept_ra(reading, integer.as_str(), at);
        }
        (Takes::Dataplane, DeValue::String(text)) if DATAPLANES.contains(&text.as_ref()) => {
            draft.dataplane = Some(text.to_string());
        }
        (Takes::Dataplane, DeValue::String(text)) => {
            let hint = nearest(text, DATAPLANES).map(|near| format!("did you mean `{near}`?"));
            let hint = hint.unwrap_or_else(|| format!("it takes {}", key.takes.wanted()));
            reading.wrong(at, format!("no dataplane `{}`", shown(text)), hint);
        }
        (_, other) => wrong_type(reading, key, other, at),
    }
}

fn read_item(reading: &mut Reading<'_>, draft: &mut Draft, takes: Takes, text: &str, at: &At) {
    match takes {
        Takes::Devices if draft.has_member(text) => {
            reading.wrong(at, format!("`{}` is named twice", shown(text)), "name each member once");
        }
        Takes::Devices => draft.member(reading, text, at),
        Takes::Addresses => draft.address(reading, text, at),
        _ => read_route(reading, draft, text, at),
    }
}

fn read_route(reading: &mut Reading<'_>, draft: &mut Draft, text: &str, at: &At) {
    let words = match Route::parse(text) {
        Ok(words) => words,
        Err(error) => return reading.wrong(at, error.to_string(), error.hint()),
    };
    match (&words.device, words.ignored.first()) {
        (Some(device), _) if *device != draft.name => {
            let message = format!("a route by `{}` stands at team `{}`", shown(device), shown(&draft.name));
            reading.wrong(at, message, "a team's routes are by the team: leave `dev` out");
        }
        (_, Some(word)) => {
            let message = format!("`{}` is nothing that a team's route has", shown(word));
            reading.wrong(at, message, "leave it out, or add the route by `ip route` yourself");
        }
        _ => words.routes().into_iter().for_each(|route| draft.add_route(route)),
    }
}

fn wrong_type(reading: &mut Reading<'_>, key: &Key, found: &DeValue<'_>, at: &At) {
    let message = format!("`{}` must be {}, not {}", key.name, key.takes.wanted(), type_name(found));
    reading.wrong(at, message, format!("for example `{} = {}`", key.name, key.takes.example()));
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
