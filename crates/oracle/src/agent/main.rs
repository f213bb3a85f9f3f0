//! The agent: the one process of a guest, started by its kernel as `init`.
//!
//! It does what `nicteam_oracle::protocol` says, one request after another. When
//! the serial port ends, or speaks no protocol, the guest is switched off.
#![forbid(unsafe_code)]

mod hear;
mod hosts;
mod inject;
mod modules;
mod port;
mod session;
mod share;
mod trace;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nicteam_netlink::{Netlink, VethEnd};
use nicteam_oracle::protocol::{Answer, Hello, MORE, Refusal, Reply, Request};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netns::NetNs;
use nicteam_sys::tap::Tap;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::sys::utsname::uname;

use session::Session;

fn main() {
    // Anywhere but in a guest this would do harm.
    if std::process::id() != 1 {
        eprintln!("nicteam-oracle-agent: runs as the first process of a guest alone");
        std::process::exit(2);
    }
    if let Err(error) = serve() {
        eprintln!("nicteam-oracle-agent: {error}");
    }
    let _ = reboot(RebootMode::RB_POWER_OFF);
}

/// The master of what ports have for cables.
const SINK: &str = "sink";
/// Speed of a port, as of a veth end.
const SPEED_MBPS: u32 = 10_000;

/// What the agent keeps between requests.
pub(crate) struct Agent {
    pub(crate) netlink: Netlink,
    pub(crate) frames: Vec<Vec<u8>>,
    /// By name.
    pub(crate) taps: BTreeMap<String, Tap>,
    /// By name; `netlink` is of the one where a request is answered.
    pub(crate) hosts: BTreeMap<String, Arc<NetNs>>,
    pub(crate) session: Option<Session>,
}

/// A request's outcome.
pub(crate) type Outcome = Result<Answer, Refusal>;

fn serve() -> io::Result<()> {
    mount_pseudo("proc", "/proc")?;
    mount_pseudo("sysfs", "/sys")?;
    // A guest with a root of its own has no devices there yet.
    if !Path::new("/dev/null").exists() {
        mount_pseudo("devtmpfs", "/dev")?;
    }
    let mut port = serial_port()?;
    let mut lines = BufReader::new(port.try_clone()?).lines();
    let kernel = uname().map(|name| name.release().to_string_lossy().into_owned()).unwrap_or_default();
    say(&mut port, &Hello { kernel })?;
    let netlink = Netlink::open().map_err(|error| error.source)?;
    let mut agent = Agent { netlink, frames: Vec::new(), taps: BTreeMap::new(), hosts: BTreeMap::new(), session: None };
    let mut text = String::new();
    while let Some(line) = lines.next().transpose()? {
        if let Some(piece) = line.strip_prefix(MORE) {
            text.push_str(piece);
            port.write_all(format!("{MORE}\n").as_bytes())?;
            continue;
        }
        text.push_str(&line);
        let request: Request = serde_json::from_str(&text)?;
        text.clear();
        let reply = match agent.answer(request) {
            Ok(answer) => Reply::Ok(answer),
            Err(refusal) => Reply::Err(refusal),
        };
        say(&mut port, &reply)?;
    }
    Ok(())
}

fn mount_pseudo(kind: &str, at: &str) -> io::Result<()> {
    Ok(mount(None::<&str>, at, Some(kind), MsFlags::empty(), None::<&str>)?)
}

/// The first serial port, with nothing echoed or translated.
fn serial_port() -> io::Result<File> {
    let port = OpenOptions::new().read(true).write(true).open("/dev/ttyS0")?;
    let mut settings = tcgetattr(&port)?;
    cfmakeraw(&mut settings);
    tcsetattr(&port, SetArg::TCSANOW, &settings)?;
    Ok(port)
}

fn say(port: &mut File, what: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    port.write_all(&line)
}

