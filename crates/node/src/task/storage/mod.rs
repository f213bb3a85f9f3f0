//! Tasks over storage: a thread each, which opens the disk and uses it until it is done or the run is over.

mod counters;
mod course;
mod disk;
mod ends;
mod medium;
mod nfs;
mod open;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use nicteam_experiment::Storage;
use nicteam_netlink::inet_diag::{TcpSocket, TcpSockets};
use nicteam_record::ConnectionSample;

use super::kind;
use super::route::choose_congestion;
use crate::error::Failure;
use crate::lock;
use crate::protocol::{ConnectionSpec, FlowSample, Notice, Outcomes, Role, TaskSample};
use crate::sockets::flow;

pub(super) use counters::{Counters, Use};
pub(super) use course::{Course, Measured, Stalls, trouble};

pub(super) use medium::Medium;

/// What a task does with its disk.
pub(super) trait Job: Send {
    /// Uses the disk, from when [`Course`] lets it until it is done or the run is over; what there is to record.
    fn run(&mut self, medium: &mut dyn Medium, course: &Course) -> Outcomes;

    /// What is left to be done when the disk is closed, and takes its time: sums.
    fn finish(&mut self, _outcomes: &mut Outcomes) {}
}

/// A task of a kind: the disk that it uses, and what it does with it.
pub(super) type Read = fn(&ConnectionSpec) -> Result<(Storage, Box<dyn Job>), Failure>;

/// The tasks of one kind at an agent.
pub(super) struct Ends {
    read: Read,
    tasks: Mutex<Vec<Arc<Running>>>,
    /// Own and other addresses of paths, and the congestion control of their connections.
    routes: Mutex<Vec<(IpAddr, String)>>,
    /// The last answer about each socket: a connection that ended keeps what it had.
    flows: Mutex<BTreeMap<(u32, SocketAddr, SocketAddr), FlowSample>>,
}

/// A task that runs.
struct Running {
    index: u32,
    course: Arc<Course>,
    thread: Mutex<Option<JoinHandle<Outcomes>>>,
    left: Mutex<Outcomes>,
}

impl Ends {
    /// None yet.
    pub(super) fn new(read: Read) -> Ends {
        Ends { read, tasks: Mutex::default(), routes: Mutex::default(), flows: Mutex::default() }
    }

    /// Starts a task's thread, and waits until it has its disk.
    fn open(&self, spec: ConnectionSpec) -> Result<(), Failure> {
        let (storage, mut job) = (self.read)(&spec)?;
        let course = Arc::new(Course::new(spec.index));
        let of_thread = Arc::clone(&course);
        let (opened, open) = mpsc::channel();
        let index = spec.index;
        let thread = std::thread::Builder::new().name(format!("storage {index}")).spawn(move || {
            let mut medium = match open::open(&storage, &spec) {
                Ok(medium) => medium,
                Err(error) => {
                    // Nobody listens any more only where the agent has ended.
                    let _ = opened.send(Err(error));
                    return Outcomes::default();
                }
            };
            of_thread.uses(&*medium);
            let _ = opened.send(Ok(()));
            let mut outcomes = job.run(&mut *medium, &of_thread);
            of_thread.hear(&mut *medium);
            if let Err(error) = medium.close() {
                outcomes.notices.push(trouble(error.to_string()));
            }
            job.finish(&mut outcomes);
            outcomes
        })?;
        let answer = open.recv().map_err(|_| Failure::from("the thread of a storage task has ended"));
        answer.and_then(|answer| answer)?;
        let (thread, left) = (Mutex::new(Some(thread)), Mutex::default());
        lock(&self.tasks).push(Arc::new(Running { index, course, thread, left }));
        Ok(())
    }

    fn running(&self) -> Vec<Arc<Running>> {
        lock(&self.tasks).clone()
    }
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        for spec in connections {
            let (storage, _) = (self.read)(&spec)?;
            for (client, server) in ends_of_paths(&spec) {
                let other = if role == Role::Client { server } else { client };
                choose_congestion(other, &storage.congestion)?;
                lock(&self.routes).push((other, storage.congestion.clone()));
            }
            // What serves storage has been started before.
            if role == Role::Client {
                self.open(spec)?;
            }
        }
        Ok(())
    }

    fn start(&self) -> Result<(), Failure> {
        self.running().iter().for_each(|task| task.course.start());
        Ok(())
    }

    fn begin(&self, measured: Duration) {
        self.running().iter().for_each(|task| task.course.begin(measured));
    }

    fn stop(&self) {
        let running = self.running();
        running.iter().for_each(|task| task.course.stop());
        for task in running {
            if let Some(thread) = lock(&task.thread).take() {
                // A panic has been printed; then there is nothing to record.
                *lock(&task.left) = thread.join().unwrap_or_default();
            }
        }
    }

    fn device_is_up(&self) {
        for (other, congestion) in lock(&self.routes).iter() {
            // A device of another path may be down: its route comes back with it.
            let _ = choose_congestion(*other, congestion);
        }
    }

    fn ask(&self) {
        let running = self.running();
        if running.is_empty() {
            // The kernel goes through the sockets of all namespaces for the list.
            return;
        }
        // A kernel that does not answer has said so when a disk was opened.
        let Ok(sockets) = TcpSockets::open().and_then(|mut sockets| sockets.list()) else { return };
        for task in running {
            let ends: BTreeSet<(SocketAddr, SocketAddr)> = task.course.sockets().into_iter().collect();
            // One that is closed, and waits for what may still come, has no inode, and forgot what it counted.
            let is_open = |socket: &&TcpSocket| socket.inode != 0 && ends.contains(&(socket.local, socket.remote));
            for socket in sockets.iter().filter(is_open) {
                let flow = flow(task.index, socket);
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

    fn notices(&self) -> Vec<Notice> {
        self.running().iter().flat_map(|task| task.course.notices()).collect()
    }

    fn tasks(&self) -> Vec<TaskSample> {
        self.running().iter().filter_map(|task| task.course.progress()).collect()
    }

    fn outcomes(&self) -> Outcomes {
        let mut all = Outcomes::default();
        self.running().iter().for_each(|task| all.add(std::mem::take(&mut *lock(&task.left))));
        all
    }
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").field("tasks", &lock(&self.tasks).len()).finish_non_exhaustive()
    }
}

/// The addresses of both ends of each path, the client's first.
fn ends_of_paths(spec: &ConnectionSpec) -> Vec<(IpAddr, IpAddr)> {
    match &spec.paths[..] {
        [] => vec![(spec.client.ip(), spec.server.ip())],
        paths => paths.iter().map(|path| (path.client, path.server)).collect(),
    }
}
