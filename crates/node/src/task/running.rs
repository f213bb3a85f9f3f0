//! A program that is not ours, while it runs.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_record::Program;
use nicteam_sys::{pid_namespace, process};

use crate::error::Failure;
use crate::lock;

/// How many of the last lines are kept.
const LINES: usize = 20;
/// The longest part of a line that is kept, bytes.
const LINE_BYTES: u64 = 500;
/// How long a program has to end by itself once it is asked to.
const PATIENCE: Duration = Duration::from_secs(1);

/// A program, and all that it starts; they end with this value, or with this process.
#[derive(Debug)]
pub(super) struct Running {
    index: u32,
    command: Vec<String>,
    started: Instant,
    child: Mutex<Child>,
    ended: Mutex<Option<Ended>>,
    lines: Arc<Mutex<VecDeque<String>>>,
    asked_to_end: Mutex<bool>,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    status: ExitStatus,
    after: Duration,
    by_run: bool,
}

impl Running {
    /// Starts it. Call from the thread that lives as long as the agent.
    pub(super) fn start(index: u32, command: Vec<String>) -> Result<Arc<Running>, Failure> {
        let [program, arguments @ ..] = command.as_slice() else { return Err("a command line without words".into()) };
        let (reader, writer) = std::io::pipe()?;
        let mut started = Command::new(program);
        started.args(arguments).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        process::die_with_parent(&mut started);
        pid_namespace::in_new_pid_namespace(&mut started);
        let child = started.spawn().map_err(|error| format!("cannot start `{program}`: {error}"))?;
        // What it holds of the pipe goes, so that the reader sees the end.
        drop(started);
        let lines = Arc::<Mutex<VecDeque<String>>>::default();
        let kept = Arc::clone(&lines);
        std::thread::Builder::new().name(format!("output {program}")).spawn(move || keep_lines(reader, &kept))?;
        Ok(Arc::new(Running {
            index,
            command,
            started: Instant::now(),
            child: Mutex::new(child),
            ended: Mutex::default(),
            lines,
            asked_to_end: Mutex::default(),
        }))
    }

    /// Its number in the run.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// It and all that it has started.
    pub(super) fn processes(&self) -> Vec<u32> {
        if self.has_ended() { Vec::new() } else { pid_namespace::processes(lock(&self.child).id()) }
    }

    /// Whether all of them have ended.
    pub(super) fn has_ended(&self) -> bool {
        let mut ended = lock(&self.ended);
        if ended.is_none()
            && let Ok(Some(status)) = lock(&self.child).try_wait()
        {
            *ended = Some(Ended { status, after: self.started.elapsed(), by_run: *lock(&self.asked_to_end) });
        }
        ended.is_some()
    }

    /// Asks it to end.
    pub(super) fn ask_to_end(&self) {
        if !self.has_ended() {
            *lock(&self.asked_to_end) = true;
            // Who cannot be asked is ended.
            let _ = pid_namespace::terminate(lock(&self.child).id());
        }
    }

    /// Waits for its end, and brings it about where it does not come.
    pub(super) fn end(&self) {
        let begun = Instant::now();
        while !self.has_ended() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut child = lock(&self.child);
        // Both fail only if it has ended already.
        let _ = child.kill();
        let _ = child.wait();
        drop(child);
        self.has_ended();
    }

    /// What there is to record of it; its workload and host are for the lab to name.
    pub(super) fn outcome(&self) -> Program {
        self.has_ended();
        let ended = *lock(&self.ended);
        Program {
            index: self.index,
            command: self.command.clone(),
            exit_code: ended.and_then(|ended| ended.status.code()),
            ended_by_run: ended.is_none_or(|ended| ended.by_run),
            took_ms: ended.map_or_else(|| self.started.elapsed(), |ended| ended.after).as_millis() as u64,
            last_lines: lock(&self.lines).iter().cloned().collect(),
            ..Program::default()
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // Both fail only if it has ended already.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Reads until all ends of the pipe are closed, and keeps the last lines, printable.
fn keep_lines(reader: PipeReader, kept: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text: String =
            String::from_utf8_lossy(&line).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.trim().is_empty() {
            continue;
        }
        let mut kept = lock(kept);
        if kept.len() == LINES {
            kept.pop_front();
        }
        kept.push_back(text.trim_end().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Option<Arc<Running>> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        match Running::start(3, command) {
            Err(error) if error.to_string().contains("Operation not permitted") => None,
            running => Some(running.unwrap()),
        }
    }

    #[test]
    fn what_it_wrote_last_and_how_it_ended_is_known() {
        let Some(program) = shell("for n in $(seq 30); do echo out $n; done; printf 'no \\033 end' >&2; exit 3") else {
            return;
        };
        while !program.has_ended() || !lock(&program.lines).back().is_some_and(|line| line.contains("end")) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let outcome = program.outcome();
        assert_eq!((outcome.index, outcome.exit_code, outcome.ended_by_run), (3, Some(3), false));
        assert!(outcome.failed());
        assert_eq!(outcome.last_lines.len(), LINES);
        assert_eq!(outcome.last_lines[LINES - 2..], ["out 30", "no   end"]);
    }

    #[test]
    fn one_that_stays_is_ended_and_has_not_failed() {
        let Some(program) = shell("trap '' TERM; sleep 1000 & echo there; wait") else { return };
        while lock(&program.lines).is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let all = program.processes();
        program.ask_to_end();
        program.end();
        assert!(program.outcome().ended_by_run && !program.outcome().failed());
        assert!(all.len() > 1 && program.processes().is_empty());
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let error = Running::start(0, vec!["no-such-program".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("cannot start `no-such-program`"), "{error}");
    }
}
