//! The lab's side of its agents: starts them, speaks to them, ends them.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use nicteam_sys::process;

use crate::Error;
use crate::lab_id::LabId;
use crate::protocol::{AgentSample, Done, Message, PROTOCOL, Request};

/// How long an agent may take for one answer. Generous: it guards against a
/// dead agent, not against a slow machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// What agents report unasked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Report {
    /// A node's counters.
    Sample(String, AgentSample),
    /// Something happened to a node's team.
    Event(String, String),
    /// A node could not do something and goes on.
    Trouble(String, String),
    /// A node's agent has ended.
    Ended(String),
}

/// An agent in a network namespace of its own; it ends with this value.
#[derive(Debug)]
pub(crate) struct Agent {
    node: String,
    child: Child,
    stdin: ChildStdin,
    answers: mpsc::Receiver<Message>,
}

impl Agent {
    /// Starts an agent. Its reports go to `reports`. Call from the thread that
    /// lives as long as the lab: the agent is killed when it ends.
    pub(crate) fn start(binary: &Path, node: &str, reports: mpsc::Sender<Report>) -> Result<Agent, Error> {
        let mut command = Command::new(binary);
        command.args(["agent", "--node", node, "--lab", &LabId::own().to_string()]);
        // Out of the terminal's process group: Ctrl-C is for the lab, which ends its agents itself.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        process::die_with_parent(&mut command);
        process::in_new_netns(&mut command);
        let started = |source| nicteam_sys::Error::new(format!("start the agent of {node}"), source);
        let mut child = command.spawn().map_err(started)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let (answer, answers) = mpsc::channel();
        let listener = Listener { node: node.to_owned(), answer, reports };
        std::thread::Builder::new()
            .name(format!("agent {node}"))
            .spawn(move || listener.listen(BufReader::new(stdout)))
            .map_err(started)?;
        Ok(Agent { node: node.to_owned(), child, stdin, answers })
    }

    /// Host or switch it works on.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it speaks the same protocol.
    pub(crate) fn greet(&self) -> Result<(), Error> {
        match self.receive()? {
            Message::Hello { protocol: PROTOCOL, nicteam } if nicteam == env!("CARGO_PKG_VERSION") => Ok(()),
            other => {
                let own = env!("CARGO_PKG_VERSION");
                Err(self.failed(format!("is not of nicteam {own} with protocol {PROTOCOL}: {other:?}")))
            }
        }
    }

    /// Sends a request; [`Agent::finish`] waits for its answer.
    pub(crate) fn begin(&mut self, request: &Request) -> Result<(), Error> {
        let mut line = serde_json::to_vec(request).expect("a request has string keys only");
        line.push(b'\n');
        self.stdin.write_all(&line).map_err(|error| self.failed(format!("does not listen: {error}")))
    }

    /// Waits for the answer to the oldest unanswered request.
    pub(crate) fn finish(&self) -> Result<Done, Error> {
        match self.receive()? {
            Message::Done(done) => Ok(done),
            Message::Failed { error } => Err(self.failed(error)),
            other => Err(self.failed(format!("said {other:?} where an answer was due"))),
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn call(&mut self, request: &Request) -> Result<Done, Error> {
        self.begin(request)?;
        self.finish()
    }

    /// Ends it, without waiting for its end. Everything it made lives in its
    /// namespace and goes with it, so there is nothing to ask it for.
    pub(crate) fn kill(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
    }

    /// The next thing it says that is no report.
    fn receive(&self) -> Result<Message, Error> {
        let start = Instant::now();
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(self.failed("has ended".to_owned())),
                Err(RecvTimeoutError::Timeout) if process::termination().is_some() => {
                    return Err(self.failed("was not waited for".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() < ANSWER_TIMEOUT => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.failed("does not answer".to_owned())),
            }
        }
    }

    /// An error of this agent.
    fn failed(&self, message: String) -> Error {
        Error::Agent { node: self.node.clone(), message }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.kill();
        // As above.
        let _ = self.child.wait();
    }
}

/// Sorts what an agent says.
struct Listener {
    node: String,
    answer: mpsc::Sender<Message>,
    reports: mpsc::Sender<Report>,
}

impl Listener {
    /// Until the agent's output ends or nobody listens any more.
    fn listen(self, output: impl BufRead) {
        for line in output.lines().map_while(Result::ok) {
            let message = serde_json::from_str(&line)
                .unwrap_or_else(|error| Message::Failed { error: format!("said `{line}`: {error}") });
            let heard = match message {
                Message::Sample(sample) => self.reports.send(Report::Sample(self.node.clone(), sample)).is_ok(),
                Message::Event { text } => self.reports.send(Report::Event(self.node.clone(), text)).is_ok(),
                Message::Trouble { text } => self.reports.send(Report::Trouble(self.node.clone(), text)).is_ok(),
                other => self.answer.send(other).is_ok(),
            };
            if !heard {
                return;
            }
        }
        // Nobody listens any more if the lab has ended it itself.
        let _ = self.reports.send(Report::Ended(self.node));
    }
}
