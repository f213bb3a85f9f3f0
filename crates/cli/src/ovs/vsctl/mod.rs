//! `nicteam ovs vsctl`.

mod bonds;
mod here;
mod step;
mod steps;
mod undo;

use std::process::ExitCode;

use nicteam_vsctl::{self as ovs_vsctl, Done, Error, ErrorKind, Warning};

use crate::failure::Failure;
use crate::say;
use here::Here;

/// Carry out a line of ovs-vsctl: bridges, ports, bonds. No Open vSwitch is needed.
///
/// A bridge is one of the kernel's, a bond a team (`nicteam team`) that is a port of it. Several commands are joined by
/// `--`, and all or none are carried out.
///
/// Commands: [--may-exist] add-br BRIDGE | [--if-exists] del-br BRIDGE | list-br | br-exists BRIDGE |
/// [--may-exist] add-port BRIDGE PORT [SETTING]... | [--if-exists] [--with-iface] del-port [BRIDGE] PORT |
/// list-ports BRIDGE | list-ifaces BRIDGE | port-to-br PORT | iface-to-br INTERFACE |
/// [--may-exist] add-bond BRIDGE PORT INTERFACE INTERFACE... [SETTING]... | [--may-exist] add-bond-iface BOND INTERFACE |
/// [--if-exists] del-bond-iface [BOND] INTERFACE | [--if-exists] set TABLE RECORD SETTING... | show | init
///
/// A SETTING is COLUMN=VALUE or COLUMN:KEY=VALUE: bond_mode=balance-slb, lacp=active, other_config:lacp-time=fast.
///
/// Options ahead of the commands: --dry-run, --oneline; --no-wait, --no-syslog, --retry and --timeout=SECONDS are taken
/// and change nothing: nothing is waited for.
///
/// Exit codes, as of ovs-vsctl: 0 done; 1 it cannot be done, and nothing was; 2 br-exists found no such bridge. 130: stopped by a
/// signal, and nothing was done.
#[derive(Debug, clap::Args)]
pub(crate) struct Vsctl {
    /// The words of the line.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    words: Vec<String>,
}

/// Carries a line out.
pub(super) fn vsctl(args: &Vsctl) -> Result<ExitCode, Failure> {
    let words = &args.words;
    let line = ovs_vsctl::parse(words).map_err(|error| refused(&error, error.hint(), words))?;
    let here = Here::look()?;
    let done = here.switch.apply(&line).map_err(|error| refused(&error, hint(&here, &error), words))?;
    if done.is_missing {
        return Ok(ExitCode::from(2));
    }
    if !line.dry_run {
        // 2 is `br-exists`'s alone.
        steps::carry_out(here, &done.steps).map_err(|failure| match failure.number() {
            2 => failure.with_number(1),
            _ => failure,
        })?;
    }
    done.warnings.iter().for_each(warn);
    print(&done, line.one_line)?;
    Ok(ExitCode::SUCCESS)
}

/// A line that is wrong, in the real one's words, with a mark at the word.
fn refused(error: &Error, hint: Option<String>, words: &[String]) -> Failure {
    let pointed = error.pointed(words);
    let marked: Vec<String> = pointed.lines().map(|line| format!("  {line}")).collect();
    Failure::failed(say::visible(format_args!("{error}\n{}", marked.join("\n")))).hint(hint.map(say::visible))
}

fn hint(here: &Here, error: &Error) -> Option<String> {
    match &error.kind {
        ErrorKind::NoBridge(name) if here.is_other_bridge(name) => {
            Some(format!("{name} is a bridge of the kernel's that `add-br` did not make; it is left alone"))
        }
        _ => here.switch.hint(error),
    }
}

fn warn(warning: &Warning) {
    say::line(format_args!("warning: {}", say::visible(&warning.text)));
    if let Some(hint) = &warning.hint {
        say::line(format_args!("hint: {}", say::visible(hint)));
    }
}

fn print(done: &Done, one_line: bool) -> Result<(), Failure> {
    done.output.iter().try_for_each(|text| match one_line {
        // As `oneline_print` writes it.
        true => say::data(text.trim_end_matches('\n').replace('\\', "\\\\").replace('\n', "\\n") + "\n"),
        false => say::data(text),
    })
}
