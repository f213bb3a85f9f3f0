//! A session with a target.

use std::collections::VecDeque;
use std::ffi::{CStr, c_int, c_short};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use nix::poll::PollFlags;
use nix::sys::socket::{setsockopt, sockopt};

use crate::commands::{Command, Commands, Kind, Lent};
use crate::ffi::{self, Context, Functions, Task};
use crate::log::{self, Line};
use crate::names::Names;
use crate::replies::{self, Reply, hear};
use crate::{Buffer, Error, Event, Library, Login, Negotiated, Outcome};

/// With a name for CHAP libiscsi passes through the security stage (`Login::security_stage`); the name is sent to a
/// target that wants CHAP alone.
const NOBODY: &CStr = c"nobody";

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    LoggingIn,
    Ready,
    LoggingOut,
    Over,
}

/// A session with a target: one TCP connection. See the crate's words.
///
/// Dropped before a logout was answered it resets the connection, so that nothing that is not sent yet will be.
#[derive(Debug)]
pub struct Session {
    library: Library,
    login: Login,
    /// libiscsi's; none once the session is over.
    context: Option<NonNull<Context>>,
    stage: Stage,
    commands: Commands,
    negotiated: Negotiated,
    events: VecDeque<Event>,
    /// The last error that libiscsi logged, since it was called last.
    last_error: String,
}

// SAFETY: libiscsi binds nothing of a context to a thread; tasks and buffers are reached through the session alone.
unsafe impl Send for Session {}

impl Session {
    /// Begins to connect and to log in; [`Event::LoggedIn`] or [`Event::Broken`] follows.
    ///
    /// # Errors
    /// A name is not one that iSCSI takes, or the system refuses a socket, a route or the interface.
    pub fn begin(library: &Library, login: Login) -> Result<Session, Error> {
        let names = Names::of(&login)?;
        let functions = library.functions();
        // SAFETY: the name ends in a zero byte; libiscsi copies it.
        let context = unsafe { (functions.iscsi_create_context)(names.initiator.as_ptr()) };
        let context = NonNull::new(context).ok_or_else(|| refused(&login, "libiscsi makes no context".to_owned()))?;
        let mut session = Session {
            library: library.clone(),
            negotiated: Negotiated::offered(&login),
            login,
            context: Some(context),
            stage: Stage::Connecting,
            commands: Commands::default(),
            events: VecDeque::new(),
            last_error: String::new(),
        };
        session.connect(context, names)?;
        Ok(session)
    }

    /// Sets what the login says and begins to connect.
    fn connect(&mut self, context: NonNull<Context>, mut names: Names) -> Result<(), Error> {
        let library = self.library.clone();
        let functions = library.functions();
        let context = context.as_ptr();
        let digest = if self.login.header_digest { ffi::HEADER_DIGEST_CRC32C_NONE } else { ffi::HEADER_DIGEST_NONE };
        let isid = self.login.isid;
        let (status, replies) = hear(|| {
            // SAFETY: the context was made and is not destroyed; strings end in a zero byte and are copied; the
            // callbacks have the types that libiscsi calls and need no data.
            unsafe {
                (functions.iscsi_set_log_fn)(context, replies::logged);
                (functions.iscsi_set_log_level)(context, log::LOGIN);
                (functions.iscsi_set_noautoreconnect)(context, 1);
                let mut status = (functions.iscsi_set_targetname)(context, names.target.as_ptr());
                status |= (functions.iscsi_set_session_type)(context, ffi::SESSION_NORMAL);
                status |= (functions.iscsi_set_header_digest)(context, digest);
                status |= (functions.iscsi_set_immediate_data)(context, c_int::from(self.login.immediate_data));
                status |= (functions.iscsi_set_initial_r2t)(context, c_int::from(self.login.initial_r2t));
                if self.login.security_stage {
                    let (name, secret) = (NOBODY.as_ptr(), NOBODY.as_ptr());
                    status |= (functions.iscsi_set_initiator_username_pwd)(context, name, secret);
                }
                status |= (functions.iscsi_set_isid_random)(context, isid.random(), u32::from(isid.qualifier()));
                if let Some(device) = names.device.take() {
                    let mut device = device.into_bytes_with_nul();
                    (functions.iscsi_set_bind_interfaces)(context, device.as_mut_ptr().cast());
                }
                let portal = names.portal.as_ptr();
                status | (functions.iscsi_connect_async)(context, portal, replies::connected, std::ptr::null_mut())
            }
        });
        self.take(replies);
        let is_unbound = self.last_error.contains(log::NOT_BOUND);
        if status != 0 || is_unbound { Err(refused(&self.login, self.reason())) } else { Ok(()) }
    }

