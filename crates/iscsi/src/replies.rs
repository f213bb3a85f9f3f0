//! What libiscsi says while it is called: its callbacks and its log.
//!
//! libiscsi calls back only while one of its functions runs, on the thread that called it. So the callbacks note what
//! they are put into a list of the thread, and [`hear`] returns the list when the call is over. A callback follows no
//! pointer of ours: what libiscsi hands back as private data is a command's number.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};

use crate::ffi::Context;

/// A message of libiscsi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The TCP connection is there, or failed.
    Connected { status: c_int },
    /// The login was answered.
    LoggedIn { status: c_int },
    /// A command is over. `response` is what a task management function was answered.
    Command { number: u64, status: c_int, response: Option<u8> },
    /// A line of the log, with its level.
    Line { level: c_int, text: String },
}

thread_local! {
    static HEARD: RefCell<Vec<Reply>> = const { RefCell::new(Vec::new()) };
}

/// Calls libiscsi and returns its answer and the messages of this call, in order.
pub fn hear<T>(call: impl FnOnce() -> T) -> (T, Vec<Reply>) {
    // Sessions do not call each other, and no callback calls libiscsi: the list is empty here.
    let answer = call();
    (answer, HEARD.take())
}

fn note(reply: Reply) {
    HEARD.with_borrow_mut(|heard| heard.push(reply));
}

/// A command's number as private data, and back. It is never followed as a pointer.
pub fn private(number: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(usize::try_from(number).expect("fewer commands than addresses"))
}

fn number(private: *mut c_void) -> u64 {
    private.addr() as u64
}

/// For `iscsi_connect_async`.
pub extern "C" fn connected(_: *mut Context, status: c_int, _: *mut c_void, _: *mut c_void) {
    note(Reply::Connected { status });
}

/// For `iscsi_login_async`.
pub extern "C" fn logged_in(_: *mut Context, status: c_int, _: *mut c_void, _: *mut c_void) {
    note(Reply::LoggedIn { status });
}

/// For SCSI commands, NOP-Out and logout: what else there is to know is in the command's task.
pub extern "C" fn answered(_: *mut Context, status: c_int, _: *mut c_void, private: *mut c_void) {
    note(Reply::Command { number: number(private), status, response: None });
}

/// For `iscsi_task_mgmt_async`.
pub extern "C" fn managed(_: *mut Context, status: c_int, data: *mut c_void, private: *mut c_void) {
    // SAFETY: libiscsi passes null or a pointer to the response code, a `uint32_t` that lives during the call.
    let response = unsafe { data.cast::<u32>().as_ref() }.map(|&code| u8::try_from(code).unwrap_or(u8::MAX));
    note(Reply::Command { number: number(private), status, response });
}

/// For `iscsi_set_log_fn`.
pub extern "C" fn logged(level: c_int, text: *const c_char) {
    if text.is_null() {
        return;
    }
    // SAFETY: not null; libiscsi passes a string that ends in a zero byte and lives during the call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    note(Reply::Line { level, text });
}
