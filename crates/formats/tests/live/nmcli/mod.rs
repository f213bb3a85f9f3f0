//! NetworkManager's own `nmcli --offline` beside the reader of its profiles: what it writes is read as it was asked for, and
//! a profile means the same before and after it went through nmcli.
//!
//! `recorded.txt` has what nmcli 1.42.4 of Debian 12 printed; the soak asks the program itself, fetched from Debian and not
//! installed.

mod asked;
mod rewritten;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nicteam_formats::{Import, Source, toml};
use nicteam_testnet::is_soak;

use crate::imports::format;
use crate::words;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/nmcli/recorded.txt");
/// The release whose output is recorded.
const VERSION: &str = "nmcli tool, version 1.42.4";

/// nmcli as Debian has it, unpacked.
pub struct Nmcli {
    program: PathBuf,
    libraries: PathBuf,
}

impl Nmcli {
    /// Fetches it; says why not where it cannot be fetched, or lacks a library here.
    pub fn obtain_or_skip() -> Option<Nmcli> {
        let package = |name| nicteam_oracle::debian_package(name).map_err(|missing| missing.to_string());
        let found = package("network-manager").and_then(|root| {
            let libraries = package("libnm0")?.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
            let nmcli = Nmcli { program: root.join("usr/bin/nmcli"), libraries };
            nmcli.run(&["--version"], "").map(|_| nmcli)
        });
        found.map_err(|why| eprintln!("SKIPPED: no nmcli: {why}")).ok()
    }

    /// What it prints, or what it says is wrong.
    pub fn run(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("LD_LIBRARY_PATH", &self.libraries).env("LC_ALL", "C");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        // It reads none where it has none to read.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        match output.status.success() {
            true => Ok(profile(&String::from_utf8(output.stdout).unwrap())),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    }

    /// The profile that these words make.
    pub fn add(&self, words: &[&str]) -> Result<String, String> {
        self.run(&[&["--offline", "connection", "add"], words].concat(), "")
    }

    /// The profile as nmcli writes it again.
    pub fn rewrite(&self, profile: &str) -> Result<String, String> {
        self.run(&["--offline", "connection", "modify", "connection.id", "b"], profile)
    }
}

/// Without what it says about other profiles, which it has none of.
fn profile(output: &str) -> String {
    output.split_inclusive('\n').filter(|line| !line.starts_with("Warning: ")).collect()
}

/// Reads profiles.
pub fn import(profiles: &[String]) -> Result<Import, String> {
    let source = |(number, text): (usize, &String)| Source::new(format!("{number}.nmconnection"), text.clone());
    let sources: Vec<Source> = profiles.iter().enumerate().map(source).collect();
    format("keyfile").read(&sources).map_err(|diagnostics| diagnostics.to_string())
}

/// Commands with what they printed, and what is read from all of it.
struct Case {
    commands: Vec<(String, String)>,
    read: String,
}

/// A case is some lines `$ nmcli --offline connection add WORDS` with their output, and what is read, below `= read`.
fn cases(text: &str) -> Vec<Case> {
    let case = |text: &str| {
        let (commands, read) = text.split_once("= read\n").unwrap();
        let command = |text: &str| {
            let (line, output) = text.split_once('\n').unwrap();
            (line.to_owned(), output.to_owned())
        };
        Case { commands: commands.split("$ ").skip(1).map(command).collect(), read: read.to_owned() }
    };
    text.split("----\n").filter(|text| !text.trim().is_empty()).map(case).collect()
}

fn written(cases: &[Case]) -> String {
    let case = |case: &Case| {
        let commands: String = case.commands.iter().map(|(line, output)| format!("$ {line}\n{output}")).collect();
        format!("----\n{commands}= read\n{}", case.read)
    };
    cases.iter().map(case).collect()
}

/// What nmcli prints now, if it is the release that is recorded.
fn again(cases: &mut [Case], nmcli: &Nmcli) {
    if nmcli.run(&["--version"], "").unwrap().trim() != VERSION {
        return eprintln!("SKIPPED: Debian's nmcli is another than {VERSION}");
    }
    for (line, output) in cases.iter_mut().flat_map(|case| &mut case.commands) {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        *output = nmcli.run(&words[1..], "").unwrap_or_else(|said| panic!("{line}: {said}"));
    }
}

#[test]
fn recorded_profiles_are_read() {
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let mut cases = cases(&recorded);
    let updates = std::env::var_os("UPDATE_GOLDEN").is_some();
    if (updates || is_soak())
        && let Some(nmcli) = Nmcli::obtain_or_skip()
    {
        again(&mut cases, &nmcli);
    }
    for case in &mut cases {
        let profiles: Vec<String> = case.commands.iter().map(|(_, output)| output.clone()).collect();
        case.read = toml::write(&import(&profiles).unwrap_or_else(|error| panic!("{error}")));
    }
    match updates {
        true => std::fs::write(RECORDED, written(&cases)).unwrap(),
        false => assert_eq!(written(&cases), recorded, "UPDATE_GOLDEN=1 writes it anew"),
    }
}

/// A VLAN's profile makes its device: the printed command takes that out of the bond, and nothing else of it.
#[test]
fn the_printed_command_lets_a_vlan_go() {
    let Some(nmcli) = Some(()).filter(|()| is_soak()).and_then(|()| Nmcli::obtain_or_skip()) else { return };
    let bond = nmcli.add(&["type", "bond", "ifname", "bond0", "con-name", "bond0", "bond.options", "mode=1"]).unwrap();
    let words = ["type", "vlan", "ifname", "v5", "dev", "eth1", "id", "5", "con-name", "v 5"];
    let vlan = nmcli.add(&[&words[..], &["master", "bond0", "slave-type", "bond"]].concat()).unwrap();
    let import = import(&[bond, vlan.clone()]).unwrap();
    let commands: Vec<&str> = import.disable.iter().filter_map(|of| of.command.as_deref()).collect();
    let command = commands.iter().find(|command| command.contains("connection.master")).unwrap();
    // Offline there is one profile, that of standard input.
    let arguments: Vec<String> = words_of(command);
    let rest: Vec<&str> = arguments[4..].iter().map(String::as_str).collect();
    let left = nmcli.run(&[&["--offline", "connection", "modify"], &rest[..]].concat(), &vlan).unwrap();
    assert!(vlan.contains("master=bond0") && !left.contains("master="), "{command}\n{left}");
    assert!(left.contains("[vlan]") && left.contains("parent=eth1"), "{left}");
}

/// The words of a command as a shell parts them.
fn words_of(command: &str) -> Vec<String> {
    let output = Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}
