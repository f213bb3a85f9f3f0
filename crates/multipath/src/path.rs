//! One path: its session, what it has outstanding, and what a lost session may still execute.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::measure::Measure;
use crate::{Kind, PathId, PathState};

/// A range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub lba: u64,
    pub blocks: u32,
}

impl Range {
    pub(crate) fn overlaps(self, other: Range) -> bool {
        let end = |range: Range| range.lba.saturating_add(u64::from(range.blocks));
        self.blocks > 0 && other.blocks > 0 && self.lba < end(other) && other.lba < end(self)
    }
}

/// A command of a request that is not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    pub request: u64,
    pub kind: Kind,
    pub range: Range,
    pub bytes: u64,
    pub sent: Duration,
}

/// Writes of a session that was lost before they were answered: they may still be executed.
#[derive(Clone, Debug)]
pub(crate) struct Unfenced {
    pub writes: Vec<Range>,
    pub since: Duration,
}

/// What a path's session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// There is none; the next login is due then.
    None { log_in_at: Duration },
    /// It is being opened.
    Opening(Opening),
    /// It carries commands.
    Up { since: Duration, suspect: bool },
}

/// A session that does not carry commands yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The path with the portal that is used.
    pub via: PathId,
    pub step: Step,
    /// Until then this step has to be done.
    pub deadline: Option<Duration>,
}

/// Steps of opening a session, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The login.
    LogIn,
    /// Waits until no command is outstanding, for the reset.
    Quiesce,
    /// The reset.
    Reset { command: u64 },
    /// TEST UNIT READY until it is answered by GOOD.
    Test { command: u64, tries: u32 },
    /// The next one comes then.
    Pause { until: Duration, tries: u32 },
}

/// A path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub session: Session,
    /// Of its own interface; true until an input says otherwise.
    pub carrier: bool,
    pub commands: BTreeMap<u64, Command>,
    pub unfenced: Option<Unfenced>,
    /// The last sign of life.
    pub heard: Duration,
    /// A NOP-Out without an answer, and when it was sent.
    pub nop: Option<(u64, Duration)>,
    /// The pause before the next login.
    pub backoff: Duration,
    /// Attempts to fence, that failed in a row.
    pub fence_tries: usize,
    pub measure: Measure,
    /// Commands that this session answered.
    answers: u64,
    outstanding_bytes: u64,
    pub counters: Counters,
}

/// What a path did, over all its sessions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Commands of requests that were executed.
    pub ios: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// From sending to the answer, summed up.
    pub answer_time: Duration,
    /// Sessions that were lost.
    pub deaths: u32,
}

impl Path {
    pub(crate) fn new(now: Duration, backoff: Duration) -> Path {
        Path {
            session: Session::None { log_in_at: now },
            carrier: true,
            commands: BTreeMap::new(),
            unfenced: None,
            heard: now,
            nop: None,
            backoff,
            fence_tries: 0,
            measure: Measure::default(),
            answers: 0,
            outstanding_bytes: 0,
            counters: Counters::default(),
        }
    }

    /// True if commands may be sent.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self.session, Session::Up { suspect: false, .. })
    }

    /// True if it has a session that carries commands, though it may be suspect.
    pub(crate) fn has_session(&self) -> bool {
        matches!(self.session, Session::Up { .. })
    }

    /// The session that is being opened.
    pub(crate) fn opening(&self) -> Option<Opening> {
        match self.session {
            Session::Opening(opening) => Some(opening),
            _ => None,
        }
    }

    /// Commands outstanding.
    pub(crate) fn outstanding(&self) -> usize {
        self.commands.len()
    }

    /// Their bytes.
    pub(crate) fn outstanding_bytes(&self) -> u64 {
        self.outstanding_bytes
    }

    pub(crate) fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Commands that this session has answered.
    pub(crate) fn answers(&self) -> u64 {
        self.answers
    }

    /// The state that is shown of path `id`, which this is.
    pub(crate) fn state(&self, id: PathId) -> PathState {
        match self.session {
            Session::None { .. } => PathState::Dead,
            Session::Opening(opening) if opening.via == id => PathState::LoggingIn,
            Session::Opening(_) => PathState::Fencing,
            Session::Up { suspect: true, .. } => PathState::Suspect,
            Session::Up { suspect: false, .. } => PathState::Up,
        }
    }

    /// A request's command goes out.
    pub(crate) fn send(&mut self, command: u64, sent: Command) {
        self.measure.sent(sent.kind, sent.bytes, sent.sent);
        self.outstanding_bytes += sent.bytes;
        self.commands.insert(command, sent);
    }

    /// A request's command was answered; `good`: it was executed.
    pub(crate) fn answer(&mut self, command: u64, good: bool, now: Duration) -> Option<Command> {
        let sent = self.commands.remove(&command)?;
        self.measure.answered(sent.kind, sent.bytes, sent.sent, good, now);
        self.outstanding_bytes = self.outstanding_bytes.saturating_sub(sent.bytes);
        self.answers += 1;
        if good {
            self.counters.ios += 1;
            self.counters.answer_time += now.saturating_sub(sent.sent);
            match sent.kind {
                Kind::Read => self.counters.read_bytes += sent.bytes,
                Kind::Write => self.counters.written_bytes += sent.bytes,
                Kind::Flush => {}
            }
        }
        Some(sent)
    }

    /// The session is over: what it had outstanding. From now on its writes are unfenced.
    pub(crate) fn lose(&mut self, now: Duration) -> Vec<Command> {
        let commands: Vec<Command> = std::mem::take(&mut self.commands).into_values().collect();
        let writes = commands.iter().filter(|command| command.kind == Kind::Write).map(|command| command.range);
        let mut writes = writes.peekable();
        if writes.peek().is_some() {
            self.unfenced.get_or_insert_with(|| Unfenced { writes: Vec::new(), since: now }).writes.extend(writes);
        }
        self.measure = Measure::default();
        self.answers = 0;
        self.outstanding_bytes = 0;
        self.nop = None;
        commands
    }

    /// True if a write that may still be executed overlaps this range.
    pub(crate) fn threatens(&self, range: Range) -> bool {
        self.unfenced.as_ref().is_some_and(|lost| lost.writes.iter().any(|write| write.overlaps(range)))
    }
}
