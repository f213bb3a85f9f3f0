//! The key table as a JSON schema and as the reference in the documentation.

use nicteam_diagnostics::markdown;
use nicteam_team::{Config, ConfigOption, Values};
use serde_json::{Map, Value, json};

use crate::expect::EXPECT;
use crate::remote::TESTBED;
use crate::sections::{DEFAULTS, FILE, GEMODEL, GUEST, HOST, IMPAIRMENT, LINK, RUN, SWITCH, TEAM_DOC, WORKLOAD};
use crate::teams::ENGINE;
use crate::units::show_duration;
use nicteam_elements::engine;
use nicteam_elements::event::EVENT;
use nicteam_elements::keys::{Key, Kind, Need, Section, Thing};
use nicteam_elements::target::TARGET;
use nicteam_elements::value::wanted;

/// The JSON schema (draft 7, which editors' TOML plugins know) of an experiment file, pretty, with a final newline.
pub fn schema() -> String {
    let mut schema = section_schema(&FILE);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("nicteam experiment");
    format!("{schema:#}\n")
}

/// Every key, in Markdown.
pub fn key_reference() -> String {
    let mut out = String::new();
    for section in [&FILE, &DEFAULTS] {
        section_reference(section, &mut out);
    }
    team_reference(&mut out);
    for section in
        [&TESTBED, &HOST, &GUEST, &SWITCH, &LINK, &IMPAIRMENT, &GEMODEL, &TARGET, &WORKLOAD, &RUN, &EVENT, &EXPECT]
    {
        section_reference(section, &mut out);
    }
    out
}

fn section_schema(section: &Section) -> Value {
    let properties: Map<String, Value> =
        section.all().map(|key| (key.name.to_owned(), described(key_schema(&key.kind), key.doc, key.need))).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required: Vec<_> = section.all().filter(|key| key.need == Need::Required).map(|key| key.name).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn described(mut schema: Value, doc: &str, need: Need) -> Value {
    schema["description"] = json!(doc);
    if let Need::Default(value) = need {
        schema["default"] = match (value.parse::<u64>(), value.parse::<bool>()) {
            (Ok(number), _) => json!(number),
            (_, Ok(flag)) => json!(flag),
            _ => json!(value),
        };
    }
    schema
}

fn key_schema(kind: &Kind) -> Value {
    const NUMBER_AND: &str = "^[0-9]+(\\.[0-9]+)? *";
    match kind {
        Kind::Text | Kind::One(_) => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": name_pattern(Thing::Run) }),
        Kind::Word => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,15}$" }),
        Kind::Integer(range) => json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() }),
        Kind::Numbers(range) => {
            let one = key_schema(&Kind::Integer(range.clone()));
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Kind::PerEnd(range) => {
            let one = key_schema(&Kind::Integer(range.clone()));
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 2, "maxItems": 2 }] })
        }
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Percent => {
            json!({ "type": "string", "pattern": format!("{NUMBER_AND}%$"), "examples": ["1%"] })
        }
        Kind::Rate => {
            json!({ "type": "string", "pattern": format!("{NUMBER_AND}([kKmMgG]|[kKmMgG]?[bB][iI][tT])$"), "examples": ["100mbit"] })
        }
        Kind::Bytes(range) => json!({ "anyOf": [
            { "type": "string", "pattern": format!("{NUMBER_AND}([kmgtKMGT]?[iI]?[bB])$"), "examples": ["64kib"] },
            key_schema(&Kind::Integer(range.clone())),
        ] }),
        Kind::Time(_) => {
            json!({ "type": "string", "pattern": format!("{NUMBER_AND}(ms|s|m|min|h)$"), "examples": ["8s"] })
        }
        Kind::Mac => json!({ "type": "string", "pattern": "^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$" }),
        Kind::Address => json!({ "type": "string", "pattern": "^[0-9a-fA-F.:]+/[0-9]+$", "examples": ["10.3.0.1/24"] }),
        Kind::Addresses => json!({ "type": "array", "items": key_schema(&Kind::Address), "minItems": 1 }),
        Kind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Kind::Quantity => json!({ "type": ["number", "string"] }),
        Kind::Quantities => {
            json!({ "type": "array", "items": key_schema(&Kind::Quantity), "minItems": 2, "maxItems": 2 })
        }
        Kind::Many(_) => names_schema(),
        Kind::Ends => json!({ "type": "array", "items": names_schema(), "minItems": 2, "maxItems": 2 }),
        Kind::Table(section) => section_schema(section),
        Kind::Named(thing, section) => named_schema(*thing, section_schema(section)),
        Kind::List(section) => json!({ "type": "array", "items": section_schema(section), "minItems": 1 }),
        Kind::CountOrList(range, section) => json!({ "anyOf": [
            { "type": "integer", "minimum": range.start(), "maximum": range.end() },
            { "type": "array", "items": section_schema(section), "minItems": range.start(), "maxItems": range.end() },
        ] }),
        Kind::Teams => named_schema(Thing::Team, options_schema()),
    }
}

fn names_schema() -> Value {
    json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
}

fn named_schema(thing: Thing, section: Value) -> Value {
    json!({ "type": "object", "propertyNames": { "pattern": name_pattern(thing) }, "additionalProperties": section })
}

