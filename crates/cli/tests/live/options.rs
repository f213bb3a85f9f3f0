//! What the command line takes and refuses, and what it says.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nicteam_testnet::may_make_networks;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Runs the program to its end.
fn nicteam(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nicteam")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An experiment file; it goes with this value.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("nicteam-{name}-{}.toml", std::process::id()));
        fs::write(&path, text).unwrap();
        File(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Pairs of hosts with four links each, a pair a processor: more than the
/// packet dataplane carries at the default rate, less than at the lowest. The
/// second run uses one pair.
fn more_than_the_machine_carries() -> String {
    let pairs = std::thread::available_parallelism().map_or(1, usize::from).min(100);
    let mut text = "title = 'many'\n[teams.four]\n".to_owned();
    for pair in 0..pairs {
        write!(
            text,
            "[hosts.a{pair}]\nteam = 'four'\n[hosts.b{pair}]\nteam = 'four'\n\
             [[links]]\nbetween = ['a{pair}', 'b{pair}']\ncount = 4\n\
             [workloads.w{pair}]\nkind = 'tcp'\nfrom = 'a{pair}'\nto = 'b{pair}'\n"
        )
        .unwrap();
    }
    let all: Vec<String> = (0..pairs).map(|pair| format!("'w{pair}'")).collect();
    text + &format!(
        "[[runs]]\nname = 'all'\nworkloads = [{}]\n[[runs]]\nname = 'one'\nworkloads = 'w0'\n",
        all.join(", ")
    )
}

#[test]
fn show_draws_what_would_run_with_only_or_without() {
    if !may_make_networks() {
        return;
    }
    let file = File::new("many", &more_than_the_machine_carries());
    let drawn = |more: &[&str]| {
        let output = nicteam(&[&["lab", "show", file.path(), "--dataplane", "packet"], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let rate = stdout(&output).split("4 x ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
        (rate, stderr(&output))
    };
    let (rate, said) = drawn(&[]);
    assert!(["10mbit", "20mbit", "50mbit"].contains(&rate.as_str()), "{rate}");
    assert!(said.contains(&format!("links of {rate}")) && said.contains("--rate chooses another"), "{said}");
    assert_eq!(drawn(&["--only", "one"]).0, rate);
    assert_eq!(drawn(&["--rate", "100mbit"]), ("100mbit".to_owned(), String::new()));
}

#[test]
fn a_congestion_control_that_is_not_there_is_refused_before_anything_is_built() {
    if !may_make_networks() {
        return;
    }
    let text = "title = 'x'\nlinks = [{ between = ['a', 'b'] }]\n[hosts]\na = {}\nb = {}\n\
                [workloads.w]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\ncongestion = 'cubik'\n\
                [[runs]]\nname = 'r'\nworkloads = 'w'\n";
    let file = File::new("congestion", text);
    let output = nicteam(&["lab", "run", file.path(), "--output", "/nonexistent/results"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("{}:10:14", file.path())), "{said}");
    assert!(said.contains("`cubic`") && !said.contains("run 1"), "{said}");
    // Drawn it is all the same, with the same words.
    let words = said.lines().next().unwrap().strip_prefix("error: ").unwrap();
    let output = nicteam(&["lab", "show", file.path()]);
    let drawn = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(drawn.contains(&format!("\nwarning: {words}\n")), "{drawn}");
    assert!(drawn.contains(&format!("{}:10:14", file.path())) && drawn.contains("`cubic`"), "{drawn}");
}

/// What `team run` says to these options, for members that do not exist.
fn team_run(options: &[&str]) -> (Option<i32>, String) {
    // In the machine's own namespace, where another test does the same.
    let name = format!("t{}", std::process::id());
    let output = nicteam(&[&["team", "run", &name, "--members", "none0,none1"], options].concat());
    (output.status.code(), stderr(&output))
}

#[test]
fn a_primary_that_is_no_member_is_refused() {
    if !may_make_networks() {
        return;
    }
    let options = ["--mode", "active-backup", "-o", "primary=none7"];
    let (code, said) = team_run(&options);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`primary` none7 is no member") && said.contains("none0, none1"), "{said}");
    let (_, said) = team_run(&["--mode", "active-backup", "-o", "primary=none1"]);
    assert!(said.contains("no device `none0`"), "{said}");
}

#[test]
fn an_option_that_is_given_twice_is_refused() {
    for options in [
        &["-o", "mode=active-backup", "-o", "mode=broadcast"][..],
        &["--mode", "active-backup", "-o", "mode=broadcast"],
        &["-o", "miimon=100", "-o", " miimon =100"],
    ] {
        let (code, said) = team_run(options);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("is given twice"), "{options:?}: {said}");
    }
}

#[test]
fn a_hash_policy_without_effect_is_told() {
    const WARNING: &str = "warning: xmit_hash_policy has no effect";
    let policy = ["-o", "xmit_hash_policy=layer3+4"];
    let said = |mode| team_run(&[&policy[..], &["--mode", mode]].concat()).1;
    assert!(said("active-backup").contains(WARNING));
    assert!(!said("balance-xor").contains(WARNING));
    assert!(!team_run(&[]).1.contains(WARNING), "nobody chose a policy");
}

#[test]
fn a_wrong_value_is_answered_with_a_right_one() {
    let which = ["which", "--xmit-hash-policy", "layer3+4", "--members", "4"];
    for (arguments, words) in [
        (&["which", "--members", "four"][..], &["1 to 32", "4"][..]),
        (&["which", "--members", "0"], &["1 to 32", "4"]),
        (&["which", "--xmit-hash-policy", "layer34"], &["`layer34`", "did you mean `layer3+4`?"]),
        (&["which", "--xmit-hash-policy", "src_mac"], &["did you mean `src-mac`?"]),
        (&[&which[..], &["--flow", "tcp"]].concat(), &["tcp 10.0.0.1:40000 -> 10.0.0.2:5001"]),
        (&["which", "--src-mac", "1"], &["02:00:00:00:00:01"]),
        (&["team", "run", "t", "--members", "a", "--mtu", "x"], &["68 to 65535", "1500"]),
        (&["team", "run", "t", "--members", "a", "--mac", "x"], &["02:00:00:00:00:01"]),
        (&["team", "run", "t", "--members", "a", "--dataplane", "ebpf"], &["`bpf` or `packet`"]),
        (&["team", "run", "t", "--members", "a", "--mode", "balance-r"], &["did you mean `balance-rr`?"]),
        (&["team", "run", "t", "--members", "a", "-o", "mimon=1"], &["did you mean `miimon`?"]),
        (&["lab", "run", "t3", "--rate", "50"], &["no unit", "`100mbit`"]),
        (&["lab", "run", "t3", "--duration", "soon"], &["`soon`", "`8s`"]),
        (&["lab", "run", "t4-four-links"], &["did you mean `t3-four-links`?"]),
        (&["lab", "run", "t3", "--only", "one-conection"], &["did you mean `one-connection`?"]),
    ] {
        let output = nicteam(arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{arguments:?}: `{word}` is not in: {said}");
        }
        assert!(!said.contains("invalid digit"), "{said}");
    }
}

#[test]
fn what_is_held_can_be_entered_as_it_says() {
    if !may_make_networks() {
        return;
    }
    let mut lab = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "up", "switch-teams"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(lab.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said: Vec<String> = lines.by_ref().take_while(|line| !line.contains("takes everything down")).collect();
    let enter = |node: &str| {
        let line = said.iter().find(|line| line.trim_start().starts_with(node))?;
        Some(line[line.find("nsenter")?..].to_owned())
    };
    let run = |node, words: &str| {
        let command = enter(node).unwrap_or_else(|| panic!("no line of {node}: {said:?}")) + " " + words;
        stdout(&Command::new("sh").args(["-c", &command]).output().unwrap())
    };
    let (client, switch) = (run("client", "cat /proc/net/dev"), run("sw", "cat /proc/net/dev"));
    let folder = run("client", "ls /run/nicteam");
    let (own, elsewhere) = (folder.trim_end(), Path::new("/run/nicteam"));
    let is_private = own.starts_with("netns-") && !elsewhere.join(own).exists();
    kill(Pid::from_raw(lab.id() as i32), Signal::SIGINT).unwrap();
    assert!(lab.wait().unwrap().success());
    assert!(is_private, "what is noted of the lab's teams is the lab's: {own}");
    assert!(client.contains("team0:") && switch.contains("br0:"), "{client}{switch}");
    assert!(said[0].contains("run `active-backup`") && said[0].contains("--only RUN"), "{said:?}");
    assert!(said[0].contains("balance-xor-macs, balance-xor-ports"), "{said:?}");
}

#[test]
fn a_bundle_is_named_by_its_folder_or_its_record() {
    if !may_make_networks() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("nicteam-report-{}", std::process::id()));
    let bundle = folder.to_str().unwrap();
    let ran = nicteam(&["lab", "run", "two-hosts", "--duration", "300ms", "--output", bundle]);
    let by_folder = nicteam(&["lab", "report", bundle]);
    let by_record = nicteam(&["lab", "report", &format!("{bundle}/record.json")]);
    let by_page = nicteam(&["lab", "report", &format!("{bundle}/report.html")]);
    let _ = fs::remove_dir_all(&folder);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(by_record.status.success(), "{}", stderr(&by_record));
    assert_eq!(stdout(&by_folder), stdout(&by_record));
    assert!(by_folder.status.success() && !by_folder.stdout.is_empty());
    assert_eq!(by_page.status.code(), Some(2), "{}", stderr(&by_page));
    assert!(stderr(&by_page).contains("give the folder"), "{}", stderr(&by_page));
}
