//! What builds bonds beside `ip`: the driver's parameters, `ifenslave`, and its files in sysfs
//! (Linux Documentation/networking/bonding.rst, 6.1).

use nicteam_diagnostics::Problem;
use nicteam_drafts::draft::list_in_sysfs;
use nicteam_drafts::names::mtu;
use nicteam_syntax::At;
use nicteam_syntax::shell::{Command, Word};

use super::script::Script;

/// `modprobe bonding mode=4 miimon=100 max_bonds=2`.
pub(super) fn modprobe(script: &mut Script<'_>, source: usize, words: &[Word]) -> Result<(), Problem> {
    let (mut name, mut bonds, mut rest) = (None, None, words.iter());
    let mut is_bonding = false;
    while let Some(word) = rest.next() {
        let spot = At::new(source, word.span.clone());
        match word.text.split_once('=') {
            None if word.text == "-o" => name = rest.next(),
            None if word.text == "bonding" => is_bonding = true,
            _ if !is_bonding => {}
            Some(("max_bonds", number)) => {
                let refused =
                    || Problem::at(&word.span, format!("`{number}` is no number of bonds")).hint("`max_bonds=1`");
                bonds = Some(number.parse::<usize>().ok().filter(|number| *number <= 64).ok_or_else(refused)?);
            }
            // How many queues and packets of the driver there are.
            Some(("tx_queues" | "debug", _)) => {}
            Some((option, value)) => script.default(option, value, &spot),
            None => {}
        }
    }
    if !is_bonding {
        return Ok(());
    }
    let at = At::new(source, words.first().map_or(0..0, |word| word.span.clone()));
    let named: Vec<String> = match name {
        Some(name) => vec![name.text.clone()],
        None => (0..bonds.unwrap_or(1)).map(|number| format!("bond{number}")).collect(),
    };
    for name in named {
        if script.teams.find(&name).is_none() {
            script.team(&name, &at);
            script.made_by_driver.push(name);
        }
    }
    Ok(())
}

/// `ifenslave bond0 eth0 eth1`.
pub(super) fn ifenslave(script: &mut Script<'_>, source: usize, command: &Command, spot: &At) -> Result<(), Problem> {
    let words = command.arguments();
    if words.iter().any(|word| matches!(word.text.as_str(), "-d" | "--detach" | "-c" | "--change-active")) {
        script.maybe(command, spot, "it changes a bond that runs: the team is to be told what it is in the end");
        return Ok(());
    }
    let mut names = words.iter().filter(|word| !word.text.starts_with('-'));
    let Some(bond) = names.next() else { return Ok(()) };
    let team = script.team(&bond.text, &At::new(source, bond.span.clone()));
    for member in names {
        script.teams.add_member(team, &member.text, &At::new(source, member.span.clone()));
    }
    Ok(())
}

/// What a line writes into a file of sysfs that is about a bond.
pub struct Written<'c> {
    pub file: File<'c>,
    /// The words that are written.
    pub values: Vec<Word>,
}

/// A file of sysfs that is about a bond.
pub enum File<'c> {
    /// The bonds that there are.
    Masters,
    /// The members of a bond.
    Slaves { bond: &'c str },
    /// An option of a bond.
    Option { bond: &'c str, option: &'c str },
    /// The MTU of a device.
    Mtu { device: &'c str },
}

/// What `echo` or `printf` writes into a file of sysfs; `None` where that is another file.
pub fn written(command: &Command) -> Option<Written<'_>> {
    let output = command.output.as_ref()?;
    // `printf '%s\n' VALUE`, `printf 'VALUE\n'`.
    let is_format = |word: &Word| command.name() == "printf" && word.text.contains('%');
    let is_value = |word: &&Word| !matches!(word.text.as_str(), "-n" | "-e" | "--") && !is_format(word);
    let shown = |word: &Word| Word { text: word.text.trim_end_matches("\\n").to_owned(), ..word.clone() };
    let parts: Vec<&str> = output.text.split('/').filter(|part| !part.is_empty()).collect();
    let file = match parts.as_slice() {
        ["sys", "class", "net", "bonding_masters"] => File::Masters,
        ["sys", "class", "net", bond, "bonding", "slaves"] => File::Slaves { bond },
        ["sys", "class", "net", bond, "bonding", option] => File::Option { bond, option },
        ["sys", "class", "net", device, "mtu"] => File::Mtu { device },
        _ => return None,
    };
    Some(Written { file, values: command.arguments().iter().filter(is_value).map(shown).collect() })
}

/// `echo +eth1 > /sys/class/net/bond0/bonding/slaves`.
pub(super) fn echo(script: &mut Script<'_>, source: usize, command: &Command, spot: &At) -> Result<(), Problem> {
    let Some(output) = &command.output else { return Ok(()) };
    let Some(Written { file, values }) = written(command) else {
        script.maybe(command, spot, "what is written into other files is not read");
        return Ok(());
    };
    let team = |script: &mut Script<'_>, bond: &str| script.team(bond, &At::new(source, output.span.clone()));
    match file {
        File::Masters => {
            for word in values {
                match word.text.strip_prefix('+') {
                    Some(name) => drop(script.team(name, &At::new(source, word.span.clone()))),
                    None => script.maybe(command, spot, "it takes a bond away"),
                }
            }
        }
        File::Slaves { bond } => {
            let team = team(script, bond);
            for word in values {
                match (word.text.strip_prefix('+'), word.text.strip_prefix('-')) {
                    (Some(member), _) => {
                        script.teams.add_member(team, member, &At::new(source, word.span.clone()));
                    }
                    (None, Some(member)) => script.teams.remove_member(team, member),
                    (None, None) => {
                        let problem = Problem::at(&word.span, format!("`{}` has no sign", word.text));
                        return Err(problem.hint(format!("`+{0}` takes a device in, `-{0}` lets it go", word.text)));
                    }
                }
            }
        }
        File::Option { bond, option } => {
            let team = team(script, bond);
            let value = values.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let start = values.first().map_or(output.span.start, |word| word.span.start);
            let span = start..values.last().map_or(output.span.end, |word| word.span.end);
            let at = At::new(source, span);
            // One address a line, with the sign of what is done.
            match list_in_sysfs(option) {
                Some(list) => script.teams.append(team, list, value.trim_start_matches('+'), &at),
                None => script.teams.set(team, option, &value, &at),
            }
        }
        File::Mtu { device } => {
            let Some(team) = script.teams.find(device) else {
                script.maybe(command, spot, "members have the MTU of their team");
                return Ok(());
            };
            for word in values {
                match mtu(&word.text) {
                    Ok(mtu) => script.teams.drafts[team].mtu = Some(mtu),
                    Err(wrong) => script.teams.wrong(&At::new(source, word.span.clone()), wrong),
                }
            }
        }
    }
    Ok(())
}
