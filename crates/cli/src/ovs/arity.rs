//! How many arguments commands take, for those who gave too few or too many: in the words of `ovs-appctl`.

use crate::failure::Failure;

/// A command's name, the fewest and the most arguments, and what they are.
const COMMANDS: &[(&str, usize, usize, &str)] = &[
    ("bond/hash", 1, 3, "MAC [VLAN] [BASIS]"),
    ("bond/list", 0, 0, ""),
    ("bond/show", 0, 1, "[PORT]"),
    ("bond/migrate", 3, 3, "PORT HASH MEMBER"),
    ("bond/set-active-member", 2, 2, "PORT MEMBER"),
    ("bond/set-active-slave", 2, 2, "PORT MEMBER"),
    ("bond/enable-member", 2, 2, "PORT MEMBER"),
    ("bond/enable-slave", 2, 2, "PORT MEMBER"),
    ("bond/disable-member", 2, 2, "PORT MEMBER"),
    ("bond/disable-slave", 2, 2, "PORT MEMBER"),
    ("lacp/show", 0, 1, "[PORT]"),
    ("lacp/show-stats", 0, 1, "[PORT]"),
];

/// Why the words after the program's name are no command of `nicteam ovs`, if their number is the reason.
pub(crate) fn wrong_number(words: &[String]) -> Option<Failure> {
    let [first, name, arguments @ ..] = words else { return None };
    let (name, least, most, usage) = COMMANDS.iter().find(|(known, ..)| first == "ovs" && known == name)?;
    let said = match arguments.iter().filter(|argument| !argument.starts_with("--")).count() {
        count if count < *least => format!("requires at least {least} arguments"),
        count if count > *most => format!("takes at most {most} arguments"),
        _ => return None,
    };
    let usage = format!("nicteam ovs {name} {usage}");
    Some(Failure::wrong_input(format!("\"{name}\" command {said}")).hint(Some(usage.trim_end())))
}
