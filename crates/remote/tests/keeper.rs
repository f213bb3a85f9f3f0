//! Links of a machine that is reached by a real ssh server, lent and given back, whatever ends in the middle.
//!
//! This program is its own keeper and agent. It has one test, and lists it as the usual harness does.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use nicteam_netlink::Netlink;
use nicteam_remote::keeper::{self, AGENT, KEEP, Keep};
use nicteam_remote::look::{self, Root, Wanted};
use nicteam_remote::shell::{self, Program};
use nicteam_remote::trouble;
use nicteam_sys::{netns, process};
use nicteam_testnet::{Host, SshServers, Switch, assert_becomes, cable, eventually, loose_cable};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const TEST: &str = "live::links_are_given_back_whatever_ends";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is = |word: &str| words.first().is_some_and(|first| first == word);
    if is(AGENT) {
        agent();
    } else if is(KEEP) {
        let kept = keep(&words[1..]);
        if let Err(error) = kept {
            let _ = writeln!(std::io::stderr(), "{error}");
            std::process::exit(1);
        }
    } else if words.iter().any(|word| word == "--list") {
        println!("{TEST}: test");
    } else if words.iter().all(|word| word.starts_with("--") || TEST.contains(word.as_str())) {
        links_are_given_back_whatever_ends();
        println!("test {TEST} ... ok");
    }
}

fn keep(words: &[String]) -> Result<(), keeper::Failure> {
    process::catch_termination()?;
    if words[0] == "--guard" {
        return keeper::guard();
    }
    let after = |flag: &str| words[words.iter().position(|word| word == flag).unwrap() + 1].clone();
    let links = words.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let silence = Duration::from_secs(after("--silence").parse()?);
    keeper::keep(&Keep {
        folder: after("--folder").into(),
        node: "a".to_owned(),
        lab: "1@1".to_owned(),
        silence,
        links,
    })
}

/// Says what process it and its keeper are, and changes its links when it is told their names.
fn agent() {
    println!("{} {}", std::process::id(), nix::unistd::getppid());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut netlink = Netlink::open().unwrap();
        netlink.add_bridge("br0").unwrap();
        let bridge = netlink.link("br0").unwrap().unwrap().index;
        for (number, name) in (1..).zip(line.split(' ')) {
            let index = netlink.link(name).unwrap().unwrap().index;
            netlink.set_mac(index, [2, 0, 0, 0, 9, number]).unwrap();
            netlink.set_mtu(index, 1400).unwrap();
            netlink.set_all_multicast(index, true).unwrap();
            netlink.set_up(index, true).unwrap();
            netlink.set_master(index, Some(bridge)).unwrap();
        }
        println!("changed {line}");
    }
}

/// A machine with an ssh server, and a machine of the lab.
struct World {
    machine: Host,
    lab: Host,
    _switch: Switch,
    servers: SshServers,
    program: Program,
}

/// How the lab reaches the machine.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// By the ssh server.
    Ssh,
    /// By a shell on it, which costs no login.
    Shell,
}

impl World {
    fn new_or_skip() -> Option<World> {
        let (mut machine, mut lab, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
        machine.set_up("lo", true);
        cable(&mut machine, "manage", &mut lab, "manage");
        machine.address("manage", &[("10.9.0.1", 24)]);
        lab.address("manage", &[("10.9.0.2", 24)]);
        switch.join(&mut machine, "link0", "p0");
        machine.netns.run(|| netns::sysctl("ipv4/conf/link0/rp_filter", "2")).unwrap().unwrap();
        // This one is down.
        loose_cable(&mut machine, "link1", &mut switch.host, "p1", None);
        let servers = SshServers::start_or_skip(&[(&machine, "10.9.0.1")], &lab)?;
        let program = Program::of(fs::read(std::env::current_exe().unwrap()).unwrap());
        Some(World { machine, lab, _switch: switch, servers, program })
    }

    /// A client that lets the machine execute a script.
    fn ssh(&self, program: &str, script: &str) -> Command {
        let words = shell::command(Some(program), "10.9.0.1", script);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
        process::in_netns(&mut command, &self.lab.netns);
        command
    }

    fn snapshot(&self) -> Vec<String> {
        let mut told = self.machine.snapshot(&["manage"]);
        told.extend(fs::read_dir(self.servers.temporary()).unwrap().map(|entry| format!("left: {:?}", entry.unwrap())));
        told
    }

    /// A shell on the machine that executes a script.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("TMPDIR", self.servers.temporary());
        process::in_netns(&mut command, &self.machine.netns);
        command
    }

    /// Whether the machine has the link that an agent borrows.
    fn has_link(&self) -> bool {
        self.machine.netns.run(|| Netlink::open().unwrap().link("link1").unwrap().is_some()).unwrap()
    }

    /// The folder of the copy goes last, so nothing more is waited for, which would be dear.
    #[track_caller]
    fn is_as(&self, before: &[String], when: &str) {
        let is_empty = || fs::read_dir(self.servers.temporary()).unwrap().next().is_none();
        eventually("the folder of the copy goes", || is_empty() && self.has_link());
        assert_becomes(|| self.snapshot(), before, when);
    }

