//! The server, and clients that mean no good.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nicteam_bundles::Kind;
use nicteam_watch::metrics::http::{CONNECTIONS, Look, Metrics, Server};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::common::{bundle, of, snapshot};

/// A server that ends with this value.
struct Served {
    address: SocketAddr,
    stop: Option<UnixStream>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new(look: Look) -> Served {
        let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), Metrics::new(look).unwrap()).unwrap();
        let (address, (stop, stopped)) = (server.address().unwrap(), UnixStream::pair().unwrap());
        let thread = std::thread::spawn(move || server.run(stopped.as_fd()).unwrap());
        Served { address, stop: Some(stop), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// What is answered to a request.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Its other end becomes readable.
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

const GET: &str = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";

fn usual() -> Served {
    Served::new(Box::new(|| Ok(snapshot(1))))
}

#[track_caller]
fn assert_whole(answer: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let length: usize = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
    assert_eq!(body.len(), length);
    assert!(body.contains("nicteam_bundle_up"));
}

#[test]
fn what_is_asked_for_is_answered_and_nothing_else() {
    let served = usual();
    let answer = served.ask(GET);
    assert_whole(&answer);
    assert!(answer.contains("Content-Type: text/plain; version=0.0.4"));
    let open = served.ask("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n");
    assert!(open.contains("Content-Type: application/openmetrics-text; version=1.0.0") && open.ends_with("# EOF\n"));
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404"),
        ("DELETE /metrics HTTP/1.1\r\n\r\n", "405"),
        ("nonsense\r\n\r\n", "400"),
        (&format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(100_000)), "431"),
    ] {
        // The server may close while a long request is still being sent.
        let mut stream = served.connect();
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.is_empty() && status == "431" || answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    let refused = served.ask(GET);
    let line = refused.lines().find(|line| line.starts_with("nicteam_exporter_requests_refused_total ")).unwrap();
    assert_eq!(line, "nicteam_exporter_requests_refused_total 4");
}

#[test]
fn a_thousand_silent_connections_keep_no_scraper_out() {
    // The clients are of this process, too.
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(4096)), hard).unwrap();
    let served = usual();
    let silent: Vec<TcpStream> = (0..1000).map(|_| served.connect()).collect();
    for _ in 0..20 {
        assert_whole(&served.ask(GET));
    }
    let open = open_descriptors();
    assert!(open < 1000 + CONNECTIONS + 100, "{open} descriptors, of which 1000 are the clients'");
    drop(silent);
    assert_whole(&served.ask(GET));
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_slow_reader_gets_all_of_it_and_holds_up_nobody() {
    // More than the buffers of a connection hold.
    let many = || of((0..3000).map(|n| bundle(&format!("bundle{n:04}"), Kind::Kernel, "balance-rr", 8)).collect(), 1);
    let large = std::sync::Arc::new(many());
    let served = Served::new(Box::new(move || Ok((*large).clone())));
    let mut slow = served.connect();
    slow.write_all(GET.as_bytes()).unwrap();
    let mut some = [0; 1024];
    let mut answer = Vec::new();
    for _ in 0..10 {
        let count = slow.read(&mut some).unwrap();
        answer.extend_from_slice(&some[..count]);
        std::thread::sleep(Duration::from_millis(100));
        let other = served.ask("GET /nothing HTTP/1.1\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404"), "{other}");
    }
    slow.read_to_end(&mut answer).unwrap();
    assert_whole(&String::from_utf8(answer).unwrap());
}

#[test]
fn many_scrapes_at_once_look_at_the_host_once_and_all_get_their_answer() {
    let looks = Arc::new(AtomicU64::new(0));
    let counted = looks.clone();
    let served = Served::new(Box::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(300));
        Ok(snapshot(1))
    }));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| assert_whole(&served.ask(GET)));
        }
    });
    let most = 1 + begun.elapsed().as_secs();
    assert!(looks.load(Ordering::SeqCst) <= most, "{looks:?} looks");
}

#[test]
fn a_host_that_does_not_answer_is_said_and_others_are_served_meanwhile() {
    let served = Served::new(Box::new(|| {
        std::thread::sleep(Duration::from_secs(9));
        Ok(snapshot(1))
    }));
    let mut waits = served.connect();
    waits.write_all(GET.as_bytes()).unwrap();
    assert!(served.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    let mut answer = String::new();
    waits.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("does not answer"), "{answer}");
    let failed = Served::new(Box::new(|| Err("list devices: refused".to_owned())));
    let answer = failed.ask(GET);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("list devices: refused\n"), "{answer}");
}
