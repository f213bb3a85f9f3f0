//! Text -> records: every value has the type its key demands, and knows its place.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::keys::{Key, Kind, Need, Section, Thing};
use crate::record::{At, Options, Record, Span, Value};
use crate::units::parse_address;
use crate::value::{check_name, example, quantity, read_number, read_text, type_name, wanted};
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};

/// Reads a table; what is wrong goes to `problems`, the rest into the record.
pub fn read(table: &DeTable<'_>, span: Span, section: &Section, problems: &mut Vec<Problem>) -> Record {
    let mut record = Record::default();
    let mut given = Vec::new();
    for (name, value) in in_file_order(table) {
        let Some(key) = section.key(name.get_ref()) else {
            problems.push(unknown_key(name.get_ref(), &name.span(), section));
            if let Some(meant) = nearest(name.get_ref(), section.all().map(|key| key.name)) {
                record.mark_broken(meant);
            }
            continue;
        };
        given.push(key.name);
        match read_value(key, value, &name.span(), problems) {
            Some(value) => record.set(key.name, value),
            None => record.mark_broken(key.name),
        }
    }
    for key in section.all().filter(|key| key.need == Need::Required && !given.contains(&key.name)) {
        if !record.is_broken(key.name) {
            problems.push(missing_key(key, &span, section));
        }
    }
    record
}

/// Entries by their place in the text (the parser sorts them by name).
fn in_file_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<toml::de::DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn unknown_key(name: &str, span: &Span, section: &Section) -> Problem {
    let names = || section.all().map(|key| key.name);
    let problem = Problem::at(span, format!("unknown key `{name}` {}", section.place()));
    match nearest(name, names()) {
        Some(near) => problem.label("unknown key").hint(format!("did you mean `{near}`?")),
        None => problem.label("unknown key").hint(format!("the keys here are {}", list(names()))),
    }
}

fn missing_key(key: &Key, span: &Span, section: &Section) -> Problem {
    let problem = match key.kind {
        Kind::Named(thing, _) => Problem::at(span, format!("the experiment has no {}", key.name)).hint(format!(
            "add one: `[{}.NAME]`, NAME being the name of the {}",
            key.name,
            thing.word()
        )),
        Kind::List(_) => Problem::at(span, format!("the experiment has no {}", key.name))
            .hint(format!("add one: `[[{}]]`", key.name)),
        _ => Problem::at(span, format!("`{}` is missing {}", key.name, section.place())).hint(format!(
            "add `{} = {}`: {}",
            key.name,
            example(&key.kind),
            key.doc
        )),
    };
    Problem { is_missing_key: true, ..problem.label(format!("no `{}` here", key.name)) }
}

