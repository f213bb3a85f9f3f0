//! What a link that fails takes from one connection, in stripe and in what else uses four links.
//!
//! Balance-alb stands for 802.3ad, too, which a plain bridge has no groups for: both give one connection one link.

use std::time::Duration;

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::{Estimate, median};

use super::fail_under_a_stream;
use super::network::{Fault, LINKS, Network, Side, Way};

/// Stripe first; the others are its peers.
const WAYS: [(&str, Way); 4] = [
    ("stripe", Way::Team(("stripe", &[]))),
    ("balance-rr", Way::Team(("balance-rr", &[]))),
    ("balance-alb", Way::Team(("balance-alb", &[]))),
    ("multipath TCP", Way::Multipath),
];
/// How often each fault is tried, each time on another member: whether a retransmission timer has to expire is a matter of luck.
const ROUNDS: usize = 2 * LINKS;
/// How long after a fault is looked at.
const AFTER: Duration = Duration::from_secs(1);

/// Mode stripe beside its peers while links fail.
pub(crate) const PART: Part<Arguments> =
    Part::new("stripe-peers-faults", "stripe beside its peers while links fail, interleaved (bpf dataplane)", measure);

/// Tries every fault on every member, all ways in turns.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut networks = Vec::new();
    for (_, way) in WAYS {
        networks.push(Network::new(run.product, run.scratch, way)?);
    }
    let mut figures = Vec::new();
    for fault in [Fault::Pulled, Fault::Silent] {
        for side in [Side::Near, Side::Far] {
            let name = match fault {
                Fault::Pulled => format!("cable pulled at the {} end", side.name()),
                Fault::Silent => format!("{} port passes nothing, link up", side.name()),
            };
            eprintln!("stripe and its peers: {name}");
            let (shares, noise) = Noise::around(|| shares(&mut networks, fault, side))?;
            figures.extend(compared(&name, &shares).into_iter().map(|figure| figure.noise(noise)));
        }
    }
    Ok(figures)
}

/// What each way delivered after the fault, of what the other links carry, in each round.
fn shares(networks: &mut [Network<'_>], fault: Fault, side: Side) -> Result<Vec<Vec<f64>>, Failure> {
    let mut shares = vec![Vec::new(); networks.len()];
    for round in 0..ROUNDS {
        for (network, shares) in networks.iter_mut().zip(&mut shares) {
            let (received, at) = fail_under_a_stream(network, fault, side, round % LINKS)?;
            shares.push(received.bps(at, AFTER) / super::SURVIVORS_BPS);
        }
    }
    Ok(shares)
}

/// A figure for each peer: differences, since a peer may deliver nothing at all.
fn compared(name: &str, shares: &[Vec<f64>]) -> Vec<Figure> {
    let Some((ours, peers)) = shares.split_first() else { return Vec::new() };
    let figure = |((peer, _), theirs): (&(&str, Way), &Vec<f64>)| {
        let ahead: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours - theirs).collect();
        let what = format!("{name}, one connection, next second, of the survivors: stripe - {peer}");
        Figure::ratio(what, Estimate::of(&ahead), Bound::Above(0.0)).peer(format!(
            "{:.3} and {:.3}",
            median(ours),
            median(theirs)
        ))
    };
    WAYS[1..].iter().zip(peers).map(figure).collect()
}
