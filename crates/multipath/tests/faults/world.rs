//! A caller, two or more paths and a target whose every step is somebody's choice: what is delivered, what is executed,
//! what breaks, and when time passes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use nicteam_multipath::{Config, Effect, Kind, Multipath, Outcome, PathId, Request, TimerReason};

use super::checks::Checks;

/// What a target does that another one would not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manners {
    /// Commands that are executed already when their session is reinstated are executed to the end.
    pub executes_to_the_end: bool,
    /// Each portal is a portal group of its own: a login through another one reinstates nothing.
    pub portal_groups: bool,
    /// Commands that a reset aborts get no answer.
    pub aborts_in_silence: bool,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The oldest message of a connection reaches the target.
    Arrive(usize),
    /// A queued command begins to be executed.
    Start(u64),
    /// A command is executed.
    Execute(u64),
    /// The oldest answer of a connection reaches the initiator.
    Answer(usize),
    /// The initiator's end of a path's connection breaks; the target does not know.
    Break(usize),
    /// Time passes to the next deadline.
    Time,
    /// The target restarts: all connections are gone.
    Restart,
    /// The carrier of a path's own interface changes.
    Carrier(usize),
}

#[derive(Clone, Copy, Debug)]
enum Message {
    LogIn,
    Command { command: u64, request: Request },
    Ask { command: u64 },
    Reset { command: u64 },
}

#[derive(Clone, Debug)]
enum Answer {
    LoggedIn,
    /// Of a read with what it found.
    Done {
        command: u64,
        outcome: Outcome,
        found: Vec<Option<u64>>,
    },
    Closed,
}

#[derive(Clone, Debug)]
struct Connection {
    path: usize,
    via: usize,
    to_target: VecDeque<Message>,
    to_initiator: VecDeque<Answer>,
    /// Closed by the initiator: nothing that comes is taken in.
    closed_here: bool,
    closed_there: bool,
    /// The next command meets a UNIT ATTENTION.
    attention: bool,
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    connection: usize,
    command: u64,
    request: Request,
    started: bool,
}

/// The world.
#[derive(Clone, Debug)]
pub struct World {
    pub multipath: Multipath,
    manners: Manners,
    pub now: Duration,
    connections: Vec<Connection>,
    /// Which connection is a path's, as the initiator sees it.
    current: Vec<Option<usize>>,
    queue: Vec<Queued>,
    reset: Option<(usize, u64)>,
    medium: BTreeMap<u64, u64>,
    pub checks: Checks,
    requests: BTreeMap<u64, Request>,
    carrier: Vec<bool>,
    /// What a busy target does to the next commands.
    pub trouble: VecDeque<Outcome>,
    /// So many steps of these kinds are left.
    pub may_break: u32,
    /// Time may pass until requests have waited too long.
    pub gives_up: bool,
}

impl World {
    pub fn new(config: Config, paths: usize, manners: Manners) -> World {
        let mut world = World {
            multipath: Multipath::new(config, paths, Duration::ZERO),
            manners,
            now: Duration::ZERO,
            connections: Vec::new(),
            current: vec![None; paths],
            queue: Vec::new(),
            reset: None,
            medium: BTreeMap::new(),
            checks: Checks::default(),
            requests: BTreeMap::new(),
            carrier: vec![true; paths],
            trouble: VecDeque::new(),
            may_break: 0,
            gives_up: false,
        };
        world.drain();
        world
    }

    pub fn submit(&mut self, request: Request) {
        self.requests.insert(request.id, request);
        self.checks.submitted(request);
        self.multipath.submit(request, self.now).unwrap();
        self.drain();
    }

