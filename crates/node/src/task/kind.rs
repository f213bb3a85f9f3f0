//! What a kind of traffic is to the lab: how it runs at an agent, and what is recorded of it.

use std::fmt;
use std::time::Duration;

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample};

use crate::error::Failure;
use crate::protocol::{ConnectionSpec, FlowSample, Notice, Outcomes, Role, TaskSample};

/// A kind of traffic.
pub trait Kind: Sync {
    /// Its name: [`nicteam_experiment::Task::kind`].
    fn name(&self) -> &'static str;

    /// For one agent, with nothing to do yet.
    fn at_agent(&self) -> Box<dyn Ends>;

    /// True if a sender takes all the time that a processor gives it: two of these get processors of their own
    /// where there are enough.
    fn takes_a_processor(&self) -> bool {
        false
    }

    /// Adds to a connection's record what this kind alone knows.
    fn figures(&self, spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection);
}

/// One kind's ends of connections at an agent.
pub trait Ends: fmt::Debug + Send + Sync {
    /// Prepares one end of each of these connections; servers' ends are prepared first.
    ///
    /// # Errors
    /// In words for the lab's user.
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure>;

    /// Lets the senders send, once every expected end is there.
    ///
    /// # Errors
    /// Not all came about.
    fn start(&self) -> Result<(), Failure>;

    /// Ends the clients whose servers, at other hosts, are to be there until then.
    fn end_clients(&self) {}

    /// Whether a client that ends by itself is still there.
    fn clients_run(&self) -> bool {
        false
    }

    /// Ends every connection.
    fn stop(&self);

    /// Asks the kernel what it is slow to tell, for the samples to come; takes as long as that takes.
    fn ask(&self) {}

    /// What each end counted, and what the kernel was asked last.
    fn sample(&self) -> Vec<ConnectionSample>;

    /// The measured window begins, of this length at most: what is to be carried once, from beginning to end, begins now.
    fn begin(&self, _measured: Duration) {}

    /// A device was set up again: what went with it, as routes do, is to be there again.
    fn device_is_up(&self) {}

    /// The sockets of what opens connections of its own, as the kernel was asked last.
    fn flows(&self) -> Vec<FlowSample> {
        Vec::new()
    }

    /// How far tasks are that end by themselves.
    fn tasks(&self) -> Vec<TaskSample> {
        Vec::new()
    }

    /// What happened since this was asked last.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// What there is to record that is no connection; asked for after [`Ends::stop`].
    fn outcomes(&self) -> Outcomes {
        Outcomes::default()
    }
}
