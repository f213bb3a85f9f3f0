//! A cable that can hold frames back.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nicteam_impair::{Impairments, OneWay, Room};
use nicteam_sys::packet::{BATCH, Batch, Offload, Outgoing, PacketSocket, Received};
use nicteam_testnet::{Host, cable};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Carries frames between two hosts; those from the first to the second late, while it is told to. Every frame arrives.
pub struct Relay {
    _middle: Host,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    is_slow: AtomicBool,
    stop: AtomicBool,
    late_bytes: AtomicU64,
    held: AtomicU64,
}

#[derive(Clone)]
struct Frame {
    bytes: Vec<u8>,
    offload: Offload,
}

impl Relay {
    /// Between a device of each; `delay` is how late frames are while it is slow.
    pub fn new(near: &mut Host, far: &mut Host, device: &str, delay: Duration) -> Relay {
        let mut middle = Host::quiet();
        cable(near, device, &mut middle, "near");
        cable(far, device, &mut middle, "far");
        let sockets = [middle.packet_socket("near"), middle.packet_socket("far")];
        let shared = Arc::new(Shared::default());
        let carrier = shared.clone();
        let thread = thread::spawn(move || carry(&sockets, &carrier, delay));
        Relay { _middle: middle, shared, thread: Some(thread) }
    }

    pub fn set_slow(&self, is_slow: bool) {
        self.shared.is_slow.store(is_slow, Ordering::SeqCst);
    }

    /// Bytes of frames that arrived late.
    pub fn late_bytes(&self) -> u64 {
        self.shared.late_bytes.load(Ordering::SeqCst)
    }

    /// Frames that are held back.
    pub fn held(&self) -> u64 {
        self.shared.held.load(Ordering::SeqCst)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn carry([near, far]: &[PacketSocket; 2], shared: &Shared, delay: Duration) {
    let start = Instant::now();
    let room = Room { frames: 1 << 20, bytes: 1 << 30 };
    let slow = Impairments { delay, ..Impairments::default() };
    let mut slow: OneWay<Frame> = OneWay::new(slow, 1, room).unwrap();
    let mut batch = Batch::new();
    while !shared.stop.load(Ordering::SeqCst) {
        let mut fds = [near, far].map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
        poll(&mut fds, PollTimeout::from(1_u8)).unwrap();
        far.receive(&mut batch).unwrap();
        pass(&batch, near);
        near.receive(&mut batch).unwrap();
        if shared.is_slow.load(Ordering::SeqCst) {
            for frame in batch.frames() {
                let copy = Frame { bytes: frame.bytes.to_vec(), offload: frame.offload };
                slow.handle_frame(start.elapsed(), copy, frame.bytes.len());
            }
        } else {
            pass(&batch, far);
        }
        let mut late = Batch::new();
        while let Some(output) = slow.poll_output(start.elapsed()) {
            late.clear();
            late.push(Received { bytes: &output.frame.bytes, tag: None, offload: output.frame.offload });
            pass(&late, far);
            shared.late_bytes.fetch_add(output.frame.bytes.len() as u64, Ordering::SeqCst);
        }
        shared.held.store(slow.on_the_way().frames as u64, Ordering::SeqCst);
    }
}

/// Sends every frame of a batch on.
fn pass(batch: &Batch, to: &PacketSocket) {
    let queue: Vec<Outgoing> =
        (0..batch.frames().count().min(BATCH)).map(|place| Outgoing { place, ..Outgoing::default() }).collect();
    to.send(batch, &queue);
}
