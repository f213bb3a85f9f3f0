//! A command of this program on another machine: the program is copied there, executed, and nothing of it stays.

use std::fs;
use std::io::{self, Read};
use std::process::{ChildStdout, Command};

use crate::connection::{self, Connection};
use crate::shell::{self, Program};
use crate::trouble;

/// What `ssh` ends with if it fails itself, and a shell that finds no program.
const OF_SSH: [i32; 3] = [255, 126, 127];

/// A command that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub output: String,
    /// Its standard error, without control characters, in one line.
    pub said: String,
}

/// This program, as it runs.
///
/// # Errors
/// It cannot be read.
pub fn myself() -> io::Result<Program> {
    // By its name, it may have been replaced meanwhile.
    Ok(Program::of(fs::read("/proc/self/exe")?))
}

/// Copies the program to the machine and starts it with these words; the second is its standard output. It becomes root where
/// the login can.
///
/// # Errors
/// In words: the machine cannot be reached, or cannot execute the program.
pub fn start(destination: &str, program: &Program, words: &[String]) -> Result<(Connection, ChildStdout), String> {
    let ssh = connection::program();
    let words = shell::command(ssh.as_deref(), destination, &shell::once(program, words));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    let started = Connection::start(command, true);
    let (connection, stdout) = started.map_err(|error| format!("cannot start `{}`: {error}", words[0]))?;
    match connection.send(&program.bytes) {
        Ok(()) => Ok((connection, stdout)),
        Err(_) => Err(told(&connection, destination)),
    }
}

/// The same, and waits for its end.
///
/// # Errors
/// In words, as [`start`]; an exit code that the program chose is none.
pub fn run(destination: &str, program: &Program, words: &[String]) -> Result<Ended, String> {
    let (connection, mut stdout) = start(destination, program, words)?;
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes).map_err(|error| format!("{destination}: {error}"))?;
    let heard = connection.words().cloned().unwrap_or_default().said();
    match connection.finish() {
        Ok(Some(code)) if !OF_SSH.contains(&code) => {
            let output = String::from_utf8_lossy(&bytes).into_owned();
            Ok(Ended { code, output, said: trouble::clean(&heard).join("; ") })
        }
        _ => Err(trouble::told(&cannot(destination), &heard)),
    }
}

/// What is said of a command that is not there any more.
pub fn told(connection: &Connection, destination: &str) -> String {
    connection.words().map_or_else(|| cannot(destination), |words| words.told(&cannot(destination)))
}

fn cannot(destination: &str) -> String {
    format!("the command could not be executed on {destination}")
}
