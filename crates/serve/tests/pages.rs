//! What the pages say.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::common::{Served, record, with_traffic, write};

const OLD: &str = "2026-11-01T10:00:00Z";
const NEW: &str = "2026-11-02T10:00:00Z";

/// A listener for changes, past its first lines.
fn listener(served: &Served) -> BufReader<TcpStream> {
    let mut stream = served.connect();
    stream.write_all(format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", served.address).as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    assert!(until(&mut events, "retry: ").ends_with("2000\n"));
    events
}

/// The next line that begins so.
fn until(events: &mut impl BufRead, begin: &str) -> String {
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the stream ended");
        if line.starts_with(begin) {
            return line;
        }
    }
}

#[test]
fn the_list_has_the_newest_first_and_a_broken_bundle_beside_them() {
    let served = Served::with(&[("b-old", record("An <old> one", OLD)), ("a-new", record("A new one", NEW))], None);
    fs::create_dir(served.dir.join("broken")).unwrap();
    fs::write(served.dir.join("broken/record.json"), "{\"schema\": 1, \x1b[2J").unwrap();
    fs::create_dir(served.dir.join("no-bundle")).unwrap();
    let (head, page) = served.get("/");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing in {page}"));
    assert!(place("A new one") < place("An &lt;old&gt; one") && place("An &lt;old&gt;") < place("Cannot be read"));
    assert!(page.contains("<span title=\"second\">0.25</span>") && page.contains("3 bundles"));
    assert!(!page.contains("no-bundle") && !page.contains('\x1b'));
    let (_, found) = served.get("/?q=OLD+made");
    assert!(found.contains("1 of 3 bundles") && !found.contains("A new one"), "{found}");
}

