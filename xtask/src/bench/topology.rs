//! Time to build T3's topology and to take it down, beside mininet.

use std::process::Command;
use std::time::Duration;

use nicteam_sys::process;

use crate::bench::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Held;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::tools;
use nicteam_statistics::Estimate;

/// Time to build and to take down T3, beside mininet.
pub(super) const PART: Part<Arguments> = Part {
    // What mininet needs: it does without what it does not find, silently.
    tools: &[(PYTHON, "python3"), ("mnexec", "mininet"), ("brctl", "bridge-utils"), ("ethtool", "ethtool")],
    ..Part::new(
        "topology",
        "T3's topology: five hosts, four links each (ours with nine teams and rates, mininet's with rates)",
        measure,
    )
};

/// Debian's own: other installations do not find Debian's mininet.
const PYTHON: &str = "/usr/bin/python3";

/// How long a network stands in between.
const HOLD: Duration = Duration::from_millis(300);

/// Builds and takes down, in turn with mininet.
fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let (product, rounds) = (context.product, context.arguments.builds);
    let (times, noise) = Noise::around(|| {
        let (mut ours, mut theirs) = (Times::default(), Times::default());
        for round in 1..=rounds {
            eprintln!("build and take down: {round} of {rounds}");
            // Who goes first alternates.
            if round % 2 == 0 {
                ours.add(product.hold("t3")?)?;
                theirs.add(mininet()?)?;
            } else {
                theirs.add(mininet()?)?;
                ours.add(product.hold("t3")?)?;
            }
        }
        Ok((ours, theirs))
    })?;
    let (ours, theirs) = times;
    let figure = |name: &str, of: fn(&Times) -> &[f64]| {
        let ratio = Estimate::of_ratios(of(&ours), of(&theirs));
        let peer = format!("ours {}, mininet {}", spread(of(&ours)), spread(of(&theirs)));
        Figure::ratio(name, ratio, Bound::Below(1.0)).noise(noise).peer(peer)
    };
    Ok(vec![
        figure("build, ours / mininet", |times| &times.built_ms),
        figure("take down, ours / mininet", |times| &times.taken_down_ms),
        figure("from the start of the command until it stands", |times| &times.stood_ms),
        figure("from Ctrl-C until the command has ended", |times| &times.ended_ms),
    ])
}

/// Milliseconds, by round.
#[derive(Clone, Debug, Default)]
struct Times {
    built_ms: Vec<f64>,
    taken_down_ms: Vec<f64>,
    stood_ms: Vec<f64>,
    ended_ms: Vec<f64>,
}

impl Times {
    /// Takes a network that stands down and notes its times.
    fn add(&mut self, held: Held) -> Result<(), Failure> {
        let (built_ms, stood_after) = (held.built_ms()?, held.stood_after);
        process::sleep_or_termination(HOLD);
        if process::termination().is_some() {
            return Err(Failure::Interrupted);
        }
        let down = held.take_down()?;
        self.built_ms.push(built_ms);
        self.taken_down_ms.push(down.told_ms);
        self.stood_ms.push(stood_after.as_secs_f64() * 1e3);
        self.ended_ms.push(down.ended_after.as_secs_f64() * 1e3);
        Ok(())
    }
}

/// The same hosts and links in mininet, in a namespace of its own.
fn mininet() -> Result<Held, Failure> {
    let mut command = Command::new(PYTHON);
    command.arg(tools::repository().join("xtask/mininet/t3.py"));
    process::in_new_netns(&mut command);
    Held::start(&mut command)
}

fn spread(times_ms: &[f64]) -> String {
    Estimate::of(times_ms)
        .map_or_else(String::new, |Estimate { median, low, high, .. }| format!("{median:.0} [{low:.0}, {high:.0}] ms"))
}