    /// Everything that could happen next.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = self.deliveries();
        for path in (0..self.current.len()).filter(|_| self.may_break > 0) {
            if self.current[path].is_some() {
                steps.push(Step::Break(path));
            }
            steps.push(Step::Carrier(path));
        }
        if self.may_break > 0 {
            steps.push(Step::Restart);
        }
        let due = self.multipath.poll_timeout();
        if due.is_some_and(|(_, reason)| self.gives_up || reason != TimerReason::NoPath) {
            steps.push(Step::Time);
        }
        steps
    }

    /// What happens as long as nothing is slow.
    pub fn deliveries(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (id, connection) in self.connections.iter().enumerate() {
            if !connection.to_target.is_empty() {
                steps.push(Step::Arrive(id));
            }
            if !connection.to_initiator.is_empty() && !connection.closed_here {
                steps.push(Step::Answer(id));
            }
        }
        for queued in &self.queue {
            steps.push(if queued.started { Step::Execute(queued.command) } else { Step::Start(queued.command) });
        }
        steps
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Arrive(connection) => self.arrive(connection),
            Step::Start(command) => {
                let queued = self.queue.iter_mut().find(|queued| queued.command == command);
                queued.expect("a queued command").started = true;
            }
            Step::Execute(command) => self.execute(command),
            Step::Answer(connection) => self.answer(connection),
            Step::Break(path) => {
                self.may_break = self.may_break.saturating_sub(1);
                self.close_here(path);
                self.multipath.handle_broken(PathId(path), "broken", self.now);
            }
            Step::Time => {
                let (at, _) = self.multipath.poll_timeout().expect("a deadline");
                self.now = self.now.max(at);
                self.multipath.handle_timeout(self.now);
            }
            Step::Restart => {
                self.may_break = self.may_break.saturating_sub(1);
                (0..self.connections.len()).for_each(|id| self.close_there(id, true));
                self.queue.clear();
                self.reset = None;
            }
            Step::Carrier(path) => {
                self.may_break = self.may_break.saturating_sub(1);
                self.set_carrier(path, !self.carrier[path]);
            }
        }
        self.drain();
    }

    /// Every path has carrier.
    pub fn heal(&mut self) {
        for path in 0..self.carrier.len() {
            self.set_carrier(path, true);
            self.drain();
        }
    }

    fn set_carrier(&mut self, path: usize, carrier: bool) {
        self.carrier[path] = carrier;
        self.multipath.handle_carrier(PathId(path), carrier, self.now);
    }

    /// What the initiator does: the executor.
    fn drain(&mut self) {
        while let Some(effect) = self.multipath.poll_effect() {
            match effect {
                Effect::LogIn { path, via } => {
                    assert_eq!(self.current[path.0], None, "{path} has a connection already");
                    self.current[path.0] = Some(self.connections.len());
                    self.connections.push(Connection {
                        path: path.0,
                        via: via.0,
                        to_target: [Message::LogIn].into(),
                        to_initiator: VecDeque::new(),
                        closed_here: false,
                        closed_there: false,
                        attention: true,
                    });
                }
                Effect::Drop { path } => self.close_here(path.0),
                Effect::Send { path, command, request } => {
                    let request = self.requests[&request];
                    self.checks.sent(request, command);
                    self.put(path, Message::Command { command, request });
                }
                Effect::Nop { path, command } | Effect::TestUnitReady { path, command } => {
                    self.put(path, Message::Ask { command });
                }
                Effect::LunReset { path, command } => self.put(path, Message::Reset { command }),
                Effect::Finish { request, result } => self.checks.finished(request, &result),
                Effect::Notice(_) => {}
            }
        }
    }

    fn put(&mut self, path: PathId, message: Message) {
        let connection = self.current[path.0].expect("a command by a path without a connection");
        self.connections[connection].to_target.push_back(message);
    }

    /// What is on its way to the target goes on.
    fn close_here(&mut self, path: usize) {
        let connection = self.current[path].take().expect("a path without a connection is closed");
        self.connections[connection].closed_here = true;
    }

    /// What reaches the target from now on is for nobody.
    fn close_there(&mut self, id: usize, aborts_all: bool) {
        let connection = &mut self.connections[id];
        if std::mem::replace(&mut connection.closed_there, true) {
            return;
        }
        connection.to_initiator.push_back(Answer::Closed);
        let goes_on = self.manners.executes_to_the_end && !aborts_all;
        self.queue.retain(|queued| queued.connection != id || goes_on && queued.started);
        self.reset.take_if(|(connection, _)| *connection == id);
    }

    fn arrive(&mut self, id: usize) {
        let message = self.connections[id].to_target.pop_front().expect("a message");
        if self.connections[id].closed_there {
            self.checks.lost += u64::from(matches!(message, Message::Command { .. }));
            return;
        }
        match message {
            Message::LogIn => {
                let (path, via) = (self.connections[id].path, self.connections[id].via);
                for old in 0..self.connections.len() {
                    let same = self.connections[old].path == path
                        && (!self.manners.portal_groups || self.connections[old].via == via);
                    // One whose login has not arrived is none.
                    let is_session = !matches!(self.connections[old].to_target.front(), Some(Message::LogIn));
                    if old != id && same && is_session {
                        self.close_there(old, false);
                    }
                }
                self.connections[id].to_initiator.push_back(Answer::LoggedIn);
            }
            Message::Ask { command } => {
                let attention = std::mem::take(&mut self.connections[id].attention);
                let outcome = if attention { Outcome::UnitAttention { asc: 0x29, ascq: 7 } } else { Outcome::Good };
                self.reply(id, command, outcome, Vec::new());
            }
            Message::Command { command, request } => match self.trouble.pop_front() {
                Some(outcome) => self.reply(id, command, outcome, Vec::new()),
                None => self.queue.push(Queued { connection: id, command, request, started: false }),
            },
            Message::Reset { command } => self.reset_lun(id, command),
        }
    }

    fn reset_lun(&mut self, id: usize, command: u64) {
        let (kept, aborted) = self.queue.iter().partition(|queued| queued.started);
        self.queue = kept;
        let aborted: Vec<Queued> = aborted;
        if !self.manners.aborts_in_silence {
            for queued in aborted {
                self.reply(queued.connection, queued.command, Outcome::Aborted, Vec::new());
            }
        }
        self.connections.iter_mut().for_each(|connection| connection.attention = true);
        self.reset = Some((id, command));
        self.answer_reset();
    }

    /// A reset is complete when nothing is executed any more.
    fn answer_reset(&mut self) {
        if !self.queue.iter().any(|queued| queued.started)
            && let Some((id, command)) = self.reset.take()
        {
            self.reply(id, command, Outcome::Good, Vec::new());
        }
    }

    fn execute(&mut self, command: u64) {
        let index = self.queue.iter().position(|queued| queued.command == command).expect("a command");
        let Queued { connection, request, .. } = self.queue.remove(index);
        let blocks = request.lba..request.lba + u64::from(request.blocks);
        if self.connections[connection].closed_here {
            self.checks.late += u64::from(request.kind == Kind::Write);
        }
        let mut found = Vec::new();
        match request.kind {
            Kind::Write => {
                self.checks.executed(request, &self.medium);
                self.medium.extend(blocks.map(|block| (block, request.id)));
            }
            Kind::Read => found.extend(blocks.map(|block| self.medium.get(&block).copied())),
            Kind::Flush => {}
        }
        self.reply(connection, command, Outcome::Good, found);
        self.answer_reset();
    }

    fn reply(&mut self, id: usize, command: u64, outcome: Outcome, found: Vec<Option<u64>>) {
        if !self.connections[id].closed_there {
            self.connections[id].to_initiator.push_back(Answer::Done { command, outcome, found });
        }
    }

    fn answer(&mut self, id: usize) {
        let path = self.connections[id].path;
        let Some(answer) = self.connections[id].to_initiator.pop_front() else { return };
        match answer {
            Answer::LoggedIn => self.multipath.handle_logged_in(PathId(path), self.now),
            Answer::Done { command, outcome, found } => {
                self.checks.answered(command, &found);
                self.multipath.handle_done(PathId(path), command, outcome, self.now);
            }
            Answer::Closed => {
                self.close_here(path);
                self.multipath.handle_broken(PathId(path), "closed by the target", self.now);
            }
        }
    }
}
