//! Commands without an answer, and the memory that libiscsi holds for them.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::NonNull;

use crate::ffi::{self, Functions, Sense, Task};
use crate::{Buffer, Event, Outcome};

/// What a command is, as far as its answer differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A SCSI command without data that matters here, a NOP-Out, or a task management function.
    Plain,
    /// READ(16): all of the buffer, or it failed.
    Read,
    /// WRITE(16), the same.
    Write,
    /// READ CAPACITY(16).
    Capacity,
    /// The logout.
    Logout,
}

/// A buffer while libiscsi reads or writes it: a bare pointer, so that no other code may read it. Its memory is lost,
/// not freed, if it is never taken back.
#[derive(Debug)]
pub struct Lent(NonNull<[u8]>);

impl Lent {
    pub fn of(buffer: Buffer) -> Lent {
        Lent(NonNull::from(Box::leak(buffer.into_vec().into_boxed_slice())))
    }

    pub fn start(&self) -> *mut u8 {
        self.0.as_ptr().cast()
    }

    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// # Safety
    /// libiscsi uses the memory no more.
    pub unsafe fn back(self) -> Buffer {
        // SAFETY: comes from a box and is taken back once; no other code uses it, by the contract of the caller.
        Buffer::from(unsafe { Box::from_raw(self.0.as_ptr()) }.into_vec())
    }
}

/// A command that libiscsi has and has not answered.
#[derive(Debug)]
pub struct Command {
    pub tag: u64,
    pub kind: Kind,
    /// Null where there is none: a NOP-Out, a function, the logout.
    pub task: *mut Task,
    pub buffer: Option<Lent>,
}

impl Command {
    /// Frees what libiscsi had for it and makes its event.
    ///
    /// # Safety
    /// libiscsi has answered the command, never took it, or its context is destroyed: it uses task and buffer no more.
    pub unsafe fn done(self, functions: &Functions, outcome: Outcome) -> Event {
        let tag = self.tag;
        // SAFETY: by the caller.
        let buffer = unsafe { self.freed(functions) };
        Event::Done { tag, buffer, outcome }
    }

    /// Frees what libiscsi had for it; its buffer.
    ///
    /// # Safety
    /// As for [`Command::done`].
    unsafe fn freed(self, functions: &Functions) -> Option<Buffer> {
        if !self.task.is_null() {
            // SAFETY: made by libiscsi, freed once, used no more by the caller.
            unsafe { (functions.scsi_free_scsi_task)(self.task) };
        }
        // SAFETY: by the caller.
        self.buffer.map(|lent| unsafe { lent.back() })
    }

    /// What the answer means.
    ///
    /// # Safety
    /// libiscsi has just answered the command by this status.
    pub unsafe fn outcome(&self, functions: &Functions, status: c_int, response: Option<u8>, error: &str) -> Outcome {
        if let Some(code @ 1..) = response {
            return Outcome::FunctionRefused(code);
        }
        match status {
            ffi::GOOD | ffi::CONDITION_MET if self.task.is_null() => Outcome::Good,
            // SAFETY: there is a task, and it is answered.
            ffi::GOOD | ffi::CONDITION_MET => unsafe { self.good(functions) },
            // SAFETY: as above.
            ffi::CHECK_CONDITION if !self.task.is_null() => unsafe { self.sense(functions) },
            ffi::BUSY | ffi::TASK_SET_FULL => Outcome::Busy,
            ffi::RESERVATION_CONFLICT => Outcome::ReservationConflict,
            ffi::TASK_ABORTED => Outcome::Aborted("the target aborted it (status 40h)".to_owned()),
            ffi::ACA_ACTIVE => Outcome::Aborted("the target has an auto contingent allegiance (status 30h)".to_owned()),
            ffi::CANCELLED => Outcome::NoAnswer,
            _ => Outcome::Aborted(error.to_owned()),
        }
    }

    /// # Safety
    /// There is a task, answered as good.
    unsafe fn good(&self, functions: &Functions) -> Outcome {
        match self.kind {
            Kind::Read | Kind::Write => {
                // SAFETY: the task is libiscsi's, not freed yet, and begins as `Task` does (`ffi::layout`).
                let (kind, bytes) = unsafe { ((*self.task).residual_kind, (*self.task).residual_bytes) };
                if kind == 0 {
                    Outcome::Good
                } else {
                    Outcome::Aborted(format!("{bytes} bytes are missing or left over"))
                }
            }
            Kind::Capacity => {
                // SAFETY: the task is an answered READ CAPACITY(16): null or the structure, which the task owns.
                match unsafe { (functions.scsi_datain_unmarshall)(self.task).as_ref() } {
                    Some(size) if size.block_bytes > 0 => {
                        Outcome::Capacity { blocks: size.last_block.saturating_add(1), block_bytes: size.block_bytes }
                    }
                    _ => Outcome::Aborted("the answer to READ CAPACITY(16) is too short".to_owned()),
                }
            }
            Kind::Plain | Kind::Logout => Outcome::Good,
        }
    }

    /// # Safety
    /// There is a task, answered by CHECK CONDITION.
    unsafe fn sense(&self, functions: &Functions) -> Outcome {
        let mut sense = Sense::EMPTY;
        // SAFETY: the task is libiscsi's and not freed yet; `Sense` has more room than any release's structure.
        unsafe { (functions.scsi_task_get_status)(self.task, &raw mut sense) };
        let [.., asc, ascq] = sense.ascq.to_be_bytes();
        match u8::try_from(sense.key) {
            Ok(6) => Outcome::UnitAttention { asc, ascq },
            Ok(key) => Outcome::CheckCondition { key, asc, ascq },
            Err(_) => Outcome::Aborted(format!("sense key {}", sense.key)),
        }
    }
}

