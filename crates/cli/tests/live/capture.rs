//! `nicteam capture`, read by Wireshark's own program.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nicteam_dataplane::Kind;
use nicteam_sys::packet::PacketSocket;
use nicteam_sys::process;
use nicteam_testnet::{Host, cables, eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::teams::{Killed, Probes, TeamHost, own_folder};

/// Whether Wireshark's and tcpdump's programs are here.
fn may_read() -> bool {
    for tool in ["tshark", "tcpdump"] {
        if Command::new(tool).arg("--version").output().is_err() {
            eprintln!("SKIPPED: no {tool}");
            return false;
        }
    }
    may_make_networks()
}

/// Two hosts with two cables and `team0` on both; the near one hashes.
fn teamed(dataplane: Kind) -> (TeamHost, TeamHost) {
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let (mut near, mut far) = (TeamHost::new(near), TeamHost::new(far));
    let kind = dataplane.to_string();
    let common = ["--members", "eth0,eth1", "--dataplane", &kind, "--mode"];
    near.run(&[&["add", "team0"][..], &common, &["balance-xor", "-o", "xmit_hash_policy=layer3+4"]].concat());
    far.run(&[&["add", "team0"][..], &common, &["balance-xor"]].concat());
    near.host.address("team0", &[("10.3.0.1", 24)]);
    far.host.address("team0", &[("10.3.0.2", 24)]);
    (near, far)
}

/// A capture that has begun; it says so.
fn begun(host: &TeamHost, arguments: &[&str]) -> (Killed, BufReader<std::process::ChildStderr>) {
    let mut command = host.nicteam(&[&["capture", "team0"], arguments].concat());
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let child = Killed(child);
    assert!(line.contains("capturing on team0 and eth0, eth1"), "{line}");
    // It hears from the moment that its file has a head, which it writes when all sockets are open.
    if let Some(at) = arguments.iter().position(|argument| *argument == "-w") {
        let file = Path::new(arguments[at + 1]);
        eventually("the head of the file", || fs::metadata(file).is_ok_and(|data| data.len() > 0));
    }
    (child, said)
}

/// Ends it as Ctrl-C does; what it said.
fn ended((mut child, said): (Killed, BufReader<std::process::ChildStderr>), signal: Signal) -> String {
    kill(Pid::from_raw(child.0.id() as i32), signal).unwrap();
    let said: Vec<String> = said.lines().map(Result::unwrap).collect();
    assert!(child.0.wait().unwrap().success(), "{said:?}");
    said.join("\n")
}

/// A frame as tshark reads it.
#[derive(Debug)]
struct Read {
    interface: String,
    out: bool,
    comment: String,
    port: Option<u16>,
    vlan: Option<u16>,
}

#[track_caller]
fn read(file: &str) -> Vec<Read> {
    let fields = ["frame.interface_name", "frame.packet_flags_direction", "frame.comment", "udp.srcport", "vlan.id"];
    let mut command = Command::new("tshark");
    command.args(["-r", file, "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("cut short") && !said.contains("damaged"), "{said}");
    let frame = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        let [interface, direction, comment, port, vlan] = fields[..] else { panic!("{line}") };
        let out = match u32::from_str_radix(direction.trim_start_matches("0x"), 16).unwrap() {
            1 => false,
            2 => true,
            _ => panic!("{line}"),
        };
        let (interface, comment) = (interface.to_owned(), comment.to_owned());
        Read { interface, out, comment, port: port.parse().ok(), vlan: vlan.parse().ok() }
    };
    String::from_utf8(output.stdout).unwrap().lines().map(frame).collect()
}

#[test]
fn wireshark_reads_each_frame_with_its_member_and_the_reason() {
    if !may_read() {
        return;
    }
    let kinds = match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => vec![Kind::Bpf, Kind::Packet],
        (Kind::Packet, _) => vec![Kind::Packet],
    };
    for kind in kinds {
        let (near, far) = teamed(kind);
        let folder = own_folder("capture");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("team0.pcapng").display().to_string();
        let probes = Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2]);
        let capture = begun(&near, &["-w", &file, "udp", "port", "7000"]);
        probes.lost_during(|| std::thread::sleep(std::time::Duration::from_millis(500)));
        let said = ended(capture, Signal::SIGINT);
        let frames = read(&file);
        assert!(
            said.contains(&format!("{} frames captured", frames.len())) && said.contains("0 frames lost"),
            "{said}"
        );
        let mut by_port: BTreeMap<u16, Vec<&Read>> = BTreeMap::new();
        frames.iter().for_each(|frame| by_port.entry(frame.port.unwrap()).or_default().push(frame));
        assert_eq!(by_port.len(), 8, "eight flows");
        let mut used = BTreeMap::new();
        for (port, frames) in by_port {
            let on = |name: &str| frames.iter().filter(|frame| frame.interface == name && frame.out).count();
            assert!(frames.iter().all(|frame| frame.out), "{kind} {port}");
            let named = frames.iter().find(|frame| frame.interface == "team0").expect("the team's device is heard");
            let member = named.comment.strip_prefix("to ").and_then(|rest| rest.split(':').next()).unwrap();
            assert!(named.comment.contains("balance-xor, layer3+4, hash 0x"), "{}", named.comment);
            // The named member sent all of the flow, and no other one.
            let other = if member == "eth0" { "eth1" } else { "eth0" };
            assert!(on(member) >= 5 && on(member) == on("team0") && on(other) == 0, "{kind} {port}: {frames:?}");
            let sent = frames.iter().find(|frame| frame.interface == member).unwrap();
            assert_eq!(sent.comment, format!("by {member}{}", &named.comment["to eth0".len()..]));
            *used.entry(member.to_owned()).or_insert(0) += 1;
        }
        assert_eq!(used.len(), 2, "both members: {used:?}");
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn filters_are_tcpdumps_and_ask_for_tags_too() {
    if !may_read() {
        return;
    }
    let (near, far) = teamed(Kind::Packet);
    let folder = own_folder("capture");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("vlan.pcapng").display().to_string();
    let capture = begun(&near, &["-w", &file, "vlan", "5"]);
    let head = fs::metadata(&file).unwrap().len();
    let index = |host: &TeamHost| host.host.netns.run(|| nix::net::if_::if_nametoindex("eth0").unwrap()).unwrap();
    let sender = far.host.netns.run(|| PacketSocket::open(index(&far)).unwrap()).unwrap();
    for vlan in [4_u8, 5, 6] {
        let head = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9], &[0x81, 0, 0, vlan, 0x88, 0xb6]].concat();
        assert!(sender.send_frame(&[head, vec![0; 50]].concat()));
    }
    eventually("the frame", || fs::metadata(&file).unwrap().len() > head);
    ended(capture, Signal::SIGTERM);
    let frames = read(&file);
    assert!(!frames.is_empty() && frames.iter().all(|frame| frame.vlan == Some(5) && !frame.out), "{frames:?}");
    assert!(frames.iter().any(|frame| frame.comment == "received by eth0; the other end chose this link"));

    let refused = |arguments: &[&str], path: Option<&str>| {
        let mut command = near.nicteam(&[&["capture", "team0"], arguments].concat());
        command.envs(path.map(|path| ("PATH", path)));
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = refused(&["tcp", "prot", "80"], None);
    assert!(code == 2 && said.contains("filter `tcp prot 80`") && said.contains("pcap-filter"), "{code} {said}");
    let (code, said) = refused(&["tcp"], Some("/nowhere"));
    assert!(code == 3 && said.contains("apt-get install tcpdump"), "{code} {said}");
    let (code, said) = refused(&["-w", "/nowhere/file"], None);
    assert!(code == 2 && said.contains("/nowhere/file"), "{code} {said}");
    fs::remove_dir_all(folder).unwrap();
}