#[test]
fn the_page_of_a_bundle_is_the_report_in_a_frame() {
    let record = record("A page", NEW);
    let served = Served::with(&[("one", record.clone())], None);
    let (_, page) = served.get("/bundles/one");
    let report = nicteam_report::page::<()>(&record, |_| Ok(Vec::new())).unwrap();
    let main = |page: &str| page[page.find("<main>").unwrap()..page.find("</main>").unwrap()].to_owned();
    assert_eq!(main(&page), main(&report));
    assert!(page.contains("data-live=\"one\"") && !report.contains("data-live"));
    let (head, _) = served.get("/bundles/two");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    fs::remove_file(served.dir.join("one/samples/first.jsonl")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let (head, page) = served.get("/bundles/one");
    assert!(head.starts_with("HTTP/1.1 422 ") && page.contains("first.jsonl"), "{head}");
}

#[test]
fn a_change_is_told_and_the_page_has_it() {
    let served = Served::new();
    let mut events = listener(&served);
    assert!(served.get("/").1.contains("No bundle is here yet"));
    write(&served.dir, "new\none", &record("Just came", NEW));
    assert_eq!(until(&mut events, "data: "), "data: [\"new\\\\none\"]\n");
    assert!(served.get("/").1.contains("Just came"));
    write(&served.dir, "new\none", &record("Changed since", NEW));
    until(&mut events, "data: ");
    assert!(served.get("/bundles/new%0Aone").1.contains("Changed since"));
    fs::remove_dir_all(served.dir.join("new\none")).unwrap();
    until(&mut events, "data: ");
    assert!(served.get("/").1.contains("No bundle is here yet"));
}

#[test]
fn an_experiment_that_runs_is_followed_sample_by_sample() {
    let served = Served::new();
    let mut events = listener(&served);
    // As the lab does it: the traffic of a run, but for its record.
    with_traffic(&served.dir, "now.partial", "Some traffic");
    let path = served.dir.join("now.partial");
    let mut bundle = nicteam_record::Bundle::open(&path).unwrap();
    let run = bundle.record.runs.remove(0);
    let lines = fs::read_to_string(path.join(&run.samples)).unwrap();
    let half = lines.lines().take(21).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(path.join(&run.samples), half).unwrap();
    let ended = record("x", NEW).runs.remove(1);
    fs::write(path.join(&ended.samples), "").unwrap();
    bundle.record.runs.push(ended);
    bundle.write_record().unwrap();
    let samples = run.samples.clone();
    let running = nicteam_record::Running { number: 2, count: 3, run };
    fs::write(path.join(nicteam_record::RUNNING), running.text()).unwrap();
    fs::write(path.join(nicteam_record::MARK), "").unwrap();
    let lab = lock(&path);
    until(&mut events, "data: ");
    assert!(served.get("/").1.contains("Runs now.</strong> Runs that have ended: 1."));
    let page = served.get("/bundles/now.partial").1;
    assert!(page.contains("run 2 of 3, <b>first</b>. 2 of 4 s are measured."), "{page}");
    // Each of 20 intervals, in kbit/s.
    let of = |mbps: u32, count: usize| format!("data-kbps=\"{}\"", vec![format!("{mbps}000"); count].join(" "));
    assert!(page.contains(&of(30, 20)) && page.contains(&of(60, 20)), "{page}");
    assert!(page.contains("<td>second</td>") && page.contains(">0.25</td>"), "{page}");
    // Its two cables in the last second, 0.3 and 0.6 of their rates.
    assert!(page.contains(">→ 45 % ← 0 %</text>") && page.matches("style=\"stroke-width:").count() == 2, "{page}");
    fs::write(path.join(&samples), lines).unwrap();
    until(&mut events, "data: ");
    let page = served.get("/bundles/now.partial").1;
    assert!(page.contains("4 of 4 s are measured.") && page.contains(&of(30, 40)), "{page}");
    // Its lab is killed.
    drop(lab);
    until(&mut events, "data: ");
    assert!(served.get("/").1.contains("Its lab was killed.</strong> Runs that have ended: 1."));
    let page = served.get("/bundles/now.partial").1;
    assert!(page.contains("id=\"run-0-name\">second"), "{page}");
}

/// The lock that a lab holds.
fn lock(path: &std::path::Path) -> nix::fcntl::Flock<fs::File> {
    let mark = fs::File::open(path.join(nicteam_record::MARK)).unwrap();
    nix::fcntl::Flock::lock(mark, nix::fcntl::FlockArg::LockExclusive).unwrap()
}

#[test]
fn two_bundles_are_compared_as_lab_compare_does_it() {
    let served = Served::with(&[("one", record("One", OLD)), ("two", record("Two", NEW))], None);
    let (head, page) = served.get("/compare?a=one&b=two");
    assert!(head.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(page.contains("one#first and two#first") && page.contains("one#second and two#second"));
    let (_, page) = served.get("/compare?a=one&b=one&a-run=second&b-run=first");
    assert!(page.contains("one#second and one#first") && page.contains("<option value=\"second\" selected>"), "{page}");
    for wrong in ["/compare", "/compare?a=one&b=none", "/compare?a=one&b=two&a-run=%3Cx%3E", "/compare?a=..&b=/etc"] {
        let (head, page) = served.get(wrong);
        assert!(head.starts_with("HTTP/1.1 422 ") && !page.contains("<x>"), "{wrong}: {head}");
    }
}

#[test]
fn a_prediction_follows_its_sliders() {
    let served = Served::new();
    let (head, page) = served.get("/predict?members=2&flows=1&policy=layer2&spread=src-dst-mac");
    assert!(head.starts_with("HTTP/1.1 200 ") && page.contains("<b>0.50</b> median"), "{page}");
    assert!(page.contains("class=\"band\"") && page.contains("xmit_hash_policy = &quot;layer2&quot;"));
    // What is no choice is the usual one, not an error and not a text of the page.
    let (head, page) = served.get("/predict?members=9999999&flows=-1&policy=%22%3Cx%3E");
    assert!(head.starts_with("HTTP/1.1 200 ") && page.contains("8 flows over 4 × 1 Gbit/s"), "{head}");
    assert!(!page.contains("<x>"));
}
