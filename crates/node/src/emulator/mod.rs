//! Impaired links: what carries frames between the two cables of each.
//!
//! An impaired link is two cables. Each leads from one of its ends to a
//! namespace that belongs to nobody else, where one thread takes frames from
//! the one by a packet socket, does to them what was declared
//! ([`nicteam_impair`]), and sends them by the other. What limits the link's
//! rate stays with the ends: a frame is delayed behind its sender's queue, as
//! on a real wire.
//!
//! A delay counts from the moment at which the kernel took the frame from the
//! cable, not from that at which the thread read it: how soon the thread runs
//! does not matter as long as that is within the delay. What left later than
//! declared is counted ([`link::LATE`]), and so is what had to be dropped.
//!
//! Carrier follows: an end that goes down loses the other end its carrier
//! ([`carrier`]).

mod carrier;
mod carry;
mod link;

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use nicteam_netlink::Netlink;
use nicteam_record::Relayed;
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::error::Failure;
use crate::lock;
use crate::protocol::{Disturb, RelaySpec};
use crate::say::Output;

use link::Link;

/// The impaired links of a lab; they go with this value.
#[derive(Debug)]
pub struct Relay {
    links: Vec<Arc<Link>>,
    stop: Arc<EventFd>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    /// Begins to carry frames. Call in the namespace of the near ends. What goes
    /// wrong later is told to `output`.
    pub fn start(specs: Vec<RelaySpec>, output: &Output) -> Result<Relay, Failure> {
        let mut netlink = Netlink::open()?;
        for end in specs.iter().flat_map(|spec| &spec.ends) {
            netlink.set_up(end.near_index, true)?;
        }
        let links: Vec<Arc<Link>> = specs.into_iter().map(|spec| Arc::new(Link::new(spec))).collect();
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let mut relay = Relay { links: links.clone(), stop: stop.clone(), threads: Vec::new() };
        let carrier = carry::Carrier::open(&links)?;
        relay.spawn("relay", output, move || carrier.run(&stop))?;
        Ok(relay)
    }

    /// From now on carrier follows.
    pub fn follow_carrier(&mut self, output: &Output) -> Result<(), Failure> {
        let (stop, follower) = (self.stop.clone(), carrier::Follower::open(&self.links)?);
        self.spawn("relay carrier", output, move || follower.run(&stop))
    }

    /// Begins or ends a fault of a link.
    pub fn disturb(&self, fault: &Disturb) -> Result<(), Failure> {
        let Disturb { node, device, .. } = fault;
        let has_end = |link: &&Arc<Link>| link.spec.ends.iter().any(|end| end.node == *node && end.device == *device);
        let link =
            self.links.iter().find(has_end).ok_or_else(|| format!("{device} of {node} is no impaired link's"))?;
        link.disturb(fault);
        Ok(())
    }

    /// What became of frames so far, two directions a link.
    pub fn sample(&self) -> Vec<Relayed> {
        let of_link = |link: &Arc<Link>| {
            let ways = link.spec.ends.iter().zip(&link.tallies);
            ways.map(|(end, tally)| lock(tally).sample(&end.node, &end.device)).collect::<Vec<_>>()
        };
        self.links.iter().flat_map(of_link).collect()
    }

    fn spawn(
        &mut self,
        name: &str,
        output: &Output,
        work: impl FnOnce() -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let output = output.clone();
        let tell = move || {
            if let Err(error) = work() {
                output.trouble(None, None, format!("frames are no longer carried: {error}"));
            }
        };
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(tell)?);
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // The counter of an event descriptor cannot overflow by one write.
        let _ = self.stop.write(1);
        for thread in self.threads.drain(..) {
            // It has told what it had to tell.
            let _ = thread.join();
        }
    }
}
