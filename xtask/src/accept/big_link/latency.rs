//! How long a request takes over four links of 100 Mbit/s and over one of 400, idle and beside bulk connections.

use std::time::Duration;

use nicteam_netlink::Link;
use nicteam_sys::process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::accept::arguments::Arguments;
use crate::accept::requests::sides::{Case, is_cable, smooth};
use crate::accept::requests::{Load, Transport};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Held;
use crate::noise::Noise;
use crate::part::Context;

const EXPERIMENT: &str = "big-link-latency";
/// Hosts that ask and answer: those that stripe, and those with the big link.
const SIDES: [[&str; 2]; 2] = [["left", "right"], ["big-left", "big-right"]];
const SWITCH: &str = "sw";
/// What devices of the big link begin with at the switch, and their hosts' names everywhere.
const BIG: &str = "big-";

/// Links and rates, bit/s.
const RATE_BPS: u64 = 100_000_000;
const BIG_RATE_BPS: u64 = 400_000_000;

/// What is measured; of some the processes of the teams are stopped: what is left is the dataplane's.
struct Tried {
    case: Case,
    stopped: bool,
}

/// 20,000 requests a side each.
const IDLE: Case = Case {
    name: "idle, TCP",
    ways: ["stripe", "big link"],
    load: Load { transport: Transport::Tcp, clients: 1, each: 1000, bulk: 0 },
    rounds: 20,
    p50: Bound::AtMost(1.15),
    p99: Bound::AtMost(1.5),
};

const CASES: [Tried; 4] = [
    Tried { case: IDLE, stopped: false },
    Tried {
        case: Case { name: "idle, UDP", load: Load { transport: Transport::Udp, ..IDLE.load }, ..IDLE },
        stopped: false,
    },
    Tried {
        case: Case {
            name: "beside 4 bulk connections, TCP",
            // A request takes as long as the queue: ten clients ask at once, or it would take ten minutes.
            load: Load { clients: 10, each: 250, bulk: 4, ..IDLE.load },
            rounds: 8,
            p50: Bound::None,
            p99: Bound::AtMost(1.2),
            ..IDLE
        },
        stopped: false,
    },
    Tried {
        case: Case { name: "idle, TCP, teams' processes stopped", p50: Bound::None, p99: Bound::None, ..IDLE },
        stopped: true,
    },
];

/// Measures both sides in turn, case by case.
pub(super) fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let held = context.product.hold(EXPERIMENT)?;
    for node in SIDES.as_flattened().iter().chain([&SWITCH]) {
        held.netns(node)?.run(|| smooth(|link| rate_bps(node, link)))??;
    }
    let sides = [held.ends(SIDES[0][0], SIDES[0][1])?, held.ends(SIDES[1][0], SIDES[1][1])?];
    // Paths are found and proven.
    process::sleep_or_termination(Duration::from_secs(3));
    let mut figures = Vec::new();
    for Tried { case, stopped } in CASES {
        let stopped = stopped.then(|| Stopped::new(&held)).transpose()?;
        let (rounds, noise) = Noise::around(|| case.measure(&sides))?;
        drop(stopped);
        figures.extend(case.figures(&rounds).into_iter().map(|figure| figure.noise(noise)));
    }
    held.take_down()?;
    Ok(figures)
}

/// The rate of a device of a host or the switch, if a cable leads to it.
fn rate_bps(node: &str, link: &Link) -> Option<u64> {
    let is_big = node.starts_with(BIG) || link.name.starts_with(BIG);
    is_cable(link, node == SWITCH).then_some(if is_big { BIG_RATE_BPS } else { RATE_BPS })
}

/// Processes of teams that stand still; they go on when this value goes.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn new(held: &Held) -> Result<Stopped, Failure> {
        let pids = SIDES[0].iter().map(|host| Ok(Pid::from_raw(held.pid(host)? as i32)));
        let stopped = Stopped(pids.collect::<Result<_, Failure>>()?);
        stopped.0.iter().try_for_each(|pid| kill(*pid, Signal::SIGSTOP)).map_err(Failure::failed)?;
        Ok(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            // Fails only if it has ended.
            let _ = kill(*pid, Signal::SIGCONT);
        }
    }
}
