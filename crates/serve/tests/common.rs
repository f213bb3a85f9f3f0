//! A server over a folder with bundles.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nicteam_record::{Cpu, Record};
use nicteam_serve::{Access, Pages};
use nicteam_web::Server;

/// A server and its folder; both end with this value.
pub struct Served {
    pub address: SocketAddr,
    pub dir: PathBuf,
    stop: Option<UnixStream>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    pub fn new() -> Served {
        Served::with(&[], None)
    }

    /// With these bundles ahead of its start.
    pub fn with(bundles: &[(&str, Record)], token: Option<&str>) -> Served {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let dir = std::env::temp_dir().join(format!("nicteam-serve-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        for (name, record) in bundles {
            write(&dir, name, record);
        }
        let at: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let pages = Pages::new(dir.clone(), Access::new(at, token).unwrap()).unwrap();
        let mut server = Server::bind(at, pages).unwrap();
        let (address, (stop, stopped)) = (server.address().unwrap(), UnixStream::pair().unwrap());
        let thread = std::thread::spawn(move || server.run(stopped.as_fd()).unwrap());
        Served { address, dir, stop: Some(stop), thread: Some(thread) }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Head and body of what is answered.
    pub fn get(&self, target: &str) -> (String, String) {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    pub fn ask(&self, request: &str) -> (String, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Its other end becomes readable.
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
        fs::remove_dir_all(&self.dir).unwrap();
    }
}

/// Writes a bundle whose runs have no samples.
pub fn write(dir: &Path, name: &str, record: &Record) {
    let folder = dir.join(name);
    fs::create_dir_all(folder.join("samples")).unwrap();
    for run in &record.runs {
        fs::write(folder.join(&run.samples), "").unwrap();
    }
    // As the lab does it: whole or not there.
    fs::write(folder.join("new"), serde_json::to_string(record).unwrap()).unwrap();
    fs::rename(folder.join("new"), folder.join("record.json")).unwrap();
}

/// A record with two runs of one connection each.
pub fn record(title: &str, started: &str) -> Record {
    let cpu = Cpu { busy: 0.1, stolen: 0.0, seconds: Vec::new(), cores: Vec::new() };
    let run = |name: &str, of_limit: f64| {
        serde_json::json!({
            "name": name, "description": null, "published": null, "published_of_limit": null,
            "topology": { "hosts": [], "switches": [], "links": [], "teams": [] },
            "delivered_bps": of_limit * 1e9, "limit_bps": 1e9, "of_limit": of_limit, "limit_reason": "one link",
            "members": [], "connections": [], "cpu": cpu,
            "measured_ms": 1000.0, "warmup_ms": 0.0, "delivered_counted_at": "here", "members_counted_at": "there",
            "samples": format!("samples/{name}.jsonl"), "samples_sha256": "0",
        })
    };
    let record = serde_json::json!({
        "schema": 1, "nicteam": "0.0.0", "started": started,
        "environment": {
            "kernel": "Linux", "cpu_model": "a processor", "cpus": 2, "memory_bytes": 1, "testbed": "netns",
            "dataplane": "packet", "privileges": "root", "congestion_default": "cubic", "granularity": "packets",
            "busy_before": 0.0,
        },
        "experiment": {
            "name": "made", "title": title, "question": null, "file": "title = 'made'", "overrides": [], "seed": 1,
            "order": ["first", "second"],
        },
        "runs": [run("first", 0.9), run("second", 0.25)],
    });
    serde_json::from_value(record).unwrap()
}

/// The same with a host `a` whose two links have carried 30 and 60 Mbit/s for four seconds, and its samples.
pub fn with_traffic(dir: &Path, name: &str, title: &str) {
    with_hosts(dir, name, title, &["a"]);
}

/// The same of several like hosts, each with two links to a host `b`.
pub fn with_hosts(dir: &Path, name: &str, title: &str, senders: &[&str]) {
    let mut record = record(title, "2026-11-03T10:00:00Z");
    let host = |(number, name): (usize, &str)| {
        let (address, mac) = (format!("10.0.0.{}/24", number + 1), format!("02:00:00:00:00:{:02x}", number + 1));
        serde_json::json!({ "name": name, "address": address, "mac": mac, "device": "team0" })
    };
    let link = |(number, sender): (usize, &&str), place: usize| {
        serde_json::json!({
            "a": { "node": sender, "device": format!("eth{place}") },
            "b": { "node": "b", "device": format!("eth{}", 2 * number + place) }, "rate_bps": 100_000_000, "mtu": 1500,
        })
    };
    let links = senders.iter().enumerate().flat_map(|sender| [link(sender, 0), link(sender, 1)]);
    let team = |sender: &&str| {
        serde_json::json!({
            "node": sender, "device": "team0", "peer": "b", "mode": "balance-rr", "xmit_hash_policy": "", "options": {},
            "members": ["eth0", "eth1"], "engine": "nicteam",
        })
    };
    let topology = serde_json::json!({
        "hosts": senders.iter().copied().chain(["b"]).enumerate().map(host).collect::<Vec<_>>(),
        "switches": [], "links": links.collect::<Vec<_>>(), "teams": senders.iter().map(team).collect::<Vec<_>>(),
    });
    record.runs.truncate(1);
    let run = &mut record.runs[0];
    run.topology = serde_json::from_value(topology).unwrap();
    run.measured_ms = 4000.0;
    let member = |(host, (device, mbps)): (&str, (&str, f64))| {
        serde_json::json!({
            "host": host, "team": "team0", "member": device, "tx_bps": mbps * 1e6, "rx_bps": 0.0, "tx_frames": 1,
            "rx_frames": 0, "tx_drops": 0, "rx_drops": 0,
        })
    };
    let members = senders.iter().flat_map(|host| [("eth0", 30.0), ("eth1", 60.0)].map(|of| member((host, of))));
    run.members = serde_json::from_value(members.collect()).unwrap();
    write(dir, name, &record);
    let sample = |(tenth, host): (u64, &str)| {
        let member = |device: &str, bytes: u64| {
            serde_json::json!({
                "team": "team0", "member": device, "tx_frames": 0, "tx_bytes": bytes * tenth, "tx_drops": 0,
                "rx_frames": 0, "rx_bytes": 0, "rx_drops": 0,
            })
        };
        let members = [member("eth0", 375_000), member("eth1", 750_000)];
        serde_json::json!({ "t_ms": tenth * 100, "host": host, "cpu_ms": 0.0, "members": members }).to_string() + "\n"
    };
    let samples = (0..=40).flat_map(|tenth| senders.iter().map(move |host| (tenth, *host)));
    fs::write(dir.join(name).join(&record.runs[0].samples), samples.map(sample).collect::<String>()).unwrap();
}
