//! How long a request to a plain host of one member's rate takes beside a bulk flow to it: mode stripe and
//! balance-alb, which never sends to it by a second member.

use std::time::Duration;

use nicteam_sys::process;

use crate::accept::arguments::Arguments;
use crate::accept::requests::sides::{Case, is_cable, smooth};
use crate::accept::requests::{Load, Transport};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::Context;

const EXPERIMENT: &str = "one-sided-latency";
/// Hosts that ask: with a team that stripes, and with one of mode balance-alb.
const ASK: [&str; 2] = ["left", "alb-left"];
/// Who answers both.
const ANSWERS: &str = "right";
const SWITCH: &str = "sw";
const RATE_BPS: u64 = 100_000_000;

/// No worse: what is not more than 3 % is scatter, as where two programs are compared.
const NO_WORSE: Bound = Bound::AtMost(1.03);

const CASE: Case = Case {
    name: "a plain host of one member's rate, requests beside a bulk flow",
    ways: ["stripe", "balance-alb"],
    // A request takes as long as the queue: ten clients ask at once.
    load: Load { transport: Transport::Tcp, clients: 10, each: 100, bulk: 1 },
    rounds: 2,
    p50: Bound::None,
    p99: NO_WORSE,
};

/// Measures both in turn, on links with a burst of one frame.
pub(super) fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let case = Case { rounds: CASE.rounds * context.arguments.repeats, ..CASE };
    let held = context.product.hold(EXPERIMENT)?;
    for node in ASK.iter().chain([&ANSWERS, &SWITCH]) {
        held.netns(node)?.run(|| smooth(|link| is_cable(link, *node == SWITCH).then_some(RATE_BPS)))??;
    }
    let ends = [held.ends(ASK[0], ANSWERS)?, held.ends(ASK[1], ANSWERS)?];
    // Members count as up.
    process::sleep_or_termination(Duration::from_secs(1));
    let (rounds, noise) = Noise::around(|| case.measure(&ends))?;
    held.take_down()?;
    Ok(case.figures(&rounds).into_iter().map(|figure| figure.noise(noise)).collect())
}
