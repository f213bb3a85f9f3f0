//! A process that is spoken to over its standard input: here, or by `ssh` on another machine.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::process;

use crate::{shell, trouble};

/// What `ssh` says comes by another pipe than its end, and may come so much later.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long another machine may take to give everything back.
const GIVE_BACK: Duration = Duration::from_secs(15);

/// A process; it ends with this value.
#[derive(Debug)]
pub struct Connection {
    child: Child,
    /// None once it is to end.
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    words: Option<Words>,
}

/// What `ssh`, and what it started, said up to now.
#[derive(Clone, Debug, Default)]
pub struct Words(Arc<(Mutex<Said>, Condvar)>);

#[derive(Debug, Default)]
struct Said {
    text: String,
    /// Nothing more will come.
    is_over: bool,
}

impl Connection {
    /// Starts a process; the second is its standard output. It is killed when the thread ends that calls.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut command: Command, is_remote: bool) -> io::Result<(Connection, ChildStdout)> {
        // Out of the terminal's process group: Ctrl-C is for the lab, which ends its agents itself.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        if is_remote {
            command.stderr(Stdio::piped());
        }
        process::die_with_parent(&mut command);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let words = child.stderr.take().map(|stderr| {
            let words = Words::default();
            let heard = words.clone();
            thread::spawn(move || heard.hear(stderr));
            words
        });
        Ok((Connection { child, stdin: Arc::new(Mutex::new(Some(stdin))), words }, stdout))
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Of another machine: what was said.
    pub fn words(&self) -> Option<&Words> {
        self.words.as_ref()
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        locked(&self.stdin).as_mut().map_or(Ok(()), |stdin| stdin.write_all(bytes))
    }

    /// From now on tells the keeper of another machine again and again that the lab is there.
    pub fn give_signs(&self) {
        let stdin = Arc::clone(&self.stdin);
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_secs(shell::SIGN_S));
                match locked(&stdin).as_mut().map(|stdin| stdin.write_all(b"\n")) {
                    Some(Ok(())) => {}
                    _ => return,
                }
            }
        });
    }

    /// Lets it end, and waits for that. Its exit code; none after a signal.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn finish(mut self) -> io::Result<Option<i32>> {
        *locked(&self.stdin) = None;
        Ok(self.child.wait()?.code())
    }

    /// Lets it end, without waiting for that. On another machine its keeper gives everything back first.
    pub fn end(&mut self) {
        *locked(&self.stdin) = None;
        if self.words.is_none() {
            // Fails only if it has ended already.
            let _ = self.child.kill();
        }
    }
}

/// What is started instead of `ssh`, with its arguments: the environment variable `NICTEAM_SSH`.
pub fn program() -> Option<String> {
    std::env::var("NICTEAM_SSH").ok().filter(|words| !words.trim().is_empty())
}

/// What a machine answers to a script; none of it is for a keeper.
///
/// # Errors
/// In words: `ssh` cannot be started, or failed.
pub fn ask(program: Option<&str>, destination: &str, script: &str) -> Result<String, String> {
    let words = shell::command(program, destination, script);
    let output = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot start `{}`: {error}", words[0]))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(trouble::told(&format!("ssh to {destination} failed"), &text(&output.stderr))),
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
        let start = Instant::now();
        while self.words.is_some() && matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < GIVE_BACK {
            thread::sleep(Duration::from_millis(10));
        }
        // As above.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Words {
    /// What happened, with what was said of it and what to do.
    pub fn told(&self, what: &str) -> String {
        trouble::told(what, &self.said())
    }

    /// The same, if anything was said.
    pub fn told_if_any(&self, what: &str) -> Option<String> {
        let said = self.said();
        (!said.trim().is_empty()).then(|| trouble::told(what, &said))
    }

    /// All of it, once nothing more comes, or after a moment.
    pub fn said(&self) -> String {
        let (said, news) = &*self.0;
        let waited = news.wait_timeout_while(locked(said), LAST_WORDS, |said| !said.is_over);
        waited.map_or_else(|poisoned| poisoned.into_inner().0.text.clone(), |(said, _)| said.text.clone())
    }

    /// Takes in what is said, until the end.
    fn hear(&self, mut stderr: ChildStderr) {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut bytes) {
            locked(&self.0.0).text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        locked(&self.0.0).is_over = true;
        self.0.1.notify_all();
    }
}

/// What a thread that panicked had locked is as whole as before.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;

    use super::*;

    #[test]
    fn what_cannot_be_asked_is_named() {
        assert_eq!(ask(Some("echo"), "a", "x").unwrap().lines().count(), 1);
        assert!(ask(Some("no-such-program"), "a", "").unwrap_err().starts_with("cannot start `no-such-program`: "));
        assert_eq!(ask(Some("false"), "a", "").unwrap_err(), "ssh to a failed");
    }

    #[test]
    fn a_remote_process_ends_by_itself_and_its_words_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo 'No space left on device' >&2"]);
        let (mut connection, stdout) = Connection::start(command, true).unwrap();
        connection.send(b"one\n").unwrap();
        let mut heard = String::new();
        io::BufReader::new(stdout).read_line(&mut heard).unwrap();
        assert_eq!(heard, "one\n");
        let words = connection.words().unwrap().clone();
        assert_eq!(words.told_if_any("it ended"), None);
        connection.end();
        drop(connection);
        let told = words.told("it ended");
        assert!(told.starts_with("it ended: No space left on device; hint: make room"), "{told}");
    }
}
