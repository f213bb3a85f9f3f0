//! The guest: a Debian in QEMU. It ends with this value, and with the thread that booted it; its disk is as before then.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::netns::NetNs;
use nicteam_sys::process;

use super::agent::{Agent, Said};
use super::image::Image;
use crate::failure::Failure;

/// How long a boot may take: ten times what it takes on an idle machine.
const BOOT: Duration = Duration::from_secs(200);
/// How long a script may take.
const SCRIPT: Duration = Duration::from_secs(180);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How long powering off may take before it is cut off.
const POWER_OFF: Duration = Duration::from_secs(60);
/// Bytes of the console that are kept.
const CONSOLE: usize = 8 << 10;

/// A network device of the guest, cabled to a TAP of the namespace that QEMU runs in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nic {
    /// The TAP.
    pub(super) tap: &'static str,
    /// Its address.
    pub(super) mac: &'static str,
    /// The slot it is in; udev names it by that: slot 16 makes `ens16`.
    pub(super) slot: u8,
}

impl Nic {
    fn add_to(&self, qemu: &mut Command) {
        let Nic { tap, mac, slot } = self;
        qemu.arg("-netdev").arg(format!("tap,id={tap},ifname={tap},script=no,downscript=no"));
        // Without a speed there is no LACP over it.
        let device = format!("virtio-net-pci,netdev={tap},mac={mac},addr={slot:#x},speed=1000,duplex=full,romfile=");
        qemu.arg("-device").arg(device);
    }
}

/// A running guest.
pub struct Guest {
    qemu: Child,
    agent: Agent,
    console: Arc<Mutex<Vec<u8>>>,
    /// Identifies this boot.
    boot: String,
}

impl Guest {
    /// Boots one, with this disk as a second one, and waits until its agent answers.
    pub(super) fn boot(image: &Image, goods: &Path, netns: &NetNs, nics: &[Nic]) -> Result<Guest, Failure> {
        let mut command = command(image, "tcg,thread=multi");
        command.arg("-drive").arg(format!("file={},format=raw,if=virtio,snapshot=on", goods.display()));
        nics.iter().for_each(|nic| nic.add_to(&mut command));
        process::in_netns(&mut command, netns);
        Guest::start(command)
    }

    /// Boots one without devices, whose clock counts instructions: a nanosecond is one.
    pub(super) fn boot_counting(image: &Image) -> Result<Guest, Failure> {
        let mut command = command(image, "tcg,thread=single");
        command.args(["-icount", "shift=0,sleep=off"]);
        Guest::start(command)
    }

    fn start(mut command: Command) -> Result<Guest, Failure> {
        let (ours, theirs) = UnixStream::pair().map_err(Failure::failed)?;
        let line = process::inherit(&mut command, OwnedFd::from(theirs));
        command.arg("-chardev").arg(format!("socket,id=agent,fd={line}"));
        command.args(["-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"]);
        process::die_with_parent(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut qemu = command.spawn().map_err(|error| Failure::failed(format!("cannot start QEMU: {error}")))?;
        // The child has its own end now, and its end is to be seen.
        drop(command);
        let console = Arc::new(Mutex::new(Vec::new()));
        let outputs = [qemu.stdout.take().map(boxed), qemu.stderr.take().map(boxed)];
        outputs.into_iter().flatten().for_each(|output| keep(output, Arc::clone(&console)));
        let mut guest = Guest { qemu, agent: Agent::new(ours)?, console, boot: String::new() };
        guest.agent.wait(BOOT).map_err(|failure| guest.lost(failure))?;
        guest.boot = guest.boot_id()?;
        Ok(guest)
    }

    /// Runs a shell script to its end.
    pub(super) fn run(&mut self, script: &str) -> Result<Said, Failure> {
        self.agent.run(script, SCRIPT).map_err(|failure| self.lost(failure))
    }

    /// Runs one that has to succeed; what it printed.
    pub fn must(&mut self, script: &str) -> Result<String, Failure> {
        match self.run(script)? {
            Said { status: 0, text } => Ok(text),
            Said { status, text } => {
                Err(Failure::failed(format!("in the guest, `{script}` ends with {status}: {}", text.trim())))
            }
        }
    }

    /// Waits until a script succeeds; how long that took.
    pub(super) fn wait_for(&mut self, what: &str, script: &str, bound: Duration) -> Result<Duration, Failure> {
        let start = Instant::now();
        loop {
            let said = self.run(script)?;
            if said.status == 0 {
                return Ok(start.elapsed());
            }
            if start.elapsed() > bound {
                let seconds = bound.as_secs();
                return Err(Failure::failed(format!("waited {seconds} s in vain for {what}: {}", said.text.trim())));
            }
            process::sleep_or_termination(LOOK);
        }
    }

    /// Writes a file of the guest.
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), Failure> {
        self.must(&format!("mkdir -p $(dirname {path}) && cat >{path} <<'END-OF-FILE'\n{text}END-OF-FILE")).map(drop)
    }

