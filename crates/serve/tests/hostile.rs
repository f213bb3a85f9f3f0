//! Clients and bundles that mean no good.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStringExt;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::common::{Served, record};

const NEW: &str = "2026-11-02T10:00:00Z";

#[test]
fn no_path_leads_out_of_the_folder() {
    let served = Served::with(&[("one", record("One", NEW))], None);
    let outside = served.dir.with_extension("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::copy(served.dir.join("one/record.json"), outside.join("record.json")).unwrap();
    std::os::unix::fs::symlink(&outside, served.dir.join("link")).unwrap();
    let name = outside.file_name().unwrap().to_str().unwrap();
    for target in [
        format!("/bundles/..%2F{name}"),
        format!("/bundles/../{name}"),
        format!("/bundles/%2e%2e/{name}"),
        format!("/bundles/{}", outside.to_str().unwrap().replace('/', "%2F")),
        "/bundles/link".to_owned(),
        "/bundles/..".to_owned(),
        "/bundles/.".to_owned(),
        "/bundles/".to_owned(),
        "/bundles/one%00".to_owned(),
        "/bundles/one/record.json".to_owned(),
        "/../../etc/passwd".to_owned(),
        "//etc/passwd".to_owned(),
    ] {
        let (head, body) = served.get(&target);
        assert!(head.starts_with("HTTP/1.1 404 "), "{target}: {head}");
        assert!(!body.contains("root:"), "{target}");
    }
    assert!(!served.get("/").1.contains("/bundles/link"), "a symbolic link is not listed");
    fs::remove_dir_all(outside).unwrap();
}

#[test]
fn texts_of_a_stranger_are_shown_and_do_nothing() {
    const EVIL: &str = "<script>alert(1)</script>\"'&\x1b]0;x\x07\u{202e}";
    let mut evil = record(EVIL, EVIL);
    evil.experiment.name = EVIL.into();
    for run in &mut evil.runs {
        run.name.push_str("<script>");
    }
    let served = Served::with(&[("evil\x1b[2J<script>", evil)], None);
    fs::create_dir(served.dir.join(std::ffi::OsString::from_vec(b"\xff\xfe".to_vec()))).unwrap();
    for (target, expected) in [("/", "200"), ("/bundles/evil%1B%5B2J%3Cscript%3E", "200"), ("/?q=%3Cscript%3E", "200")]
    {
        let (head, page) = served.get(target);
        assert!(head.starts_with(&format!("HTTP/1.1 {expected} ")), "{target}: {head}");
        let ours = page.matches("<script src=\"/serve.js\"").count() + page.matches("<script>\"use strict\";").count();
        // Ours alone: the site's, and that of charts where there are some.
        assert!(ours >= 1 && page.matches("<script").count() == ours, "{target}");
    }
    let list = served.get("/").1;
    assert!(!list.contains('\x1b') && !list.contains('\u{202e}'), "{list}");
}

#[test]
fn every_answer_says_what_a_browser_may_do() {
    let served = Served::with(&[("one", record("One", NEW))], None);
    for target in ["/", "/bundles/one", "/nothing", "/serve.js", "/predict", "/compare"] {
        let (head, page) = served.get(target);
        for header in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
        ] {
            assert!(head.contains(header), "{target}: {head}");
        }
        assert!(head.contains("script-src 'self' 'sha256-") && !head.contains("script-src 'self' 'unsafe"), "{head}");
        let loads = |page: &str| page.contains("http://") || page.contains("https://") || page.contains(" onclick=");
        assert!(!loads(&page), "{target}");
    }
    let (head, _) = served.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 421 "), "{head}");
    let (head, _) = served.ask("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
}

#[test]
fn without_the_token_nothing_is_told() {
    const TOKEN: &str = "a-token-of-this-test";
    let served = Served::with(&[("secret-name", record("A secret title", NEW))], Some(TOKEN));
    for target in ["/", "/bundles/secret-name", "/bundles/none", "/events", "/serve.js", "/?token=wrong"] {
        let (head, page) = served.get(target);
        assert!(head.starts_with("HTTP/1.1 401 ") && !page.contains("secret"), "{target}: {head}");
    }
    let (head, _) = served.get(&format!("/?token={TOKEN}"));
    assert!(head.starts_with("HTTP/1.1 303 ") && head.contains("\r\nLocation: /\r\n"), "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap().split(';').next().unwrap();
    let (_, page) = served.ask(&format!("GET / HTTP/1.1\r\nHost: h\r\nCookie: {cookie}\r\n\r\n"));
    assert!(page.contains("A secret title"));
}

#[test]
fn a_thousand_silent_clients_and_listeners_that_do_not_read_keep_nobody_out() {
    // The clients are of this process, too.
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(4096)), hard).unwrap();
    let served = Served::with(&[("one", record("One", NEW))], None);
    let listen = || {
        let mut stream = served.connect();
        stream.write_all(format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", served.address).as_bytes()).unwrap();
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).unwrap();
        (stream, String::from_utf8(begin.to_vec()).unwrap())
    };
    let listeners: Vec<(TcpStream, String)> = (0..nicteam_web::STREAMS).map(|_| listen()).collect();
    assert!(listeners.iter().all(|(_, begin)| begin == "HTTP/1.1 200"));
    assert_eq!(listen().1, "HTTP/1.1 503");
    let silent: Vec<TcpStream> = (0..1000).map(|_| served.connect()).collect();
    let begun = Instant::now();
    for _ in 0..20 {
        assert!(served.get("/").1.contains("One"));
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(silent);
    drop(listeners);
    assert!(served.get("/").1.contains("One"));
}

#[test]
fn a_client_that_reads_slowly_gets_the_page_and_holds_up_nobody() {
    let mut large = record("Large", NEW);
    large.experiment.file = "x".repeat(8 << 20);
    let served = Served::with(&[("large", large)], None);
    let mut slow = served.connect();
    slow.write_all(format!("GET /bundles/large HTTP/1.1\r\nHost: {}\r\n\r\n", served.address).as_bytes()).unwrap();
    let (mut answer, mut some) = (Vec::new(), [0; 1024]);
    for _ in 0..5 {
        let count = slow.read(&mut some).unwrap();
        answer.extend_from_slice(&some[..count]);
        std::thread::sleep(Duration::from_millis(50));
        assert!(served.get("/").1.contains("Large"));
    }
    slow.read_to_end(&mut answer).unwrap();
    assert!(answer.len() > 8 << 20 && answer.ends_with(b"</html>"), "{}", answer.len());
}
