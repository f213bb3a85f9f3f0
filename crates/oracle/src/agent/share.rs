//! A team or bond of the guest, driven through an experiment.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_oracle::Refusal;
use nicteam_oracle::shares::{ADDRESS, Experiment, PAYLOAD, PORT, Second, Subject};
use nicteam_sys::tap::Tap;

use crate::{Agent, refused, system, write};

/// Bytes of the longest frame that a member sends, and of its offload header.
const FRAME: usize = 2048;

pub(crate) fn share(agent: &Agent, experiment: &Experiment, members: &[String]) -> Result<Vec<Second>, Refusal> {
    let tap = |name: &String| {
        let no_tap = || Refusal { errno: None, what: format!("{name} is no TAP device of the agent's") };
        agent.taps.get(name).ok_or_else(no_tap)
    };
    let taps: Vec<&Tap> = members.iter().map(tap).collect::<Result<_, _>>()?;
    if taps.len() != experiment.speeds_mbps.len() {
        return Err(Refusal { errno: None, what: format!("{} members for {experiment:?}", members.len()) });
    }
    let listen = || {
        let socket = UdpSocket::bind((ADDRESS, PORT))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let socket = listen().map_err(|error| refused(format!("listen at {ADDRESS}:{PORT}"), &error))?;
    let mut bond = Bond { members, taps, socket, now: Instant::now(), buffer: Vec::with_capacity(FRAME) };
    bond.departed()?;
    experiment.run(&mut bond)
}

/// The bond, or team, with the guest's stack above it.
struct Bond<'a> {
    members: &'a [String],
    taps: Vec<&'a Tap>,
    socket: UdpSocket,
    /// The experiment's time.
    now: Instant,
    buffer: Vec<u8>,
}

impl Subject for Bond<'_> {
    type Error = Refusal;

    fn pass(&mut self, ms: u64) -> Result<(), Refusal> {
        self.now += Duration::from_millis(ms);
        thread::sleep(self.now.saturating_duration_since(Instant::now()));
        Ok(())
    }

    fn send(&mut self, to: Ipv4Addr) -> Result<(), Refusal> {
        match self.socket.send_to(&[0; PAYLOAD], (to, PORT)) {
            Ok(_) => Ok(()),
            Err(error) if is_loss(&error) => Ok(()),
            Err(error) => Err(refused(format!("send to {to}"), &error)),
        }
    }

    fn arrive(&mut self, member: usize, frame: &[u8]) -> Result<(), Refusal> {
        self.taps[member].send(frame).map(drop).map_err(system)
    }

    fn departed(&mut self) -> Result<Vec<(usize, Vec<u8>)>, Refusal> {
        let mut departed = Vec::new();
        for (place, tap) in self.taps.iter().enumerate() {
            while tap.receive(&mut self.buffer).map_err(system)? {
                departed.push((place, self.buffer.clone()));
            }
        }
        Ok(departed)
    }

    fn delivered(&mut self) -> Result<u64, Refusal> {
        let mut count = 0;
        loop {
            match self.socket.recv_from(&mut [0; PAYLOAD]) {
                Ok(_) => count += 1,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(count),
                Err(error) if is_loss(&error) => {}
                Err(error) => return Err(refused("receive datagrams".to_owned(), &error)),
            }
        }
    }

    fn set_carrier(&mut self, member: usize, up: bool) -> Result<(), Refusal> {
        write(&format!("/sys/class/net/{}/carrier", self.members[member]), if up { "1" } else { "0" })
    }
}

/// A datagram that is lost on its way is no fault of the experiment.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable, WouldBlock};
    let no_room = error.raw_os_error() == Some(nix::libc::ENOBUFS);
    no_room || matches!(error.kind(), HostUnreachable | NetworkDown | NetworkUnreachable | WouldBlock)
}
