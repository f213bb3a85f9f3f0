//! What links that fail, and a process that dies, cost a stripe of four links.
//!
//! MTU-sized packets, four links of 100 Mbit/s, one plain bridge. A cable is pulled at
//! the switch, so one end loses its carrier and the other end's stays.

pub(in crate::accept) mod network;
pub(crate) mod peers;
pub(in crate::accept) mod stream;

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use crate::accept::arguments::Arguments;
use crate::accept::probe::{self, Cost};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::median;

use network::{Fault, LINKS, Network, RATE_BPS, Side, Way};

/// Teams that stripe, with some options, and what a cable that is pulled may cost them.
struct Setting {
    name: &'static str,
    options: &'static [(&'static str, &'static str)],
    /// Datagrams and milliseconds of silence.
    pulled: (usize, f64),
    /// The same of a link that is up and passes nothing.
    silent: (usize, f64),
    /// False: datagrams alone are looked at.
    whole: bool,
}

/// Teams as they are; those with other promises are a line here.
const SETTINGS: [Setting; 2] = [
    Setting { name: "", options: &[], pulled: (2, 3.0), silent: (SILENT_MS as usize, SILENT_MS), whole: true },
    // No frame waits for anything: what is left is how evenly they come.
    Setting {
        name: "redundant=all: ",
        options: &[("redundant", "all")],
        pulled: (0, 1.0),
        silent: (0, 1.0),
        whole: false,
    },
];

/// The longest silence, and the longest use, of a link that is up and passes nothing, milliseconds.
const SILENT_MS: f64 = 30.0;
/// Until the survivors are full again, milliseconds.
const RECOVERED_MS: f64 = 100.0;
/// How full the survivors must be, over so long.
pub(in crate::accept) const FULL: f64 = 0.9;
const FULL_FOR: Duration = Duration::from_millis(100);
/// How often each fault is tried, each time on another member; the worst is what counts.
const ROUNDS: usize = LINKS;
const STREAM_ROUNDS: usize = 8;
/// Payload of a full packet, and that packet with everything it takes on a wire, bytes.
const PAYLOAD_SHARE: f64 = 1448.0 / 1538.0;
/// What all links but one carry of it, bit/s.
const SURVIVORS_BPS: f64 = (LINKS - 1) as f64 * RATE_BPS as f64 * PAYLOAD_SHARE;

/// Mode stripe while links fail and its process dies.
pub(crate) const PART: Part<Arguments> = Part::new(
    "stripe-faults",
    "stripe: links that fail, 4 x 100 Mbit/s of MTU-sized packets (bpf dataplane); rounds apart",
    measure,
);

/// Tries every fault in every setting.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for setting in &SETTINGS {
        eprintln!("stripe, faults: {}", setting.name);
        let mut network = Network::new(run.product, run.scratch, Way::Team(("stripe", setting.options)))?;
        let (found, noise) = Noise::around(|| setting.measure(&mut network))?;
        figures.extend(found.into_iter().map(|figure| figure.noise(noise)));
    }
    Ok(figures)
}

/// What a fault and its end cost in each round.
#[derive(Default)]
struct Costs {
    before: Vec<Cost>,
    fault: Vec<Cost>,
    back: Vec<Cost>,
}

impl Setting {
    fn measure(&self, network: &mut Network<'_>) -> Result<Vec<Figure>, Failure> {
        let mut figures = Vec::new();
        for side in [Side::Near, Side::Far] {
            let what = format!("{}cable pulled at the {} end", self.name, side.name());
            let costs = rounds(network, Fault::Pulled, side)?;
            figures.extend(costs.figures(&what, self.pulled.0, self.pulled.1));
            if self.whole {
                figures.push(recovery(network, side, &what)?);
            }
        }
        for side in [Side::Near, Side::Far] {
            let what = format!("{}{} port passes nothing, link up", self.name, side.name());
            let costs = rounds(network, Fault::Silent, side)?;
            figures.extend(costs.figures(&what, self.silent.0, self.silent.1));
            if self.whole {
                figures.push(costs.found(&what));
            }
        }
        if !self.whole {
            return Ok(figures);
        }
        figures.push(killed(network, self.name)?);
        figures.push(moves(network, self.name)?);
        Ok(figures)
    }
}

