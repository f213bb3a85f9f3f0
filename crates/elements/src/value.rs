//! One value: from text or number to what its key takes, and back into words.

use nicteam_wire::Mac;
use toml::de::DeValue;

use crate::keys::{Kind, Thing};
use crate::record::Value;
use crate::units::{parse_address, parse_bytes, parse_duration, parse_percent, parse_rate, show_bytes, show_duration};
use nicteam_diagnostics::{list, nearest};

/// A value written as a string; `None` where the key does not take one.
pub fn read_text(kind: &Kind, text: &str) -> Option<Result<Value, (String, String)>> {
    let owned = |(message, hint): (String, &str)| (message, hint.to_owned());
    Some(match kind {
        Kind::Text if text.chars().any(|c| c.is_control() && c != '\n') => {
            Err(("control characters do not belong in a text".to_owned(), "remove them".to_owned()))
        }
        Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Name => match check_name(text, Thing::Run) {
            Ok(()) => Ok(Value::Text(text.to_owned())),
            Err(refused) => Err(refused),
        },
        Kind::Word => {
            let right = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            // TCP_CA_NAME_MAX is 16 with the zero (Linux include/net/tcp.h).
            if !text.is_empty() && text.len() < 16 && text.chars().all(right) {
                Ok(Value::Text(text.to_owned()))
            } else {
                Err((
                    format!("`{text}` is no name the kernel would take"),
                    "for example `cubic`, `reno`, `bbr`".to_owned(),
                ))
            }
        }
        Kind::Percent => parse_percent(text).map(Value::Probability).map_err(owned),
        Kind::Rate => parse_rate(text).map(Value::Number).map_err(owned),
        Kind::Bytes(range) => match parse_bytes(text) {
            Ok(bytes) if range.contains(&bytes) => Ok(Value::Number(bytes)),
            Ok(_) => Err((
                format!("`{text}` is out of range"),
                format!("it takes {} to {}", show_bytes(*range.start()), show_bytes(*range.end())),
            )),
            Err(refused) => Err(owned(refused)),
        },
        Kind::Time(range) => match parse_duration(text) {
            Ok(time) if range.contains(&time) => Ok(Value::Time(time)),
            Ok(_) => Err((
                format!("`{text}` is out of range"),
                format!("it takes {} to {}", show_duration(*range.start()), show_duration(*range.end())),
            )),
            Err(refused) => Err(owned(refused)),
        },
        Kind::Mac => match text.parse::<Mac>() {
            Ok(mac) if mac.is_multicast() => Err((
                format!("`{text}` is a multicast address, no host can have it"),
                "make the first byte even: `02:...` is free for private use".to_owned(),
            )),
            Ok(Mac([0, 0, 0, 0, 0, 0])) => {
                Err((format!("`{text}` is no host's address"), "`02:...` is free for private use".to_owned()))
            }
            Ok(mac) => Ok(Value::Mac(mac)),
            Err(_) => Err((
                format!("`{text}` is no MAC address"),
                "write six two-digit hexadecimal bytes: `02:00:00:00:00:01`".to_owned(),
            )),
        },
        Kind::Address => parse_address(text).map(Value::Address).map_err(owned),
        Kind::Quantity => Ok(Value::Text(text.to_owned())),
        Kind::Choice(choices) if choices.contains(&text) => Ok(Value::Text(text.to_owned())),
        Kind::Choice(choices) => Err((
            format!("`{text}` is not one of its values"),
            match nearest(text, choices.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it takes {}", list(choices.iter().copied())),
            },
        )),
        _ => return None,
    })
}

/// A value written as a number.
pub fn read_number(kind: &Kind, value: &DeValue<'_>) -> Result<Value, (String, String)> {
    match (kind, value) {
        (Kind::Integer(range) | Kind::CountOrList(range, _), DeValue::Integer(integer)) => {
            let number = i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX);
            match u64::try_from(number) {
                Ok(number) if range.contains(&number) => Ok(Value::Number(number)),
                _ => Err((
                    format!("{integer} is out of range"),
                    format!("it takes a whole number from {} to {}", range.start(), range.end()),
                )),
            }
        }
        (Kind::Bytes(range), DeValue::Integer(integer)) => {
            match integer.as_str().parse::<u64>().ok().filter(|_| integer.radix() == 10) {
                Some(bytes) if range.contains(&bytes) => Ok(Value::Number(bytes)),
                _ => Err((
                    format!("{integer} bytes are out of range"),
                    format!("it takes {} to {}", show_bytes(*range.start()), show_bytes(*range.end())),
                )),
            }
        }
        (Kind::Bytes(_), _) => Err(("a fraction of a byte makes no sense".to_owned(), example(kind))),
        (Kind::Integer(range) | Kind::CountOrList(range, _), _) => Err((
            "a fraction makes no sense here".to_owned(),
            format!("it takes a whole number from {} to {}", range.start(), range.end()),
        )),
        (_, DeValue::Integer(_) | DeValue::Float(_)) => {
            let text = match value {
                DeValue::Integer(integer) => integer.to_string(),
                DeValue::Float(float) => float.as_str().to_owned(),
                _ => String::new(),
            };
            match text.parse::<f64>() {
                Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(Value::Fraction(fraction)),
                _ => {
                    Err((format!("{text} is out of range"), "it takes a number from 0 to 1: 0.98 for 98 %".to_owned()))
                }
            }
        }
        _ => Err(("it takes a number".to_owned(), example(kind))),
    }
}

