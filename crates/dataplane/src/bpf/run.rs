//! Running the programs on one frame without sending it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libbpf_sys::bpf_test_run_opts;

use super::libbpf_log::attempt;
use crate::Error;

/// What a program did with a frame (`BPF_PROG_TEST_RUN`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRun {
    /// What it said: `TC_ACT_UNSPEC` `u32::MAX`, `TC_ACT_SHOT` 2, `TC_ACT_QUEUED` 5, `TC_ACT_REDIRECT` 7.
    pub action: u32,
    /// The frame afterwards.
    pub frame: Vec<u8>,
    /// Mean time of one run, nanoseconds.
    pub duration_ns: u32,
}

/// The frame came by no device.
pub(super) const NO_DEVICE: u32 = 0;
/// Place of `ifindex` among the words of `struct __sk_buff`.
const IFINDEX: usize = 10;

/// Runs a program on a frame that came by the device of this index, `repeat` times.
pub(super) fn dry_run(program: BorrowedFd<'_>, frame: &[u8], index: u32, repeat: u32) -> Result<DryRun, Error> {
    let mut context = [0u32; IFINDEX + 1];
    context[IFINDEX] = index;
    let mut out = vec![0; frame.len() + 64];
    let mut opts = bpf_test_run_opts {
        sz: size_of::<bpf_test_run_opts>() as _,
        data_in: frame.as_ptr().cast(),
        data_size_in: frame.len() as u32,
        data_out: out.as_mut_ptr().cast(),
        data_size_out: out.len() as u32,
        repeat: repeat.max(1) as i32,
        ..bpf_test_run_opts::default()
    };
    if index != NO_DEVICE {
        opts.ctx_in = context.as_ptr().cast();
        opts.ctx_size_in = size_of_val(&context) as u32;
    }
    attempt(
        || format!("run a program on a frame of {} bytes", frame.len()),
        // SAFETY: every pointer of `opts` is to a live buffer of the length beside it.
        || match unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &mut opts) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
    )?;
    out.truncate(opts.data_size_out as usize);
    Ok(DryRun { action: opts.retval, frame: out, duration_ns: opts.duration })
}
