//! Traffic. One file a kind, and one line in [`KINDS`].

mod access;
mod copy;
mod datagrams;
mod gate;
mod kind;
mod ping;
mod plan;
mod program;
mod requests;
mod route;
mod running;
mod storage;
mod tagged;
mod tcp;
mod traffic_test;
mod udp;

use std::time::Duration;

use nicteam_record::ConnectionSample;

use crate::error::Failure;
use crate::protocol::{ConnectionSpec, FlowSample, Notice, Outcomes, Role, TaskSample};

pub use kind::{Ends, Kind};
pub use plan::{Planned, paths_between, plan, spread};

/// All kinds.
pub static KINDS: [&dyn Kind; 9] = [
    &tcp::Tcp,
    &udp::UDP,
    &tagged::TAGGED,
    &traffic_test::TrafficTest,
    &requests::Requests,
    &program::Program,
    &access::Access,
    &copy::Copy,
    &ping::Ping,
];

/// The kind of this name.
pub fn kind<'a>(kinds: &[&'a dyn Kind], name: &str) -> Option<&'a dyn Kind> {
    kinds.iter().copied().find(|kind| kind.name() == name)
}

/// The connections that end at an agent.
#[derive(Debug)]
pub struct Traffic {
    ends: Vec<(&'static str, Box<dyn Ends>)>,
}

impl Traffic {
    /// None yet; of these kinds there can be some.
    pub fn new(kinds: &[&'static dyn Kind]) -> Traffic {
        Traffic { ends: kinds.iter().map(|kind| (kind.name(), kind.at_agent())).collect() }
    }

    /// Prepares one end of each of these connections.
    pub fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let known = |spec: &&ConnectionSpec| self.ends.iter().all(|(name, _)| *name != spec.kind);
        if let Some(stranger) = connections.iter().find(known) {
            return Err(format!("no kind of traffic `{}` here", stranger.kind).into());
        }
        for (name, ends) in &self.ends {
            let own: Vec<_> = connections.iter().filter(|spec| spec.kind == *name).cloned().collect();
            if !own.is_empty() {
                ends.prepare(role, own)?;
            }
        }
        Ok(())
    }

    /// Lets the senders send, once every expected end is there.
    pub fn start(&self) -> Result<(), Failure> {
        self.ends.iter().try_for_each(|(_, ends)| ends.start())
    }

    /// The measured window begins.
    pub fn begin(&self, measured: Duration) {
        self.ends.iter().for_each(|(_, ends)| ends.begin(measured));
    }

    /// A device was set up again.
    pub fn device_is_up(&self) {
        self.ends.iter().for_each(|(_, ends)| ends.device_is_up());
    }

    /// Ends the clients whose servers are to outlive them.
    pub fn end_clients(&self) {
        self.ends.iter().for_each(|(_, ends)| ends.end_clients());
    }

    /// Ends every connection.
    pub fn stop(&self) {
        self.ends.iter().for_each(|(_, ends)| ends.stop());
    }

    /// Asks the kernel what it knows of each end, for the samples to come; takes as long as that takes.
    pub fn ask(&self) {
        self.ends.iter().for_each(|(_, ends)| ends.ask());
    }

    /// What each end counted, and what the kernel was asked last.
    pub fn sample(&self) -> Vec<ConnectionSample> {
        self.ends.iter().flat_map(|(_, ends)| ends.sample()).collect()
    }

    /// The sockets of what opens connections of its own, as the kernel was asked last.
    pub fn flows(&self) -> Vec<FlowSample> {
        self.ends.iter().flat_map(|(_, ends)| ends.flows()).collect()
    }

    /// How far tasks are that end by themselves.
    pub fn tasks(&self) -> Vec<TaskSample> {
        self.ends.iter().flat_map(|(_, ends)| ends.tasks()).collect()
    }

    /// What happened since this was asked last.
    pub fn notices(&self) -> Vec<Notice> {
        self.ends.iter().flat_map(|(_, ends)| ends.notices()).collect()
    }

    /// What there is to record that is no connection.
    pub fn outcomes(&self) -> Outcomes {
        let mut all = Outcomes::default();
        self.ends.iter().for_each(|(_, ends)| all.add(ends.outcomes()));
        all
    }
}
