//! How fast an aggregate forms: ours, the kernel's, Open vSwitch's.
//!
//! Two ends have cables by way of a patch panel, where they are pulled and
//! plugged in. Each time both ends are made anew while all cables are pulled.
//! Then all are plugged in, and both ends are looked at until every port of both
//! distributes. The time runs from before the step that gives the last port its
//! carrier to the end of the look that saw the last port distribute, on the
//! clock of this machine, for guests, too. So it is too long by at most the
//! longest look with the pause before it, which is told.

mod end;
mod kernel;
mod ours;
mod ovs;
mod panel;

use std::thread;
use std::time::{Duration, Instant};

use nicteam_oracle::{Guest, Image};
use nicteam_sys::process;
use nicteam_testnet::Host;

use self::end::{AGGREGATE_WAIT_MS, End, PORTS};
use self::ours::TeamEnd;
use self::ovs::OvsEnd;
use self::panel::Panel;
use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::tools;
use nicteam_statistics::Estimate;

/// How fast aggregates form.
pub(super) const PART: Part<Arguments> = Part {
    tools: &[("tc", "iproute2"), ("ovs-vswitchd", "openvswitch-switch")],
    ..Part::new("convergence", "LACP: from the last port's carrier to all ports distributing at both ends", measure)
};

/// How often each pair is measured.
const ROUNDS: usize = 20;
/// How long new ends are left alone: longer than the kernel holds its selection
/// back when a bond is set up, one second (`bond_3ad_initiate_agg_selection`).
const REST: Duration = Duration::from_millis(1300);
/// No aggregate takes that long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest if nobody waits.
const AT_ONCE_MS: f64 = 50.0;

/// What a pair has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// To be there at once.
    AtOnce,
    /// To be no slower than the kernel with itself.
    AsTheKernel,
    /// To be compared with.
    Peer,
}

impl Claim {
    /// The bound of a median, in words, and whether it holds.
    fn judge(self, median_ms: f64, kernels_ms: f64) -> (String, Option<bool>) {
        match self {
            Claim::AtOnce => (format!("<= {AT_ONCE_MS:.0} ms"), Some(median_ms <= AT_ONCE_MS)),
            Claim::AsTheKernel => (format!("<= {kernels_ms:.0} ms, the kernel's"), Some(median_ms <= kernels_ms)),
            Claim::Peer => ("-".to_owned(), None),
        }
    }
}

/// Two ends, and what was measured.
struct Pair {
    name: &'static str,
    claim: Claim,
    ends: [Box<dyn End>; 2],
    panel: Panel,
    /// Nobody waits, so it is measured while nothing else is.
    alone: bool,
    times: Times,
}

/// One of each for every round, milliseconds.
#[derive(Clone, Debug, Default)]
struct Times {
    took_ms: Vec<f64>,
    /// The longest look at both ends, with the pause before it.
    grain_ms: Vec<f64>,
}

/// The place of the kernel with itself.
const KERNELS: usize = 4;

/// Measures all pairs in turn.
fn measure(_: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    // A guest or a network that is lost is a panic, which has said why.
    let measured = thread::spawn(measure_pairs).join();
    measured.unwrap_or_else(|_| Err(Failure::failed("a guest or a network is lost")))
}

