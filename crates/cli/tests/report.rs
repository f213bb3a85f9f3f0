//! `nicteam lab report` of a bundle from a stranger, run as a user would.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nicteam_record::Record;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// A record and its samples, made by a lab.
const RECORDED: &str = include_str!("../../../fuzz/corpus/record/two-teams");

/// A bundle in a folder of its own; it goes with this value.
struct Bundle(PathBuf);

impl Bundle {
    /// With this name of the first run's samples.
    fn new(name: &str, samples: Option<&str>) -> Bundle {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}-{}", std::process::id()));
        let (record, lines) = RECORDED.split_once("\n\n").unwrap();
        let mut record: serde_json::Value = serde_json::from_str(record).unwrap();
        fs::create_dir_all(dir.join("samples")).unwrap();
        for run in record["runs"].as_array().unwrap() {
            fs::write(dir.join(run["samples"].as_str().unwrap()), lines).unwrap();
        }
        if let Some(samples) = samples {
            record["runs"][0]["samples"] = samples.into();
        }
        fs::write(dir.join("record.json"), record.to_string()).unwrap();
        Bundle(dir)
    }

    /// Reports it with bounded memory and time, so that a failure of this test harms nobody.
    fn report(&self) -> Output {
        let limits = "ulimit -v 2000000; exec timeout -s KILL 20 \"$0\" lab report \"$1\"";
        Command::new("sh").args(["-c", limits, env!("CARGO_BIN_EXE_nicteam")]).arg(&self.0).output().unwrap()
    }

    /// Reports it and expects a refusal that says this.
    fn refused(&self, why: &str) {
        let output = self.report();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_honest_bundle_is_reported() {
    let bundle = Bundle::new("honest", None);
    let output = bundle.report();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(bundle.0.join("report.html")).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn findings_are_printed_for_programs_though_an_older_record_has_none() {
    let bundle = Bundle::new("json", None);
    let before = fs::read_to_string(bundle.0.join("record.json")).unwrap();
    assert!(!before.contains("findings"));
    let arguments = ["lab", "report", "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam")).args(arguments).arg(&bundle.0).output().unwrap();
    let record: Record = serde_json::from_slice(&output.stdout).unwrap();
    for run in &record.runs {
        assert!(!run.findings.is_empty(), "{}", run.name);
        let connections: usize = run.findings.iter().map(|finding| finding.connections.len()).sum();
        assert_eq!(connections, run.connections.len(), "each connection is in one finding: {}", run.name);
    }
    assert_eq!(fs::read_to_string(bundle.0.join("record.json")).unwrap(), before, "it is read alone");
}

#[test]
fn a_link_at_the_page_is_not_written_through() {
    let bundle = Bundle::new("link", None);
    let target = bundle.0.join("somebody's");
    fs::write(&target, "precious").unwrap();
    symlink(&target, bundle.0.join("report.html")).unwrap();
    bundle.refused("is a symbolic link");
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    fs::remove_file(&target).unwrap();
    bundle.refused("is a symbolic link");
    assert!(!target.exists(), "nor is a file made");
}

#[test]
fn samples_elsewhere_are_not_opened() {
    for (name, samples, why) in [
        ("zero", "/dev/zero", "an absolute path"),
        ("passwd", "/etc/passwd", "an absolute path"),
        ("parent", "../../passwd", "a path with `..`"),
    ] {
        Bundle::new(name, Some(samples)).refused(why);
    }
}

#[test]
fn samples_that_are_no_file_are_not_read() {
    let linked = Bundle::new("linked", Some("samples/linked"));
    symlink("/dev/zero", linked.0.join("samples/linked")).unwrap();
    linked.refused("is a symbolic link");
    let fifo = Bundle::new("fifo", Some("samples/fifo"));
    mkfifo(&fifo.0.join("samples/fifo"), Mode::from_bits_truncate(0o600)).unwrap();
    fifo.refused("is a FIFO");
    let large = Bundle::new("large", Some("samples/large"));
    fs::File::create(large.0.join("samples/large")).unwrap().set_len(1 << 40).unwrap();
    large.refused("is larger than a file of a bundle may be");
}

#[test]
fn what_a_stranger_wrote_does_not_reach_the_terminal_as_it_is() {
    let bundle = Bundle::new("terminal", None);
    let path = bundle.0.join("record.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["unfinished"] = serde_json::json!({ "run": "\u{1b}[2J", "reason": "\u{9b}31m" });
    record["runs"][0]["name"] = "\u{1b}]0;title\u{7}".into();
    fs::write(&path, record.to_string()).unwrap();
    let output = bundle.report();
    assert!(output.status.success());
    for said in [output.stdout, output.stderr] {
        let said = String::from_utf8(said).unwrap();
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    }
}
