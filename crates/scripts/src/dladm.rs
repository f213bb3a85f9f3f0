//! Command lines of illumos and Solaris that build aggregations: `dladm`, `ipadm`, `ifconfig`, `route` (illumos dladm(8),
//! ipadm(8), ifconfig(8), and dladm(1M) of Solaris 10 with devices and keys).
//!
//! Devices have other names there: a user who moves an aggregation to this host replaces them by the names of its own
//! devices.

mod address;
mod words;

use crate::ifconfig;
use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Teams;
use nicteam_drafts::{Format, Import};
use nicteam_options::AggrLayers;
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::shell::{Command, Word, quoted};
use words::{aggr_name, parts};

/// See the module.
pub struct Dladm;

impl Format for Dladm {
    fn name(&self) -> &'static str {
        "dladm"
    }

    fn title(&self) -> &'static str {
        "command lines of dladm, ipadm and ifconfig (illumos, Solaris)"
    }

    fn recognises(&self, source: &Source) -> bool {
        let is_own = |command: &Command| matches!(command.name(), "dladm" | "ipadm");
        source.commands().is_ok_and(|commands| commands.iter().any(is_own))
    }

    fn is_script(&self) -> bool {
        true
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        teams.each_command(sources, take);
        for team in 0..teams.drafts.len() {
            let draft = &teams.drafts[team];
            let (name, at) = (draft.name.clone(), draft.at.clone());
            let links: Vec<String> = draft.members.iter().map(|of| of.value.clone()).collect();
            let what = format!("where this host still runs illumos: take the aggregation {name} away");
            teams.disable(&at, what, Some(format!("dladm delete-aggr {}", quoted(&name))));
            let why = format!(
                "the members have illumos' names ({}): put this host's names in their place (`ip -br link` lists them)",
                links.join(", ")
            );
            teams.left(&at, why, Some(&name));
        }
        teams.finish()
    }
}

fn take(teams: &mut Teams<'_>, source: usize, command: &Command) {
    let at = At::new(source, command.span());
    if command.is_conditional {
        return teams.aside(&at, command.pieces(), "whether it is carried out depends on a condition");
    }
    if let Some(problem) =
        command.unknown().filter(|_| matches!(command.name(), "dladm" | "ipadm" | "ifconfig" | "route"))
    {
        let makes = command.arguments().first().is_some_and(|verb| verb.text == "create-aggr");
        return match makes {
            true => teams.problem(source, problem),
            false => teams.wrong_aside(&at, command.pieces(), problem),
        };
    }
    let done = match command.name() {
        "dladm" => dladm(teams, source, command, &at),
        "ipadm" => address::ipadm(teams, source, command, &at),
        "ifconfig" => ifconfig::read(teams, source, command, &at),
        "route" => address::route(teams, source, command, &at),
        _ => {
            teams.aside(&at, command.pieces(), "only aggregations, their addresses and routes are read");
            Ok(())
        }
    };
    if let Err(problem) = done {
        teams.problem(source, problem);
    }
}

fn dladm(teams: &mut Teams<'_>, source: usize, command: &Command, at: &At) -> Result<(), Problem> {
    let Some((verb, rest)) = command.arguments().split_first() else { return Ok(()) };
    match verb.text.as_str() {
        "create-aggr" => aggr(teams, source, rest, at, true),
        "modify-aggr" | "add-aggr" => aggr(teams, source, rest, at, false),
        "remove-aggr" => {
            let (options, others) = parts(rest)?;
            let team = others.last().and_then(|name| teams.find(&aggr_name(&name.text)));
            for (.., link) in options.iter().filter(|(letter, ..)| matches!(letter, 'l' | 'd')) {
                team.into_iter().for_each(|team| teams.remove_member(team, link));
            }
            Ok(())
        }
        "set-linkprop" => address::linkprop(teams, source, rest, at),
        verb if verb.starts_with("show-") => Ok(()),
        "create-vlan" => {
            teams.aside(at, command.pieces(), "it makes a VLAN: `ip link add link TEAM name TEAM.ID type vlan id ID`");
            Ok(())
        }
        verb if verb.ends_with("-aggr") && !matches!(verb, "delete-aggr" | "up-aggr" | "init-aggr") => {
            let problem = Problem::at(&command.arguments()[0].span, format!("`dladm` has no command `{verb}`"));
            Err(problem.hint("`dladm create-aggr -l LINK... NAME`"))
        }
        _ => {
            teams.aside(at, command.pieces(), "a team has nothing like it");
            Ok(())
        }
    }
}