    /// Lends both links to an agent that has changed them.
    fn lent(&self, way: Way, silence: &str) -> Lent {
        let words = ["--silence", silence, "--", "link0", "link1"].map(str::to_owned);
        let script = shell::install(&self.program, &words, false);
        let mut command = match way {
            Way::Ssh => self.ssh(&self.servers.client(), &script),
            Way::Shell => self.shell(&script),
        };
        let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(client.stdout.take().unwrap());
        let mut input = client.stdin.take().unwrap();
        input.write_all(&self.program.bytes).unwrap();
        let first = line(&mut output);
        let pids: Vec<i32> = first.split_whitespace().map(|word| word.parse().unwrap()).collect();
        input.write_all(b"\nlink0 link1\n").unwrap();
        assert_eq!(line(&mut output), "changed link0 link1");
        client.stdin = Some(input);
        let (agent, keeper) = (pids[0], pids[1]);
        let guard = children(keeper).into_iter().find(|child| *child != agent).unwrap();
        Lent { client, agent, keeper, guard, session: parent(keeper) }
    }
}

struct Lent {
    client: Child,
    agent: i32,
    keeper: i32,
    guard: i32,
    session: i32,
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn children(of: i32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).unwrap();
    let read = |path: PathBuf| fs::read_to_string(path.join("children")).unwrap_or_default();
    let text: Vec<String> = tasks.map(|task| read(task.unwrap().path())).collect();
    text.join(" ").split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn parent(of: i32) -> i32 {
    let status = fs::read_to_string(format!("/proc/{of}/status")).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    parent.trim().parse().unwrap()
}

fn links_are_given_back_whatever_ends() {
    if !nicteam_testnet::may_make_networks() {
        return;
    }
    let Some(world) = World::new_or_skip() else { return };
    a_machine_is_looked_at(&world);
    a_strange_key_is_named(&world);
    let before = world.snapshot();
    let end = |pid: i32, signal: Signal| kill(Pid::from_raw(pid), signal).unwrap();
    type Act<'a> = (Way, &'a str, &'a dyn Fn(&mut Lent), &'a str);
    let acts: [Act<'_>; 7] = [
        (Way::Shell, "the lab says no more", &|lent| drop(lent.client.stdin.take()), ""),
        (
            Way::Shell,
            "the agent is killed",
            &|lent| end(lent.agent, Signal::SIGKILL),
            "has ended (signal: 9 (SIGKILL))",
        ),
        (Way::Shell, "the first keeper is killed", &|lent| end(lent.keeper, Signal::SIGKILL), ""),
        (
            Way::Shell,
            "the second keeper is killed, then the agent",
            &|lent| {
                end(lent.guard, Signal::SIGKILL);
                end(lent.agent, Signal::SIGKILL);
            },
            "the agent has ended",
        ),
        (
            Way::Ssh,
            "the server's session is killed",
            &|lent| end(lent.session, Signal::SIGKILL),
            "closed by remote host",
        ),
        (Way::Ssh, "the client is killed", &|lent| lent.client.kill().unwrap(), ""),
        (Way::Shell, "the keeper is terminated", &|lent| end(lent.keeper, Signal::SIGTERM), "a signal came"),
    ];
    for (way, what, act, said) in acts {
        let mut lent = world.lent(way, "30");
        assert!(!world.has_link(), "{what}: nothing was lent");
        act(&mut lent);
        // Waiting would close it, which is another act.
        let _stdin = lent.client.stdin.take();
        let output = lent.client.wait_with_output().unwrap();
        world.is_as(&before, what);
        let text = trouble::told("it ended", &String::from_utf8_lossy(&output.stderr));
        assert!(text.contains(said), "{what}: {text}");
    }
    let mut lent = world.lent(Way::Shell, "1");
    let stdin = lent.client.stdin.take();
    let output = lent.client.wait_with_output().unwrap();
    world.is_as(&before, "the lab is silent");
    drop(stdin);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("nothing was heard of the lab for 1 s"), "{text}");
}

fn a_machine_is_looked_at(world: &World) {
    let devices = ["link0", "link1", "manage", "none"].map(str::to_owned);
    let mut command = world.ssh(&world.servers.client(), &shell::look(&devices));
    let output = command.stdout(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let seen = look::read(&text);
    assert_eq!((seen.system.as_str(), seen.root), ("Linux", Root::Yes), "{text}");
    assert!(seen.free_bytes > 0 && seen.absent.is_empty(), "{text}");
    let links = devices.map(|device| (device, 1_000_000_000));
    let machine = std::env::consts::ARCH;
    let wanted = Wanted { host: "a", machine, binary_bytes: 1, links: &links, share: false, in_place: false };
    let objections = look::objections(&seen, &wanted);
    let starts: Vec<&str> = objections.iter().map(|one| one.split(';').next().unwrap()).collect();
    assert!(starts.contains(&"a: there is no device `none`"), "{starts:?}");
    assert!(starts.contains(&"a: `manage` has the address 10.9.0.1/24"), "{starts:?}");
    // The kernel gives every veth a speed of 10 Gbit/s, which means nothing.
    assert_eq!(starts.len(), 2, "{starts:?}");
}

fn a_strange_key_is_named(world: &World) {
    let output = world.ssh(&world.servers.client_of_stranger(), "true").stderr(Stdio::piped()).output().unwrap();
    let told = trouble::told("ssh failed", &String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("Permission denied (publickey") && told.contains("hint: none of your keys"), "{told}");
}
