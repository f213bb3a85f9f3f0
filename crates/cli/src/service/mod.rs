//! `nicteam service`: what a service manager calls. People use `systemctl`; docs/service.md says how.

mod generator;
mod of_file;
mod reload;
mod run;
mod stop;
mod watch;

use std::process::ExitCode;

use nicteam_host::service::Error;

use crate::failure::Failure;
use crate::say;

/// What systemd calls for the teams of `/etc/nicteam`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Reload(reload::Reload),
    Stop(stop::Stop),
    Generator(generator::Generator),
}

/// Carries a command out.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Run(args) => return run::run(args),
        Command::Reload(args) => reload::run(args),
        Command::Stop(args) => stop::run(args),
        Command::Generator(args) => {
            generator::run(args);
            Ok(())
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Host(error) => Failure::failed(error),
            Error::Wrong(diagnostics) => diagnostics.into(),
            other => Failure::wrong_input(say::visible(other)),
        }
    }
}
