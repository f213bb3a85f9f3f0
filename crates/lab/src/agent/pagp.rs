//! PAgP as an emulated Catalyst speaks it: hellos, and no answer to any.
//!
//! A port without a partner that speaks PAgP stays a port of its own, so nothing follows from what hosts send.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_node::protocol::SpeakPagp;
use nicteam_sys::packet::SendSocket;
use nicteam_wire::{Mac, Pagp, PagpPort};

/// Between hellos of a port that has no partner: in mode `desirable`, which asks, and in mode `auto`.
const FAST: Duration = Duration::from_secs(1);
const SLOW: Duration = Duration::from_secs(30);
/// The priority that Cisco gives each port, and ports that learn addresses for their group.
const PRIORITY: u8 = 128;
const LEARNS_BY_GROUP: u8 = 2;

/// Speaks until it is dropped.
#[derive(Debug)]
pub(super) struct Speaker {
    /// Nothing is sent by it: the thread ends when it goes.
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Speaker {
    /// Lets the ports speak, the first time now.
    pub(super) fn start(speak: &SpeakPagp, netlink: &mut Netlink) -> Result<Speaker, Failure> {
        let auto = speak.mode == "auto";
        let mut ports = Vec::new();
        let mut device = None;
        for (number, name) in (1..).zip(&speak.ports) {
            let link = netlink.link(name)?.ok_or_else(|| format!("no device {name}"))?;
            // A switch is known by one address: here its first port's.
            let device = *device.get_or_insert(Mac(link.mac));
            let local = PagpPort {
                device,
                learn: LEARNS_BY_GROUP,
                priority: PRIORITY,
                port: number,
                capability: 0x0001_0001,
                group: 0,
            };
            let (device_name, port_name) = (speak.name.clone(), name.clone());
            let hello = Pagp { slow: auto, auto, local, device_name, port_name, ..Pagp::default() };
            ports.push((SendSocket::open(link.index)?, hello.frame(Mac(link.mac))));
        }
        let interval = if auto { SLOW } else { FAST };
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("pagp".to_owned()).spawn(move || {
            loop {
                for (socket, hello) in &ports {
                    // A port without carrier does not take it, as a real one would not.
                    let _ = socket.send(hello);
                }
                if stopped.recv_timeout(interval) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        })?;
        Ok(Speaker { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It does not panic, and there would be nobody to tell.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
