//! Commands of this program on other machines, which are reached by `ssh`. Nothing of it stays there.

use std::io::{BufRead, BufReader, Lines};
use std::process::{ChildStdout, ExitCode};
use std::thread;

use nicteam_remote::connection::Connection;
use nicteam_remote::once::{self, Ended};
use nicteam_remote::shell::Program;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::say;

/// The machine that a command looks at.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// Look at this machine, which `ssh` takes: `root@node1`. The program is copied there, executed, and nothing of it stays.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
}

/// Executes a command on a machine, and prints what it prints. The exit code is the command's.
pub(crate) fn run(host: &str, words: &[String]) -> Result<ExitCode, Failure> {
    let Ended { code, output, said } = once::run(host, &myself()?, words).map_err(Failure::failed)?;
    if !said.is_empty() {
        say::line(format_args!("{host}: {said}"));
    }
    say::data(say::visible(output))?;
    Ok(exit_code(code))
}

/// The same on several machines at once, each under its name. The exit code is the highest.
pub(crate) fn run_on_each(hosts: &[String], words: &[String], as_json: bool) -> Result<ExitCode, Failure> {
    let program = &myself()?;
    let ended: Vec<Result<Ended, String>> = thread::scope(|scope| {
        let threads: Vec<_> = hosts.iter().map(|host| scope.spawn(move || once::run(host, program, words))).collect();
        let failed = |_| Err("it cannot be asked".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect()
    });
    let of_each = || hosts.iter().zip(&ended);
    match as_json {
        true => say::data(format_args!("{:#}\n", json!({ "hosts": of_each().map(found).collect::<Vec<_>>() })))?,
        false => say::data(of_each().map(text).collect::<Vec<_>>().join("\n"))?,
    }
    for (host, ended) in of_each() {
        match ended {
            Ok(ended) if ended.said.is_empty() => {}
            Ok(ended) => say::line(format_args!("{host}: {}", ended.said)),
            Err(error) => say::line(Failure::failed(error)),
        }
    }
    let code = |ended: &Result<Ended, String>| ended.as_ref().map_or(1, |ended| ended.code);
    Ok(exit_code(ended.iter().map(code).max().unwrap_or(0)))
}

fn text((host, ended): (&String, &Result<Ended, String>)) -> String {
    let output = ended.as_ref().map_or_else(|_| "it could not be asked\n".to_owned(), |it| say::visible(&it.output));
    format!("{host}\n{output}")
}

fn found((host, ended): (&String, &Result<Ended, String>)) -> Value {
    match ended {
        Err(error) => json!({ "host": host, "error": error }),
        Ok(ended) => match serde_json::from_str::<Value>(&ended.output) {
            Ok(found) => json!({ "host": host, "found": found }),
            Err(_) => json!({ "host": host, "error": ended.said }),
        },
    }
}

/// A command on another machine that answers each line with a line.
pub(crate) struct Asked {
    host: String,
    connection: Connection,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Asked {
    /// Starts it.
    pub(crate) fn start(host: &str, words: &[String]) -> Result<Asked, Failure> {
        let (connection, stdout) = once::start(host, &myself()?, words).map_err(Failure::failed)?;
        Ok(Asked { host: host.to_owned(), connection, answers: BufReader::new(stdout).lines() })
    }

    /// Its next answer, or in words why there is none.
    pub(crate) fn ask(&mut self) -> Result<String, String> {
        let told = |asked: &Asked| once::told(&asked.connection, &asked.host);
        if self.connection.send(b"\n").is_err() {
            return Err(told(self));
        }
        match self.answers.next() {
            Some(Ok(answer)) => Ok(answer),
            _ => Err(told(self)),
        }
    }
}

fn myself() -> Result<Program, Failure> {
    once::myself().map_err(|error| Failure::failed(format!("cannot read this program: {error}")))
}

fn exit_code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
