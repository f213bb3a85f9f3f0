//! The lab's side of its agents: starts them, speaks to them, ends them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use nicteam_node::Error;
use nicteam_node::clock;
use nicteam_node::protocol::{AgentSample, Done, Hello, Message, Notice, PROTOCOL, Request};
use nicteam_remote::connection::{Connection, Words};
use nicteam_sys::process;

use super::terms::Report;
use crate::lab_id::LabId;

/// How long an agent may take for one answer. Generous: it guards against one
/// that hangs, not against a slow machine, which may have to read and sum gigabytes.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// How often an agent with another clock is asked for the time.
const CLOCK_EXCHANGES: u32 = 8;

/// An agent in a network namespace of its own, here or on another machine; it ends with this value.
#[derive(Debug)]
pub(crate) struct Agent {
    node: String,
    connection: Connection,
    answers: mpsc::Receiver<Message>,
    /// By how much its clock is ahead of ours, nanoseconds.
    ahead_ns: Arc<AtomicI64>,
    /// By how much that may be wrong, nanoseconds.
    clock_error_ns: u64,
}

impl Agent {
    /// Starts an agent. Its reports go to `reports`. Call from the thread that
    /// lives as long as the lab: the agent is killed when it ends.
    pub(crate) fn start(binary: &Path, node: &str, reports: mpsc::Sender<Report>) -> Result<Agent, Error> {
        let mut command = Command::new(binary);
        command.args(["agent", "--node", node, "--lab", &LabId::own().to_string()]);
        process::in_new_netns(&mut command);
        Agent::over(command, false, node, reports)
    }

    /// Starts a process that speaks as an agent: here, or on another machine, where [`Agent::send`] is to send the program.
    pub(crate) fn over(
        command: Command,
        is_remote: bool,
        node: &str,
        reports: mpsc::Sender<Report>,
    ) -> Result<Agent, Error> {
        let started = |source| nicteam_sys::Error::new(format!("start the agent of {node}"), source);
        let (connection, stdout) = Connection::start(command, is_remote).map_err(started)?;
        let (answer, answers) = mpsc::channel();
        let ahead_ns = Arc::<AtomicI64>::default();
        let words = connection.words().cloned();
        let listener = Listener { node: node.to_owned(), answer, reports, ahead_ns: Arc::clone(&ahead_ns), words };
        std::thread::Builder::new()
            .name(format!("agent {node}"))
            .spawn(move || listener.listen(BufReader::new(stdout)))
            .map_err(started)?;
        Ok(Agent { node: node.to_owned(), connection, answers, ahead_ns, clock_error_ns: 0 })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.connection.pid()
    }

    /// Waits until it speaks, and finds out how its clock differs.
    pub(crate) fn greet(&mut self) -> Result<(), Error> {
        let own = env!("CARGO_PKG_VERSION");
        let boot_id = match self.receive()? {
            Message::Hello(Hello { protocol: PROTOCOL, nicteam, boot_id }) if nicteam == own => boot_id,
            other => return Err(self.failed(format!("is not of nicteam {own} with protocol {PROTOCOL}: {other:?}"))),
        };
        let is_remote = self.connection.words().is_some();
        if is_remote || boot_id.is_empty() || boot_id != clock::boot_id() {
            let (took_ns, ahead_ns) = self.measure_clock()?;
            self.ahead_ns.store(ahead_ns, Ordering::Relaxed);
            self.clock_error_ns = took_ns / 2;
        }
        if is_remote {
            self.connection.give_signs();
        }
        Ok(())
    }

    /// By how much times of this agent may be wrong.
    pub(crate) fn clock_error_ns(&self) -> u64 {
        self.clock_error_ns
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&self, bytes: &[u8]) -> Result<(), Error> {
        self.connection.send(bytes).map_err(|error| self.failed(format!("does not listen: {error}")))
    }

    /// By how much its clock is ahead of ours: what it says, less the middle of the quickest of some exchanges.
    /// Before it, how long that exchange took, nanoseconds.
    fn measure_clock(&mut self) -> Result<(u64, i64), Error> {
        let mut quickest: Option<(u64, i64)> = None;
        for _ in 0..CLOCK_EXCHANGES {
            let asked_ns = clock::monotonic_ns();
            let done = self.call(&Request::Clock)?;
            let answered_ns = clock::monotonic_ns();
            let Some(theirs_ns) = done.clock_ns else { return Err(self.failed("does not tell the time".to_owned())) };
            let (took_ns, middle_ns) = (answered_ns - asked_ns, asked_ns.midpoint(answered_ns));
            let ahead_ns = theirs_ns.wrapping_sub(middle_ns).cast_signed();
            if quickest.is_none_or(|(shortest_ns, _)| took_ns < shortest_ns) {
                quickest = Some((took_ns, ahead_ns));
            }
        }
        Ok(quickest.unwrap_or_default())
    }

