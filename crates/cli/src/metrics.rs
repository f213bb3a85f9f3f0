//! `nicteam metrics`: the bundles of this host for Prometheus.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nicteam_sys::signals::Signals;
use nicteam_watch::Watcher;
use nicteam_watch::metrics::http::{Look, Metrics, Server};
use nicteam_watch::metrics::{Exporter, Format, collect, encode, textfile};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::failure::Failure;
use crate::{say, value};

/// Say how the bundles of this host are, for Prometheus.
///
/// Teams of nicteam, bonds of the kernel, bonds of Open vSwitch, teams of teamd: members, speeds, LACP, traffic, failures.
/// It needs no privileges; a member of the group `nicteam` sees root's teams. docs/metrics.md names every metric.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("to").required(true).args(["listen", "textfile"]),
    after_help = "Examples:\n  nicteam metrics --listen 127.0.0.1:9733\n  nicteam metrics --textfile /var/lib/prometheus/node-exporter"
)]
pub(crate) struct Args {
    /// Serve GET /metrics over HTTP at this address.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Write DIR/nicteam.prom, for the textfile collector of node_exporter.
    #[arg(long, value_name = "DIR")]
    textfile: Option<PathBuf>,
    /// How often the file is written: 15s, 1m.
    #[arg(long, value_parser = value::duration, default_value = "15s", conflicts_with = "listen")]
    interval: Duration,
    /// Write the file once, and end.
    #[arg(long, conflicts_with = "listen")]
    once: bool,
}

/// Serves, or writes, until a signal comes.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Ahead of the first thread.
    let signals = Signals::catch(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    let mut watcher = Watcher::open()?;
    match (args.listen, &args.textfile) {
        (Some(address), _) => serve(address, watcher, &signals),
        (None, Some(folder)) => write(args, folder, &mut watcher, &signals),
        (None, None) => Err(Failure::wrong_input("nowhere to say it: give --listen or --textfile")),
    }
}

fn serve(address: SocketAddr, mut watcher: Watcher, signals: &Signals) -> Result<(), Failure> {
    let look: Look = Box::new(move || watcher.look().map_err(|error| error.to_string()));
    let mut server = Metrics::new(look).and_then(|metrics| Server::bind(address, metrics)).map_err(|error| {
        let failure = Failure::failed(format!("cannot listen at {address}: {error}"));
        failure.hint((error.kind() == std::io::ErrorKind::AddrInUse).then_some("`ss -ltnp` shows who listens there"))
    })?;
    let at = server.address().map_err(Failure::failed)?;
    say::line(format_args!("nicteam: metrics at http://{at}/metrics"));
    server.run(signals.as_fd()).map_err(Failure::failed)
}

fn write(args: &Args, folder: &Path, watcher: &mut Watcher, signals: &Signals) -> Result<(), Failure> {
    let exporter = Exporter { refused: 0, beside_node_exporter: true };
    loop {
        let text = encode(&collect(&watcher.look()?, &exporter), Format::Text);
        let done = textfile::write(folder, &text);
        let failed =
            |error| Failure::failed(format!("cannot write {}: {error}", folder.join(textfile::NAME).display()));
        match done {
            Err(error) if args.once => return Err(failed(error)),
            // A disk that is full now may not be later.
            Err(error) => say::line(failed(error)),
            Ok(()) if args.once => return Ok(()),
            Ok(()) => {}
        }
        let wait = PollTimeout::try_from(args.interval).unwrap_or(PollTimeout::MAX);
        let _ = poll(&mut [PollFd::new(signals.as_fd(), PollFlags::POLLIN)], wait);
        if signals.next()?.is_some() {
            // What nobody writes any more is not to be taken for how it is.
            let _ = std::fs::remove_file(folder.join(textfile::NAME));
            return Ok(());
        }
    }
}