    /// The connection, as long as there is one.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        let context = self.context?;
        // SAFETY: the context is not destroyed.
        let fd = unsafe { (self.library.functions().iscsi_get_fd)(context.as_ptr()) };
        // SAFETY: libiscsi keeps the descriptor open until the context is destroyed, which takes `&mut self`.
        (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// What to wait for at [`Session::fd`]; changes with every call of another function.
    pub fn wants(&self) -> PollFlags {
        let Some(context) = self.context else { return PollFlags::empty() };
        // SAFETY: the context is not destroyed.
        let events = unsafe { (self.library.functions().iscsi_which_events)(context.as_ptr()) };
        PollFlags::from_bits_truncate(c_short::try_from(events).unwrap_or_default())
    }

    /// Does what the connection allows, by what `poll` found.
    pub fn service(&mut self, found: PollFlags) {
        let Some(context) = self.context.map(NonNull::as_ptr) else { return };
        let functions = self.library.functions();
        self.last_error.clear();
        // SAFETY: the context is not destroyed.
        let (status, replies) = hear(|| unsafe { (functions.iscsi_service)(context, c_int::from(found.bits())) });
        self.take(replies);
        if status < 0 {
            self.broken(self.reason());
        }
        self.end_deferred(0);
    }

    /// The next event, in order.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What was agreed on at login, once logged in.
    pub fn negotiated(&self) -> Option<Negotiated> {
        matches!(self.stage, Stage::Ready | Stage::LoggingOut).then_some(self.negotiated)
    }

    /// Commands are taken: logged in, and neither over nor logging out.
    pub fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// How many commands have no answer yet.
    pub fn outstanding(&self) -> usize {
        self.commands.len()
    }

    /// Ends the session at once, without a word to the target: the connection is reset, what is not sent yet will not
    /// be, and the commands without an answer come back as [`Outcome::NoAnswer`], then [`Event::Broken`].
    pub fn abandon(&mut self) {
        self.broken("abandoned".to_owned());
    }

    /// Reads from block `lba` on as many blocks as the buffer holds (READ(16)).
    pub fn read(&mut self, tag: u64, lba: u64, buffer: Buffer) {
        let functions = self.library.functions();
        self.transfer(tag, Kind::Read, lba, buffer, functions.scsi_cdb_read16, functions.scsi_task_add_data_in_buffer);
    }

    /// Writes the buffer from block `lba` on (WRITE(16)).
    pub fn write(&mut self, tag: u64, lba: u64, buffer: Buffer) {
        let functions = self.library.functions();
        self.transfer(
            tag,
            Kind::Write,
            lba,
            buffer,
            functions.scsi_cdb_write16,
            functions.scsi_task_add_data_out_buffer,
        );
    }

    /// Has the target put everything written on its medium (SYNCHRONIZE CACHE(16)).
    pub fn flush(&mut self, tag: u64) {
        // SAFETY: builds a task from numbers alone: all blocks.
        let task = unsafe { (self.library.functions().scsi_cdb_synchronizecache16)(0, 0, 0, 0) };
        self.scsi(Command { tag, kind: Kind::Plain, task, buffer: None });
    }

    /// Asks whether the logical unit is ready, which also takes a UNIT ATTENTION (TEST UNIT READY).
    pub fn test_unit_ready(&mut self, tag: u64) {
        // SAFETY: builds a task.
        let task = unsafe { (self.library.functions().scsi_cdb_testunitready)() };
        self.scsi(Command { tag, kind: Kind::Plain, task, buffer: None });
    }

    /// Asks for the logical unit's size (READ CAPACITY(16)): [`Outcome::Capacity`].
    pub fn read_capacity(&mut self, tag: u64) {
        // SAFETY: builds a task.
        let task = unsafe { (self.library.functions().scsi_cdb_readcapacity16)() };
        self.scsi(Command { tag, kind: Kind::Capacity, task, buffer: None });
    }

    /// Asks the target for a sign of life (NOP-Out). It waits its turn behind what is queued on the connection.
    pub fn nop_out(&mut self, tag: u64) {
        let command = Command { tag, kind: Kind::Plain, task: std::ptr::null_mut(), buffer: None };
        self.send(command, |functions, context, number| {
            let private = replies::private(number);
            // SAFETY: the context is not destroyed; no data goes with it.
            unsafe { (functions.iscsi_nop_out_async)(context, replies::answered, std::ptr::null_mut(), 0, private) }
        });
    }

    /// Has the target abort every command of the logical unit, of all sessions (LOGICAL UNIT RESET).
    ///
    /// A command of this session ends as [`Outcome::Aborted`] if the target says so. RFC 7143 lets it abort them
    /// without a word, and then they never end: best sent while the session has none.
    pub fn lun_reset(&mut self, tag: u64) {
        let command = Command { tag, kind: Kind::Plain, task: std::ptr::null_mut(), buffer: None };
        let lun = self.lun();
        self.send(command, |functions, context, number| {
            let private = replies::private(number);
            // SAFETY: the context is not destroyed. Not `iscsi_task_mgmt_lun_reset_async`: that ends commands that
            // libiscsi may be in the middle of sending.
            unsafe {
                (functions.iscsi_task_mgmt_async)(context, lun, ffi::LUN_RESET, u32::MAX, 0, replies::managed, private)
            }
        });
    }

    /// Ends the session in order; once it is answered, commands without an answer end as [`Outcome::NoAnswer`] and the
    /// session is over without [`Event::Broken`]. No command is taken any more.
    pub fn logout(&mut self, tag: u64) {
        let command = Command { tag, kind: Kind::Logout, task: std::ptr::null_mut(), buffer: None };
        let sent = self.send(command, |functions, context, number| {
            // SAFETY: the context is not destroyed.
            unsafe { (functions.iscsi_logout_async)(context, replies::answered, replies::private(number)) }
        });
        if sent && self.stage == Stage::Ready {
            self.stage = Stage::LoggingOut;
        }
    }

    /// READ(16) or WRITE(16): `build` makes the task, `add` gives it the buffer.
    fn transfer(&mut self, tag: u64, kind: Kind, lba: u64, buffer: Buffer, build: BuildTransfer, add: AddBuffer) {
        let block = self.login.block_bytes;
        let sizes = (u32::try_from(buffer.len()), c_int::try_from(buffer.len()), c_int::try_from(block));
        let (Ok(bytes @ 1..), Ok(length), Ok(block_length @ 1..)) = sizes else {
            let reason = format!("{} bytes in blocks of {block} are more or less than a command moves", buffer.len());
            return self.refuse(Event::Done { tag, buffer: Some(buffer), outcome: Outcome::Refused(reason) });
        };
        if !bytes.is_multiple_of(block) {
            let reason = format!("{bytes} bytes are no whole number of blocks of {block} bytes");
            return self.refuse(Event::Done { tag, buffer: Some(buffer), outcome: Outcome::Refused(reason) });
        }
        let lent = Lent::of(buffer);
        // SAFETY: builds a task from numbers alone.
        let task = unsafe { build(lba, bytes, block_length, 0, 0, 0, 0, 0) };
        // SAFETY: there is a task; the buffer has so many bytes, and they stay where they are until the task is
        // answered or its context destroyed. libiscsi notes the pointer.
        let added = task.is_null() || unsafe { add(task, length, lent.start()) } == 0;
        let command = Command { tag, kind, task, buffer: Some(lent) };
        if added {
            self.scsi(command);
        } else {
            self.drop_unsent(command, "libiscsi does not take the buffer".to_owned());
        }
    }

    /// Sends a command that has a task.
    fn scsi(&mut self, command: Command) {
        if command.task.is_null() {
            return self.drop_unsent(command, "libiscsi has no memory for a task".to_owned());
        }
        let (task, lun) = (command.task, self.lun());
        self.send(command, |functions, context, number| {
            let private = replies::private(number);
            // SAFETY: neither context nor task are destroyed; the data's buffer, if any, is in the task.
            unsafe {
                (functions.iscsi_scsi_command_async)(
                    context,
                    lun,
                    task,
                    replies::answered,
                    std::ptr::null_mut(),
                    private,
                )
            }
        });
    }

    /// Gives a command to libiscsi, by `call`; whether it took it.
    fn send(&mut self, command: Command, call: impl FnOnce(&Functions, *mut Context, u64) -> c_int) -> bool {
        let (Some(context), Stage::Ready) = (self.context.map(NonNull::as_ptr), self.stage) else {
            self.drop_unsent(command, "the session is not logged in".to_owned());
            return false;
        };
        let number = self.commands.keep(command);
        let functions = self.library.functions();
        let (status, replies) = hear(|| call(functions, context, number));
        if status != 0
            && let Some(command) = self.commands.take(number)
        {
            let reason = self.reason();
            self.drop_unsent(command, reason);
        }
        self.take(replies);
        status == 0
    }

    fn lun(&self) -> c_int {
        c_int::try_from(self.login.lun).unwrap_or(c_int::MAX)
    }

    /// Ends a command that libiscsi did not take.
    fn drop_unsent(&mut self, command: Command, reason: String) {
        // SAFETY: libiscsi did not take it: where a call fails it frees what it made and keeps nothing
        // (`iscsi-command.c`).
        let event = unsafe { command.done(self.library.functions(), Outcome::Refused(reason)) };
        self.refuse(event);
    }

    /// Reports a command that was not sent. It comes before the session's end if that was not read yet, because a
    /// caller that has read it polls no more.
    fn refuse(&mut self, event: Event) {
        let is_end_to_come = matches!(self.events.back(), Some(Event::Broken { .. }));
        self.events.insert(self.events.len() - usize::from(is_end_to_come), event);
    }

    /// Takes the messages of libiscsi.
    fn take(&mut self, replies: Vec<Reply>) {
        let mut is_lost = false;
        for reply in replies {
            match reply {
                Reply::Line { level, text } => is_lost |= self.note(level, &text),
                Reply::Connected { status } => self.connected(status),
                Reply::LoggedIn { status } => self.logged_in(status),
                // The command keeps its memory until the context is destroyed: the PDU that libiscsi is in the middle
                // of sending may point to it.
                Reply::Command { status: ffi::CANCELLED, .. } => is_lost = true,
                Reply::Command { number, status, response } => self.answered(number, status, response),
            }
        }
        if is_lost {
            self.broken(self.reason());
        }
    }

    /// Takes a line of the log; true if it says that the connection is lost.
    fn note(&mut self, level: c_int, line: &str) -> bool {
        let line = Line::of(level, line);
        match line {
            Line::Key(pair) => self.negotiated.answered(pair),
            Line::Error(text) => text.clone_into(&mut self.last_error),
            Line::Lost | Line::Other => {}
        }
        matches!(line, Line::Lost)
    }

    fn connected(&mut self, status: c_int) {
        let Some(context) = self.context.map(NonNull::as_ptr) else { return };
        if status != ffi::GOOD {
            return self.broken(self.reason());
        }
        if self.stage != Stage::Connecting {
            return;
        }
        self.stage = Stage::LoggingIn;
        let functions = self.library.functions();
        // SAFETY: the context is not destroyed, and libiscsi does not run: its call has returned.
        let (status, replies) =
            hear(|| unsafe { (functions.iscsi_login_async)(context, replies::logged_in, std::ptr::null_mut()) });
        self.take(replies);
        if status != 0 {
            self.broken(self.reason());
        }
    }

    fn logged_in(&mut self, status: c_int) {
        let Some(context) = self.context.map(NonNull::as_ptr) else { return };
        if status != ffi::GOOD {
            return self.broken(self.reason());
        }
        self.stage = Stage::Ready;
        let functions = self.library.functions();
        // SAFETY: the context is not destroyed, and libiscsi does not run.
        let ((), replies) = hear(|| unsafe { (functions.iscsi_set_log_level)(context, log::CONNECTION) });
        self.take(replies);
        self.events.push_back(Event::LoggedIn);
    }

    fn answered(&mut self, number: u64, status: c_int, response: Option<u8>) {
        let Some(command) = self.commands.take(number) else { return };
        let functions = self.library.functions();
        // SAFETY: libiscsi has just answered it.
        let outcome = unsafe { command.outcome(functions, status, response, &self.last_error) };
        if let Outcome::Capacity { block_bytes, .. } = outcome {
            self.login.block_bytes = block_bytes;
        }
        let may_be_queued = command.kind == Kind::Write && self.wants().contains(PollFlags::POLLOUT);
        if may_be_queued && outcome != Outcome::Good {
            return self.commands.defer(command, outcome);
        }
        let logged_out = command.kind == Kind::Logout && outcome == Outcome::Good;
        let event = if may_be_queued {
            let tag = command.tag;
            Event::Done { tag, buffer: self.commands.keep_memory(command), outcome }
        } else {
            // SAFETY: it is answered, and libiscsi forgets a command after the callback. Data of a write may be queued
            // behind it if the target did not want all; then the command ends later, or its memory is kept.
            unsafe { command.done(functions, outcome) }
        };
        self.events.push_back(event);
        if logged_out {
            self.end(false);
        }
        self.end_deferred(number);
    }

    /// Ends the writes without queued data, now that this command was answered, or that all is sent.
    fn end_deferred(&mut self, answered: u64) {
        if !self.commands.is_any_deferred() {
            return;
        }
        let sent = if self.wants().contains(PollFlags::POLLOUT) { answered } else { u64::MAX };
        for (command, outcome) in self.commands.take_sent(sent) {
            // SAFETY: answered, and nothing of it is queued (`Commands::defer`).
            let event = unsafe { command.done(self.library.functions(), outcome) };
            self.events.push_back(event);
        }
        // SAFETY: as above.
        unsafe { self.commands.release(self.library.functions(), sent) };
    }

    fn broken(&mut self, reason: String) {
        if self.stage != Stage::Over {
            self.end(true);
            self.events.push_back(Event::Broken { reason });
        }
    }

    /// Destroys the context and gives every command back.
    fn end(&mut self, reset: bool) {
        self.stage = Stage::Over;
        if reset && let Some(fd) = self.fd() {
            // Without it the kernel would go on to send what it has of a write, long after the session is forgotten.
            let _ = setsockopt(&fd, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
        }
        let functions = self.library.functions();
        if let Some(context) = self.context.take() {
            // SAFETY: made by libiscsi, destroyed once: it is taken out. The callbacks that come now are not needed:
            // every command is still here.
            let _ = hear(|| unsafe { (functions.iscsi_destroy_context)(context.as_ptr()) });
        }
        // SAFETY: the context that used tasks and buffers is destroyed.
        unsafe { self.commands.release(functions, u64::MAX) };
        for (command, outcome) in self.commands.take_all() {
            // SAFETY: the context that used task and buffer is destroyed.
            self.events.push_back(unsafe { command.done(functions, outcome) });
        }
    }

    /// Why libiscsi failed, in its words.
    fn reason(&self) -> String {
        let said = self.last_error.trim();
        if said.is_empty() { "the target closed the connection".to_owned() } else { said.to_owned() }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.stage != Stage::Over {
            self.end(true);
        }
    }
}

type BuildTransfer = unsafe extern "C" fn(u64, u32, c_int, c_int, c_int, c_int, c_int, c_int) -> *mut Task;
type AddBuffer = unsafe extern "C" fn(*mut Task, c_int, *mut u8) -> c_int;

fn refused(login: &Login, reason: String) -> Error {
    Error::Begin { target: login.target.clone(), portal: login.portal, reason }
}
