//! What a run's samples come to.

use std::collections::BTreeMap;

use nicteam_experiment::{Run, Topology, limit};
use nicteam_node::Error;
use nicteam_node::flows::Found;
use nicteam_node::hexadecimal::hexadecimal;
use nicteam_node::task::{self, Kind, Planned};
use nicteam_record::measure::{Counted, Window};
use nicteam_record::{self as record, Connection};
use sha2::{Digest, Sha256};

use crate::machine::variant;
use crate::output::Output;
use crate::recorded;
use crate::watch::Watch;

/// The layer that payload is counted at.
const DELIVERED_COUNTED_AT: &str =
    "payload of TCP and UDP, by the receiving program; of programs that are not the lab's, by the receiving kernel";

impl Watch<'_> {
    /// Writes the samples and sums them up; beside the run, the task or program of each connection that was found, by its number.
    pub(crate) fn record(
        mut self,
        planned: &[Planned],
        cpu: record::Cpu,
        output: &Output,
    ) -> Result<(record::Run, BTreeMap<u32, u32>), Error> {
        let measured_ms = self.measured_ms();
        let found = self.flows.attach(&mut self.samples, planned);
        self.samples.sort_by(|a, b| a.t_ms.total_cmp(&b.t_ms).then_with(|| a.host.cmp(&b.host)));
        let text: String = self.samples.iter().map(record::line).collect();
        output.write(&record::samples_of(&self.run.name), text.as_bytes())?;
        let window = Window::new(&self.samples, measured_ms);
        let are_found =
            |workload: &str| self.run.workloads.iter().any(|own| own.name == workload && own.task.finds_connections());
        let made = planned.iter().filter(|planned| !are_found(&planned.workload));
        let made = made.map(|planned| connection(planned, &window, self.kinds));
        let tasks = found.iter().map(Found::numbers).collect();
        // What has ended sends no more: the sample behind the window has all of it, and the line to it would leave some out.
        let all = Window::new(&self.samples, f64::MAX);
        let finite = &self.finite;
        let found = found.iter().map(|found| {
            let mut connection = found.connection(&window, planned);
            if finite.ended_ms(found.numbers().1).is_some_and(|ended_ms| ended_ms <= measured_ms) && measured_ms > 0.0 {
                connection.delivered_bps = found.received_bytes(&all) * 8e3 / measured_ms;
            }
            connection
        });
        let mut connections: Vec<Connection> = made.chain(found).collect();
        connections.sort_by_key(|connection| connection.index);
        let delivered_bps = connections.iter().fold(0.0, |sum, connection| sum + connection.delivered_bps);
        let run = record::Run {
            delivered_bps,
            members: window.members(),
            connections,
            mac_moves: window.mac_moves(),
            relayed: window.relayed(),
            events: self.timeline.events(self.start_ns),
            faults: self.faults.with_effects(&self.samples, measured_ms),
            cpu: record::Cpu { seconds: window.cpu(), ..cpu },
            measured_ms,
            samples_sha256: hexadecimal(&Sha256::digest(text.as_bytes())),
            ..begun(self.run)
        };
        let of_limit = if run.limit_bps > 0.0 { delivered_bps / run.limit_bps } else { 0.0 };
        let run = record::Run { of_limit, ..run };
        Ok((run, tasks))
    }
}

/// What is known of a run ahead of its traffic.
pub(crate) fn begun(run: &Run) -> record::Run {
    let limit = limit(run);
    record::Run {
        name: run.name.clone(),
        variant: variant(run),
        description: run.description.clone(),
        published: run.published.clone(),
        published_of_limit: run.published_of_limit,
        published_rates: run.published_rates.clone(),
        compared_with: run.compared_with.clone(),
        repetition: run.repetition.clone(),
        topology: recorded::topology(&run.topology),
        limit_bps: limit.bps,
        limit_reason: limit.reason,
        smooth_links: run.measures_latency_alone(),
        measured_ms: run.duration.as_secs_f64() * 1e3,
        warmup_ms: run.warmup.as_secs_f64() * 1e3,
        delivered_counted_at: DELIVERED_COUNTED_AT.to_owned(),
        members_counted_at: counted_at(&run.topology).to_owned(),
        samples: record::samples_of(&run.name),
        ..record::Run::default()
    }
}

/// The layer whose bytes are counted of members.
fn counted_at(topology: &Topology) -> &'static str {
    match topology.teams.iter().filter(|team| team.engine == recorded::OWN_ENGINE).count() {
        0 => "Ethernet frames without check sequence, by the device",
        own if own == topology.teams.len() => {
            "Ethernet frames without check sequence, by the team; by the device where there is none"
        }
        _ => "Ethernet frames without check sequence, by the team where nicteam runs it; by the device elsewhere",
    }
}

/// What a connection did in a window.
fn connection(planned: &Planned, window: &Window<'_>, kinds: &[&'static dyn Kind]) -> Connection {
    let spec = &planned.spec;
    let (client, server) = ((&planned.client, spec.client), (&planned.server, spec.server));
    let (from, to) = if spec.client_sends { (client, server) } else { (server, client) };
    let counted = Counted::new(window, spec.index, from.0, to.0);
    let mut connection = Connection {
        workload: planned.workload.clone(),
        index: spec.index,
        from: from.0.clone(),
        to: to.0.clone(),
        src: from.1.to_string(),
        dst: to.1.to_string(),
        delivered_bps: counted.delivered_bps(),
        retransmits: 0,
        segments: 0,
        rtt_us: 0.0,
        congestion: String::new(),
        transport: spec.kind.clone(),
        vlan: spec.vlan,
        subflows: None,
        datagrams: None,
    };
    if let Some(kind) = task::kind(kinds, &spec.kind) {
        kind.figures(spec, &counted, &mut connection);
    }
    connection
}