/// What is said of an aggregation.
#[derive(Default)]
struct Said {
    links: Vec<(String, At)>,
    policy: Option<(AggrLayers, At)>,
    lacp: Option<(String, At)>,
    timer: Option<(&'static str, At)>,
    /// `-m dlmp`: no group at the switch.
    is_dlmp: bool,
}

fn aggr(teams: &mut Teams<'_>, source: usize, words: &[Word], at: &At, is_new: bool) -> Result<(), Problem> {
    let (options, others) = parts(words)?;
    let Some(name) = others.last() else {
        return Err(Problem::at(&at.span(), "no aggregation is named")
            .hint("its name is the last word: `dladm create-aggr -l igb0 aggr0`"));
    };
    let text = aggr_name(&name.text);
    let name_at = At::new(source, name.span.clone());
    let team = match (teams.find(&text), is_new) {
        (Some(_), true) => {
            let problem = Problem::at(&name.span, format!("a second aggregation `{text}`"));
            return Err(problem.hint("take one of the two out"));
        }
        (None, false) => {
            let problem = Problem::at(&name.span, format!("no aggregation `{text}` was made before"));
            return Err(problem.hint("`dladm create-aggr` makes one"));
        }
        _ => teams.team(&text, &name_at),
    };
    let said = said(teams, source, team, &options, is_new)?;
    for (link, at) in &said.links {
        teams.add_member(team, link, at);
    }
    settle(teams, team, &said, is_new, &name_at);
    Ok(())
}

fn said(
    teams: &mut Teams<'_>,
    source: usize,
    team: usize,
    options: &[(char, &Word, String)],
    is_new: bool,
) -> Result<Said, Problem> {
    let mut said = Said::default();
    let name = teams.drafts[team].name.clone();
    for (letter, word, value) in options {
        let at = At::new(source, word.span.clone());
        match letter {
            // What ends with no digit is no link, and is taken for the mode of LACP (illumos dladm.c, `do_create_aggr`).
            'l' if is_new && matches!(value.as_str(), "off" | "active" | "passive") => {
                said.lacp = Some((value.clone(), at))
            }
            'l' | 'd' if value.contains(',') => {
                let hint = value.split(',').map(|link| format!("-{letter} {link}")).collect::<Vec<_>>().join(" ");
                let problem =
                    Problem::at(&word.span, format!("`{value}` is no link: `-{letter}` takes one, as in dladm"));
                return Err(problem.hint(format!("one option a link: `{hint}`")));
            }
            'l' | 'd' => said.links.push((value.clone(), at)),
            'P' => {
                let layers = value.parse::<AggrLayers>();
                let refused = |_| {
                    Problem::at(&word.span, format!("`{value}` is no policy"))
                        .hint("L2, L3, L4 or several of them: `-P L3,L4`")
                };
                said.policy = Some((layers.map_err(refused)?, at));
            }
            'L' if matches!(value.as_str(), "off" | "active" | "passive") => said.lacp = Some((value.clone(), at)),
            'L' => {
                return Err(
                    Problem::at(&word.span, format!("`{value}` is no mode of LACP")).hint("off, active or passive")
                );
            }
            'T' => {
                let rate = match value.as_str() {
                    "short" => "fast",
                    "long" => "slow",
                    _ => {
                        return Err(
                            Problem::at(&word.span, format!("`{value}` is no timer of LACP")).hint("short or long")
                        );
                    }
                };
                said.timer = Some((rate, at));
            }
            'u' if value == "auto" => teams.drafts[team].mac = None,
            'u' => {
                // Its bytes may have one digit.
                let padded: Vec<String> = value.split(':').map(|byte| format!("{byte:0>2}")).collect();
                teams.drafts[team].set_mac(&mut teams.reading, &padded.join(":"), &at);
            }
            'm' if value == "trunk" => {}
            'm' if value == "dlmp" => said.is_dlmp = true,
            'm' => teams.left(
                &at,
                format!("no mode of a team is `{value}`: the aggregation is taken for a trunk"),
                Some(&name),
            ),
            't' => {}
            _ => teams.left(&at, "a team has nothing like it", Some(&name)),
        }
    }
    Ok(said)
}

/// Solaris' own way (dladm(8) of Solaris 11, "Datalink multipathing"): each address sends by one link, and the switch has no
/// group, as with Open vSwitch's balance-slb.
fn dlmp(teams: &mut Teams<'_>, team: usize, said: &Said, at: &At) {
    let name = teams.drafts[team].name.clone();
    teams.set(team, "mode", "ovs-balance-slb", at);
    teams.left(at, "links are not probed from end to end: `-m dlmp` does it by ICMP, a team by carrier", Some(&name));
    let given = [
        said.policy.as_ref().map(|(_, at)| at),
        said.lacp.as_ref().map(|(_, at)| at),
        said.timer.as_ref().map(|(_, at)| at),
    ];
    for at in given.into_iter().flatten() {
        teams.left(at, "it is of trunks, and `-m dlmp` has none of it", Some(&name));
    }
}

/// Sets the options. Where nothing is said LACP is off, its timer short, and the policy L4 (libdladm, `linkaggr.c`).
fn settle(teams: &mut Teams<'_>, team: usize, said: &Said, is_new: bool, at: &At) {
    if said.is_dlmp {
        return dlmp(teams, team, said, at);
    }
    match &said.lacp {
        Some((lacp, at)) if lacp != "off" => {
            teams.set(team, "mode", "802.3ad", at);
            teams.set(team, "lacp_active", lacp, at);
        }
        Some((_, at)) => teams.set(team, "mode", "balance-xor", at),
        None if is_new => teams.set(team, "mode", "balance-xor", at),
        None => {}
    }
    match &said.policy {
        Some((layers, at)) => teams.set(team, "xmit_hash_policy", layers.name(), at),
        None if is_new => teams.set(team, "xmit_hash_policy", AggrLayers::L4.name(), at),
        None => {}
    }
    let speaks = teams.option(team, "mode") == Some("802.3ad");
    match &said.timer {
        Some((rate, at)) if speaks => teams.set(team, "lacp_rate", rate, at),
        Some((_, at)) => {
            let name = teams.drafts[team].name.clone();
            teams.left(at, "without LACP (`-L`) it has no timer", Some(&name));
        }
        None if speaks && teams.option(team, "lacp_rate").is_none() => teams.set(team, "lacp_rate", "fast", at),
        None => {}
    }
}
