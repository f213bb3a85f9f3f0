//! `program`: what the user has, each client and server in a PID namespace of its own.
//!
//! Nothing is known of such a program but its sockets: those of all processes in its namespace, in the kernel's own
//! words (`sock_diag`). They are asked about at each interval; what a connection carried between the last answer and
//! its end is not known.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_netlink::inet_diag::TcpSockets;
use nicteam_record::measure::Counted;
use nicteam_record::{self as record, Connection, ConnectionSample};
use nicteam_sys::pid_namespace;
use serde::Deserialize;

use super::kind::{self, Kind};
use super::route::choose_congestion;
use super::running::Running;
use crate::error::Failure;
use crate::lock;
use crate::protocol::{ConnectionSpec, FlowSample, Outcomes, Role};
use crate::sockets::flow;

/// How long a server may take until it listens. Generous: it guards against one that never does.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The kind.
#[derive(Debug)]
pub(super) struct Program;

/// What both ends have to know ([`nicteam_experiment::Task::each`]).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    client: Vec<String>,
    server: Option<Vec<String>>,
    congestion: String,
}

impl Kind for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends::default())
    }

    /// Its connections are found, not planned: [`crate::flows`].
    fn figures(&self, _spec: &ConnectionSpec, _counted: &Counted<'_>, _connection: &mut Connection) {}
}

/// The programs at an agent.
#[derive(Debug, Default)]
struct Ends {
    running: Mutex<Vec<(Role, Arc<Running>)>>,
    /// Clients that wait for the start.
    waiting: Mutex<Vec<(u32, Vec<String>)>>,
    /// The last answer about each socket: a connection that ended keeps what it had.
    flows: Mutex<BTreeMap<(u32, SocketAddr, SocketAddr), FlowSample>>,
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        for spec in &connections {
            let each = Each::deserialize(&spec.each).map_err(|error| format!("no program: {error}"))?;
            let other = if role == Role::Server { spec.client } else { spec.server };
            choose_congestion(other.ip(), &each.congestion)?;
            match (role, each.server) {
                (Role::Server, Some(line)) => self.serve(spec, words(&line, spec))?,
                (Role::Server, None) => {}
                (Role::Client, _) => lock(&self.waiting).push((spec.index, words(&each.client, spec))),
            }
        }
        Ok(())
    }

    fn start(&self) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (index, words) in waiting {
            lock(&self.running).push((Role::Client, Running::start(index, words)?));
        }
        Ok(())
    }

    /// A client whose server is gone would end by itself, and be told as one that failed.
    fn end_clients(&self) {
        self.end(|role| role == Role::Client);
    }

    fn clients_run(&self) -> bool {
        lock(&self.running).iter().any(|(role, program)| *role == Role::Client && !program.has_ended())
    }

    fn stop(&self) {
        self.end(|_| true);
    }

    fn ask(&self) {
        let running = lock(&self.running).clone();
        if running.is_empty() {
            // The kernel goes through the sockets of all namespaces for the list.
            return;
        }
        // A kernel that does not answer has said so when the server was waited for.
        let Ok(sockets) = TcpSockets::open().and_then(|mut sockets| sockets.list()) else { return };
        for (_, program) in running {
            let own = pid_namespace::sockets(&program.processes());
            for socket in sockets.iter().filter(|socket| !socket.listens && own.contains(&socket.inode)) {
                let flow = flow(program.index(), socket);
                lock(&self.flows).insert((flow.program, flow.local, flow.remote), flow);
            }
        }
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        Vec::new()
    }

    fn flows(&self) -> Vec<FlowSample> {
        lock(&self.flows).values().cloned().collect()
    }

    fn outcomes(&self) -> Outcomes {
        let programs = lock(&self.running).iter().map(|(_, program)| program.outcome()).collect();
        Outcomes { programs, ..Outcomes::default() }
    }
}

impl Ends {
    /// Ends the programs of some roles: all at once; then each is waited for.
    fn end(&self, is_meant: impl Fn(Role) -> bool) {
        let running = lock(&self.running).clone();
        let meant = || running.iter().filter(|(role, _)| is_meant(*role)).map(|(_, program)| program);
        meant().for_each(|program| program.ask_to_end());
        meant().for_each(|program| program.end());
    }

    /// Starts a server and waits until it listens.
    fn serve(&self, spec: &ConnectionSpec, words: Vec<String>) -> Result<(), Failure> {
        let server = Running::start(spec.index, words)?;
        lock(&self.running).push((Role::Server, Arc::clone(&server)));
        let mut sockets = TcpSockets::open()?;
        let begun = Instant::now();
        loop {
            let own = pid_namespace::sockets(&server.processes());
            let is_it = |inode, local: SocketAddr| local.port() == spec.server.port() && own.contains(&inode);
            if sockets.list()?.iter().any(|socket| socket.listens && is_it(socket.inode, socket.local)) {
                return Ok(());
            }
            let what = match begun.elapsed() > LISTEN_TIMEOUT {
                _ if server.has_ended() => "has ended before a client came",
                true => "does not listen",
                false => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            let record::Program { command, last_lines, .. } = server.outcome();
            let said = if last_lines.is_empty() { String::new() } else { format!(": {}", last_lines.join(" | ")) };
            let hint = "a server is to stay in the foreground and to listen on {port}";
            let (command, port) = (command.join(" "), spec.server.port());
            return Err(format!("`{command}` {what} (TCP port {port}){said}; hint: {hint}").into());
        }
    }
}

/// A command line with what a run knows in place of what stands for it.
fn words(line: &[String], spec: &ConnectionSpec) -> Vec<String> {
    let known = [
        ("{address}", spec.server.ip().to_string()),
        ("{port}", spec.server.port().to_string()),
        ("{data_port}", (spec.server.port() + 1).to_string()),
        ("{client_port}", spec.client.port().to_string()),
    ];
    let fill = |word: &String| known.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value));
    line.iter().map(fill).collect()
}
