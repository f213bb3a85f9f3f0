//! TCP connections that carry a little in both directions until they go.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::Host;

/// Connections between two hosts. They end with this value.
#[derive(Debug)]
pub struct Flows {
    done: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Bytes of a question and of its answer.
const BYTES: usize = 1000;
/// The pause between two questions of a connection.
const PAUSE: Duration = Duration::from_millis(4);

impl Flows {
    /// So many connections from one host to an address of the other.
    #[track_caller]
    pub fn between(from: &Host, to: &Host, address: &str, count: usize) -> Flows {
        let listener = to.netns.run(|| TcpListener::bind((address, 0))).unwrap().unwrap();
        let server: SocketAddr = listener.local_addr().unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for _ in 0..count {
            let near = from.netns.run(|| TcpStream::connect(server)).unwrap().unwrap();
            let (far, _) = listener.accept().unwrap();
            // The far end answers each question with as much.
            threads.push(thread::spawn(move || answer(far)));
            let done = Arc::clone(&done);
            threads.push(thread::spawn(move || ask(near, &done)));
        }
        Flows { done, threads }
    }
}

fn ask(mut stream: TcpStream, done: &AtomicBool) {
    let mut bytes = [7; BYTES];
    while !done.load(Ordering::Relaxed) {
        if stream.write_all(&bytes).and_then(|()| stream.read_exact(&mut bytes)).is_err() {
            return;
        }
        thread::sleep(PAUSE);
    }
}

fn answer(mut stream: TcpStream) {
    let mut bytes = [0; BYTES];
    while stream.read_exact(&mut bytes).and_then(|()| stream.write_all(&bytes)).is_ok() {}
}

impl Drop for Flows {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}
