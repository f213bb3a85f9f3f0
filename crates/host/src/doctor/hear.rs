//! Listens to what the ports at the other ends of devices say.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_sys::listen::Listener;
use nicteam_wire::{Frame, Lldp, SlowPdu};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::facts::{Heard, HostFacts};

/// Listens so long to every device that is up.
pub(super) fn listen(facts: &mut HostFacts, time: Duration) {
    let mut listeners: Vec<(usize, Listener)> = Vec::new();
    for (at, device) in facts.devices.iter().enumerate().filter(|(_, device)| device.link.up) {
        match Listener::of_port(device.link.index) {
            Ok(listener) => listeners.push((at, listener)),
            Err(error) => {
                facts.unseen.push(format!("what the port at the other end of {} says: {error}", device.link.name));
            }
        }
    }
    let until = Instant::now() + time;
    let mut frame = Vec::new();
    while let Some(rest) = until.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
        let timeout = PollTimeout::try_from(rest).unwrap_or(PollTimeout::MAX);
        let mut fds: Vec<PollFd<'_>> =
            listeners.iter().map(|(_, listener)| PollFd::new(listener.as_fd(), PollFlags::POLLIN)).collect();
        // Interrupted or not: what is there is read, and the time decides.
        let _ = poll(&mut fds, timeout);
        for (at, listener) in &listeners {
            while listener.receive(&mut frame).unwrap_or(false) {
                take(&mut facts.devices[*at].heard, &frame);
            }
        }
        let everything = |(at, _): &(usize, Listener)| {
            let heard = &facts.devices[*at].heard;
            heard.lldp.is_some() && heard.lacp.is_some()
        };
        if listeners.iter().all(everything) {
            return;
        }
    }
}

fn take(heard: &mut Heard, bytes: &[u8]) {
    let Ok(frame) = Frame::parse(bytes) else { return };
    if let Ok(lldp) = Lldp::decode(&frame) {
        heard.lldp = Some(lldp);
    } else if let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(bytes) {
        heard.lacp = Some(pdu);
    }
}
