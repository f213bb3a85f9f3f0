//! What the command line takes and refuses, and what it says.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use nicteam_testnet::may_make_networks;

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
}
