//! `nicteam serve`: the bundles of a folder in a browser.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nicteam_serve::{Access, BadToken, Pages, SHORTEST_TOKEN};
use nicteam_sys::signals::Signals;
use nicteam_web::Server;
use nix::sys::signal::Signal;

use crate::failure::Failure;
use crate::say;

/// The longest file of a token, bytes.
const LONGEST_TOKEN: u64 = 1024;

/// Show the bundles of a folder in a browser: reports, comparisons, predictions.
///
/// Nothing can be changed there. The pages follow what `nicteam lab run` writes into the folder. docs/serve.md describes them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam serve results\n  nicteam serve --listen 192.0.2.1:8080 --token ~/.config/nicteam-token results"
)]
pub(crate) struct Args {
    /// The folder that holds the bundles.
    dir: PathBuf,
    /// Where to serve. Any address but a loopback one needs a token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// A file whose first line is the token that a browser must have; only its owner may read it.
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
}

/// Serves until a signal comes.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Ahead of the first thread.
    let signals = Signals::catch(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
    if !args.dir.is_dir() {
        let wrong = Failure::wrong_input(format!("{} is no folder", args.dir.display()));
        return Err(
            wrong.hint(Some("give the folder that holds the bundles of `nicteam lab run`, for example results"))
        );
    }
    let token = args.token.as_deref().map(token).transpose()?;
    let access = Access::new(args.listen, token.as_deref()).map_err(|bad| refused(args, bad))?;
    let pages = Pages::new(args.dir.clone(), access).map_err(Failure::failed)?;
    let mut server = Server::bind(args.listen, pages).map_err(|error| {
        let failure = Failure::failed(format!("cannot listen at {}: {error}", args.listen));
        failure.hint((error.kind() == std::io::ErrorKind::AddrInUse).then_some("`ss -ltnp` shows who listens there"))
    })?;
    let at = server.address().map_err(Failure::failed)?;
    say::line(format_args!("nicteam: the bundles of {} at http://{at}/", args.dir.display()));
    server.run(signals.as_fd()).map_err(Failure::failed)
}

fn refused(args: &Args, bad: BadToken) -> Failure {
    match bad {
        BadToken::Missing => {
            let wrong = Failure::wrong_input(format!("other hosts could reach {} without a token", args.listen));
            wrong.hint(Some("give --token FILE, or listen at 127.0.0.1 and use `ssh -L 8080:127.0.0.1:8080 HOST`"))
        }
        BadToken::Weak => {
            let wrong = "the token is too short, or has characters that are no plain ASCII";
            let hint = format!("at least {SHORTEST_TOKEN} characters: `openssl rand -hex 16 > FILE; chmod 600 FILE`");
            Failure::wrong_input(wrong).hint(Some(hint))
        }
    }
}

/// The first line of a file that only its owner can read.
fn token(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::wrong_input(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        let wrong = Failure::wrong_input(format!("other users can read the token in {}", path.display()));
        return Err(wrong.hint(Some(format!("chmod 600 {}", path.display()))));
    }
    let mut text = String::new();
    file.take(LONGEST_TOKEN).read_to_string(&mut text).map_err(failed)?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
