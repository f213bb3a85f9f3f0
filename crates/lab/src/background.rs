//! Programs of others that work for a node: children of its agent, watched while they run.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_sys::{pid_namespace, process};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// How long a program may take until it is of use: it guards against one that hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often that is looked at.
const PAUSE: Duration = Duration::from_millis(2);

/// A program that ends with this value, or with the agent.
#[derive(Debug)]
pub(crate) struct Background {
    program: &'static str,
    child: Child,
    /// It runs in a PID namespace of its own; the child waits for it.
    apart: bool,
    words: Words,
    /// Set before it is ended.
    is_over: Arc<AtomicBool>,
}

/// How a program is started.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// Its name.
    pub(crate) program: &'static str,
    /// Its command line and environment; its inputs and outputs are set here.
    pub(crate) command: Command,
    /// The file that gets what it writes to its standard outputs.
    pub(crate) output: PathBuf,
    /// Its log, and which of the lines there are worth to be told.
    pub(crate) log: Option<Log>,
    /// True: in a PID namespace of its own, for a program that changes its user, after which the kernel no longer ends it
    /// with its parent.
    pub(crate) apart: bool,
    /// Who is told if it ends unasked.
    pub(crate) tell: &'a Output,
}

/// A log.
#[derive(Clone)]
pub(crate) struct Log {
    /// The file.
    pub(crate) path: PathBuf,
    /// Whether a line is worth to be told.
    pub(crate) is_told: fn(&str) -> bool,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Log").field(&self.path).finish()
    }
}

/// Where a program's last words are.
#[derive(Clone, Debug)]
struct Words {
    log: Option<Log>,
    output: PathBuf,
}

impl Background {
    /// Starts it. Call from the thread that lives as long as the agent.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(start: Start<'_>) -> Result<Background, Failure> {
        let Start { program, mut command, output, log, apart, tell } = start;
        let file = File::create(&output)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        process::die_with_parent(&mut command);
        if apart {
            pid_namespace::in_new_pid_namespace(&mut command);
        }
        let child = command.spawn().map_err(|error| format!("start {program}: {error}"))?;
        let (is_over, words) = (Arc::<AtomicBool>::default(), Words { log, output });
        let background = Background { program, child, apart, words: words.clone(), is_over: Arc::clone(&is_over) };
        let (pid, tell) = (background.child.id(), tell.clone());
        std::thread::Builder::new().name(program.to_owned()).spawn(move || {
            // Left to be waited for, so that its number is not given again meanwhile.
            let ended = waitid(Id::Pid(Pid::from_raw(pid as i32)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
            if !is_over.load(Ordering::SeqCst) {
                tell.lost(died(
                    program,
                    ended.ok().map(|status| if apart { as_a_shell_has_it(status) } else { status }),
                    words.last(),
                ));
            }
        })?;
        Ok(background)
    }

    /// Its processes.
    pub(crate) fn processes(&self) -> Vec<u32> {
        if self.apart { pid_namespace::processes(self.child.id()) } else { vec![self.child.id()] }
    }

    /// The last of its words that are worth to be told.
    pub(crate) fn last_words(&self) -> Option<String> {
        self.words.last()
    }

    /// Waits until it is of use; `what` says what it does not do if it never is.
    ///
    /// # Errors
    /// It has ended, or takes too long: with its last words.
    pub(crate) fn until(&self, what: &str, mut is_ready: impl FnMut() -> bool) -> Result<(), Failure> {
        let begun = Instant::now();
        while !is_ready() {
            if let Some(status) = self.ended() {
                return Err(died(self.program, Some(status), self.last_words()).into());
            }
            if begun.elapsed() > PATIENCE {
                let words = told(self.last_words());
                return Err(format!("{} does not {what}; {words}", self.program).into());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Kills it, as a crash would, and waits until nothing of it is left.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn kill(&mut self) -> Result<(), Failure> {
        self.is_over.store(true, Ordering::SeqCst);
        for process in self.processes() {
            match kill(Pid::from_raw(process as i32), Signal::SIGKILL) {
                Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
                Err(error) => return Err(format!("kill {} (process {process}): {error}", self.program).into()),
            }
        }
        self.child.wait()?;
        Ok(())
    }

    /// How it ended, if it has.
    fn ended(&self) -> Option<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        match waitid(Id::Pid(Pid::from_raw(self.child.id() as i32)), flags) {
            Ok(status @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..))) if self.apart => {
                Some(as_a_shell_has_it(status))
            }
            Ok(status @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..))) => Some(status),
            _ => None,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Words {
    fn last(&self) -> Option<String> {
        let in_log = self.log.as_ref().and_then(|log| last_line_with(&log.path, log.is_told));
        in_log.or_else(|| last_line_with(&self.output, |line| !line.is_empty()))
    }
}

/// The status of one that waited for another: 128 and the number of a signal that ended that one.
fn as_a_shell_has_it(status: WaitStatus) -> WaitStatus {
    match status {
        WaitStatus::Exited(pid, code) if code > 128 => match Signal::try_from(code - 128) {
            Ok(signal) => WaitStatus::Signaled(pid, signal, false),
            Err(_) => status,
        },
        other => other,
    }
}

/// How a program ended, in words.
fn died(program: &str, status: Option<WaitStatus>, words: Option<String>) -> String {
    let how = match status {
        Some(WaitStatus::Signaled(_, signal, _)) => format!(" by {signal}"),
        Some(WaitStatus::Exited(_, code)) => format!(" with exit code {code}"),
        _ => String::new(),
    };
    format!("{program} has ended{how}; {}", told(words))
}

fn told(words: Option<String>) -> String {
    words.map_or_else(|| "it said nothing".to_owned(), |words| format!("the last that it said: {words}"))
}

/// The last such line of a file.
pub(crate) fn last_line_with(path: &Path, such: impl Fn(&str) -> bool) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().map(str::trim).find(|line| such(line)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_program_ended_is_said_with_its_last_words() {
        let pid = Pid::from_raw(7);
        let killed = WaitStatus::Signaled(pid, Signal::SIGKILL, false);
        let told = died("ovs-vswitchd", Some(killed), Some("bridge team0: added".to_owned()));
        assert_eq!(told, "ovs-vswitchd has ended by SIGKILL; the last that it said: bridge team0: added");
        let (own, waited) = (WaitStatus::Exited(pid, 1), as_a_shell_has_it(WaitStatus::Exited(pid, 137)));
        assert_eq!(died("tgtd", Some(own), None), "tgtd has ended with exit code 1; it said nothing");
        assert_eq!(died("rpcbind", Some(waited), None), "rpcbind has ended by SIGKILL; it said nothing");
    }
}
