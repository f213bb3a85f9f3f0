//! What to switch off in an interface's file, so that not two owners build one device.

use nicteam_drafts::Reading;
use nicteam_syntax::At;
use nicteam_syntax::shell::quoted;

use super::assignment::Assignment;
use super::interface::Interface;
use super::parts;

/// What a device is to the team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Member,
    Bond {
        /// Its file has something that the team's device still needs.
        stays: bool,
    },
}

/// Nothing builds the device at boot any more.
pub(super) fn disable(reading: &mut Reading<'_>, interface: &Interface, role: Role) {
    let is_of = match role {
        Role::Member => "member",
        Role::Bond { .. } if interface.is_team() => "team",
        Role::Bond { .. } => "bond",
    };
    let what = format!("the {is_of} `{}`", interface.device);
    match role {
        Role::Bond { stays: true } => {
            let lines: Vec<_> = interface.bond_lines().collect();
            comment_out(reading, interface, &lines, &what, "they serve the team's device");
        }
        Role::Member if interface.is_made() => {
            let lines: Vec<_> = interface.member_lines().collect();
            comment_out(reading, interface, &lines, &what, "they make the device");
        }
        _ => switch_off(reading, interface, &what),
    }
}

/// A line of a file that is no interface's goes.
pub(super) fn comment_out_line(reading: &mut Reading<'_>, at: &At) {
    let what = format!("comment out line {} (`{}`)", reading.line(at), reading.text(at));
    reading.disable(at, what, None);
}

/// The file of a source, if it is one, as a shell reads it.
fn file(reading: &Reading<'_>, interface: &Interface) -> Option<String> {
    let path = reading.place(&interface.at).path;
    parts::kind(&path).is_some().then(|| quoted(&path))
}

/// RHEL's scripts obey `ONBOOT`, SUSE's wicked `STARTMODE`.
fn switch_off(reading: &mut Reading<'_>, interface: &Interface, what: &str) {
    let path = reading.place(&interface.at).path;
    let is_suse = interface.entry("STARTMODE").is_some()
        || interface.entry("ONBOOT").is_none() && path.contains("sysconfig/network/");
    let (key, off) = if is_suse { ("STARTMODE", "off") } else { ("ONBOOT", "no") };
    if interface.entry(key).is_some_and(|entry| entry.value == off) {
        return;
    }
    let command = file(reading, interface).map(|path| match interface.entry(key) {
        Some(entry) if reading.place(&entry.at).column == 1 && reading.text(&entry.at).starts_with(key) => {
            format!("sed -i 's/^{key}=.*/{key}={off}/' {path}")
        }
        // Blanks and `export` stand ahead of it.
        Some(_) => format!(r"sed -i -E 's/^(\s*(export\s+)?){key}=.*/\1{key}={off}/' {path}"),
        None => format!("sed -i '$a {key}={off}' {path}"),
    });
    reading.disable(&interface.at, format!("set `{key}={off}` in the file of {what}"), command);
}

/// These lines go, and the others stay, for this reason.
fn comment_out(reading: &mut Reading<'_>, interface: &Interface, lines_out: &[&Assignment], what: &str, others: &str) {
    let (mut keys, mut lines, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for entry in lines_out {
        let first = reading.line(&entry.at);
        let last = first + reading.text(&entry.at).matches('\n').count();
        let (shown, range) = match last == first {
            true => (first.to_string(), first.to_string()),
            false => (format!("{first} to {last}"), format!("{first},{last}")),
        };
        keys.push(format!("`{}`", entry.key));
        lines.push(shown);
        commands.push(format!("{range}s/^/#/"));
    }
    if keys.is_empty() {
        return;
    }
    let what = format!(
        "comment out {} {} ({}) in the file of {what}: its other lines stay, for {others}",
        if keys.len() == 1 && !lines.concat().contains("to") { "line" } else { "lines" },
        lines.join(", "),
        keys.join(", ")
    );
    let command = file(reading, interface).map(|path| format!("sed -i '{}' {path}", commands.join("; ")));
    reading.disable(&interface.at, what, command);
}