/// A number as text, without what TOML allows beside its digits; none of anything else.
pub fn quantity(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(integer) => Some(i128::from_str_radix(integer.as_str(), integer.radix()).ok()?.to_string()),
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        _ => None,
    }
}

/// Whether a new thing may have this name.
pub fn check_name(name: &str, thing: Thing) -> Result<(), (String, String)> {
    let longest = thing.longest_name();
    let right = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let letter_first = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !letter_first || !name.chars().all(right) || name.len() > longest {
        return Err((
            format!("`{name}` cannot be the name of {}", thing.one()),
            format!("names have 1 to {longest} characters of `a-z`, `0-9` and `-`, and begin with a letter"),
        ));
    }
    // A group of a switch is named after its peer and stands beside these devices.
    if matches!(thing, Thing::Host | Thing::Switch) && matches!(name, "br0" | "lo") {
        return Err((format!("`{name}` is the name of a device of every switch"), "choose another name".to_owned()));
    }
    Ok(())
}

/// What a kind takes, in words.
pub fn wanted(kind: &Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Name => "a name".to_owned(),
        Kind::Word => "a name".to_owned(),
        Kind::Integer(range) if *range.end() == i64::MAX as u64 => "a whole number".to_owned(),
        Kind::Integer(range) => format!("a whole number from {} to {}", range.start(), range.end()),
        Kind::Numbers(range) => format!("{}, or a list of them", wanted(&Kind::Integer(range.clone()))),
        Kind::PerEnd(range) => format!("{}, or two: one an end", wanted(&Kind::Integer(range.clone()))),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Fraction => "a number from 0 to 1".to_owned(),
        Kind::Percent => "a part from `0%` to `100%`".to_owned(),
        Kind::Rate => "a rate".to_owned(),
        Kind::Bytes(range) => format!("bytes from `{}` to `{}`", show_bytes(*range.start()), show_bytes(*range.end())),
        Kind::Time(_) => "a duration".to_owned(),
        Kind::Mac => "a MAC address".to_owned(),
        Kind::Address => "an address with prefix length".to_owned(),
        Kind::Addresses => "a list of addresses with prefix length".to_owned(),
        Kind::Choice([one]) => format!("`{one}`"),
        Kind::Choice(choices) => format!("one of {}", list(choices.iter().copied()).replace(" and ", ", ")),
        Kind::One(thing) => format!("the name of {}", thing.one()),
        Kind::Many(thing) => format!("the name of {}, or a list of names", thing.one()),
        Kind::Ends => "two ends, each the name of a node or a list of names".to_owned(),
        Kind::Quantity => "a number, or a number with a unit".to_owned(),
        Kind::Quantities => "two numbers, the lowest first".to_owned(),
        Kind::Table(_) | Kind::Named(..) | Kind::Teams => "a table".to_owned(),
        Kind::List(_) => "a list of tables".to_owned(),
        Kind::CountOrList(range, _) => {
            format!("a whole number from {} to {}, or a list of tables", range.start(), range.end())
        }
    }
}

/// A right value, as it stands in a file.
pub fn example(kind: &Kind) -> String {
    match kind {
        Kind::Text => "\"...\"".to_owned(),
        Kind::Name => "\"first\"".to_owned(),
        Kind::Word => "\"cubic\"".to_owned(),
        Kind::Integer(range) => if range.contains(&1500) && *range.start() > 1 { 1500 } else { 4 }.to_string(),
        Kind::Numbers(range) | Kind::PerEnd(range) => example(&Kind::Integer(range.clone())),
        Kind::Flag => "true".to_owned(),
        Kind::Fraction => "0.98".to_owned(),
        Kind::Percent => "\"1%\"".to_owned(),
        Kind::Rate => "\"100mbit\"".to_owned(),
        Kind::Bytes(_) => "\"64kib\"".to_owned(),
        Kind::Time(_) => "\"8s\"".to_owned(),
        Kind::Mac => "\"02:00:00:00:00:01\"".to_owned(),
        Kind::Address => "\"10.3.0.1/24\"".to_owned(),
        Kind::Addresses => "[\"10.3.0.1/24\", \"10.3.1.1/24\"]".to_owned(),
        Kind::Choice(choices) => format!("\"{}\"", choices.first().unwrap_or(&"")),
        Kind::One(_) => "\"NAME\"".to_owned(),
        Kind::Many(_) => "\"NAME\"".to_owned(),
        Kind::Ends => "[\"a\", \"b\"]".to_owned(),
        Kind::Quantity => "0.9".to_owned(),
        Kind::Quantities => "[0.9, 1.1]".to_owned(),
        Kind::Table(_) | Kind::Named(..) | Kind::Teams => "{ }".to_owned(),
        Kind::List(_) => "[]".to_owned(),
        Kind::CountOrList(..) => "2".to_owned(),
    }
}

/// What a value is, for messages.
pub fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