fn read_value(
    key: &Key,
    value: &Spanned<DeValue<'_>>,
    name_span: &Span,
    problems: &mut Vec<Problem>,
) -> Option<At<Value>> {
    let span = value.span();
    let at = |value| Some(At { value, span: span.clone() });
    let mut refuse = |message: String, hint: String| {
        problems.push(Problem::at(&span, message).hint(hint));
        None
    };
    match (&key.kind, value.get_ref()) {
        (Kind::Table(section), DeValue::Table(table)) => at(Value::Table(read(table, span.clone(), section, problems))),
        (Kind::Named(thing, section), DeValue::Table(table)) => {
            at(Value::Named(read_named(*thing, section, table, problems)))
        }
        (Kind::Teams, DeValue::Table(table)) => at(Value::Teams(read_teams(table, problems))),
        (Kind::List(section), DeValue::Array(items)) => {
            if items.is_empty() {
                problems.push(missing_key(key, name_span, section));
            }
            at(Value::List(read_list(key, section, items, problems)))
        }
        (Kind::CountOrList(range, section), DeValue::Array(items)) => {
            if !range.contains(&(items.len() as u64)) {
                let message = format!("`{}`: {} is out of range", key.name, items.len());
                let hint = format!("it takes {} to {} tables", range.start(), range.end());
                problems.push(Problem::at(&span, message).hint(hint));
                return None;
            }
            at(Value::List(read_list(key, section, items, problems)))
        }
        (Kind::CountOrList(..), DeValue::Integer(_)) => match read_number(&key.kind, value.get_ref()) {
            Ok(Value::Number(count)) => at(Value::List(vec![Record::default(); count as usize])),
            Ok(_) => None,
            Err((message, hint)) => refuse(format!("`{}`: {message}", key.name), hint),
        },
        (Kind::Ends, DeValue::Array(ends)) => read_ends(key, ends, &span, problems).and_then(at),
        (Kind::Many(thing), DeValue::Array(names)) if names.is_empty() => {
            refuse(format!("`{}` names no {}", key.name, thing.word()), format!("name at least one {}", thing.word()))
        }
        (Kind::Many(_), DeValue::Array(_)) => {
            read_names(key, value, problems).and_then(|names| at(Value::Names(names)))
        }
        (Kind::One(_) | Kind::Many(_), DeValue::String(name)) => {
            at(Value::Names(vec![At { value: name.to_string(), span: span.clone() }]))
        }
        (_, DeValue::String(text)) => match read_text(&key.kind, text) {
            Some(Ok(value)) => at(value),
            Some(Err((message, hint))) => refuse(format!("`{}`: {message}", key.name), hint),
            None => {
                problems.push(wrong_type(key, value.get_ref(), &span));
                None
            }
        },
        (Kind::Numbers(_), DeValue::Array(numbers)) if numbers.is_empty() => {
            refuse(format!("`{}` has no number", key.name), format!("it takes {}", wanted(&key.kind)))
        }
        (Kind::Numbers(range), DeValue::Array(numbers)) => {
            read_numbers(key, range, numbers, problems).and_then(|numbers| at(Value::Numbers(numbers)))
        }
        (Kind::PerEnd(_), DeValue::Array(ends)) if ends.len() != 2 => {
            refuse(format!("`{}` of {} ends", key.name, ends.len()), "a link has two ends: `[9000, 1500]`".to_owned())
        }
        (Kind::PerEnd(range), DeValue::Array(ends)) => {
            let numbers = read_numbers(key, range, ends, problems)?;
            at(Value::PerEnd(numbers.try_into().ok()?))
        }
        (Kind::PerEnd(range) | Kind::Numbers(range), DeValue::Integer(_) | DeValue::Float(_)) => {
            match read_number(&Kind::Integer(range.clone()), value.get_ref()) {
                Ok(Value::Number(one)) if matches!(key.kind, Kind::Numbers(_)) => at(Value::Numbers(vec![one])),
                Ok(Value::Number(both)) => at(Value::PerEnd([both; 2])),
                Ok(_) => None,
                Err((message, hint)) => refuse(format!("`{}`: {message}", key.name), hint),
            }
        }
        (Kind::Addresses, DeValue::Array(items)) => {
            read_addresses(key, items, problems).and_then(|addresses| at(Value::Addresses(addresses)))
        }
        (Kind::Quantity, DeValue::Integer(_) | DeValue::Float(_)) => {
            at(Value::Text(quantity(value.get_ref()).unwrap_or_default()))
        }
        (Kind::Quantities, DeValue::Array(ends)) => match ends.as_ref() {
            [_, _] => {
                let one = |end: &Spanned<DeValue<'_>>| Some(At { value: quantity(end.get_ref())?, span: end.span() });
                match ends.iter().map(one).collect() {
                    Some(both) => at(Value::Names(both)),
                    None => refuse(format!("`{}` is not of two numbers", key.name), example(&key.kind)),
                }
            }
            _ => refuse(format!("`{}` has {} ends", key.name, ends.len()), example(&key.kind)),
        },
        (Kind::Flag, DeValue::Boolean(flag)) => at(Value::Flag(*flag)),
        (Kind::Integer(_) | Kind::Fraction | Kind::Bytes(_), DeValue::Integer(_) | DeValue::Float(_)) => {
            match read_number(&key.kind, value.get_ref()) {
                Ok(value) => at(value),
                Err((message, hint)) => refuse(format!("`{}`: {message}", key.name), hint),
            }
        }
        (_, other) => {
            problems.push(wrong_type(key, other, &span));
            None
        }
    }
}

