//! Teams -> the text.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_drafts::{Import, Left, Team};
use nicteam_options::{ConfigOption, Values};

pub(super) fn write(import: &Import) -> String {
    let mut out = String::new();
    let teams = &import.network.teams;
    let names: BTreeSet<&str> = teams.iter().map(|team| team.name.as_str()).collect();
    let of = |left: &Left| left.team.as_deref().and_then(|team| names.get(team).copied());
    let mut by_team: BTreeMap<Option<&str>, Vec<&Left>> = BTreeMap::new();
    import.left.iter().for_each(|left| by_team.entry(of(left)).or_default().push(left));
    for team in teams {
        separate(&mut out);
        write_team(&mut out, team);
        write_left(&mut out, by_team.remove(&Some(&*team.name)).unwrap_or_default());
    }
    let others = by_team.remove(&None).unwrap_or_default();
    if !others.is_empty() {
        separate(&mut out);
    }
    write_left(&mut out, others);
    out
}

fn separate(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

fn write_team(out: &mut String, team: &Team) {
    let strings =
        |items: &[String]| format!("[{}]", items.iter().map(|item| text(item)).collect::<Vec<_>>().join(", "));
    let shown = |items: Vec<String>| Some(strings(&items)).filter(|_| !items.is_empty());
    let mut lines = vec![("members", strings(&team.members))];
    lines.extend(team.options.iter().map(|(name, value)| (name.as_str(), option_value(name, value))));
    lines.extend(team.mac.map(|mac| ("mac", text(&mac.to_string()))));
    lines.extend(team.mtu.map(|mtu| ("mtu", mtu.to_string())));
    lines.extend(team.accept_ra.map(|accept_ra| ("accept_ra", accept_ra.to_string())));
    lines.extend(team.dataplane.as_ref().map(|dataplane| ("dataplane", text(dataplane))));
    lines.extend(shown(team.addresses.iter().map(ToString::to_string).collect()).map(|list| ("addresses", list)));
    lines.extend(shown(team.routes.iter().map(ToString::to_string).collect()).map(|list| ("routes", list)));
    out.push_str(&format!("[teams.{}]\n", key(&team.name)));
    lines.iter().for_each(|(name, value)| out.push_str(&format!("{name} = {value}\n")));
}

/// Each with its place and the reason, as comments.
fn write_left(out: &mut String, left: Vec<&Left>) {
    for (place, left) in left.into_iter().enumerate() {
        if place == 0 {
            out.push_str("# Not taken over:\n");
        }
        comment(out, "", &format!("{}: {}", left.place, left.text));
        comment(out, "  ", &left.why);
    }
}

/// A comment; a text of several lines is one of several.
fn comment(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        out.push_str(format!("# {indent}{}", escaped_controls(line)).trim_end());
        out.push('\n');
    }
}

/// TOML has no control characters in comments, except the tab.
fn escaped_controls(line: &str) -> String {
    let escaped = |c: char| if c.is_control() && c != '\t' { c.escape_default().collect() } else { c.to_string() };
    line.chars().map(escaped).collect()
}

/// Numbers stand without quotes where the option is one.
fn option_value(name: &str, value: &str) -> String {
    let is_number = matches!(
        ConfigOption::named(name).map(|option| option.values),
        Some(Values::Number { .. } | Values::Positive { .. })
    );
    let is_plain = value == "0" || value.starts_with(|c: char| matches!(c, '1'..='9'));
    if is_number && is_plain && value.bytes().all(|byte| byte.is_ascii_digit()) {
        value.to_owned()
    } else {
        text(value)
    }
}

/// A key, bare where it can be.
fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { text(name) }
}

/// A basic string.
fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
