//! `nicteam metrics` before a real Prometheus, and `nicteam top` in a terminal.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nicteam_sys::process;
use nicteam_testnet::{Host, cables, eventually, may_make_networks};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::teams::{Killed, TeamHost, own_folder};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}

/// Two hosts with six cables and three teams each: one aggregates, one stripes, one has a standby.
fn teamed() -> (TeamHost, TeamHost) {
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 6);
    let hosts = (TeamHost::new(near), TeamHost::new(far));
    for host in [&hosts.0, &hosts.1] {
        let add = |team: &str, mode: &str, members: &str, more: &[&str]| {
            let usual = ["add", team, "--mode", mode, "--members", members, "--dataplane", "packet"];
            host.run(&[&usual[..], more].concat());
        };
        add("ad", "802.3ad", "eth0,eth1", &["-o", "lacp_rate=fast", "-o", "aggregate_wait=0"]);
        add("st", "stripe", "eth2,eth3", &[]);
        add("ab", "active-backup", "eth4,eth5", &["-o", "miimon=20"]);
    }
    hosts
}

/// Prometheus with the rules that are shipped, whose alerts wait no longer than a second.
struct Prometheus {
    folder: PathBuf,
    process: Killed,
}

impl Prometheus {
    fn start(host: &TeamHost) -> Prometheus {
        let folder = own_folder("prometheus");
        fs::create_dir_all(&folder).unwrap();
        let rules = fs::read_to_string(root().join("packaging/prometheus/nicteam.rules.yml")).unwrap();
        let soon =
            |line: &str| if line.trim().starts_with("for: ") { "        for: 1s".to_owned() } else { line.to_owned() };
        let rules: Vec<String> = rules.lines().map(soon).collect();
        fs::write(folder.join("rules.yml"), rules.join("\n")).unwrap();
        let config = "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\nscrape_configs:\n\
            \x20 - job_name: nicteam\n    static_configs: [{targets: [\"127.0.0.1:9733\"]}]\n";
        fs::write(folder.join("prometheus.yml"), config).unwrap();
        let mut command = Command::new("prometheus");
        command.arg("--config.file=prometheus.yml").arg("--storage.tsdb.path=data").current_dir(&folder);
        command.args(["--web.listen-address=127.0.0.1:9090", "--log.level=error"]).stdin(Stdio::null());
        process::in_netns(&mut command, &host.host.netns);
        process::die_with_parent(&mut command);
        Prometheus { process: Killed(command.spawn().unwrap()), folder }
    }

    /// How many series a query finds.
    fn found(host: &TeamHost, query: &str) -> usize {
        let mut promtool = Command::new("promtool");
        promtool.args(["query", "instant", "http://127.0.0.1:9090", query]);
        process::in_netns(&mut promtool, &host.host.netns);
        let output = promtool.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() || said.contains("connection refused") || said.contains(" 503 "),
            "{query}: {said}"
        );
        String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).count()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // Ahead of its folder, in which it writes.
        let _ = self.process.0.kill();
        let _ = self.process.0.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The queries of the dashboard, and of the rules each recorded value and each metric that an alert looks at.
fn queries() -> Vec<String> {
    let dashboard = fs::read_to_string(root().join("packaging/grafana/nicteam.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let written = |target: &Value| {
        let query = target["expr"].as_str().unwrap().replace("$instance", ".*").replace("$bundle", ".*");
        query.replace("$__rate_interval", "10s")
    };
    let mut queries: Vec<String> = targets.map(written).collect();
    assert!(queries.len() > 15);
    let rules = fs::read_to_string(root().join("packaging/prometheus/nicteam.rules.yml")).unwrap();
    for line in rules.lines() {
        let line = line.trim().trim_start_matches("- ");
        if let Some(name) = line.strip_prefix("record: ") {
            queries.push(name.to_owned());
        } else if let Some(expression) = line.strip_prefix("expr: ") {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
            let words = expression.split(|c: char| !is_name(c)).filter(|word| word.starts_with("nicteam"));
            queries.extend(words.map(str::to_owned));
        }
    }
    queries.sort_unstable();
    queries.dedup();
    queries
}

/// Waits up to a minute, in which a real Prometheus has started, scraped and evaluated.
#[track_caller]
fn within_a_minute(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// The exporter on a host; it listens.
fn exporter(host: &TeamHost) -> Killed {
    let mut command = host.nicteam(&["metrics", "--listen", "127.0.0.1:9733"]);
    let mut child: Child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("metrics at http://127.0.0.1:9733/metrics"), "{said}");
    Killed(child)
}

#[test]
fn prometheus_finds_data_for_every_query_and_a_pulled_cable_alerts() {
    if !may_make_networks() {
        return;
    }
    if Command::new("prometheus").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no prometheus");
    }
    let (mut near, mut far) = teamed();
    near.host.set_up("lo", true);
    let _exporter = exporter(&near);
    let _prometheus = Prometheus::start(&near);
    // Another program changes what is the team's: something to repair, and to count.
    let index = near.host.index("eth4");
    near.host.netlink.set_mtu(index, 1400).unwrap();
    let mut waiting = queries();
    within_a_minute("data for every query", || {
        waiting.retain(|query| Prometheus::found(&near, query) == 0);
        if !waiting.is_empty() {
            eprintln!("no data yet: {waiting:?}");
        }
        waiting.is_empty()
    });
    let firing = "ALERTS{alertname=\"NicteamBundleDegraded\",alertstate=\"firing\",bundle=\"ab\"}";
    assert_eq!(Prometheus::found(&near, firing), 0);
    far.host.set_up("eth4", false);
    within_a_minute("the alert", || Prometheus::found(&near, firing) == 1);
    within_a_minute("the failover", || {
        Prometheus::found(&near, "nicteam_team_failovers_total{bundle=\"ab\"} > 0") == 1
    });
    for (query, series) in [
        ("up{job=\"nicteam\"} == 1", 1),
        ("nicteam_exporter_left_out == 0", 1),
        ("nicteam_bundle_lacp_negotiated{bundle=\"ad\"} == 1", 1),
        ("nicteam_team_repairs_total{bundle=\"ab\",device=\"eth4\",what=\"MTU\"} > 0", 1),
        ("node_bonding_slaves == 2", 3),
    ] {
        assert_eq!(Prometheus::found(&near, query), series, "{query}");
    }
}

