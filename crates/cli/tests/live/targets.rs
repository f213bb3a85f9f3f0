//! Storage that hosts of a lab serve, and what happens to it.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use nicteam_record::{EventKind, Record};
use nicteam_testnet::{eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::lab::{Folder, assert_failure, children_of, has, is_alive, press_ctrl_c, run, run_with};

const NICTEAM: &str = env!("CARGO_BIN_EXE_nicteam");

/// An initiator and a host that serves.
const HOSTS: &str = r#"
title = "Targets"
defaults = { rate = "1gbit", warmup = "100ms", interval = "20ms" }
hosts = { a = {}, b = {} }
links = [{ between = ["a", "b"] }]
"#;
const DISK: &str = "targets.disk = { kind = \"iscsi\", on = \"b\", size = \"64mib\", max_recv_data = \"256kib\" }\n";
const FILES: &str = "targets.files = { kind = \"nfs\", on = \"b\", size = \"64mib\" }\n";

/// A run in which `a` does this.
fn doing(client: &str, rest: &str) -> String {
    format!(
        "workloads.w = {{ kind = \"program\", from = \"a\", to = \"b\", client = '''{client}''' }}\n\
         [[runs]]\nname = \"r\"\nworkloads = \"w\"\n{rest}"
    )
}

/// Every process below another.
fn descendants(of: u32) -> Vec<u32> {
    let children = children_of(of);
    let below = children.iter().flat_map(|child| descendants(*child)).collect::<Vec<_>>();
    children.into_iter().chain(below).collect()
}

fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

#[test]
fn a_disk_and_files_are_served_and_recorded() {
    if !may_make_networks() || !has(&["tgtd", "iscsi-ls", "ganesha.nfsd", "rpcbind", "showmount"]) {
        return;
    }
    let client = "sh -c \"timeout 1 iscsi-perf -m 8 iscsi://{address}/iqn.2026-11.test.nicteam:disk/1 >/dev/null; \
                  iscsi-ls -s iscsi://{address}; iscsi-ls -s iscsi://{address}:3261; showmount -e {address}\"";
    let more = "targets.slow = { kind = \"iscsi\", on = \"b\", size = \"32mib\", medium = \"disk\" }\n";
    let (_, told, record) = run("targets", &format!("{HOSTS}{DISK}{more}{FILES}{}", doing(client, "")));
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let served = &record.runs[0];
    let seen = &served.programs[0].last_lines;
    for wanted in ["iqn.2026-11.test.nicteam:disk", "(Size:63M)", "nicteam:slow", "(Size:31M)", "/files (everyone)"] {
        assert!(seen.iter().any(|line| line.contains(wanted)), "no {wanted}: {seen:?}");
    }
    let [disk, slow, files] = &served.targets[..] else { panic!("{:?}", served.targets) };
    assert_eq!((disk.program.as_str(), disk.host.as_str(), disk.portals[0].as_str()), ("tgtd", "b", "10.0.0.2:3260"));
    assert_eq!((disk.configured["MaxRecvDataSegmentLength"].as_str(), disk.medium.as_str()), ("262144", "memory"));
    assert_eq!((slow.configured["MaxRecvDataSegmentLength"].as_str(), slow.medium.as_str()), ("8192", "disk"));
    assert_eq!((files.program.as_str(), files.size_bytes), ("ganesha.nfsd", 64 << 20));
    assert!(served.targets.iter().all(|target| target.version.starts_with(|c: char| c.is_ascii_digit())));
    let seconds = |host: &str| served.cpu.seconds.iter().find(|of| of.host == host).unwrap().seconds;
    // A program is not counted, what serves is: the agents themselves do the same at both hosts.
    assert!(seconds("b") > seconds("a"), "{:?}", served.cpu.seconds);
}

#[test]
fn a_target_that_is_killed_comes_back_with_what_it_held() {
    if !may_make_networks() || !has(&["tgtd", "iscsi-inq", "ganesha.nfsd", "rpcbind", "showmount"]) {
        return;
    }
    let client = "sh -c 'while :; do iscsi-inq iscsi://{address}/iqn.2026-11.test.nicteam:disk/1 >/dev/null 2>&1; d=$?; \
                  showmount -e {address} >/dev/null 2>&1; echo \"disk $d files $?\"; sleep 0.05; done'";
    let client = client.replace('\'', "\"").replace("\"disk $d files $?\"", "disk $d files $?");
    let events = "events = [{ at = \"300ms\", kind = \"target\", target = \"disk\", for = \"300ms\" },\n\
                  { at = \"300ms\", kind = \"target\", target = \"files\", for = \"300ms\" }]\n";
    let (_, told, record) = run("targets-killed", &format!("{HOSTS}{DISK}{FILES}{}", doing(&client, events)));
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let faults: Vec<_> = record.runs[0].events.iter().filter(|event| event.kind == EventKind::Fault).collect();
    let said: Vec<&str> = faults.iter().map(|event| event.text.as_str()).collect();
    assert!(faults.iter().all(|event| event.node == "b") && said.len() == 4, "{said:?}");
    assert_eq!(
        (said[0], said[2]),
        ("the server of target disk on b is killed", "the server of target disk on b is started again")
    );
    // Its last lines are of after the restart.
    let seen = &record.runs[0].programs[0].last_lines;
    assert_eq!(seen.last().map(String::as_str), Some("disk 0 files 0"), "{seen:?}");
    assert!(seen.iter().any(|line| line != "disk 0 files 0"), "it was never away: {seen:?}");
}

#[test]
fn a_target_that_dies_unasked_ends_the_run() {
    if !may_make_networks() || !has(&["tgtd"]) {
        return;
    }
    let folder = Folder::new("targets-died");
    let (lab, _) = lab_that_serves(&folder, DISK);
    let server = descendants(lab.id()).into_iter().find(|pid| name_of(*pid) == "tgtd").unwrap();
    kill(Pid::from_raw(server as i32), Signal::SIGKILL).unwrap();
    let output = lab.wait_with_output().unwrap();
    assert_failure(&output, 1, &["b: tgtd has ended by SIGKILL"]);
}

/// A lab in the middle of a run with targets, and all processes below it.
fn lab_that_serves(folder: &Folder, targets: &str) -> (Child, Vec<u32>) {
    let file = folder.path("serves.toml");
    fs::write(&file, format!("{HOSTS}{targets}{}", doing("sleep 60", ""))).unwrap();
    let lab = Command::new(NICTEAM)
        .args(["lab", "run", &file, "--duration", "60s", "--output", &folder.path("bundle")])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    eventually("a client that runs", || descendants(lab.id()).into_iter().any(|pid| name_of(pid) == "sleep"));
    let all = descendants(lab.id());
    (lab, all)
}

/// Mounts that a process of the machine sees.
fn mounts() -> String {
    fs::read_to_string("/proc/self/mounts").unwrap()
}

#[test]
fn nothing_is_left_however_a_lab_that_serves_ends() {
    if !may_make_networks() || !has(&["tgtd", "ganesha.nfsd", "rpcbind"]) {
        return;
    }
    for ends_well in [true, false] {
        let folder = Folder::new(&format!("targets-end-{ends_well}"));
        let before = mounts();
        let (mut lab, all) = lab_that_serves(&folder, &format!("{DISK}{FILES}"));
        let names: Vec<String> = all.iter().map(|pid| name_of(*pid)).collect();
        for server in ["tgtd", "ganesha.nfsd", "rpcbind"] {
            assert!(names.iter().any(|name| name == server), "{names:?}");
        }
        match ends_well {
            true => press_ctrl_c(&lab),
            false => lab.kill().unwrap(),
        }
        lab.wait().unwrap();
        eventually("the end of all processes", || !all.iter().any(|pid| is_alive(*pid)));
        assert_eq!(mounts(), before);
        let kept = fs::read_dir("/run/nicteam").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let kept: Vec<_> = kept.filter(|name| name.to_string_lossy().starts_with("target-")).collect();
        assert!(kept.is_empty(), "{kept:?}");
    }
}

#[test]
fn an_ordinary_user_serves_a_disk_and_is_told_why_not_files() {
    if !may_make_networks() || !has(&["tgtd", "iscsi-ls", "ganesha.nfsd", "rpcbind"]) {
        return;
    }
    let folder = Folder::new("targets-user");
    let binary = folder.path("nicteam");
    fs::copy(NICTEAM, &binary).unwrap();
    let lab = |targets: &str, name: &str| {
        let file = folder.path(&format!("{name}.toml"));
        fs::write(&file, format!("{HOSTS}{targets}{}", doing("iscsi-ls iscsi://{address}", ""))).unwrap();
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", &binary, "lab", "run", &file])
            .args(["--duration", "500ms", "--json", "--output", &folder.path(name)])
            .output()
            .unwrap()
    };
    let output = lab(DISK, "disk");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Record = serde_json::from_slice(&output.stdout).unwrap();
    let seen = &record.runs[0].programs[0].last_lines;
    assert!(seen.iter().any(|line| line.contains("nicteam:disk")), "{seen:?}");
    assert_failure(&lab(FILES, "files"), 3, &["a target of kind `nfs`", "rpcbind", "hint: run the lab as root"]);
}

#[test]
fn a_target_larger_than_memory_is_refused() {
    if !may_make_networks() || !has(&["tgtd"]) {
        return;
    }
    let huge = "targets.disk = { kind = \"iscsi\", on = \"b\", size = \"4tib\" }\n";
    let (output, record) = run_with("targets-huge", &format!("{HOSTS}{huge}{}", doing("sleep 1", "")), &[]);
    assert!(record.is_none());
    assert_failure(&output, 1, &["b: ", "MiB of memory are left", "hint:"]);
}