/// Whole numbers of this range.
fn read_numbers(
    key: &Key,
    range: &RangeInclusive<u64>,
    items: &[Spanned<DeValue<'_>>],
    problems: &mut Vec<Problem>,
) -> Option<Vec<u64>> {
    let kind = Kind::Integer(range.clone());
    let mut numbers = Vec::with_capacity(items.len());
    for item in items {
        match read_number(&kind, item.get_ref()) {
            Ok(Value::Number(number)) => numbers.push(number),
            Ok(_) => return None,
            Err((message, hint)) => {
                problems.push(Problem::at(&item.span(), format!("`{}`: {message}", key.name)).hint(hint));
                return None;
            }
        }
    }
    Some(numbers)
}

/// Addresses, each with its place.
fn read_addresses(
    key: &Key,
    items: &[Spanned<DeValue<'_>>],
    problems: &mut Vec<Problem>,
) -> Option<Vec<At<(IpAddr, u8)>>> {
    let mut addresses = Vec::with_capacity(items.len());
    for item in items {
        let DeValue::String(text) = item.get_ref() else {
            problems.push(wrong_type(key, item.get_ref(), &item.span()));
            return None;
        };
        match parse_address(text) {
            Ok(value) => addresses.push(At { value, span: item.span() }),
            Err((message, hint)) => {
                problems.push(Problem::at(&item.span(), format!("`{}`: {message}", key.name)).hint(hint));
                return None;
            }
        }
    }
    Some(addresses)
}

fn read_list(key: &Key, section: &Section, items: &[Spanned<DeValue<'_>>], problems: &mut Vec<Problem>) -> Vec<Record> {
    let mut records = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::Table(table) => records.push(read(table, item.span(), section, problems)),
            other => problems.push(wrong_type(key, other, &item.span())),
        }
    }
    records
}

fn read_named(
    thing: Thing,
    section: &Section,
    table: &DeTable<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<(At<String>, Record)> {
    let mut named = Vec::new();
    for (name, value) in in_file_order(table) {
        if let Err((message, hint)) = check_name(name.get_ref(), thing) {
            problems.push(Problem::at(&name.span(), message).hint(hint));
        }
        let record = match value.get_ref() {
            DeValue::Table(fields) => read(fields, value.span(), section, problems),
            other => {
                problems.push(not_a_table(name.get_ref(), other, value.span(), section.header));
                Record::default()
            }
        };
        named.push((At { value: name.get_ref().to_string(), span: name.span() }, record));
    }
    named
}

fn read_teams(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> Vec<(At<String>, Options)> {
    let mut teams = Vec::new();
    for (name, value) in in_file_order(table) {
        if let Err((message, hint)) = check_name(name.get_ref(), Thing::Team) {
            problems.push(Problem::at(&name.span(), message).hint(hint));
        }
        let DeValue::Table(options) = value.get_ref() else {
            problems.push(not_a_table(name.get_ref(), value.get_ref(), value.span(), "[teams.NAME]"));
            continue;
        };
        let mut read = Options::new();
        for (option, value) in in_file_order(options) {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(integer) => integer.to_string(),
                DeValue::Boolean(on) => u8::from(*on).to_string(),
                other => {
                    let message = format!("the option `{}` cannot be {}", option.get_ref(), type_name(other));
                    problems.push(Problem::at(&value.span(), message).hint("options are text or whole numbers"));
                    continue;
                }
            };
            let option = At { value: option.get_ref().to_string(), span: option.span() };
            read.push((option, At { value: text, span: value.span() }));
        }
        teams.push((At { value: name.get_ref().to_string(), span: name.span() }, read));
    }
    teams
}

fn read_ends(key: &Key, ends: &[Spanned<DeValue<'_>>], span: &Span, problems: &mut Vec<Problem>) -> Option<Value> {
    let [one, other] = ends else {
        let message = format!("`{}` has {} ends, a link has two", key.name, ends.len());
        problems
            .push(Problem::at(span, message).hint("several hosts at one end are a list: `[[\"a\", \"b\"], \"sw\"]`"));
        return None;
    };
    let one = read_names(key, one, problems);
    let other = read_names(key, other, problems);
    Some(Value::Ends([one?, other?]))
}

/// A name or a list of names.
fn read_names(key: &Key, value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Option<Vec<At<String>>> {
    let items = match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            let problem = Problem::at(&value.span(), format!("an end of `{}` names no node", key.name));
            problems.push(problem.hint("name a host or a switch"));
            return None;
        }
        DeValue::Array(items) => items.as_ref(),
        _ => std::slice::from_ref(value),
    };
    let mut names = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::String(name) => names.push(At { value: name.to_string(), span: item.span() }),
            other => problems.push(wrong_type(key, other, &item.span())),
        }
    }
    (!names.is_empty()).then_some(names)
}

fn not_a_table(name: &str, found: &DeValue<'_>, span: Span, header: &str) -> Problem {
    Problem::at(&span, format!("`{name}` must be a table, not {}", type_name(found)))
        .hint(format!("write a section {}, or `{name} = {{ ... }}`", header.replace("NAME", name)))
}

fn wrong_type(key: &Key, found: &DeValue<'_>, span: &Span) -> Problem {
    let (wanted, example) = (wanted(&key.kind), example(&key.kind));
    Problem::at(span, format!("`{}` must be {wanted}, not {}", key.name, type_name(found)))
        .label(format!("this is {}", type_name(found)))
        .hint(match &key.kind {
            Kind::List(section) => format!("write {}, with two brackets, once for each", section.header),
            Kind::Table(section) => format!("write a section {}", section.header),
            Kind::Named(_, section) => format!("write a section {}", section.header),
            Kind::Teams => "write a section [teams.NAME]".to_owned(),
            _ => format!("for example `{} = {example}`", key.name),
        })
}
