//! A team of engine `nicteam` in a process of its own, which faults can stop, kill and crowd.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nicteam_daemon::control::Client;
use nicteam_daemon::{Happened, PersistedTeam, TeamSpec, TeamStatus};
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::lock;
use nicteam_node::protocol::ProcessAct;
use nicteam_record::EventKind;
use nicteam_sys::{process, sched};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The process of a team; it ends with this value.
#[derive(Debug)]
pub(super) struct TeamProcess {
    name: String,
    /// The team, as the process reads it.
    text: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None: it was killed.
    child: Option<Child>,
    is_stopped: bool,
    /// The last that was heard of the team: a process that does not run says nothing.
    status: TeamStatus,
    crowd: Option<Crowd>,
}

impl TeamProcess {
    /// Starts one, and waits until the team's first plan is in force.
    pub(super) fn start(spec: &TeamSpec, output: &Output) -> Result<TeamProcess, Failure> {
        let text = serde_json::to_string(&PersistedTeam::of(spec, None))?;
        let child = begin(&spec.name, &text, output)?;
        let status = Client::watch(&spec.name)?.status()?;
        let state = State { child: Some(child), is_stopped: false, status, crowd: None };
        Ok(TeamProcess { name: spec.name.clone(), text, state: Mutex::new(state) })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What executes the team.
    pub(super) fn dataplane(&self) -> String {
        lock(&self.state).status.dataplane.clone()
    }

    /// Takes the team down.
    pub(super) fn remove(self) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        // Whatever else is done to it is over when the node has no power.
        state.is_stopped = false;
        state.signal(Signal::SIGCONT)?;
        Client::connect(&self.name)?.remove()?;
        state.end();
        Ok(())
    }

    /// Its number, while it is there.
    pub(super) fn pid(&self) -> Option<u32> {
        lock(&self.state).child.as_ref().map(Child::id)
    }

    /// How the team is, or was when its process last ran.
    pub(super) fn status(&self) -> Result<TeamStatus, Failure> {
        // A process must not be stopped while it is asked: the answer would not come.
        let mut state = lock(&self.state);
        if state.child.is_some() && !state.is_stopped {
            state.status = Client::watch(&self.name)?.status()?;
        }
        Ok(state.status.clone())
    }

    /// Does something to it.
    pub(super) fn act(&self, act: ProcessAct, output: &Output) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        match act {
            ProcessAct::Start if state.child.is_none() => state.child = Some(begin(&self.name, &self.text, output)?),
            ProcessAct::Start => {}
            ProcessAct::Relieve => {
                state.crowd = None;
                if let Some(child) = &state.child {
                    sched::keep_process_to(child.id(), None)?;
                }
            }
            // Another fault has killed it, and there is nothing to do this to.
            _ if state.child.is_none() => {}
            ProcessAct::Stop | ProcessAct::Continue => {
                state.is_stopped = act == ProcessAct::Stop;
                state.signal(if state.is_stopped { Signal::SIGSTOP } else { Signal::SIGCONT })?;
            }
            ProcessAct::Kill => state.end(),
            ProcessAct::Crowd => {
                if let Some(child) = &state.child {
                    sched::keep_process_to(child.id(), Some(0))?;
                }
                state.crowd = Some(Crowd::begin(0)?);
            }
        }
        Ok(())
    }
}

impl State {
    fn signal(&self, signal: Signal) -> Result<(), Failure> {
        let child = self.child.as_ref().ok_or("the process was killed")?;
        Ok(kill(Pid::from_raw(child.id().cast_signed()), signal)?)
    }

    /// Kills the process, which may be stopped.
    fn end(&mut self) {
        self.is_stopped = false;
        if let Some(mut child) = self.child.take() {
            // Both fail only if it has ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for TeamProcess {
    fn drop(&mut self) {
        lock(&self.state).end();
    }
}

/// Starts the process of a team, or one that takes the team over, and waits until the team begins.
fn begin(name: &str, text: &str, output: &Output) -> Result<Child, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["team", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    process::die_with_parent(&mut command);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes())?;
    }
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    if !line.contains("\"running\"") {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("the process of {name} did not begin: {}", line.trim()).into());
    }
    let (name, output) = (name.to_owned(), output.clone());
    let events = Client::watch(&name)?.follow()?;
    // It ends with the process.
    std::thread::Builder::new().name("events".to_owned()).spawn(move || {
        for entry in events.map_while(Result::ok) {
            let member = match &entry.happened {
                Happened::Plan { .. } | Happened::Started { taken_over: false } => continue,
                Happened::Member { member, .. } => Some(member.clone()),
                _ => None,
            };
            output.notice(EventKind::Team, Some(&name), member.as_deref(), format!("{name}: {}", entry.happened));
        }
    })?;
    Ok(child)
}

/// A thread that computes on one processor until it is dropped.
#[derive(Debug)]
struct Crowd {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Crowd {
    fn begin(processor: usize) -> Result<Crowd, Failure> {
        let stop: Arc<AtomicBool> = Arc::default();
        let stopped = Arc::clone(&stop);
        let compute = move || {
            // Where it may not choose, it runs where the scheduler puts it.
            let _ = sched::keep_to(processor);
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let thread = std::thread::Builder::new().name("busy".to_owned()).spawn(compute)?;
        Ok(Crowd { stop, thread: Some(thread) })
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It does not panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