    /// Sends a request; [`Agent::finish`] waits for its answer.
    pub(crate) fn begin(&mut self, request: &Request) -> Result<(), Error> {
        let mut line = serde_json::to_vec(request).expect("a request has string keys only");
        line.push(b'\n');
        self.send(&line)
    }

    /// Waits for the answer to the oldest unanswered request.
    pub(crate) fn finish(&self) -> Result<Done, Error> {
        match self.receive()? {
            Message::Done(done) => Ok(*done),
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
        self.connection.end();
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
        let message = self.connection.words().map_or(message.clone(), |words| words.told(&message));
        Error::Agent { node: self.node.clone(), message }
    }
}

/// Sorts what an agent says.
struct Listener {
    node: String,
    answer: mpsc::Sender<Message>,
    reports: mpsc::Sender<Report>,
    ahead_ns: Arc<AtomicI64>,
    /// Of another machine.
    words: Option<Words>,
}

impl Listener {
    /// Until the agent's output ends or nobody listens any more.
    fn listen(self, output: impl BufRead) {
        for line in output.lines().map_while(Result::ok) {
            let message = serde_json::from_str(&line)
                .unwrap_or_else(|error| Message::Failed { error: format!("said `{line}`: {error}") });
            let heard = match message {
                Message::Sample(sample) => {
                    let sample = AgentSample { at_ns: self.ours_ns(sample.at_ns), ..sample };
                    self.reports.send(Report::Sample(self.node.clone(), sample)).is_ok()
                }
                Message::Notice(notice) => {
                    let notice = Notice { at_ns: self.ours_ns(notice.at_ns), ..notice };
                    self.reports.send(Report::Notice(self.node.clone(), notice)).is_ok()
                }
                Message::Lost { error } => self.reports.send(Report::Lost(self.node.clone(), error)).is_ok(),
                other => self.answer.send(other).is_ok(),
            };
            if !heard {
                return;
            }
        }
        let said = self.words.and_then(|words| words.told_if_any("has ended in the middle of a run"));
        let last = match said {
            Some(said) => Report::Lost(self.node, said),
            None => Report::Ended(self.node),
        };
        // Nobody listens any more if the lab has ended it itself.
        let _ = self.reports.send(last);
    }

    /// A moment of the agent's clock by ours.
    fn ours_ns(&self, theirs_ns: u64) -> u64 {
        theirs_ns.saturating_add_signed(self.ahead_ns.load(Ordering::Relaxed).saturating_neg())
    }
}

/// The agents of a topology, by node.
#[derive(Debug, Default)]
pub(crate) struct Agents(BTreeMap<String, Agent>);

impl Agents {
    /// Takes one in.
    pub(crate) fn add(&mut self, agent: Agent) {
        self.0.insert(agent.node.clone(), agent);
    }

    /// Waits until all speak.
    pub(crate) fn greet(&mut self) -> Result<(), Error> {
        self.0.values_mut().try_for_each(Agent::greet)
    }

    /// The agent of a node.
    pub(crate) fn of(&mut self, node: &str) -> Result<&mut Agent, Error> {
        let absent = || Error::Agent { node: node.to_owned(), message: "is not in the topology".to_owned() };
        self.0.get_mut(node).ok_or_else(absent)
    }

    /// Every node, with its process.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(node, agent)| (node.as_str(), agent.pid()))
    }

    /// Asks every node at once, then waits for every answer.
    pub(crate) fn call_all(&mut self, request: &Request) -> Result<Vec<(String, Done)>, Error> {
        let requests: Vec<_> = self.0.keys().map(|node| (node.clone(), request.clone())).collect();
        self.call_each(requests)
    }

    /// Asks each of these nodes something of its own, all at once, then waits for every answer.
    pub(crate) fn call_each(&mut self, requests: Vec<(String, Request)>) -> Result<Vec<(String, Done)>, Error> {
        requests.iter().try_for_each(|(node, request)| self.of(node)?.begin(request))?;
        let answer = |(node, _): (String, Request)| {
            let done = self.of(&node)?.finish()?;
            Ok((node, done))
        };
        requests.into_iter().map(answer).collect()
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        // All at once: each then waits for its own end, which takes the kernel a while.
        self.0.values_mut().for_each(Agent::kill);
    }
}