/// A link fails and comes back under a thousand datagrams a second, each time another member's.
fn rounds(network: &mut Network<'_>, fault: Fault, side: Side) -> Result<Costs, Failure> {
    let sockets = network.datagrams();
    let mut costs = Costs::default();
    for round in 0..ROUNDS {
        let broken = Broken { fault, side, member: round % LINKS, lasting: Duration::from_millis(700) };
        let [before, fault, back] = fail_under_datagrams(network, &sockets, broken)?;
        costs.before.push(before);
        costs.fault.push(fault);
        costs.back.push(back);
    }
    Ok(costs)
}

/// What breaks under datagrams, and how long.
#[derive(Clone, Copy, Debug)]
pub(in crate::accept) struct Broken {
    pub(in crate::accept) fault: Fault,
    pub(in crate::accept) side: Side,
    pub(in crate::accept) member: usize,
    pub(in crate::accept) lasting: Duration,
}

/// What a thousand datagrams a second met before a link failed, while it did, and when it was back.
pub(in crate::accept) fn fail_under_datagrams(
    network: &mut Network<'_>,
    sockets: &[UdpSocket; 2],
    Broken { fault, side, member, lasting }: Broken,
) -> Result<[Cost; 3], Failure> {
    let mut set = network.breaker(fault, side, member)?;
    let (course, [start, failed, back, end]) = probe::watch(sockets, || {
        let mut moments = [Instant::now(); 4];
        thread::sleep(Duration::from_millis(300));
        moments[1] = Instant::now();
        set(false)?;
        thread::sleep(lasting);
        moments[2] = Instant::now();
        set(true)?;
        network.wait_for_paths(LINKS)?;
        thread::sleep(Duration::from_millis(200));
        moments[3] = Instant::now();
        Ok(moments)
    })?;
    let early = Duration::from_millis(10);
    Ok([
        // The first datagrams may wait for addresses to be resolved.
        course.cost(start + Duration::from_millis(150), failed - early),
        course.cost(failed - early, back - early),
        course.cost(back - early, end),
    ])
}

impl Costs {
    fn figures(&self, what: &str, lost: usize, silence_ms: f64) -> Vec<Figure> {
        let before = format!("before it {}", silences(&self.before));
        vec![
            lost_figure(format!("{what}: datagrams lost"), &self.fault, lost),
            Figure::text(
                format!("{what}: longest silence"),
                silences(&self.fault),
                &format!("<= {silence_ms:.0} ms"),
                // A processor may be late, or have steal time, whatever the links do; what was lost counts in every
                // round.
                Some(median(&self.fault.iter().map(|cost| cost.silence_ms).collect::<Vec<_>>()) <= silence_ms),
            )
            .peer(before),
            lost_figure(format!("{what}, back: datagrams lost"), &self.back, 0),
        ]
    }

    /// How long the others went on using a link that passes nothing.
    fn found(&self, what: &str) -> Figure {
        let losing_ms = each(&self.fault, |cost| format!("{:.0}", cost.losing_ms));
        let holds = self.fault.iter().all(|cost| cost.losing_ms <= SILENT_MS);
        let bound = format!("<= {SILENT_MS:.0} ms");
        Figure::text(format!("{what}: from the first loss to the last"), format!("{losing_ms} ms"), &bound, Some(holds))
    }
}

/// One connection at full rate while a cable is pulled: how long until the others are full.
fn recovery(network: &mut Network<'_>, side: Side, what: &str) -> Result<Figure, Failure> {
    let mut found_ms = Vec::new();
    for round in 0..STREAM_ROUNDS {
        let (received, at) = fail_under_a_stream(network, Fault::Pulled, side, round % LINKS)?;
        found_ms.push(recovered_ms(&received, at));
    }
    let measured = format!("{} ms; no byte lost", each(&found_ms, |ms| format!("{ms:.0}")));
    let holds = found_ms.iter().all(|ms| *ms <= RECOVERED_MS);
    let name = format!("{what}, one connection: until {FULL:.1} of the survivors");
    Ok(Figure::text(name, measured, &format!("<= {RECOVERED_MS:.0} ms"), Some(holds)))
}

