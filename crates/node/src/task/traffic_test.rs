//! `traffic-test`: SoftEther's test of throughput: its programs, or connections of ours in the same scheme.
//!
//! Both are kinds that there are: connections of [`super::tcp`], programs of [`super::program`].

use std::time::{Duration, Instant};

use nicteam_record::measure::Counted;
use nicteam_record::{Connection, ConnectionSample};

use super::kind::{self, Kind};
use super::program::Program;
use super::tcp::Tcp;
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, FlowSample, Outcomes, Role};

/// How long SoftEther's client may take for its last words, beyond its span.
const LAST_WORDS: Duration = Duration::from_secs(15);

/// The kind.
#[derive(Debug)]
pub(super) struct TrafficTest;

impl Kind for TrafficTest {
    fn name(&self) -> &'static str {
        "traffic-test"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(Ends { connections: Tcp.at_agent(), programs: Program.at_agent() })
    }

    fn takes_a_processor(&self) -> bool {
        Tcp.takes_a_processor()
    }

    fn figures(&self, spec: &ConnectionSpec, counted: &Counted<'_>, connection: &mut Connection) {
        Tcp.figures(spec, counted, connection);
    }
}

/// The ends at an agent.
#[derive(Debug)]
struct Ends {
    connections: Box<dyn kind::Ends>,
    programs: Box<dyn kind::Ends>,
}

/// Whether it is a program that carries a connection out.
fn is_program(spec: &ConnectionSpec) -> bool {
    spec.each.get("client").is_some()
}

impl kind::Ends for Ends {
    fn prepare(&self, role: Role, connections: Vec<ConnectionSpec>) -> Result<(), Failure> {
        let (programs, connections) = connections.into_iter().partition::<Vec<_>, _>(is_program);
        self.connections.prepare(role, connections)?;
        self.programs.prepare(role, programs)
    }

    fn start(&self) -> Result<(), Failure> {
        self.connections.start()?;
        self.programs.start()
    }

    /// SoftEther's client prints its table when its span is over, which is a little later than the measured window.
    fn end_clients(&self) {
        let begun = Instant::now();
        while self.programs.clients_run() && begun.elapsed() < LAST_WORDS {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.connections.end_clients();
        self.programs.end_clients();
    }

    fn stop(&self) {
        self.connections.stop();
        self.programs.stop();
    }

    fn ask(&self) {
        self.connections.ask();
        self.programs.ask();
    }

    fn sample(&self) -> Vec<ConnectionSample> {
        self.connections.sample()
    }

    fn flows(&self) -> Vec<FlowSample> {
        self.programs.flows()
    }

    fn clients_run(&self) -> bool {
        self.programs.clients_run()
    }

    fn outcomes(&self) -> Outcomes {
        self.programs.outcomes()
    }
}