/// Captures to a file system of 256 KiB, and reads what is there.
const FULL: &str = r#"mount -t tmpfs -o size=256k none "$1" && cd "$1" || exit 99
"$2" capture team0 -w full.pcapng; code=$?
tshark -r full.pcapng 2>&1 >/run/null | grep -i 'cut short\|damaged' >&2
tshark -r full.pcapng 2>/dev/null | wc -l
exit $code"#;

#[test]
fn a_full_disk_is_an_error_and_what_was_written_is_readable() {
    if !may_read() {
        return;
    }
    let (near, far) = teamed(Kind::Packet);
    let folder = own_folder("capture");
    fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new("unshare");
    let script = FULL.replace("/run/null", "/dev/null");
    command.args(["--mount", "sh", "-c", &script, "sh"]).arg(&folder).arg(env!("CARGO_BIN_EXE_nicteam"));
    command.env("NICTEAM_STATE_DIR", &near.state).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    process::in_netns(&mut command, &near.host.netns);
    let probes = Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2]);
    let capture = command.spawn().unwrap();
    let output = std::thread::scope(|scope| {
        let capture = scope.spawn(|| capture.wait_with_output().unwrap());
        for _ in 0..100 {
            probes.lost_during(|| std::thread::sleep(std::time::Duration::from_millis(100)));
            if capture.is_finished() {
                break;
            }
        }
        capture.join().unwrap()
    });
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("No space left on device") && said.contains("can be read"), "{said}");
    assert!(!said.contains("cut short") && !said.contains("damaged"), "{said}");
    let frames: usize = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    assert!(frames > 500, "{frames}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_pipe_is_fed_frame_by_frame_and_may_end_at_any_time() {
    if !may_read() {
        return;
    }
    let (near, far) = teamed(Kind::Packet);
    let probes = Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2]);
    let mut capture = near.nicteam(&["capture", "team0", "-w", "-"]);
    let mut capture = Killed(capture.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut tshark = Command::new("tshark");
    tshark.args(["-l", "-r", "-", "-c", "20", "-T", "fields", "-e", "frame.comment"]);
    let reader = tshark.stdin(capture.0.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null());
    let reader = reader.spawn().unwrap();
    // It holds the reading end, too.
    drop(tshark);
    let mut read = None;
    probes.lost_during(|| read = Some(reader.wait_with_output().unwrap()));
    let read = String::from_utf8(read.unwrap().stdout).unwrap();
    assert_eq!(read.lines().filter(|line| line.contains("eth")).count(), 20, "{read}");
    // Its reader has gone.
    probes.lost_during(|| assert!(capture.0.wait().unwrap().success()));
    // A reader that does not read holds up no end.
    let mut stuck = near.nicteam(&["capture", "team0", "-w", "-"]);
    let mut stuck = Killed(stuck.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    probes.lost_during(|| std::thread::sleep(std::time::Duration::from_secs(1)));
    kill(Pid::from_raw(stuck.0.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(stuck.0.wait().unwrap().code(), Some(130));
    // A line a frame, and an end after so many.
    let mut lines = None;
    probes.lost_during(|| lines = Some(near.nicteam(&["capture", "team0", "-c", "5", "udp"]).output().unwrap()));
    let output = lines.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.lines().count() == 5, "{printed}");
    assert!(printed.lines().all(|line| line.contains(" bytes: ") && line.contains("0x0800")), "{printed}");
}

#[test]
fn frames_that_were_lost_are_counted_and_the_end_of_the_team_is_an_end() {
    if !may_read() {
        return;
    }
    let (near, far) = teamed(Kind::Packet);
    let folder = own_folder("capture");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("lost.pcapng").display().to_string();
    let probes = Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2]);
    let (mut child, said) = begun(&near, &["-w", &file, "udp", "port", "9"]);
    let pid = Pid::from_raw(child.0.id() as i32);
    kill(pid, Signal::SIGSTOP).unwrap();
    let socket = near.host.udp(SocketAddr::from(([10, 3, 0, 1], 0)));
    socket.connect(SocketAddr::from(([10, 3, 0, 2], 9))).unwrap();
    // More than the buffers of a socket hold.
    (0..60_000).for_each(|_| drop(socket.send(&[0; 1400])));
    drop(probes);
    kill(pid, Signal::SIGCONT).unwrap();
    near.run(&["del", "team0"]);
    let said: Vec<String> = said.lines().map(Result::unwrap).collect();
    assert!(child.0.wait().unwrap().success(), "{said:?}");
    let lost = said.iter().find(|line| line.contains(" frames lost on ")).unwrap_or_else(|| panic!("{said:?}"));
    let number = lost.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
    assert!(number > 0 && lost.contains("faster than they were written"), "{lost}");
    assert!(read(&file).len() > 1000);
    fs::remove_dir_all(folder).unwrap();
}