fn name_pattern(thing: Thing) -> String {
    format!("^[a-z][a-z0-9-]{{0,{}}}$", thing.longest_name() - 1)
}

fn options_schema() -> Value {
    let property = |option: &ConfigOption| {
        let schema = match option.values {
            Values::Names(names) => {
                json!({ "anyOf": [{ "enum": names }, { "type": ["integer", "string"], "pattern": "^[0-9]+$" }] })
            }
            Values::Number { max, .. } => json!({ "type": ["integer", "string"], "minimum": 0, "maximum": max }),
            Values::Positive { max, .. } => json!({ "type": ["integer", "string"], "minimum": 1, "maximum": max }),
            Values::Device | Values::Text { .. } => json!({ "type": "string" }),
        };
        (option.name.to_owned(), described(schema, option.doc, Need::Otherwise("")))
    };
    let engine = described(json!({ "enum": engine::NAMES }), engine::DOC, Need::Default(engine::NAMES[0]));
    let engine = (ENGINE.to_owned(), engine);
    let properties: Map<String, Value> = std::iter::once(engine).chain(Config::OPTIONS.iter().map(property)).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn section_reference(section: &Section, out: &mut String) {
    let rows = section.all().map(|key| {
        let otherwise = match key.need {
            Need::Required => "**required**".to_owned(),
            Need::Otherwise(words) => words.to_owned(),
            Need::Default(value) => format!("`{value}`"),
        };
        Row { name: key.name, takes: takes(&key.kind), otherwise, doc: key.doc, below: Below::of(key) }
    });
    table(section.header, section.doc, rows, out);
}

fn team_reference(out: &mut String) {
    let names = engine::NAMES.map(|name| format!("`{name}`")).join(", ");
    let otherwise = format!("`{}`", engine::NAMES[0]);
    let engine = Row { name: ENGINE, takes: names, otherwise, doc: engine::DOC, below: Below::Meaning };
    let defaults = Config::default().options();
    let options = Config::OPTIONS.iter().map(|option| {
        let default = defaults.iter().find(|(name, _)| *name == option.name).map_or("", |(_, value)| value);
        let otherwise = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
        Row { name: option.name, takes: option.values.to_string(), otherwise, doc: option.doc, below: Below::All }
    });
    table("[teams.NAME]", TEAM_DOC, std::iter::once(engine).chain(options), out);
}

/// A key of the reference.
struct Row<'a> {
    name: &'a str,
    takes: String,
    otherwise: String,
    doc: &'a str,
    below: Below,
}

/// What of a long row stands below the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    All,
    /// The meaning names all that the key takes.
    Meaning,
    /// A section of its own has the meaning.
    Nothing,
}

impl Below {
    fn of(key: &Key) -> Below {
        match &key.kind {
            Kind::Table(_) | Kind::Named(..) | Kind::List(_) | Kind::CountOrList(..) | Kind::Teams => Below::Nothing,
            Kind::Choice(choices) if choices.iter().all(|choice| key.doc.contains(&format!("`{choice}`"))) => {
                Below::Meaning
            }
            _ => Below::All,
        }
    }
}

/// A section: a table of short cells, and below it what is too long for them.
fn table<'a>(header: &str, doc: &str, rows: impl Iterator<Item = Row<'a>>, out: &mut String) {
    let header = if header.starts_with('[') { format!("`{header}`") } else { "Top of the file".to_owned() };
    out.push_str(&format!("\n### {header}\n\n{}", markdown::wrapped("", doc)));
    out.push_str("\n| key | takes | if left out | meaning |\n|---|---|---|---|\n");
    let mut below = String::new();
    for Row { name, takes, otherwise, doc, below: what } in rows {
        let (meaning, mut more) = markdown::beginning(doc);
        let takes = match what {
            Below::All => markdown::cell(takes, "It takes", &mut more),
            Below::Meaning => markdown::cell(takes, "", &mut String::new()),
            Below::Nothing => {
                more.clear();
                takes
            }
        };
        let otherwise = markdown::cell(otherwise, "If it is left out:", &mut more);
        out.push_str(&format!("| `{name}` | {takes} | {otherwise} | {} |\n", meaning.replace('|', "\\|")));
        if !more.is_empty() {
            below.push_str(&markdown::wrapped("- ", &format!("`{name}`: {}", markdown::full_stop(more))));
        }
    }
    if !below.is_empty() {
        out.push_str(&format!("\n{below}"));
    }
}

fn takes(kind: &Kind) -> String {
    match kind {
        Kind::Table(section) | Kind::Named(_, section) | Kind::List(section) => {
            format!("sections `{}`", section.header)
        }
        Kind::CountOrList(_, section) => format!("{}, as in `{}`", wanted(kind), section.header),
        Kind::Teams => "sections `[teams.NAME]`".to_owned(),
        Kind::Rate => "a rate from `1mbit` to `100gbit`".to_owned(),
        Kind::Time(range) => {
            format!("a duration from `{}` to `{}`", show_duration(*range.start()), show_duration(*range.end()))
        }
        other => wanted(other),
    }
}
