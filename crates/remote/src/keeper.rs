//! The keeper of a machine's links.
//!
//! Where no links are lent, the agent works in the machine's own network namespace, and changes nothing there.
//!
//! Two processes keep them. The first starts the agent in a network namespace of its own, lends it the links and carries
//! what the lab says to it. The second waits for the first to end, however it ends, and gives the links back as they were.
//! If the second dies, the first does its work. The folder with the copy of the program goes last.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_netlink::{Link, Netlink};
use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use serde::{Deserialize, Serialize};

/// What a keeper can fail with, in words.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The words that start an agent of the lab; a node and a lab follow.
pub const AGENT: &str = "agent";
/// The word that starts a keeper.
pub const KEEP: &str = "keep";

/// How often the keeper looks whether its agent has ended.
const LOOK: Duration = Duration::from_millis(100);
/// How long an agent may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// What is kept.
#[derive(Clone, Debug)]
pub struct Keep {
    /// The folder with the copy of the program; it is removed at the end.
    pub folder: PathBuf,
    /// The node of the agent.
    pub node: String,
    /// The lab that it belongs to.
    pub lab: String,
    /// How long the lab may say nothing.
    pub silence: Duration,
    /// The devices that the agent gets; none: it looks at what is there, in the machine's own network namespace.
    pub links: Vec<String>,
}

/// What has to be given back, as the second process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lent {
    folder: PathBuf,
    agent: u32,
    links: Vec<Found>,
}

/// A link as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    name: String,
    mac: [u8; 6],
    mtu: u32,
    up: bool,
    all_multicast: bool,
    promiscuous: bool,
    alias: String,
    /// Settings under `/proc/sys/net/ipv4/conf/NAME` and the same of IPv6, which a device loses when it moves.
    settings: Vec<(String, String)>,
}

/// Keeps links until the lab says no more, the agent ends or a signal comes.
///
/// # Errors
/// The links cannot be lent, or not be given back as they were.
pub fn keep(keep: &Keep) -> Result<(), Failure> {
    let home = NetNs::current()?;
    let begun = begin(keep);
    let (mut agent, mut guard, lent) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            remove(&keep.folder)?;
            return Err(error);
        }
    };
    let away = NetNs::of_process(agent.id())?;
    let lend = |link: &Found| -> Result<(), Failure> {
        let mut netlink = Netlink::open()?;
        let index = device(&mut netlink, &link.name)?.index;
        Ok(netlink.move_to(index, away.as_fd(), &link.name)?)
    };
    let carried = lent.links.iter().try_for_each(lend).and_then(|()| carry(keep, &mut agent));
    end(&mut agent);
    drop(guard.stdin.take());
    let is_done = guard.wait().is_ok_and(|status| status.success());
    // It has said what it could not do, unless it was killed.
    let given_back = if is_done { Ok(()) } else { give_back(&lent, &home, &away) };
    carried.and(given_back)
}

/// Starts the agent and the second process.
fn begin(keep: &Keep) -> Result<(Child, Child, Lent), Failure> {
    let mut netlink = Netlink::open()?;
    let links = keep.links.iter().map(|name| found(&mut netlink, name)).collect::<Result<Vec<_>, _>>()?;
    let program = std::env::current_exe()?;
    let mut command = Command::new(&program);
    command.args([AGENT, "--node", &keep.node, "--lab", &keep.lab]).stdin(Stdio::piped());
    process::die_with_parent(&mut command);
    if !links.is_empty() {
        process::in_new_netns(&mut command);
    }
    let agent = command.spawn()?;
    let mut command = Command::new(&program);
    let folder = keep.folder.as_os_str();
    // Out of the process group: what ends the first is not to end it.
    command
        .args([KEEP, "--guard", "--folder"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    let mut guard = command.spawn()?;
    let lent = Lent { folder: keep.folder.clone(), agent: agent.id(), links };
    let (Some(stdin), Some(stdout)) = (guard.stdin.as_mut(), guard.stdout.take()) else {
        unreachable!("both were asked for");
    };
    writeln!(stdin, "{}", serde_json::to_string(&lent)?)?;
    let mut ready = String::new();
    BufReader::new(stdout).read_line(&mut ready)?;
    if ready.trim() == "ready" { Ok((agent, guard, lent)) } else { Err("the second keeper did not start".into()) }
}

/// The second process: waits for the end of the first, and gives back what it lent.
///
/// # Errors
/// Something cannot be given back as it was.
pub fn guard() -> Result<(), Failure> {
    let mut first = String::new();
    let mut input = BufReader::new(io::stdin().lock());
    input.read_line(&mut first)?;
    let lent: Lent = serde_json::from_str(&first)?;
    let (home, away) = (NetNs::current()?, NetNs::of_process(lent.agent)?);
    let mut output = io::stdout().lock();
    writeln!(output, "ready")?;
    output.flush()?;
    // A signal interrupts a reading and ends nothing.
    while input.read(&mut [0; 64]).is_or_interrupted() {}
    give_back(&lent, &home, &away)
}

/// Whether a reading goes on.
trait GoesOn {
    fn is_or_interrupted(&self) -> bool;
}

impl GoesOn for io::Result<usize> {
    fn is_or_interrupted(&self) -> bool {
        match self {
            Ok(bytes) => *bytes > 0,
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
        }
    }
}

/// Carries lines from the lab to the agent. Empty lines are signs that the lab is there.
fn carry(keep: &Keep, agent: &mut Child) -> Result<(), Failure> {
    let Some(mut to_agent) = agent.stdin.take() else { unreachable!("it was asked for") };
    let (heard, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if heard.send(line).is_err() {
                return;
            }
        }
    });
    let mut last = Instant::now();
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                last = Instant::now();
                say(&mut to_agent, &line)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if last.elapsed() > keep.silence => {
                let seconds = keep.silence.as_secs();
                return Err(format!("nothing was heard of the lab for {seconds} s; the links are given back").into());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if process::termination().is_some() {
            return Err("a signal came; the links are given back".into());
        }
        if let Some(status) = agent.try_wait()? {
            return Err(format!("the agent has ended ({status}); the links are given back").into());
        }
    }
}

