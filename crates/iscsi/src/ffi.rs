//! Declarations of libiscsi, written by hand after the headers of 1.19: only what is used. All of `unsafe` that
//! concerns types and names of C begins here.
//!
//! Fields of C structures are read in three places, and [`layout`] checks two of them when the library is opened:
//! - the first fields of `struct scsi_task`, up to the residual count, of which no accessor exists. They stand in
//!   this order in the headers of 1.11 to 1.20 and on the main branch (2024).
//! - the first fields of `struct scsi_sense`, copied out by `scsi_task_get_status` into [`Sense`], which has room for
//!   more.
//! - the first two fields of `struct scsi_readcapacity16`, which `scsi_datain_unmarshall` returns.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::marker::PhantomData;

use libloading::Library;

/// `struct iscsi_context`, seen by pointer alone.
#[repr(C)]
pub struct Context {
    _opaque: [u8; 0],
    _not_send: PhantomData<*mut u8>,
}

/// The first fields of `struct scsi_task`; more follow.
#[repr(C)]
pub struct Task {
    _status: c_int,
    cdb_size: c_int,
    xfer_dir: c_int,
    expected_bytes: c_int,
    cdb: [c_uchar; 16],
    /// 0: none.
    pub residual_kind: c_int,
    pub residual_bytes: usize,
}

/// `struct scsi_sense`, with room for fields that a later release may add.
#[repr(C)]
pub struct Sense {
    _error_type: c_uchar,
    pub key: c_int,
    /// The additional sense code in the upper byte, its qualifier in the lower.
    pub ascq: c_int,
    _more: [u64; 16],
}

impl Sense {
    pub const EMPTY: Sense = Sense { _error_type: 0, key: 0, ascq: 0, _more: [0; 16] };
}

/// The first fields of `struct scsi_readcapacity16`; more follow.
#[repr(C)]
pub struct Capacity16 {
    pub last_block: u64,
    pub block_bytes: u32,
}

/// `iscsi_command_cb`.
pub type Answered = extern "C" fn(*mut Context, c_int, *mut c_void, *mut c_void);
/// `iscsi_log_fn`.
pub type Logged = extern "C" fn(c_int, *const c_char);

// `enum scsi_status`
pub const GOOD: c_int = 0;
pub const CHECK_CONDITION: c_int = 2;
pub const CONDITION_MET: c_int = 4;
pub const BUSY: c_int = 8;
pub const RESERVATION_CONFLICT: c_int = 0x18;
pub const TASK_SET_FULL: c_int = 0x28;
pub const ACA_ACTIVE: c_int = 0x30;
pub const TASK_ABORTED: c_int = 0x40;
pub const CANCELLED: c_int = 0x0f00_0000;

/// `ISCSI_SESSION_NORMAL`
pub const SESSION_NORMAL: c_int = 2;
/// `ISCSI_HEADER_DIGEST_NONE`
pub const HEADER_DIGEST_NONE: c_int = 0;
/// `ISCSI_HEADER_DIGEST_CRC32C_NONE`
pub const HEADER_DIGEST_CRC32C_NONE: c_int = 2;
/// `ISCSI_TM_LUN_RESET`
pub const LUN_RESET: c_int = 5;
/// `SCSI_XFER_READ`
const XFER_READ: c_int = 1;
/// Operation code of READ(16).
const READ16: c_uchar = 0x88;