/// From the moment at which a link failed until the others are full; infinite if they never are.
pub(in crate::accept) fn recovered_ms(received: &stream::Received, at: Instant) -> f64 {
    let full = |ms: &u64| received.bps(at + Duration::from_millis(*ms), FULL_FOR) >= FULL * SURVIVORS_BPS;
    (0..1400).step_by(5).find(full).map_or(f64::INFINITY, |ms| ms as f64)
}

/// What a connection at full rate received, and when a link of it failed; that works again afterwards.
pub(in crate::accept) fn fail_under_a_stream(
    network: &mut Network<'_>,
    fault: Fault,
    side: Side,
    member: usize,
) -> Result<(stream::Received, Instant), Failure> {
    let mut set = network.breaker(fault, side, member)?;
    let watched = stream::watch(network.stream_ends(), || {
        thread::sleep(Duration::from_millis(1500));
        let at = Instant::now();
        set(false)?;
        thread::sleep(Duration::from_millis(1500));
        // What was sent has to arrive now: some ways of using links never find out that one of them passes nothing.
        set(true)?;
        Ok(at)
    });
    network.wait_for_paths(LINKS)?;
    watched
}

/// The sender's process is killed and replaced under a thousand datagrams a second.
fn killed(network: &mut Network<'_>, name: &str) -> Result<Figure, Failure> {
    let sockets = network.datagrams();
    let mut costs = Vec::new();
    for round in 0..STREAM_ROUNDS {
        let side = if round % 2 == 0 { Side::Near } else { Side::Far };
        let (course, (start, end)) = probe::watch(&sockets, || {
            thread::sleep(Duration::from_millis(200));
            let start = Instant::now();
            network.kill(side)?;
            thread::sleep(Duration::from_millis(1000));
            network.start(side)?;
            network.wait_for_paths(LINKS)?;
            thread::sleep(Duration::from_millis(300));
            Ok((start, Instant::now()))
        })?;
        costs.push(course.cost(start, end));
    }
    Ok(lost_figure(format!("{name}process killed with -9, replaced after 1 s: datagrams lost"), &costs, 0)
        .peer(format!("longest silence {}", silences(&costs))))
}

/// Addresses that change their port at the switch while a plain host sends and receives.
fn moves(network: &Network<'_>, name: &str) -> Result<Figure, Failure> {
    let mut learned = network.learned()?;
    let ends = network.plain_ends();
    let rest = |time: Duration| {
        thread::sleep(time);
        Ok(())
    };
    let for_a_while = |ends| stream::watch(ends, || rest(Duration::from_secs(3))).map(drop);
    // What was learned before is not known here: the first second teaches it.
    for ends in ends {
        stream::watch(ends, || rest(Duration::from_millis(500)))?;
    }
    learned.moves()?;
    thread::scope(|scope| {
        let [there, back] = ends.map(|ends| scope.spawn(move || for_a_while(ends)));
        stream::joined(there.join()).and(stream::joined(back.join()))
    })?;
    let moves = learned.moves()?;
    let name = format!("{name}a plain host, both ways for 3 s: addresses moved at the switch");
    Ok(Figure::text(name, moves.to_string(), "0", Some(moves == 0)))
}

/// Lost datagrams, judged by the worst round.
fn lost_figure(name: String, costs: &[Cost], most: usize) -> Figure {
    let lost: Vec<usize> = costs.iter().map(|cost| cost.lost).collect();
    let bound = if most == 0 { "0".to_owned() } else { format!("<= {most}") };
    Figure::text(name, each(&lost, usize::to_string), &bound, Some(lost.iter().all(|lost| *lost <= most)))
}

fn silences(costs: &[Cost]) -> String {
    format!("{} ms", each(costs, |cost| format!("{:.1}", cost.silence_ms)))
}

/// The values of all rounds.
pub(in crate::accept) fn each<T>(values: &[T], show: impl Fn(&T) -> String) -> String {
    values.iter().map(show).collect::<Vec<_>>().join(" ")
}
