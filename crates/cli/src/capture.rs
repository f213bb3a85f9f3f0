//! `nicteam capture`: the frames of a team, each with the member that was chosen for it and why.

mod bundle;

use std::path::PathBuf;

use nicteam_capture::{Capture, Error, Filter, Output};
use nicteam_sys::capabilities::{self, Capability};
use nicteam_sys::signals::Signals;
use nix::sys::signal::Signal;

use crate::failure::Failure;
use crate::say;

/// Capture the frames of a team or of a kernel bond, with the reason for each choice of a member.
///
/// With -w it writes pcapng, which Wireshark, tshark and tcpdump read: one interface for the team's device and one for each
/// member, the direction of each frame, and a comment with the chosen member and the rule that chose it. Without -w it
/// prints a line for each frame. It ends with Ctrl-C, after -c frames, or with the team. docs/capture.md describes it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam capture team0 -c 20\n  nicteam capture team0 -w team0.pcapng tcp port 5001\n  nicteam capture team0 -w - | tshark -r - -T fields -e frame.interface_name -e frame.comment"
)]
pub(crate) struct Args {
    /// The team, or a bond of the kernel's.
    team: String,
    /// Write pcapng to this file; `-` is standard output.
    #[arg(short = 'w', value_name = "FILE")]
    write: Option<PathBuf>,
    /// End after so many frames.
    #[arg(short = 'c', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Which frames: a filter as tcpdump takes it (pcap-filter(7)). tcpdump has to be installed.
    #[arg(trailing_var_arg = true)]
    filter: Vec<String>,
}

/// Captures.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Before anything else starts a thread, and before there is something to lose.
    let signals = Signals::catch(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let team = nicteam_daemon::control::meant(&args.team);
    let mut source = bundle::Source::open(&team)?;
    if !capabilities::is_effective(Capability::NET_RAW) {
        let failure = Failure::missing("a capture needs the capability CAP_NET_RAW");
        return Err(failure.hint(Some("run this as root (sudo)")));
    }
    let bundle = source.look()?;
    let filter = Filter::compile(&args.filter.join(" "), &bundle.device.name).map_err(failure)?;
    let output = match &args.write {
        Some(path) => Output::open(path).map_err(failure)?,
        None => Output::text(),
    };
    let members: Vec<&str> = bundle.members.iter().map(|member| member.name.as_str()).collect();
    say::line(format_args!(
        "nicteam: capturing on {} and {}; Ctrl-C ends it",
        say::visible(&bundle.device.name),
        say::visible(members.join(", "))
    ));
    let mut capture = match Capture::begin(bundle, filter, output, args.count, &signals) {
        Err(error) if reader_has_enough(&error) => return Ok(()),
        begun => begun.map_err(failure)?,
    };
    let captured = match capture.run(|| source.look().ok()) {
        Err(error) if reader_has_enough(&error) => return Ok(()),
        captured => captured.map_err(failure)?,
    };
    say::line(format_args!("nicteam: {} frames captured", captured.frames));
    match captured.lost.is_empty() {
        true => say::line("nicteam: 0 frames lost"),
        false => captured.lost.iter().for_each(|lost| {
            say::line(format_args!(
                "nicteam: {} frames lost on {}: they came faster than they were written",
                lost.frames,
                say::visible(&lost.device)
            ));
        }),
    }
    Ok(())
}

/// The reader of a pipe may leave at any time.
fn reader_has_enough(error: &Error) -> bool {
    matches!(error, Error::Write { error, .. } if error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Write { ref error, .. } if error.kind() == std::io::ErrorKind::Interrupted => {
            Failure::interrupted("stopped by a signal while the reader of standard output read nothing")
        }
        Error::NoCompiler => Failure::missing(error),
        Error::Filter { .. } | Error::Create { .. } => Failure::wrong_input(error),
        Error::System(_) | Error::Write { .. } | Error::Compiler(_) => Failure::failed(error),
    }
}