impl Agent {
    pub(crate) fn answer(&mut self, request: Request) -> Outcome {
        match request {
            Request::Load { folder, modules } => modules::load(&folder, &modules).map(|()| Answer::Done),
            Request::Read { path } => {
                let text = fs::read(&path).map_err(|error| refused(format!("read {path}"), &error))?;
                Ok(Answer::Text(String::from_utf8_lossy(&text).into_owned()))
            }
            Request::Write { path, text } => write(&path, &text).map(|()| Answer::Done),
            Request::Run { program, arguments } => run(&program, &arguments).map(Answer::Text),
            Request::AddVeth { name, peer } => {
                let end = |name| VethEnd { name, index: None, mac: None, netns: None, gso_max_segs: None };
                self.done(|netlink| netlink.add_veth(&end(&name), &end(&peer), 1500))
            }
            Request::AddHost { host } => self.add_host(host),
            Request::Give { name, host } => self.give(&name, &host),
            Request::In { host, request } => self.answer_in(&host, *request),
            Request::AddVlan { name, on, id } => {
                let on = self.index(&on)?;
                self.done(|netlink| netlink.add_vlan(&name, on, id))
            }
            Request::AddTap { name, speed_mbps } => {
                let tap = Tap::open(&name).map_err(system)?;
                Ethtool::open().and_then(|ethtool| ethtool.set_settings(&name, speed_mbps, true)).map_err(system)?;
                self.taps.insert(name, tap);
                Ok(Answer::Done)
            }
            Request::AddPort { name, cable } => {
                let (index, sink) = (self.index(&cable)?, self.sink()?);
                self.done(|netlink| netlink.set_master(index, Some(sink)))?;
                self.done(|netlink| netlink.set_up(index, true))?;
                port::add(&name, index).and_then(|()| set_speed(&name, SPEED_MBPS)).map(|()| Answer::Done)
            }
            Request::SetSpeed { name, speed_mbps } => set_speed(&name, speed_mbps).map(|()| Answer::Done),
            Request::SetMac { name, mac } => {
                let index = self.index(&name)?;
                let wrong = |mac: Vec<u8>| Refusal { errno: None, what: format!("no address: {mac:02x?}") };
                let mac = mac.0.try_into().map_err(wrong)?;
                self.done(|netlink| netlink.set_mac(index, mac))
            }
            Request::AddAddress { name, address, prefix } => {
                let index = self.index(&name)?;
                self.done(|netlink| netlink.add_address(index, address, prefix, true))
            }
            Request::AddBridge { name } => self.done(|netlink| netlink.add_bridge(&name)),
            Request::Delete { name } => {
                let index = self.index(&name)?;
                self.done(|netlink| netlink.delete(index))
            }
            Request::SetUp { name, up } => {
                let index = self.index(&name)?;
                self.done(|netlink| netlink.set_up(index, up))
            }
            Request::SetMaster { name, master } => {
                let index = self.index(&name)?;
                let master = master.map(|master| self.index(&master)).transpose()?;
                self.done(|netlink| netlink.set_master(index, master))
            }
            Request::Frames { frames } => {
                self.frames = frames.into_iter().map(|frame| frame.0).collect();
                Ok(Answer::Done)
            }
            Request::Inject { into, out } => inject::inject(self, &into, &out).map(Answer::Departed),
            Request::Hear { on, requests, quiet_ms } => {
                hear::hear(self, &on, requests, Duration::from_millis(quiet_ms)).map(Answer::Heard)
            }
            Request::Share { experiment, members } => share::share(self, &experiment, &members).map(Answer::Shared),
            Request::Connect { host, to } => self.connect(&host, to),
            Request::Exchange { bytes } => self.exchange(bytes),
            Request::Trace { steps, watch } => trace::trace(self, steps, &watch).map(Answer::Traced),
        }
    }

    /// The index of a device.
    pub(crate) fn index(&mut self, name: &str) -> Result<u32, Refusal> {
        match self.netlink.link(name).map_err(system)? {
            Some(link) => Ok(link.index),
            None => Err(Refusal { errno: None, what: format!("no device {name}") }),
        }
    }

    /// A bridge that is down: its ports hand nothing to the guest's own stack,
    /// which would answer for addresses of other devices.
    fn sink(&mut self) -> Result<u32, Refusal> {
        if self.netlink.link(SINK).map_err(system)?.is_none() {
            self.done(|netlink| netlink.add_bridge(SINK))?;
        }
        self.index(SINK)
    }

    fn done(&mut self, act: impl FnOnce(&mut Netlink) -> nicteam_sys::Result<()>) -> Outcome {
        act(&mut self.netlink).map(|()| Answer::Done).map_err(system)
    }
}

fn set_speed(device: &str, speed_mbps: u32) -> Result<(), Refusal> {
    Ethtool::open().and_then(|ethtool| ethtool.set_settings(device, speed_mbps, true)).map_err(system)
}

/// One `write`: sysfs takes each as a whole value, an empty one, too.
pub(crate) fn write(path: &str, text: &str) -> Result<(), Refusal> {
    let refused = |error: io::Error| refused(format!("write `{}` to {path}", text.escape_debug()), &error);
    let mut file = OpenOptions::new().write(true).open(path).map_err(refused)?;
    file.write(text.as_bytes()).map(drop).map_err(refused)
}

fn run(program: &str, arguments: &[String]) -> Result<String, Refusal> {
    let what = || format!("run {program} {}", arguments.join(" "));
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| refused(what(), &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Refusal { errno: None, what: format!("cannot {} ({}): {}", what(), output.status, said.trim()) })
}

pub(crate) fn refused(operation: String, error: &io::Error) -> Refusal {
    Refusal { errno: error.raw_os_error(), what: format!("cannot {operation}: {error}") }
}

pub(crate) fn system(error: nicteam_sys::Error) -> Refusal {
    Refusal { errno: error.errno(), what: error.to_string() }
}
