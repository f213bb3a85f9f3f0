//! The table of keys as a JSON schema for editors, and as the reference in the documentation.

use nicteam_drafts::names::LONGEST_TEAM_NAME;
use nicteam_options::{Config, ConfigOption, Mode, Values};
use serde_json::{Map, Value, json};

use super::keys::{DATAPLANES, KEYS, Key, Takes};

/// The JSON schema (draft 7, which editors' TOML plugins know) of `/etc/nicteam/*.toml`, pretty, with a final newline.
pub fn schema() -> String {
    let keys = KEYS.iter().map(|key| (key.name.to_owned(), described(key_schema(key.takes), key.doc)));
    let options =
        Config::OPTIONS.iter().map(|option| (option.name.to_owned(), described(option_schema(option), option.doc)));
    let properties: Map<String, Value> = keys.chain(options).collect();
    let team = json!({
        "type": "object",
        "properties": properties,
        "required": ["members"],
        "additionalProperties": false,
    });
    let names = json!({ "pattern": format!("^[!-~]{{1,{LONGEST_TEAM_NAME}}}$") });
    let teams = json!({
        "type": "object",
        "description": "the teams of this host by the names of their devices",
        "propertyNames": names,
        "additionalProperties": team,
    });
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "nicteam's teams",
        "type": "object",
        "properties": { "teams": teams },
        "additionalProperties": false,
    });
    format!("{schema:#}\n")
}

/// Every key, in Markdown.
pub fn key_reference() -> String {
    let mut out = "\n| key | takes | if left out | meaning |\n|---|---|---|---|\n".to_owned();
    let mut row = |name: &str, takes: &str, otherwise: &str, doc: &str| {
        out.push_str(&format!("| `{name}` | {takes} | {otherwise} | {} |\n", doc.replace('|', "\\|")));
    };
    for Key { name, takes, otherwise, doc } in KEYS {
        row(name, &format!("{}: `{}`", takes.wanted(), takes.example()), otherwise, doc);
    }
    row(
        "mode",
        "a mode's name, or the kernel's number for it",
        Mode::default().name(),
        "how frames are spread over the members",
    );
    row(
        "...",
        "text, a number, `true` or `false`",
        "as in the kernel",
        "every other option of bonding by the kernel's name",
    );
    out
}

fn described(mut schema: Value, doc: &str) -> Value {
    schema["description"] = json!(doc);
    schema
}

fn key_schema(takes: Takes) -> Value {
    let texts = |pattern: &str| json!({ "type": "array", "items": { "type": "string", "pattern": pattern } });
    match takes {
        Takes::Devices => {
            json!({ "type": "array", "items": { "type": "string", "pattern": "^[^/:\\s]{1,15}$" }, "minItems": 1, "uniqueItems": true })
        }
        Takes::Mac => json!({ "type": "string", "pattern": "^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$" }),
        Takes::Mtu => json!({ "type": "integer", "minimum": 68, "maximum": 65535 }),
        Takes::AcceptRa => json!({ "type": "integer", "minimum": 0, "maximum": 2 }),
        Takes::Dataplane => json!({ "type": "string", "enum": DATAPLANES }),
        Takes::Addresses => texts("^[0-9a-fA-F.:]+/[0-9.]+$"),
        Takes::Routes => texts("^\\S.*$"),
    }
}

fn option_schema(option: &ConfigOption) -> Value {
    match option.values {
        Values::Names(names) => {
            json!({ "anyOf": [{ "enum": names }, { "type": ["integer", "string", "boolean"], "pattern": "^[0-9]+$" }] })
        }
        Values::Number { max, .. } => json!({ "type": ["integer", "string", "boolean"], "minimum": 0, "maximum": max }),
        Values::Positive { max, .. } => json!({ "type": ["integer", "string"], "minimum": 1, "maximum": max }),
        Values::Device | Values::Text { .. } => json!({ "type": "string" }),
    }
}
