//! Programs that build a network, hold it, and take it down when interrupted.

use std::io::{BufRead, BufReader, Read};
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nicteam_netlink::Netlink;
use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::failure::Failure;

/// A program that holds a network: a JSON object on a line of its own says that
/// it stands (`built_ms`); on SIGINT it takes it down and says so on standard
/// error (`taken down in N ms`). Killed with this value.
#[derive(Debug)]
pub(crate) struct Held {
    child: Child,
    /// What it said when the network stood.
    pub(crate) ready: Value,
    /// From its start until then.
    pub(crate) stood_after: Duration,
}

/// Two hosts of it.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Who connects.
    pub(crate) from: NetNs,
    /// Who is connected to.
    pub(crate) to: NetNs,
    /// The address of that.
    pub(crate) address: IpAddr,
}

/// How a network was taken down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenDown {
    /// What the program said about it, milliseconds.
    pub(crate) told_ms: f64,
    /// From the signal until the program had ended.
    pub(crate) ended_after: Duration,
}

impl Held {
    /// Starts the program and waits until its network stands.
    pub(crate) fn start(command: &mut Command) -> Result<Held, Failure> {
        process::die_with_parent(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().map_err(|error| Failure::failed(format!("cannot run {name}: {error}")))?;
        let mut held = Held { child, ready: Value::Null, stood_after: Duration::ZERO };
        let mut line = String::new();
        if let Some(stdout) = held.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(Failure::failed)?;
        }
        held.stood_after = start.elapsed();
        match serde_json::from_str(&line) {
            Ok(ready) => held.ready = ready,
            Err(_) => return Err(Failure::failed(format!("{name} built no network: {}", held.last_words()?))),
        }
        Ok(held)
    }

    /// The namespace of a host or switch.
    pub(crate) fn netns(&self, node: &str) -> Result<NetNs, Failure> {
        Ok(NetNs::of_process(self.pid(node)?)?)
    }

    /// The process of a host or switch, which runs its team.
    pub(crate) fn pid(&self, node: &str) -> Result<u32, Failure> {
        let pid = self.ready["pids"][node].as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.ok_or_else(|| Failure::failed(format!("no process of {node} in {}", self.ready)))
    }

    /// Two of its hosts.
    pub(crate) fn ends(&self, from: &str, to: &str) -> Result<Ends, Failure> {
        let (from, to) = (self.netns(from)?, self.netns(to)?);
        let address = to.run(address_here)??;
        Ok(Ends { from, to, address })
    }

    /// How long it took to build, by its own account, milliseconds.
    pub(crate) fn built_ms(&self) -> Result<f64, Failure> {
        self.ready["built_ms"].as_f64().ok_or_else(|| Failure::failed(format!("no built_ms in {}", self.ready)))
    }

    /// Interrupts it and waits until it has ended.
    pub(crate) fn take_down(mut self) -> Result<TakenDown, Failure> {
        let start = Instant::now();
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGINT).map_err(Failure::failed)?;
        let said = self.last_words()?;
        let ended_after = start.elapsed();
        let told_ms = told_ms(&said).ok_or_else(|| Failure::failed(format!("no time of taking down in: {said}")))?;
        Ok(TakenDown { told_ms, ended_after })
    }

    /// What it says until it ends.
    fn last_words(&mut self) -> Result<String, Failure> {
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            stderr.read_to_string(&mut said).map_err(Failure::failed)?;
        }
        self.child.wait().map_err(Failure::failed)?;
        Ok(said.trim().to_owned())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address of the caller's namespace that is not the loopback device's.
fn address_here() -> Result<IpAddr, Failure> {
    let mut netlink = Netlink::open()?;
    for link in netlink.links()? {
        let addresses = netlink.addresses(link.index)?;
        if let Some((address, _)) = addresses.into_iter().find(|(address, _)| !address.is_loopback()) {
            return Ok(address);
        }
    }
    Err(Failure::failed("a host of the network has no address"))
}

/// The number in `taken down in N ms`.
fn told_ms(said: &str) -> Option<f64> {
    let (_, rest) = said.rsplit_once("taken down in ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_found_among_warnings() {
        assert_eq!(told_ms("warning: x\ntaken down in 98 ms"), Some(98.0));
        assert_eq!(told_ms("taken down in a while"), None);
        assert_eq!(told_ms(""), None);
    }

    #[test]
    fn a_program_that_fails_is_quoted() {
        let failure = Held::start(Command::new("sh").args(["-c", "echo no room >&2; exit 1"])).unwrap_err();
        assert_eq!(failure, Failure::failed("sh built no network: no room"));
    }
}
