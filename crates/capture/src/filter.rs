//! Filters in tcpdump's language, compiled by tcpdump (`tcpdump -ddd`) for the kernel.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use nicteam_sys::sniff::Instruction;

use crate::error::Error;
use crate::pcapng::SNAPLEN;

/// The most instructions that the kernel takes (`BPF_MAXINSNS`).
const LONGEST: usize = 4096;

/// A compiled filter; the default lets every frame through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    text: Option<String>,
    program: Vec<Instruction>,
}

impl Filter {
    /// Compiles a filter for a device, which decides how tags are asked for. Runs `tcpdump`, in the caller's network namespace.
    ///
    /// # Errors
    /// There is no tcpdump; it does not understand the filter.
    pub fn compile(text: &str, device: &str) -> Result<Filter, Error> {
        if text.trim().is_empty() {
            return Ok(Filter::default());
        }
        let mut command = Command::new("tcpdump");
        let snaplen = SNAPLEN.to_string();
        // Behind `--` nothing of the filter is an option.
        command.args(["-i", device, "-p", "-s", &snaplen, "-ddd", "--", text]).stdin(Stdio::null());
        let output = command.output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::NoCompiler,
            _ => Error::Compiler(error.to_string()),
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            // The last line is the error; warnings come before it.
            let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
            let reason = last.trim_start_matches("tcpdump: ").to_owned();
            return Err(match said.contains(&format!("{device}:")) {
                true => Error::Compiler(reason),
                false => Error::Filter { filter: text.to_owned(), reason },
            });
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let program = read(&printed).ok_or_else(|| Error::Compiler("its output is no program".to_owned()))?;
        Ok(Filter { text: Some(text.to_owned()), program })
    }

    /// As the user wrote it; none: there is none.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// For the kernel; empty: every frame passes.
    pub fn program(&self) -> &[Instruction] {
        &self.program
    }
}

/// Reads what `tcpdump -ddd` prints: how many instructions, then one a line, four decimal numbers each.
pub fn read(printed: &str) -> Option<Vec<Instruction>> {
    let mut lines = printed.lines();
    let count: usize = lines.next()?.trim().parse().ok()?;
    let program: Vec<Instruction> = lines.map(instruction).collect::<Option<_>>()?;
    (program.len() == count && (1..=LONGEST).contains(&count)).then_some(program)
}

fn instruction(line: &str) -> Option<Instruction> {
    let mut numbers = line.split_whitespace();
    let read = Instruction {
        code: numbers.next()?.parse().ok()?,
        jt: numbers.next()?.parse().ok()?,
        jf: numbers.next()?.parse().ok()?,
        k: numbers.next()?.parse().ok()?,
    };
    numbers.next().is_none().then_some(read)
}
