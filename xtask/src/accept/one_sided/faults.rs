//! What a member that fails costs the traffic to a plain host with a link of the sum of the rates: one without
//! carrier, and one that is up and passes nothing.
//!
//! MTU-sized packets, four links of 100 Mbit/s; the cable is pulled, or the port passes nothing, at the sender's end.
//! Each round has hosts of its own, since a team that has left a member takes its time before it trusts it again.

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use crate::accept::arguments::Arguments;
use crate::accept::probe::{self, Cost};
use crate::accept::stripe::faults::network::{Fault, LINKS, Network, Options, Side, Way};
use crate::accept::stripe::faults::{Broken, FULL, each, fail_under_a_stream, fail_under_datagrams, recovered_ms};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::Context;
use nicteam_statistics::median;

const TEAM: Options = ("stripe", &[]);

/// What a link suffers, and until when it has to be left, milliseconds.
struct Case {
    name: &'static str,
    fault: Fault,
    most_ms: f64,
    lasting: Duration,
}

const CASES: [Case; 2] = [
    Case { name: "a member without carrier", fault: Fault::Pulled, most_ms: 30.0, lasting: Duration::from_millis(700) },
    Case { name: "a silent member", fault: Fault::Silent, most_ms: 1000.0, lasting: Duration::from_millis(1500) },
];

/// How long a connection is looked at from the fault on.
const AFTER: Duration = Duration::from_secs(1);

/// Both faults, under a connection at full rate and under datagrams, each time on another member or on that which
/// carries the datagrams.
pub(super) fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for case in &CASES {
        eprintln!("one-sided: {}", case.name);
        let (found, noise) = Noise::around(|| case.measure(context))?;
        figures.extend(found.into_iter().map(|figure| figure.noise(noise)));
    }
    Ok(figures)
}

impl Case {
    fn measure(&self, context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
        let network = || Network::new(context.product, context.scratch, Way::OneSided(TEAM));
        let (mut silences_ms, mut found_ms, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=context.arguments.repeats as usize {
            let (received, at) = fail_under_a_stream(&mut network()?, self.fault, Side::Near, round % LINKS)?;
            silences_ms.push(received.silence_ms(at, AFTER));
            found_ms.push(recovered_ms(&received, at));
            costs.push(self.under_datagrams(&mut network()?)?);
        }
        let until_full = format!("one connection, until {FULL:.1} of the survivors");
        let of_stream = match self.fault {
            Fault::Pulled => {
                [self.judged("one connection, longest silence", &silences_ms), self.told(&until_full, &found_ms)]
            }
            Fault::Silent => {
                [self.judged(&until_full, &found_ms), self.told("one connection, longest silence", &silences_ms)]
            }
        };
        Ok(of_stream.into_iter().chain([self.of_datagrams(&costs)]).collect())
    }

    /// The member that carries a thousand datagrams a second fails.
    fn under_datagrams(&self, network: &mut Network<'_>) -> Result<Cost, Failure> {
        let sockets = network.datagrams();
        let member = carrying(network, &sockets)?;
        let broken = Broken { fault: self.fault, side: Side::Near, member, lasting: self.lasting };
        fail_under_datagrams(network, &sockets, broken).map(|[_, cost, _]| cost)
    }

    /// How long the member that carried them was used on.
    fn of_datagrams(&self, costs: &[Cost]) -> Figure {
        let silences_ms: Vec<f64> = costs.iter().map(|cost| cost.silence_ms).collect();
        let lost = each(costs, |cost| cost.lost.to_string());
        self.judged("datagrams by it, longest silence", &silences_ms).peer(format!("{lost} of 1,000 a second lost"))
    }

    /// A processor may be late, or have steal time, whatever the links do: the median decides.
    fn judged(&self, what: &str, values_ms: &[f64]) -> Figure {
        let holds = median(values_ms) <= self.most_ms;
        self.figure(what, values_ms, &format!("<= {:.0} ms", self.most_ms), Some(holds))
    }

    fn told(&self, what: &str, values_ms: &[f64]) -> Figure {
        self.figure(what, values_ms, "-", None)
    }

    fn figure(&self, what: &str, values_ms: &[f64], bound: &str, holds: Option<bool>) -> Figure {
        let measured = format!("{} ms", each(values_ms, |ms| format!("{ms:.0}")));
        Figure::text(format!("{}: {what}", self.name), measured, bound, holds)
    }
}

/// The member by which datagrams leave.
fn carrying(network: &mut Network<'_>, sockets: &[UdpSocket; 2]) -> Result<usize, Failure> {
    let before = network.sent_frames();
    probe::watch(sockets, || {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    })?;
    let after = network.sent_frames();
    let sent = after.iter().zip(before).map(|(after, before)| after.saturating_sub(before));
    let most = sent.enumerate().max_by_key(|(_, frames)| *frames);
    most.map(|(member, _)| member).ok_or_else(|| Failure::failed("a team without members"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_decides_and_a_link_that_is_never_left_is_missed() {
        let held = |values: &[f64]| CASES[0].judged("x", values).holds;
        assert_eq!((held(&[10.0, 12.0, 90.0]), held(&[31.0, 29.0, 40.0])), (Some(true), Some(false)));
        assert_eq!(CASES[1].judged("x", &[f64::INFINITY, f64::INFINITY]).holds, Some(false));
        assert_eq!(CASES[0].judged("x", &[10.4, 12.0]).measured, "10 12 ms");
    }
}
