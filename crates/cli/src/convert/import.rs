//! `nicteam import`: our own file from other people's configuration.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use nicteam_formats::{Disable, FORMATS, Format, Left, Place, Team, template, toml};
use nicteam_host::bonds;
use nicteam_host::configuration::{self, Found};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::say;

/// Print our own file of teams, from the configuration that there is.
///
/// FILE is a file, a folder such as /etc/network, or `-` for standard input. What cannot be taken over is listed on
/// standard error with its place, and stays in the output as comments; what is to be switched off in the old place is
/// listed, too. Nothing is changed. Exit code 2: something is wrong with a file, or, with --strict, something was left.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Import {
    /// Files or folders; `-` is standard input.
    #[arg(required_unless_present = "running", value_name = "FILE")]
    files: Vec<String>,
    /// Their format; found out by default.
    #[arg(long, value_name = "FORMAT", value_parser = super::FORMAT, hide_possible_values = true)]
    from: Option<&'static dyn Format>,
    /// What runs in this network namespace: teams of ours and the kernel's bonds; of this name alone, if one is given.
    #[arg(long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["files", "from"])]
    running: Option<Option<String>>,
    /// The members of a bond that names none itself, as a profile of NetworkManager's.
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',', conflicts_with = "running")]
    members: Vec<String>,
    /// Print teams, what is left and what to switch off as a JSON object, described in docs/import.md, in place of all else.
    #[arg(long)]
    json: bool,
    /// Fail if anything cannot be taken over.
    #[arg(long)]
    strict: bool,
}

fn after_help() -> String {
    let line = |format: &&dyn Format| format!("  {:<12} {}\n", format.name(), format.title());
    let lines: String = FORMATS.iter().map(line).collect();
    format!(
        "Formats:\n{lines}\n  nicteam import /etc/network/interfaces > /etc/nicteam/bond0.toml\n  nicteam import --running bond0"
    )
}

/// Prints the file on standard output, what is left and what to disable on standard error.
pub(crate) fn run(args: &Import) -> Result<ExitCode, Failure> {
    let import = match &args.running {
        Some(name) => bonds::running(name.as_deref()).map_err(Failure::failed)?,
        None => read_with(&args.files, args.from, &args.members)?,
    };
    if !args.json || import.network.teams.is_empty() {
        tell(&import);
    }
    if import.network.teams.is_empty() {
        let of_what = if args.running.is_some() { "no team and no bond runs here" } else { "no bond is in there" };
        return Err(
            Failure::wrong_input(of_what).hint(Some("`nicteam team add` makes a team; docs/team.md describes it"))
        );
    }
    match args.json {
        true => say::data(serde_json::to_string_pretty(&object(&import)).map_err(Failure::failed)? + "\n")?,
        false => say::data(toml::write(&import))?,
    }
    match (args.strict, import.left.len()) {
        (false, _) | (true, 0) => Ok(ExitCode::SUCCESS),
        (true, count) => {
            say::line(format_args!("nicteam: {count} left, and --strict allows none"));
            Ok(ExitCode::from(2))
        }
    }
}

/// Reads files of one format.
pub(crate) fn read(files: &[String], from: Option<&'static dyn Format>) -> Result<nicteam_formats::Import, Failure> {
    read_with(files, from, &[])
}

/// The same, where these are the members of the one bond that names none.
fn read_with(
    files: &[String],
    from: Option<&'static dyn Format>,
    members: &[String],
) -> Result<nicteam_formats::Import, Failure> {
    let Found { sources, left } = configuration::sources(files, from)?;
    let format = match from {
        Some(format) => format,
        None => configuration::recognise(&sources)?,
    };
    if let Some(problem) = sources.iter().find_map(template) {
        return Err(Failure::wrong_input(problem.render(io::stderr().is_terminal())));
    }
    let mut import = format
        .read_with(&sources, members)
        .map_err(|diagnostics| Failure::wrong_input(diagnostics.render(io::stderr().is_terminal())))?;
    import.left.splice(0..0, left);
    Ok(import)
}

/// The same for programs.
fn object(import: &nicteam_formats::Import) -> Value {
    let words = |words: Vec<String>| Value::from(words);
    let team = |team: &Team| {
        let options: Map<String, Value> =
            team.options.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        json!({
            "name": team.name,
            "members": team.members,
            "options": options,
            "mac": team.mac.map(|mac| mac.to_string()),
            "mtu": team.mtu,
            "accept_ra": team.accept_ra,
            "dataplane": team.dataplane,
            "addresses": words(team.addresses.iter().map(ToString::to_string).collect()),
            "routes": words(team.routes.iter().map(ToString::to_string).collect()),
        })
    };
    let place = |place: &Place| json!({"path": place.path, "line": place.line, "column": place.column});
    let left =
        |left: &Left| json!({"place": place(&left.place), "text": left.text, "why": left.why, "team": left.team});
    let disable = |of: &Disable| json!({"place": place(&of.place), "what": of.what, "command": of.command});
    json!({
        "teams": import.network.teams.iter().map(team).collect::<Vec<_>>(),
        "left": import.left.iter().map(left).collect::<Vec<_>>(),
        "disable": import.disable.iter().map(disable).collect::<Vec<_>>(),
    })
}

/// Says what stays, by teams, and what to switch off.
fn tell(import: &nicteam_formats::Import) {
    // In the order in which they first appear.
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut teams: Vec<(Option<&str>, Vec<&Left>)> = Vec::new();
    for left in &import.left {
        let team = left.team.as_deref();
        let place = *places.entry(team).or_insert_with(|| {
            teams.push((team, Vec::new()));
            teams.len() - 1
        });
        teams[place].1.push(left);
    }
    for (team, lefts) in teams {
        match team {
            Some(team) => say::line(format_args!("{team}: not taken over:", team = say::visible(team))),
            None => say::line("not taken over:"),
        }
        for Left { place, text, why, .. } in lefts {
            say::line(format_args!("  {}: `{}`\n    {}", say::visible(place), say::visible(text), say::visible(why)));
        }
    }
    if !import.disable.is_empty() {
        say::line("switch off in the old place, before a team takes over:");
    }
    for disable in &import.disable {
        say::line(format_args!("  {}: {}", say::visible(&disable.place), say::visible(&disable.what)));
        if let Some(command) = &disable.command {
            say::line(format_args!("    {}", say::visible(command)));
        }
    }
}