#[test]
fn rules_are_right_by_promtools_own_tests() {
    let mut promtool = Command::new("promtool");
    promtool.args(["test", "rules", "nicteam.rules.test.yml"]).current_dir(root().join("packaging/prometheus"));
    let Ok(output) = promtool.output() else { return eprintln!("SKIPPED: no promtool") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_textfile_has_the_teams_and_one_table_suffices_for_a_script() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = teamed();
    eventually("the aggregation", || {
        let status = near.status("ad");
        status["members"].as_array().unwrap().iter().all(|member| member["active"] == Value::Bool(true))
    });
    let folder = own_folder("textfile");
    fs::create_dir_all(&folder).unwrap();
    let done = near.nicteam(&["metrics", "--once", "--textfile", folder.to_str().unwrap()]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(folder.join("nicteam.prom")).unwrap();
    assert!(text.contains("node_bonding_active{master=\"ad\"} 2\n") && !text.contains("# EOF"), "{text}");
    assert!(
        text.contains("nicteam_member_lacp_attached{bundle=\"ad\",kind=\"nicteam\",member=\"eth1\"} 1\n"),
        "{text}"
    );
    fs::remove_dir_all(folder).unwrap();

    let once = near.nicteam(&["top", "--once", "--interval", "200ms"]).output().unwrap();
    let table = String::from_utf8(once.stdout).unwrap();
    assert!(once.status.success() && table.lines().count() >= 10, "{table}");
    assert!(table.lines().any(|line| line.starts_with("ad ") && line.contains("2/2 up") && line.contains("802.3ad")));
    assert!(table.lines().any(|line| line.starts_with("  eth5 ") && line.contains("standby")), "{table}");
    let json = near.nicteam(&["top", "st", "--once", "--json", "--interval", "200ms"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["bundles"].as_array().unwrap().len(), 1);
    assert_eq!(json["bundles"][0]["mode"], "stripe");
    let none = near.nicteam(&["top", "nowhere", "--once"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
    let no_terminal = near.nicteam(&["top"]).output().unwrap();
    assert_eq!(no_terminal.status.code(), Some(2));
}

/// A host with the group that may look, seen by a user without privileges who is in it, and by one who is not.
const UNPRIVILEGED: &str = r#"mount --make-rprivate / && mount -t tmpfs none /mnt && chmod 755 /mnt
cp /etc/group /mnt/group && sed -i '/^nicteam:/d' /mnt/group && echo 'nicteam:x:64999:' >>/mnt/group
mount --bind /mnt/group /etc/group && cp "$1" /mnt/nicteam && mkdir /mnt/out && chmod 777 /mnt/out
export NICTEAM_STATE_DIR=/mnt/state
ip link add m0 type veth peer name p0 && ip link set p0 up
/mnt/nicteam team add team0 --members m0 --dataplane packet
for groups in --groups=64999 --clear-groups; do
    setpriv --reuid=65534 --regid=65534 $groups --bounding-set=-all --inh-caps=-all --no-new-privs \
        /mnt/nicteam metrics --once --textfile /mnt/out
    cat /mnt/out/nicteam.prom && echo ---
done
/mnt/nicteam team del team0"#;

#[test]
fn the_group_suffices_to_see_teams() {
    if !may_make_networks() {
        return;
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no setpriv to give privileges up");
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "sh", "-ec", UNPRIVILEGED, "sh", env!("CARGO_BIN_EXE_nicteam")]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{said}");
    let [member, other, ..] = text.split("---\n").collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(member.contains("nicteam_bundle_members{bundle=\"team0\",kind=\"nicteam\"} 1\n"), "{member}");
    assert!(member.contains("\nnicteam_exporter_unseen 0\n") && other.contains("\nnicteam_exporter_unseen 1\n"));
    assert!(!other.contains("team0"), "{other}");
}

/// A terminal of 80 by 24 with `nicteam top` in it.
struct Terminal {
    child: Killed,
    master: File,
    slave: File,
}

impl Terminal {
    fn open(host: &TeamHost) -> Terminal {
        let mut command = host.nicteam(&["top", "--interval", "200ms"]);
        command.stderr(Stdio::null());
        Terminal::with(command)
    }

    /// With this command's input and output.
    fn with(mut command: Command) -> Terminal {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        // Or the program holds its own terminal open.
        fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
        let slave = File::from(pty.slave);
        command.env("NO_COLOR", "1").env("TERM", "xterm").stdin(slave.try_clone().unwrap());
        command.stdout(slave.try_clone().unwrap());
        Terminal { child: Killed(command.spawn().unwrap()), master: File::from(pty.master), slave }
    }

    /// Reads until this was written.
    fn read_until(&mut self, text: &str) -> String {
        let (mut all, mut some) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&all).contains(text) {
            let count = self.master.read(&mut some).unwrap();
            all.extend_from_slice(&some[..count]);
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Whether keys wait for a line's end, as they do where nobody has changed that.
    fn is_usual(&self) -> bool {
        let flags = tcgetattr(&self.slave).unwrap().local_flags;
        flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }
}

/// Two hosts with two links, and two runs.
const TWO_RUNS: &str = r#"
title = "Two runs"
defaults.warmup = "0s"
links = [{ between = ["left", "right"], count = 2, rate = "10mbit" }]
teams.pair = { mode = "balance-rr" }
[hosts]
left = { team = "pair" }
right = { team = "pair" }
[workloads.one]
kind = "tcp"
from = "left"
to = "right"
[[runs]]
name = "first"
workloads = "one"
duration = "400ms"
[[runs]]
name = "second"
workloads = "one"
duration = "800ms"
"#;

#[test]
fn a_lab_in_a_terminal_shows_its_links_and_then_its_runs() {
    if !may_make_networks() {
        return;
    }
    let folder = own_folder("lab-watch");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("two.toml"), TWO_RUNS).unwrap();
    let lab = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.current_dir(&folder).args(["lab", "run", "two.toml", "--watch", "--dataplane", "packet"]).args(more);
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let talk = openpty(Some(&size), None).unwrap();
        fcntl(&talk.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
        command.stderr(talk.slave);
        let terminal = Terminal::with(command);
        // A terminal that nobody reads takes little, and then its writer waits.
        (terminal, std::thread::spawn(move || read_to_end(File::from(talk.master))))
    };
    let (mut terminal, talk) = lab(&["--output", "bundle"]);
    let shown = terminal.read_until("sends");
    assert!(
        shown.contains("\u{1b}[?1049h") && shown.contains("left team0") && shown.contains("balance-rr"),
        "{shown:?}"
    );
    terminal.master.write_all(b"q").unwrap();
    // The runs go on, on the usual screen.
    let rest = terminal.read_until("of limit");
    assert!(rest.contains(LEAVES), "{rest:?}");
    assert_eq!(terminal.child.0.wait().unwrap().code(), Some(0));
    assert!(terminal.is_usual());
    let said = talk.join().unwrap();
    assert!(said.contains("of 2 runs have ended") && said.contains("runs second"), "{said:?}");

    let (mut terminal, _talk) = lab(&["--output", "other"]);
    terminal.read_until("sends");
    terminal.master.write_all(b"\x03").unwrap();
    terminal.read_until(LEAVES);
    assert_eq!(terminal.child.0.wait().unwrap().code(), Some(130));
    assert!(terminal.is_usual() && !folder.join("other").exists());
    fs::remove_dir_all(&folder).unwrap();
}

/// What a terminal was told, until its last writer is gone (`EIO`).
fn read_to_end(mut terminal: File) -> String {
    let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        said.extend(&buffer[..count]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// Processor time of a process so far, seconds.
fn processor_time(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let text = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
    let of = |text: String| text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0);
    tasks.map(|task| of(text(task)) / 1e9).sum()
}

/// What a look at so many teams costs, milliseconds: `nicteam top`, all teams together, and `nicteam metrics`.
fn cost_of_a_look(teams: usize, looks: u32) -> [f64; 3] {
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2 * teams);
    let near = TeamHost::new(near);
    for team in 0..teams {
        let members = format!("eth{},eth{}", 2 * team, 2 * team + 1);
        near.run(&[
            "add",
            &format!("t{team}"),
            "--mode",
            "balance-xor",
            "--members",
            &members,
            "--dataplane",
            "packet",
        ]);
    }
    let own = || near.processes().into_iter().map(|pid| pid as u32);
    let all: Vec<u32> = own().collect();
    let of_teams = || all.iter().copied().map(processor_time).sum::<f64>();
    let idle = {
        let before = of_teams();
        std::thread::sleep(Duration::from_secs(10));
        (of_teams() - before) / 10.0
    };
    let mut command = near.nicteam(&["top", "--json", "--interval", "1s"]);
    let mut top = Killed(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut views = BufReader::new(top.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let count = |line: String| serde_json::from_str::<Value>(&line).unwrap()["bundles"].as_array().unwrap().len();
    assert_eq!(views.nth(1).map(count), Some(teams));
    let begun = Instant::now();
    let before = [processor_time(top.0.id()), of_teams()];
    views.nth(looks as usize - 1).unwrap();
    let after = [processor_time(top.0.id()), of_teams()];
    let busy_of_teams = after[1] - before[1] - idle * begun.elapsed().as_secs_f64();
    drop(top);
    let folder = own_folder("metrics-cost");
    fs::create_dir_all(&folder).unwrap();
    let mut command = near.nicteam(&["metrics", "--interval", "1s", "--textfile"]);
    let metrics = Killed(command.arg(&folder).spawn().unwrap());
    std::thread::sleep(Duration::from_secs(2));
    let before_metrics = processor_time(metrics.0.id());
    std::thread::sleep(Duration::from_secs(looks.into()));
    let of_metrics = processor_time(metrics.0.id()) - before_metrics;
    drop(metrics);
    fs::remove_dir_all(&folder).unwrap();
    [after[0] - before[0], busy_of_teams, of_metrics].map(|seconds| seconds * 1e3 / f64::from(looks))
}

#[test]
fn the_cost_of_a_look_is_in_proportion_to_the_teams() {
    // Sixty-four teams take a while to be made.
    if !may_make_networks() || !nicteam_testnet::is_soak() {
        return;
    }
    let [few, many] = [8, 64].map(|teams| {
        let [top, of_teams, metrics] = cost_of_a_look(teams, 20);
        println!(
            "{teams} teams, each look: top {top:.2} ms, metrics {metrics:.2} ms, all teams together {of_teams:.2} ms"
        );
        [top, metrics]
    });
    for (few, many) in few.into_iter().zip(many) {
        assert!(many / few < 8.0 * 1.5, "{few} ms of 8 teams, {many} ms of 64");
    }
}

/// Leaves the other screen, and shows the cursor.
const LEAVES: &str = "\u{1b}[?1049l";

/// What ends the view.
type End = Box<dyn Fn(&mut Terminal)>;

#[test]
fn the_terminal_is_as_it_was_however_the_view_ends() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = teamed();
    let by_key = |key: &'static [u8]| move |terminal: &mut Terminal| terminal.master.write_all(key).unwrap();
    let by_signal = |signal: Signal| {
        move |terminal: &mut Terminal| kill(Pid::from_raw(terminal.child.0.id() as i32), signal).unwrap()
    };
    let ends: [(&str, End, i32); 4] = [
        ("q", Box::new(by_key(b"q")), 0),
        ("Ctrl-C", Box::new(by_key(b"\x03")), 0),
        ("TERM", Box::new(by_signal(Signal::SIGTERM)), 130),
        ("HUP", Box::new(by_signal(Signal::SIGHUP)), 130),
    ];
    for (how, end, code) in ends {
        let mut terminal = Terminal::open(&near);
        // Spaces that were there already are not written again.
        let shown = terminal.read_until("quit");
        assert!(shown.contains("\u{1b}[?1049h"), "the other screen");
        assert!(!shown.contains("\u{1b}[31m") && !shown.contains("\u{1b}[38;"), "no colour: {shown:?}");
        assert!(!terminal.is_usual());
        end(&mut terminal);
        terminal.read_until(LEAVES);
        assert_eq!(terminal.child.0.wait().unwrap().code(), Some(code), "{how}");
        assert!(terminal.is_usual(), "{how}");
    }
}

#[test]
fn a_view_whose_terminal_is_gone_ends() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = teamed();
    let mut terminal = Terminal::open(&near);
    terminal.read_until("quit");
    let Terminal { mut child, master, slave } = terminal;
    drop((master, slave));
    eventually("the end of the view", || child.0.try_wait().unwrap().is_some());
    assert_eq!(child.0.wait().unwrap().code(), Some(129));
}