    /// Boots it again, in order; how long that took, until its agent answers.
    pub(super) fn reboot(&mut self) -> Result<Duration, Failure> {
        let start = Instant::now();
        // Whether it ends is not to be asked: it may be gone by then.
        self.agent.start("systemctl reboot").map_err(|failure| self.lost(failure))?;
        while start.elapsed() < BOOT {
            self.agent.wait(BOOT).map_err(|failure| self.lost(failure))?;
            // The agent may end between question and answer.
            if let Ok(boot) = self.boot_id()
                && boot != self.boot
            {
                self.boot = boot;
                return Ok(start.elapsed());
            }
            process::sleep_or_termination(LOOK);
            if process::termination().is_some() {
                return Err(Failure::Interrupted);
            }
        }
        Err(self.lost(Failure::failed("the guest does not come back after a reboot")))
    }

    /// Powers it off, in order.
    pub(super) fn power_off(mut self) -> Result<(), Failure> {
        self.agent.start("systemctl poweroff")?;
        let start = Instant::now();
        while start.elapsed() < POWER_OFF && process::termination().is_none() {
            if self.qemu.try_wait().map_err(Failure::failed)?.is_some() {
                return Ok(());
            }
            process::sleep_or_termination(LOOK);
        }
        Err(self.lost(Failure::failed("the guest does not power off")))
    }

    fn boot_id(&mut self) -> Result<String, Failure> {
        self.agent.run("cat /proc/sys/kernel/random/boot_id", BOOT).map(|said| said.text)
    }

    /// Why, and the end of what the guest's kernel said.
    fn lost(&self, failure: Failure) -> Failure {
        let Failure::Failed(message) = failure else { return failure };
        let console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
        let console = String::from_utf8_lossy(&console).into_owned();
        if console.trim().is_empty() {
            return Failure::Failed(message);
        }
        Failure::failed(format!("{message}; the guest's console:\n{console}"))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Fails only if it has ended, which is what is wanted.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// QEMU, to be started; the line to the agent is still missing.
fn command(image: &Image, accelerator: &str) -> Command {
    let mut command = Command::new("qemu-system-x86_64");
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio"])
        .args(["-M", "pc", "-cpu", "max", "-m", "1024", "-accel", accelerator])
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(&image.initrd)
        .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off systemd.show_status=no"])
        // What is written goes to a file that has no name, and outlives a reboot.
        .arg("-drive")
        .arg(format!("file={},format=raw,if=virtio,snapshot=on", image.disk.display()))
        .args(["-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]);
    command
}

fn boxed(output: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(output)
}

/// Keeps the end of what is said.
fn keep(mut output: Box<dyn Read + Send>, kept: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(len @ 1..) = output.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..len]);
            let excess = kept.len().saturating_sub(CONSOLE);
            kept.drain(..excess);
        }
    });
}
