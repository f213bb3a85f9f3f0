//! More neighbours than the kernel's table takes (`gc_thresh3`), which is one for all network namespaces.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nicteam_record::Run;
use nicteam_testnet::{is_soak, may_make_networks};

use crate::common::lab::{Folder, run_with, words};

/// Hosts with so many links each to one switch, and connections from the first `from` of them by a pattern.
fn file(pattern: &str, hosts: usize, (links, team): (usize, &str), from: usize, to: std::ops::Range<usize>) -> String {
    let names = |range: std::ops::Range<usize>| {
        let names: Vec<_> = range.map(|n| format!("\"h{n}\"")).collect();
        format!("[{}]", names.join(", "))
    };
    // The subnet of the first holds them all.
    let sections: String = (1..hosts).map(|n| format!("h{n} = {{ {team} }}\n")).collect();
    let first = if team.is_empty() { String::new() } else { format!(", {team}") };
    format!(
        "title = \"Many hosts\"\nlinks = [{{ between = [{}, \"sw\"], count = {links} }}]\n[defaults]\nrate = \"5mbit\"\n\
         [teams]\nt = {{ mode = \"balance-alb\", miimon = 100 }}\n[switches]\nsw = {{}}\n[hosts]\nh0 = {{ address = \"10.20.0.1/16\"{first} }}\n{sections}\
         [workloads.w]\nkind = \"tcp\"\npattern = \"{pattern}\"\nfrom = {}\nto = {}\n[[runs]]\nname = \"r\"\nworkloads = \"w\"\n",
        names(0..hosts),
        names(0..from),
        names(to),
    )
}

/// The most neighbours that ordinary entries can be of, all namespaces together.
fn most_neighbours() -> usize {
    let path = "/proc/sys/net/ipv4/neigh/default/gc_thresh3";
    std::fs::read_to_string(path).unwrap_or_default().trim().parse().unwrap_or(1024)
}

/// Runs it: every pair has connected.
#[track_caller]
fn run(name: &str, file: &str, duration: &str, pairs: usize) -> Run {
    let (output, record) = run_with(name, file, &["--duration", duration]);
    let record = record.unwrap_or_else(|| panic!("{}", words(&output.stderr)));
    assert!(output.status.success(), "{}", words(&output.stderr));
    let run = record.runs.into_iter().next().unwrap();
    let connected: BTreeSet<_> = run.connections.iter().map(|it| (it.from.clone(), it.to.clone())).collect();
    assert_eq!(connected.len(), pairs);
    run
}

#[test]
fn more_neighbours_than_the_table_takes_are_found() {
    if !may_make_networks() {
        return;
    }
    // As many entries as pairs: more than the usual table has.
    let hosts = 34;
    let pairs = hosts * (hosts - 1);
    if pairs < most_neighbours() {
        eprintln!("SKIPPED: needs a table of neighbours with fewer than {pairs} entries");
        return;
    }
    run("many-hosts", &file("all-to-all", hosts, (1, ""), hosts, 0..hosts), "500ms", pairs);
}

/// Every host has two entries a pair here. balance-alb receives by both links because others ask by ARP for its address.
#[test]
fn thirty_two_hosts_reach_thirty_two_by_two_links_each() {
    if !is_soak() || !may_make_networks() {
        return;
    }
    let run = run("many-teams", &file("all-to-all", 64, (2, "team = \"t\""), 32, 32..64), "4s", 32 * 32);
    assert!(run.of_limit > 0.85, "share {}", run.of_limit);
}

/// What a page says, without tags, styles and the experiment file.
fn text(page: &str) -> String {
    let body = page.split("</style>").nth(1).unwrap_or_default();
    let body: String = body.split("<pre>").map(|part| part.split("</pre>").last().unwrap_or_default()).collect();
    body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect::<Vec<_>>().join("\n")
}

/// Hosts that a sentence names.
fn hosts_in(sentence: &str) -> usize {
    let words = sentence.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| word.strip_prefix('h').is_some_and(|digits| digits.parse::<u32>().is_ok())).count()
}

/// Drawn and told, thirty-two hosts are two groups: those that send, and those that receive.
#[test]
fn the_page_of_thirty_two_hosts_names_ranges() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("many-page");
    let file = file("pairwise", 32, (2, "team = \"t\""), 16, 16..32);
    std::fs::write(folder.path("many.toml"), file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run", &folder.path("many.toml"), "--duration", "1s", "--output", &folder.path("bundle")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output.stderr));
    let printed = words(&output.stdout);
    assert!(printed.contains("h0 to h15") && printed.contains("h16 to h31"), "{printed}");
    let page = std::fs::read_to_string(folder.path("bundle/report.html")).unwrap();
    let text = text(&page);
    assert!(text.contains("h0 to h15") && text.contains("h16 to h31"), "{text}");
    assert_eq!(page.matches("<rect class=\"box\"").count(), 2, "boxes of hosts");
    assert!(page.contains("class=\"heat\""));
    for sentence in text.lines().flat_map(|line| line.split(". ")) {
        assert!(sentence.len() <= 200 || hosts_in(sentence) <= 8, "{sentence}");
    }
}

/// Memory that is available on the machine, MB.
fn available_mb() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

/// What happens meanwhile, and the most memory that it took, MB.
fn with_peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let (least, over) = (AtomicU64::new(available_mb()), AtomicBool::new(false));
    let before = least.load(Ordering::Relaxed);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                least.fetch_min(available_mb(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    });
    (done, before - least.load(Ordering::Relaxed))
}

/// Prints what a run of 2 seconds takes, built, driven, taken down and reported: the figures count on nothing else being run.
#[test]
fn two_hundred_and_fifty_six_hosts_take_memory_in_proportion() {
    if !is_soak() || !may_make_networks() {
        return;
    }
    for hosts in [16, 64, 256] {
        let file = file("pairwise", hosts, (2, "team = \"t\""), hosts / 2, hosts / 2..hosts);
        let begun = Instant::now();
        let (_, peak_mb) = with_peak(|| run("pairs-of-hosts", &file, "1s", hosts / 2));
        println!("{hosts} hosts by two links each: {:.1} s, {peak_mb} MB", begun.elapsed().as_secs_f64());
        // Twice what was measured; the machine's other programs are in the figure.
        assert!(peak_mb < 100 + 9 * hosts as u64, "{peak_mb} MB");
    }
}