fn measure_pairs() -> Result<Vec<Figure>, Failure> {
    let mut pairs = pairs()?;
    let ((), noise) = Noise::around(|| {
        for round in 1..=ROUNDS {
            eprintln!("convergence: {round} of {ROUNDS}");
            self::round(&mut pairs, rest(round))?;
            if process::termination().is_some() {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    })?;
    let about = Figure::text("clock", "this machine's, for guests, too".to_owned(), "-", None)
        .peer("`read to`: how long it takes to see both ends, so a time is too long by at most that");
    let figures = pairs.iter().map(|pair| pair.figure(&pairs[KERNELS].times).noise(noise));
    Ok(std::iter::once(about).chain(figures).collect())
}

fn pairs() -> Result<Vec<Pair>, Failure> {
    let image = Image::obtain().map_err(|missing| Failure::Missing(missing.to_string()))?;
    let agent = tools::agent()?;
    let boot = |cables| Guest::boot_cabled(&image, &agent, cables).map_err(Failure::failed);
    let team = |host, wait_ms| TeamEnd::new(host, wait_ms).map(boxed);
    let switch = |host| OvsEnd::new(host).map(boxed);
    let bond = |host| kernel::one(host, boot).map(boxed);
    let wait = AGGREGATE_WAIT_MS;
    Ok(vec![
        Pair::new("ours, wait 0 - ours, wait 0", Claim::AtOnce, |[a, b]| Ok([team(a, 0)?, team(b, 0)?]))?,
        Pair::new("ours, wait 0 - Open vSwitch", Claim::AtOnce, |[a, b]| Ok([team(a, 0)?, switch(b)?]))?,
        Pair::new("Open vSwitch - Open vSwitch", Claim::Peer, |[a, b]| Ok([switch(a)?, switch(b)?]))?,
        Pair::new("ours - ours", Claim::AsTheKernel, |[a, b]| Ok([team(a, wait)?, team(b, wait)?]))?,
        Pair::new("kernel - kernel", Claim::Peer, |hosts| Ok(kernel::two(hosts, boot)?.map(boxed)))?,
        Pair::new("ours - kernel", Claim::AsTheKernel, |[a, b]| Ok([team(a, wait)?, bond(b)?]))?,
        Pair::new("ours, wait 0 - kernel", Claim::Peer, |[a, b]| Ok([team(a, 0)?, bond(b)?]))?,
    ])
}

fn boxed(end: impl End + 'static) -> Box<dyn End> {
    Box::new(end)
}

/// How long ends rest in a round. The kernel steps each 100 ms from when its bond
/// was set up: over the rounds the cables meet every phase of that.
fn rest(round: usize) -> Duration {
    REST + Duration::from_millis(round as u64 * 35 % 100)
}

/// Measures every pair once: those without a wait one after the other, the
/// others, which do nothing for most of the time, together.
fn round(pairs: &mut [Pair], rest: Duration) -> Result<(), Failure> {
    pairs.iter_mut().try_for_each(Pair::renew)?;
    thread::sleep(rest);
    pairs.iter_mut().filter(|pair| pair.alone).try_for_each(Pair::measure)?;
    thread::scope(|scope| {
        let waiting = pairs.iter_mut().filter(|pair| !pair.alone);
        let threads: Vec<_> = waiting.map(|pair| scope.spawn(|| pair.measure())).collect();
        let lost = |_| Err(Failure::failed("a guest or a network is lost"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(lost))
    })
}

impl Pair {
    /// Ends made of the hosts at both sides of a panel.
    fn new(
        name: &'static str,
        claim: Claim,
        ends: impl FnOnce([Host; 2]) -> Result<[Box<dyn End>; 2], Failure>,
    ) -> Result<Pair, Failure> {
        let (panel, hosts) = Panel::new()?;
        let ends = ends(hosts)?;
        let alone = ends.iter().all(|end| end.wait_ms() == 0);
        Ok(Pair { name, claim, ends, panel, alone, times: Times::default() })
    }

    /// Pulls all cables and makes both ends anew.
    fn renew(&mut self) -> Result<(), Failure> {
        for port in 0..PORTS {
            self.panel.plug(port, false)?;
            self.ends.iter_mut().try_for_each(|end| end.plug(port, false))?;
        }
        self.ends.iter_mut().try_for_each(|end| end.renew())
    }

    fn measure(&mut self) -> Result<(), Failure> {
        let pause = if self.alone { Duration::from_micros(500) } else { Duration::from_millis(3) };
        let mut from = Instant::now();
        for port in 0..PORTS {
            from = Instant::now();
            self.panel.plug(port, true)?;
            for end in &mut self.ends {
                // A port of a guest has its carrier from here, any other from the cable.
                if end.has_own_carrier() {
                    from = Instant::now();
                }
                end.plug(port, true)?;
            }
        }
        let mut longest = Duration::ZERO;
        let mut looked = Instant::now();
        loop {
            let seen = self.ends.iter_mut().map(|end| end.distributes()).collect::<Result<Vec<_>, _>>()?;
            let now = Instant::now();
            longest = longest.max(now - looked);
            looked = now;
            if seen == [true, true] {
                break;
            }
            if from.elapsed() > PATIENCE {
                let states = self.ends.each_mut().map(|end| end.state());
                return Err(Failure::failed(format!(
                    "{} does not form an aggregate: {}",
                    self.name,
                    states.join("\n")
                )));
            }
            thread::sleep(pause);
        }
        self.times.took_ms.push((looked - from).as_secs_f64() * 1e3);
        self.times.grain_ms.push(longest.as_secs_f64() * 1e3);
        Ok(())
    }

    fn figure(&self, kernels: &Times) -> Figure {
        let took = Estimate::of(&self.times.took_ms);
        let (median, kernels) =
            (nicteam_statistics::median(&self.times.took_ms), nicteam_statistics::median(&kernels.took_ms));
        let (bound, holds) = self.claim.judge(median, kernels);
        let measured = took.map_or_else(
            || "no samples".to_owned(),
            |Estimate { median, low, high, .. }| format!("{median:.1} [{low:.1}, {high:.1}] ms"),
        );
        let waits = self.ends.each_ref().map(|end| end.waits()).join("; ");
        let peer = format!("read to {:.1} ms; {waits}", nicteam_statistics::median(&self.times.grain_ms));
        Figure::text(self.name, measured, &bound, holds).peer(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_judged_by_what_it_claims() {
        let holds = |claim: Claim, median_ms| claim.judge(median_ms, 2800.0).1;
        assert_eq!([holds(Claim::AtOnce, 50.0), holds(Claim::AtOnce, 50.1)], [Some(true), Some(false)]);
        assert_eq!([holds(Claim::AsTheKernel, 2800.0), holds(Claim::AsTheKernel, 2801.0)], [Some(true), Some(false)]);
        assert_eq!(holds(Claim::AtOnce, f64::NAN), Some(false));
        assert_eq!(holds(Claim::Peer, 9000.0), None);
    }
}