/// Takes functions out of the library by their names.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of libiscsi that are used. They may be called as long as this value is there.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Closed last.
            _library: Library,
        }

        impl Functions {
            /// # Safety
            /// `library` is libiscsi: its functions have the types that stand here.
            pub unsafe fn of(library: Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    $(
                        // SAFETY: by the caller; the function is not called after the library is closed, which is a
                        // field of the same value.
                        $name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }?,
                    )*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    iscsi_create_context: fn(*const c_char) -> *mut Context;
    iscsi_destroy_context: fn(*mut Context) -> c_int;
    iscsi_set_log_level: fn(*mut Context, c_int);
    iscsi_set_log_fn: fn(*mut Context, Logged);
    iscsi_set_noautoreconnect: fn(*mut Context, c_int);
    iscsi_set_targetname: fn(*mut Context, *const c_char) -> c_int;
    iscsi_set_session_type: fn(*mut Context, c_int) -> c_int;
    iscsi_set_initiator_username_pwd: fn(*mut Context, *const c_char, *const c_char) -> c_int;
    iscsi_set_header_digest: fn(*mut Context, c_int) -> c_int;
    iscsi_set_immediate_data: fn(*mut Context, c_int) -> c_int;
    iscsi_set_initial_r2t: fn(*mut Context, c_int) -> c_int;
    iscsi_set_isid_random: fn(*mut Context, u32, u32) -> c_int;
    iscsi_set_bind_interfaces: fn(*mut Context, *mut c_char);
    iscsi_get_fd: fn(*mut Context) -> c_int;
    iscsi_which_events: fn(*mut Context) -> c_int;
    iscsi_service: fn(*mut Context, c_int) -> c_int;
    iscsi_connect_async: fn(*mut Context, *const c_char, Answered, *mut c_void) -> c_int;
    iscsi_login_async: fn(*mut Context, Answered, *mut c_void) -> c_int;
    iscsi_logout_async: fn(*mut Context, Answered, *mut c_void) -> c_int;
    iscsi_nop_out_async: fn(*mut Context, Answered, *mut c_uchar, c_int, *mut c_void) -> c_int;
    iscsi_task_mgmt_async: fn(*mut Context, c_int, c_int, u32, u32, Answered, *mut c_void) -> c_int;
    iscsi_scsi_command_async: fn(*mut Context, c_int, *mut Task, Answered, *mut c_void, *mut c_void) -> c_int;
    scsi_cdb_read16: fn(u64, u32, c_int, c_int, c_int, c_int, c_int, c_int) -> *mut Task;
    scsi_cdb_write16: fn(u64, u32, c_int, c_int, c_int, c_int, c_int, c_int) -> *mut Task;
    scsi_cdb_synchronizecache16: fn(u64, u32, c_int, c_int) -> *mut Task;
    scsi_cdb_testunitready: fn() -> *mut Task;
    scsi_cdb_readcapacity16: fn() -> *mut Task;
    scsi_task_add_data_in_buffer: fn(*mut Task, c_int, *mut c_uchar) -> c_int;
    scsi_task_add_data_out_buffer: fn(*mut Task, c_int, *mut c_uchar) -> c_int;
    scsi_task_get_status: fn(*mut Task, *mut Sense) -> c_int;
    scsi_datain_unmarshall: fn(*mut Task) -> *mut Capacity16;
    scsi_free_scsi_task: fn(*mut Task);
}

/// Whether the fields of `struct scsi_task` stand where [`Task`] has them: a READ(16) is built and looked at.
pub fn layout(functions: &Functions) -> Result<(), String> {
    // SAFETY: builds a task from numbers alone; allocates or returns null.
    let task = unsafe { (functions.scsi_cdb_read16)(0x0102_0304_0506_0708, 0x2_0000, 512, 0, 0, 0, 0, 0) };
    if task.is_null() {
        return Err("it cannot build a READ(16)".to_owned());
    }
    // SAFETY: not null, of libiscsi's heap, aligned as malloc does; `struct scsi_task` is longer than `Task` in every
    // release. Its bytes are initialized: libiscsi zeroes the task when it makes it.
    let seen = unsafe {
        let task = &*task;
        let lba = u64::from_be_bytes(std::array::from_fn(|at| task.cdb[2 + at]));
        let blocks = u32::from_be_bytes(std::array::from_fn(|at| task.cdb[10 + at]));
        (task.cdb_size, task.xfer_dir, task.expected_bytes, task.cdb[0], lba, blocks)
    };
    // SAFETY: made above, not used after, and given to no other code.
    unsafe { (functions.scsi_free_scsi_task)(task) };
    let expected = (16, XFER_READ, 0x2_0000, READ16, 0x0102_0304_0506_0708, 0x100);
    if seen == expected { Ok(()) } else { Err(format!("its struct scsi_task is laid out in another way: {seen:?}")) }
}
