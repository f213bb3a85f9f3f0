//! A team as the process of a service, without a systemd: what it says to its parent process, what signals do, and what is left to it.

use std::fs;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nicteam_testnet::{Host, cables, eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::teams::{Killed, Probes, TeamHost, may_test_bpf, own_folder};

/// What a service manager is: it hears what its services say.
struct Manager {
    socket: UnixDatagram,
    name: PathBuf,
    heard: Vec<String>,
}

impl Manager {
    fn new() -> Manager {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // By a path: abstract names belong to a network namespace.
        let name = format!("nicteam-manager-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let name = std::env::temp_dir().join(name);
        let socket = UnixDatagram::bind(&name).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        Manager { socket, name, heard: Vec::new() }
    }

    /// Takes in what has come.
    fn listen(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(read) = self.socket.recv(&mut buffer) {
            self.heard.extend(String::from_utf8_lossy(&buffer[..read]).lines().map(str::to_owned));
        }
    }

    /// Waits for a line, and forgets it with all before.
    #[track_caller]
    fn expect(&mut self, line: &str) {
        eventually(line, || {
            self.listen();
            self.heard.iter().any(|heard| heard.starts_with(line))
        });
        let at = self.heard.iter().position(|heard| heard.starts_with(line)).unwrap();
        self.heard.drain(..=at);
    }
}

/// Two hosts with two cables; the near one's team is a service, the far one answers by both.
struct Served {
    near: TeamHost,
    far: TeamHost,
    etc: PathBuf,
    manager: Manager,
}

impl Served {
    fn new(options: &str) -> Served {
        let (mut near, mut far) = (Host::new(), Host::new());
        cables(&mut near, &mut far, 2);
        let (near, mut far) = (TeamHost::new(near), TeamHost::new(far));
        far.run(&["add", "team0", "--mode", "broadcast", "--members", "eth0,eth1"]);
        far.host.address("team0", &[("10.3.0.2", 24)]);
        let served = Served { near, far, etc: own_folder("etc"), manager: Manager::new() };
        fs::create_dir_all(&served.etc).unwrap();
        served.write(&["eth0", "eth1"], options, "10.3.0.1/24");
        served
    }

    fn write(&self, members: &[&str], options: &str, address: &str) {
        let text = format!("[teams.team0]\nmembers = {members:?}\naddresses = [\"{address}\"]\n{options}\n");
        fs::write(self.etc.join("team0.toml"), text).unwrap();
    }

    /// Starts the process of the service; `READY=1` is to be waited for.
    fn start(&self) -> Killed {
        self.start_by(Path::new(env!("CARGO_BIN_EXE_nicteam")))
    }

    /// The same by another program.
    fn start_by(&self, program: &Path) -> Killed {
        let mut command = Command::new(program);
        nicteam_sys::process::in_netns(&mut command, &self.near.host.netns);
        command.args(["service", "run", "team0", "--wait", "1", "--config"]).env("NICTEAM_STATE_DIR", &self.near.state);
        command
            .stdin(Stdio::null())
            .arg(&self.etc)
            .env("NOTIFY_SOCKET", &self.manager.name)
            .env("WATCHDOG_USEC", "20000000");
        Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn started(&mut self) -> Killed {
        let process = self.start();
        self.manager.expect("READY=1");
        process
    }

    #[track_caller]
    fn reload(&self) -> String {
        let mut command = self.near.nicteam(&["service", "reload", "team0", "--config"]);
        let output = command.arg(&self.etc).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn probes(&self) -> Probes {
        Probes::new(&self.near.host, [10, 3, 0, 1], &self.far.host, [10, 3, 0, 2])
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.manager.name);
        let _ = fs::remove_dir_all(&self.etc);
    }
}

fn send(process: &Child, signal: Signal) {
    kill(Pid::from_raw(process.id() as i32), signal).unwrap();
}

/// The filters on a device, both ways.
fn filters(host: &TeamHost, device: &str) -> String {
    let show = |side: &str| {
        let mut command = Command::new("tc");
        command.args(["filter", "show", "dev", device, side]);
        host.host.netns.run(|| command.output()).unwrap()
    };
    // Where there is no clsact any more, or no tc, there is nothing to see.
    let outputs = ["ingress", "egress"].map(show).into_iter().flatten();
    outputs.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).collect()
}

#[track_caller]
fn end(process: &mut Killed) -> Option<i32> {
    let mut status = None;
    eventually("the end of the process", || {
        status = process.0.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap().code()
}

#[test]
fn a_service_forwards_on_through_every_end_of_its_process_but_down() {
    if !may_test_bpf() {
        return;
    }
    let mut served = Served::new("mode = \"balance-xor\"\nxmit_hash_policy = \"layer3+4\"");
    let mut process = served.started();
    let (index, probes) = (served.near.host.index("team0"), served.probes());
    served.near.run(&["set", "team0", "miimon=50"]);
    // A crash; a stop by a signal, as a restart is; and one process in the place of another.
    for signal in [Some(Signal::SIGKILL), Some(Signal::SIGTERM), None] {
        let (lost, _) = probes.lost_during(|| {
            if let Some(signal) = signal {
                send(&process.0, signal);
                end(&mut process);
                std::thread::sleep(Duration::from_millis(100));
            }
            let next = served.started();
            process = next;
        });
        assert_eq!(lost, [] as [u32; 0], "{signal:?}");
        assert_eq!(served.near.host.index("team0"), index);
        // What was set by hand stays, as long as the file is what it was.
        assert_eq!(served.near.status("team0")["options"]["miimon"], "50", "{signal:?}");
    }
    let down = served.near.nicteam(&["down", "team0"]).output().unwrap();
    assert!(down.status.success(), "{down:?}");
    assert_eq!(end(&mut process), Some(100));
    assert!(served.near.host.netlink.link("team0").unwrap().is_none());
    assert_eq!(served.near.run(&["list"]), "");
}

/// A program whose maps have another layout: its number stands in it where maps are made and where they are found.
fn of_another_layout(folder: &Path) -> PathBuf {
    let path = folder.join("nicteam-of-another-layout");
    fs::copy(env!("CARGO_BIN_EXE_nicteam"), &path).unwrap();
    let number = nicteam_dataplane::layout().unwrap().to_le_bytes();
    let pattern: String = number.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    let found = Command::new("grep").args(["-obUaP", &pattern]).arg(&path).env("LC_ALL", "C").output().unwrap();
    let offset = |line: &[u8]| String::from_utf8_lossy(line).split(':').next().and_then(|at| at.parse::<u64>().ok());
    let places: Vec<u64> = found.stdout.split(|byte| *byte == b'\n').filter_map(offset).collect();
    assert!((2..8).contains(&places.len()), "{places:?}");
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    places.into_iter().for_each(|at| file.write_all_at(&[number[0] ^ 1], at).unwrap());
    path
}

/// Beside other tests a process may need longer to begin than the recorded states of the ports are valid (3 s at the fast rate).
mod quiet {
    use super::*;

    /// As an upgrade of the package does. In 802.3ad the next process cannot read what the ports had agreed upon; it is told.
    #[test]
    fn an_upgrade_to_another_layout_of_the_maps_loses_no_frame() {
        if !may_test_bpf() {
            return;
        }
        let folder = own_folder("layout");
        fs::create_dir_all(&folder).unwrap();
        let (other, own) = (of_another_layout(&folder), PathBuf::from(env!("CARGO_BIN_EXE_nicteam")));
        for mode in ["balance-xor", "802.3ad"] {
            let mut served = Served::new(&format!("mode = \"{mode}\"\nxmit_hash_policy = \"layer3+4\""));
            if mode == "802.3ad" {
                served.far.run(&["del", "team0"]);
                served.far.run(&["add", "team0", "--mode", mode, "--members", "eth0,eth1", "-o", "lacp_rate=fast"]);
                served.far.host.address("team0", &[("10.3.0.2", 24)]);
            }
            let mut process = served.started();
            let probes = served.probes();
            for program in [&other, &own] {
                let (lost, sent) = probes.lost_during(|| {
                    send(&process.0, Signal::SIGTERM);
                    end(&mut process);
                    process = served.start_by(program);
                    served.manager.expect("READY=1");
                });
                assert_eq!(lost, [] as [u32; 0], "{mode}, {}: of {sent}", program.display());
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_changed_file_is_applied_without_losing_a_frame() {
    if !may_test_bpf() {
        return;
    }
    let options = "mode = \"balance-xor\"\nxmit_hash_policy = \"layer3+4\"";
    let mut served = Served::new(options);
    let process = served.started();
    let probes = served.probes();
    served.near.run(&["set", "team0", "updelay=200"]);
    let text = format!(
        "[teams.team0]\nmembers = [\"eth1\", \"eth0\"]\naddresses = [\"10.3.0.1/24\", \"10.4.0.1/24\"]\n{options}\nmiimon = 50\n"
    );
    fs::write(served.etc.join("team0.toml"), &text).unwrap();
    let (lost, _) = probes.lost_during(|| {
        let said = served.reload();
        for change in ["miimon 100 -> 50", "updelay 200 -> 0", "add 10.4.0.1/24 to team0"] {
            assert!(said.contains(change), "{said}");
        }
        assert_eq!(served.reload(), "", "again");
    });
    assert_eq!(lost, [] as [u32; 0]);
    // The same by a signal.
    served.manager.listen();
    served.manager.heard.clear();
    fs::write(
        served.etc.join("team0.toml"),
        text.replace("[\"eth1\", \"eth0\"]", "[\"eth1\"]").replace(", \"10.4.0.1/24\"", ""),
    )
    .unwrap();
    send(&process.0, Signal::SIGHUP);
    served.manager.expect("RELOADING=1");
    served.manager.expect("MONOTONIC_USEC=");
    served.manager.expect("READY=1");
    assert_eq!(served.near.status("team0")["members"].as_array().unwrap().len(), 1);
    let index = served.near.host.index("team0");
    let addresses = served.near.host.netlink.addresses(index).unwrap();
    assert!(!addresses.contains(&([10, 4, 0, 1].into(), 24)), "{addresses:?}");
    // A file that is wrong changes nothing, and the service goes on.
    fs::write(served.etc.join("team0.toml"), text.replace("miimon = 50", "miimon = \"often\"")).unwrap();
    let mut command = served.near.nicteam(&["service", "reload", "team0", "--config"]);
    let refused = command.arg(&served.etc).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("miimon"), "{said}");
    assert_eq!(served.near.status("team0")["options"]["miimon"], "50");
    // Nor does it keep the next process from the team.
    drop(process);
    let mut next = None;
    let (lost, _) = probes.lost_during(|| next = Some(served.started()));
    assert_eq!(lost, [] as [u32; 0]);
    assert_eq!(served.near.status("team0")["options"]["miimon"], "50");
}

#[test]
fn signs_of_life_end_with_the_team() {
    if !may_make_networks() {
        return;
    }
    let mut served = Served::new("mode = \"802.3ad\"\nlacp_rate = \"fast\"\nlacp_lease = 1200");
    let process = served.started();
    // Five sixths of the lease, which the file of the unit could not know.
    let patience: Vec<&String> = served.manager.heard.iter().filter(|line| line.starts_with("WATCHDOG_USEC")).collect();
    assert!(patience.is_empty(), "said before READY=1: {patience:?}");
    served.near.run(&["set", "team0", "lacp_lease=0"]);
    served.manager.expect("WATCHDOG_USEC=20000000");
    served.near.run(&["set", "team0", "lacp_lease=600"]);
    served.manager.expect("WATCHDOG_USEC=500000");
    for _ in 0..3 {
        served.manager.expect("WATCHDOG=1");
    }
    served.near.run(&["set", "team0", "lacp_rate=slow", "lacp_lease=0"]);
    served.manager.expect("WATCHDOG_USEC=150000000");
    served.near.run(&["set", "team0", "lacp_lease=600"]);
    served.manager.expect("WATCHDOG_USEC=500000");
    send(&process.0, Signal::SIGSTOP);
    // What was on its way.
    std::thread::sleep(Duration::from_millis(50));
    served.manager.listen();
    served.manager.heard.clear();
    std::thread::sleep(Duration::from_millis(700));
    served.manager.listen();
    assert_eq!(served.manager.heard, [] as [&str; 0]);
    send(&process.0, Signal::SIGCONT);
    served.manager.expect("WATCHDOG=1");
}

#[test]
fn members_that_a_boot_has_yet_to_bring_join_when_they_come() {
    if !may_make_networks() {
        return;
    }
    let mut served = Served::new("mode = \"active-backup\"");
    served.write(&["late0", "eth1"], "mode = \"active-backup\"", "10.3.0.1/24");
    let _process = served.started();
    assert_eq!(served.near.status("team0")["missing"][0], "late0");
    let index = served.near.host.index("eth0");
    served.near.host.netlink.set_up(index, false).unwrap();
    served.near.host.netlink.set_name(index, "late0").unwrap();
    eventually("the member", || served.near.status("team0")["members"].as_array().unwrap().len() == 2);
    // None of them at all is no team: the next start tries again.
    served.write(&["nosuch0", "nosuch1"], "", "10.3.0.1/24");
    fs::rename(served.etc.join("team0.toml"), served.etc.join("team1.toml")).unwrap();
    let text = fs::read_to_string(served.etc.join("team1.toml")).unwrap().replace("team0", "team1");
    fs::write(served.etc.join("team1.toml"), text).unwrap();
    let mut command = served.near.nicteam(&["service", "run", "team1", "--wait", "0", "--config"]);
    let output = command.arg(&served.etc).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("no member of team team1 is there"), "{said}");
}

/// Of all its threads, and all that is asked of it later, on both dataplanes.
#[test]
fn a_process_that_has_given_up_capabilities_does_all_that_is_asked() {
    if !may_test_bpf() {
        return;
    }
    /// CAP_NET_ADMIN, CAP_NET_RAW, CAP_PERFMON, CAP_BPF.
    const KEPT: u64 = 0xc0_0000_3000;
    for dataplane in ["bpf", "packet"] {
        let mut served = Served::new(&format!("mode = \"active-backup\"\ndataplane = \"{dataplane}\""));
        let mut process = served.started();
        let tasks = format!("/proc/{}/task", process.0.id());
        let threads: Vec<PathBuf> = fs::read_dir(tasks).unwrap().flatten().map(|task| task.path()).collect();
        assert!(threads.len() >= 3, "{threads:?}");
        for thread in threads {
            let status = fs::read_to_string(thread.join("status")).unwrap();
            for line in ["CapPrm:\t", "CapEff:\t", "CapBnd:\t"] {
                let digits = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
                let more = u64::from_str_radix(digits, 16).unwrap() & !KEPT;
                assert_eq!(more, 0, "{dataplane}, {thread:?}: {status}");
            }
            assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        }
        let held = served.near.status("team0")["capabilities"].clone();
        assert_eq!(held, serde_json::json!(["net_admin", "net_raw", "perfmon", "bpf"]));
        for change in [
            &["set", "team0", "mode=balance-rr", "miimon=50"][..],
            &["member", "del", "team0", "eth0"],
            &["member", "add", "team0", "eth0"],
            &["set", "team0", "mode=active-backup", "primary=eth0"],
            &["activate", "team0", "eth1"],
            &["events", "team0"],
        ] {
            served.near.run(change);
        }
        let probes = served.probes();
        let (lost, sent) = probes.lost_during(|| ());
        assert!(lost.is_empty() && sent > 0, "{dataplane}: {lost:?}");
        let events = served.near.run(&["events", "team0"]);
        assert!(!events.contains("cannot"), "{events}");
        // A member that left has nothing of ours on it, which takes a look at programs that ask for CAP_SYS_ADMIN.
        served.near.run(&["member", "del", "team0", "eth0"]);
        assert_eq!(filters(&served.near, "eth0"), "");
        served.near.run(&["del", "team0"]);
        assert_eq!(end(&mut process), Some(100), "{dataplane}");
    }
}

/// `SO_PEERCRED` says nothing of groups: the modes of folder and socket do.
#[test]
fn members_of_the_group_look_and_change_nothing() {
    if !may_make_networks() {
        return;
    }
    const GROUP: &str = "54321";
    let mut served = Served::new("mode = \"active-backup\"");
    // Where another user may go.
    let folder = std::env::temp_dir().join(format!("nicteam-group-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (program, groups) = (folder.join("nicteam"), folder.join("group"));
    fs::copy(env!("CARGO_BIN_EXE_nicteam"), &program).unwrap();
    fs::write(&groups, format!("root:x:0:\nnicteam:x:{GROUP}:alice\n")).unwrap();
    let (state, etc) = (folder.join("state"), served.etc.display().to_string());
    let manager = served.manager.name.clone();
    let run = |user: &str, words: &str| {
        let script = format!(
            "mount --bind {} /etc/group && exec setpriv {user} -- {} {words}",
            groups.display(),
            program.display()
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", &script]).env("NICTEAM_STATE_DIR", &state);
        command.env("NOTIFY_SOCKET", &manager).stdin(Stdio::null());
        nicteam_sys::process::in_netns(&mut command, &served.near.host.netns);
        command
    };
    let process =
        Killed(run("--nnp", &format!("service run team0 --config {etc}")).stderr(Stdio::null()).spawn().unwrap());
    served.manager.expect("READY=1");
    let as_user = |groups: &str, words: &str| {
        let output = run(&format!("--reuid 65534 --regid 65534 {groups}"), words).output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        (output.status.code(), text)
    };
    let member = format!("--groups {GROUP}");
    for words in ["team show team0", "team events team0", "team list"] {
        let (code, said) = as_user(&member, words);
        assert_eq!(code, Some(0), "{words}: {said}");
    }
    for words in ["team set team0 miimon=1", "team del team0", "team member del team0 eth0", "service reload team0"] {
        let (code, said) = as_user(&member, words);
        assert!(code == Some(3) && said.contains("root"), "{words}: {code:?} {said}");
    }
    let (code, said) = as_user("--clear-groups", "team show team0");
    assert!(code == Some(3) && said.contains("group `nicteam`"), "{said}");
    drop(process);
    fs::remove_dir_all(folder).unwrap();
}

/// stripe loads programs with its first plan, and writes `net.ipv4`.
#[test]
fn a_mode_whose_programs_come_later_finds_its_capabilities() {
    if !may_test_bpf() {
        return;
    }
    let mut served = Served::new("mode = \"stripe\"\ntcp_min_rtt_wlen = 10");
    let _process = served.started();
    let sysctl = served.near.host.netns.run(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_min_rtt_wlen")).unwrap();
    assert_eq!(sysctl.unwrap().trim(), "10");
    served.near.run(&["set", "team0", "tcp_min_rtt_wlen=20"]);
    let sysctl = served.near.host.netns.run(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_min_rtt_wlen")).unwrap();
    assert_eq!(sysctl.unwrap().trim(), "20");
    assert!(filters(&served.near, "eth1").contains("member_egress"), "{}", filters(&served.near, "eth1"));
    served.near.run(&["member", "del", "team0", "eth1"]);
    assert_eq!(filters(&served.near, "eth1"), "");
    served.near.run(&["member", "add", "team0", "eth1"]);
    assert!(filters(&served.near, "eth1").contains("member_egress"));
    let events = served.near.run(&["events", "team0"]);
    assert!(!events.contains("cannot"), "{events}");
}