/// Commands without an answer, by their numbers, which rise.
#[derive(Debug, Default)]
pub struct Commands {
    outstanding: BTreeMap<u64, Command>,
    last: u64,
    deferred: Vec<Deferred>,
    /// Writes that are reported as done while libiscsi may still use their memory.
    kept: Vec<Kept>,
    /// Buffers of such writes that it uses no more.
    spare: Vec<Buffer>,
}

/// A write that was done, by its answer, while something was queued.
#[derive(Debug)]
struct Kept {
    /// No command has a greater number when it was answered.
    last: u64,
    command: Command,
}

/// Buffers that are kept for other writes.
const MOST_SPARE: usize = 64;

/// A write that was answered before all its data was sent.
#[derive(Debug)]
struct Deferred {
    /// No command has a greater number when it was answered.
    last: u64,
    command: Command,
    outcome: Outcome,
}

impl Commands {
    /// How many have no event yet.
    pub fn len(&self) -> usize {
        self.outstanding.len() + self.deferred.len()
    }

    /// Keeps a command; its number.
    pub fn keep(&mut self, command: Command) -> u64 {
        self.last += 1;
        self.outstanding.insert(self.last, command);
        self.last
    }

    pub fn take(&mut self, number: u64) -> Option<Command> {
        self.outstanding.remove(&number)
    }

    /// Keeps the memory of a write that the target ended while PDUs with its data are queued, which libiscsi sends
    /// all the same, out of the buffer, by way of the task.
    ///
    /// PDUs are sent in the order of their commands. So once a command is answered that was made later, or nothing is
    /// queued at all, those are gone.
    pub fn defer(&mut self, command: Command, outcome: Outcome) {
        self.deferred.push(Deferred { last: self.last, command, outcome });
    }

    pub fn is_any_deferred(&self) -> bool {
        !self.deferred.is_empty() || !self.kept.is_empty()
    }

    /// Keeps the memory of a write that the target reported as done. An honest target has all its data by then. Returns
    /// another buffer of the same size.
    ///
    /// Queued data almost always belongs to other commands. If it belongs to this one, libiscsi still sends it out of
    /// the buffer. So no other code may use the buffer until that data is gone, as for [`Commands::defer`].
    pub fn keep_memory(&mut self, command: Command) -> Option<Buffer> {
        let bytes = command.buffer.as_ref().map(Lent::bytes);
        self.kept.push(Kept { last: self.last, command });
        let bytes = bytes?;
        let known = self.spare.iter().position(|spare| spare.len() == bytes);
        Some(known.map_or_else(|| Buffer::new(bytes), |place| self.spare.swap_remove(place)))
    }

    /// Takes back the memory of such writes without queued data, when the command with the number `answered` was
    /// answered.
    ///
    /// # Safety
    /// Nothing that was made before that command is queued any more.
    pub unsafe fn release(&mut self, functions: &Functions, answered: u64) {
        let mut place = 0;
        while place < self.kept.len() {
            if self.kept[place].last >= answered {
                place += 1;
                continue;
            }
            // SAFETY: by the caller.
            let buffer = unsafe { self.kept.swap_remove(place).command.freed(functions) };
            if self.spare.len() < MOST_SPARE {
                self.spare.extend(buffer);
            }
        }
    }

    /// Those without queued data, when the command with the number `answered` was answered.
    pub fn take_sent(&mut self, answered: u64) -> Vec<(Command, Outcome)> {
        let (gone, stays) = std::mem::take(&mut self.deferred).into_iter().partition(|write| write.last < answered);
        self.deferred = stays;
        let gone: Vec<Deferred> = gone;
        gone.into_iter().map(|write| (write.command, write.outcome)).collect()
    }

    /// All that is left, the oldest first, with its outcome if it was answered.
    pub fn take_all(&mut self) -> Vec<(Command, Outcome)> {
        let mut all = self.take_sent(u64::MAX);
        all.extend(std::mem::take(&mut self.outstanding).into_values().map(|command| (command, Outcome::NoAnswer)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(tag: u64) -> Command {
        Command { tag, kind: Kind::Write, task: std::ptr::null_mut(), buffer: None }
    }

    #[test]
    fn a_write_lingers_until_a_command_made_later_is_answered() {
        let mut commands = Commands::default();
        let numbers: Vec<u64> = (0..3).map(|tag| commands.keep(write(tag))).collect();
        let early = commands.take(numbers[1]).unwrap();
        commands.defer(early, Outcome::Busy);
        let later = commands.keep(write(3));
        assert_eq!((commands.len(), commands.is_any_deferred()), (4, true));
        for answered in numbers {
            assert!(commands.take_sent(answered).is_empty(), "its data may be queued behind {answered}");
        }
        let gone: Vec<u64> = commands.take_sent(later).into_iter().map(|(command, _)| command.tag).collect();
        assert_eq!((gone, commands.is_any_deferred()), (vec![1], false));
    }

    #[test]
    fn all_come_back_at_the_end_with_the_answers_they_had() {
        let mut commands = Commands::default();
        let numbers: Vec<u64> = (0..3).map(|tag| commands.keep(write(tag))).collect();
        let answered = commands.take(numbers[1]).unwrap();
        commands.defer(answered, Outcome::Busy);
        let all: Vec<_> = commands.take_all().into_iter().map(|(command, outcome)| (command.tag, outcome)).collect();
        assert_eq!(all, [(1, Outcome::Busy), (0, Outcome::NoAnswer), (2, Outcome::NoAnswer)]);
        assert_eq!(commands.len(), 0);
    }
}