fn say(agent: &mut ChildStdin, line: &str) -> Result<(), Failure> {
    if line.is_empty() {
        return Ok(());
    }
    // Fails if it has ended, which is noticed below.
    let _ = agent.write_all(line.as_bytes()).and_then(|()| agent.write_all(b"\n"));
    Ok(())
}

/// Ends the agent, which ends by itself when its input has.
fn end(agent: &mut Child) {
    let start = Instant::now();
    while matches!(agent.try_wait(), Ok(None)) && start.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
    // Fails if it has ended.
    let _ = agent.kill();
    let _ = agent.wait();
}

/// Gives back every link, and removes the copy of the program.
fn give_back(lent: &Lent, home: &NetNs, away: &NetNs) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for link in &lent.links {
        let returned = away.run(|| bring_home(link, home).map_err(|error| error.to_string()))?;
        let restored = home.run(|| restore(link).map_err(|error| error.to_string()))?;
        if let Err(error) = returned.and(restored) {
            failed.push(format!("{} is not as it was: {error}", link.name));
        }
    }
    remove(&lent.folder)?;
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ").into()) }
}

/// Moves a link to the machine's own network namespace, if it is not there.
fn bring_home(link: &Found, home: &NetNs) -> Result<(), Failure> {
    let mut netlink = Netlink::open()?;
    let Some(now) = netlink.link(&link.name)? else { return Ok(()) };
    netlink.set_up(now.index, false)?;
    if now.master.is_some() {
        netlink.set_master(now.index, None)?;
    }
    Ok(netlink.move_to(now.index, home.as_fd(), &link.name)?)
}

/// Sets a link as it was found.
fn restore(link: &Found) -> Result<(), Failure> {
    let mut netlink = Netlink::open()?;
    let now = device(&mut netlink, &link.name)?;
    if now.mac != link.mac {
        netlink.set_mac(now.index, link.mac)?;
    }
    if now.mtu != link.mtu {
        netlink.set_mtu(now.index, link.mtu)?;
    }
    if now.all_multicast != link.all_multicast {
        netlink.set_all_multicast(now.index, link.all_multicast)?;
    }
    if now.promiscuous != link.promiscuous {
        netlink.set_promiscuous(now.index, link.promiscuous)?;
    }
    if now.alias != link.alias {
        netlink.set_alias(now.index, &link.alias)?;
    }
    for (path, value) in &link.settings {
        if fs::read_to_string(path).is_ok_and(|now| now.trim() != value) {
            fs::write(path, value)?;
        }
    }
    Ok(netlink.set_up(now.index, link.up)?)
}

/// How a link is now.
fn found(netlink: &mut Netlink, name: &str) -> Result<Found, Failure> {
    let Link { mac, mtu, up, all_multicast, promiscuous, alias, .. } = device(netlink, name)?;
    let mut settings = Vec::new();
    for family in ["ipv4", "ipv6"] {
        // Without IPv6 there is no such folder.
        let Ok(entries) = fs::read_dir(format!("/proc/sys/net/{family}/conf/{name}")) else { continue };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            // Some are for writing alone, or have no value until one is written.
            let (Ok(value), Some(path)) = (fs::read_to_string(&path), path.to_str()) else { continue };
            settings.push((path.to_owned(), value.trim().to_owned()));
        }
    }
    Ok(Found { name: name.to_owned(), mac, mtu, up, all_multicast, promiscuous, alias, settings })
}

fn device(netlink: &mut Netlink, name: &str) -> Result<Link, Failure> {
    Ok(netlink.link(name)?.ok_or_else(|| format!("there is no device `{name}`"))?)
}

/// Removes the folder with the copy of the program, and nothing else.
fn remove(folder: &Path) -> Result<(), Failure> {
    let is_ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nicteam-"));
    if !is_ours {
        return Err(format!("{} is no folder of nicteam's", folder.display()).into());
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => Ok(removed?),
    }
}
