//! The server, and a site that is slow, or tells events.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nicteam_web::{Reply, Request, Response, Server, Site, Work};

/// `/work/N` takes its time, `/events` counts what rings.
struct Slow {
    work: Work<String, String>,
    told: Arc<AtomicU64>,
}

impl Site for Slow {
    fn reply(&mut self, request: &Request, refused: u64) -> Reply {
        match request.path.as_str() {
            "/refused" => Reply::Now(Response::text("200 OK", &refused.to_string()).with("X", "a\r\nEvil: b")),
            "/events" => Reply::Stream,
            path if path.starts_with("/work/") => match self.work.get(&path.to_owned()) {
                Ok(Some(made)) => Reply::Now(Response::text("200 OK", &made)),
                Ok(None) => Reply::Wait,
                Err(_) => Reply::Now(Response::unavailable("full")),
            },
            _ => Reply::Now(Response::text("404 Not Found", "nothing")),
        }
    }

    fn hear(&mut self) {
        self.work.hear();
    }

    fn bells(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.work.bell()]
    }

    fn patience(&self) -> (Duration, &'static str) {
        (Duration::from_millis(1500), "too slow")
    }

    fn event(&mut self, _: &Request, seen: &mut u64) -> Option<String> {
        let told = self.told.load(Ordering::SeqCst);
        let is_new = std::mem::replace(seen, told) != told;
        is_new.then(|| format!("data: {told} {}\n\n", "x".repeat(100_000)))
    }
}

struct Served {
    address: SocketAddr,
    told: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
    stop: Option<UnixStream>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new() -> Served {
        let (told, made) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let counted = made.clone();
        let job = move |path: &String| {
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(if path.ends_with("long") { 2500 } else { 200 }));
            path.clone()
        };
        let work = Work::start("work", vec![Box::new(job)], Duration::from_secs(1)).unwrap();
        let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), Slow { work, told: told.clone() }).unwrap();
        let (address, (stop, stopped)) = (server.address().unwrap(), UnixStream::pair().unwrap());
        let thread = std::thread::spawn(move || server.run(stopped.as_fd()).unwrap());
        Served { address, told, made, stop: Some(stop), thread: Some(thread) }
    }

    fn sent(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut answer = String::new();
        self.sent(path).read_to_string(&mut answer).unwrap();
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

#[test]
fn what_many_want_is_made_once_and_each_gets_it() {
    let served = Served::new();
    let waiting: Vec<TcpStream> = (0..20).map(|_| served.sent("/work/a")).collect();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n/work/a\n"), "{answer}");
    }
    assert_eq!(served.made.load(Ordering::SeqCst), 1);
}

#[test]
fn too_many_wishes_are_refused_and_what_takes_long_ends() {
    let served = Served::new();
    let mut long = served.sent("/work/long");
    let _others: Vec<TcpStream> = (1..nicteam_web::MOST_WANTED).map(|n| served.sent(&format!("/work/{n}"))).collect();
    // An answer to one that came later: what was sent before has been read.
    served.get("/");
    let full = served.get("/work/one-more");
    assert!(full.starts_with("HTTP/1.1 503 ") && full.ends_with("full\n"), "{full}");
    assert!(served.get("/").starts_with("HTTP/1.1 404 "), "others are served meanwhile");
    let mut answer = String::new();
    long.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("too slow\n"), "{answer}");
    let refused = served.get("/refused");
    assert!(!refused.contains("\nEvil"), "a header's value ends its line: {refused}");
    assert!(refused.trim_end().rsplit('\n').next().unwrap().parse::<u64>().unwrap() >= 2, "{refused}");
}

#[test]
fn a_listener_that_does_not_read_gets_the_latest_event_and_costs_one() {
    let served = Served::new();
    let mut events = served.sent("/events");
    let mut some = [0; 4096];
    assert!(events.read(&mut some).unwrap() > 0);
    // More than the buffers of the connection hold, if each were kept.
    for _ in 0..200 {
        served.told.fetch_add(1, Ordering::SeqCst);
        assert!(served.get("/").starts_with("HTTP/1.1 404 "), "a turn of the server");
    }
    let mut last = 0;
    let (mut text, mut events_read) = (String::new(), 0);
    while last < 200 {
        let count = events.read(&mut some).unwrap();
        assert!(count > 0, "the stream ended after {last}");
        text.push_str(std::str::from_utf8(&some[..count]).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(number) = event.strip_prefix("data: ").and_then(|data| data.split(' ').next()) {
                let number: u64 = number.parse().unwrap();
                assert!(number > last, "{number} after {last}");
                (last, events_read) = (number, events_read + 1);
            }
            text = rest.to_owned();
        }
    }
    assert!(events_read < 200, "{events_read} events: none was left out");
}
