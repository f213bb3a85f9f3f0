//! Fits an experiment to the machine: dataplane, granularity, and the rate
//! that links get when nobody chose one.
//!
//! MTU-sized packets show what a wire shows; GSO frames of unlike size spread
//! unevenly in round robin. Ratios do not depend on the rate, so where the rate
//! is nobody's choice it is the one to give way. Where somebody chose it, frames
//! join as few packets as the machine can carry: most frames of a busy
//! connection then have that many, and the spread is even again.

use nicteam_dataplane::Kind;
use nicteam_experiment::{Experiment, GranularityChoice};
use nicteam_load::cpu;
use nicteam_netlink::shape::Granularity;
use nicteam_node::Error;

/// Payload that a processor carries through hosts, switch and hosts again in
/// MTU-sized packets of 1500 bytes, bit/s. T3 on two processors of 2026: with eBPF
/// four links of 100 Mbit/s kept them three quarters busy and four of 200
/// saturated them; with packet sockets, where every team passes each frame
/// through user space, four of 50 and four of 75.
const PACKETS_BPF_BPS: f64 = 250e6;
const PACKETS_SOCKETS_BPS: f64 = 100e6;

/// A frame of `n` packets costs as much as n^1/4 frames of one. T3's
/// one-to-four kept two processors 0.91 busy in frames of 2 packets, 0.70 of 4,
/// 0.47 of 8 (4 x 100 Mbit/s, packet sockets), 0.96 of 16 (4 x 1 Gbit/s, eBPF)
/// and 0.85 of 64 KB (4 x 1 Gbit/s, packet sockets).
const GAIN: f64 = 0.75;

/// How many packets a frame may join, the fewest first; after them 64 KB is the bound.
const MAX_PACKETS: [u32; 5] = [2, 4, 8, 16, 32];

/// Rates that links may get instead of the default, bit/s, the highest first.
const LOWER_RATES_BPS: [u64; 3] = [50_000_000, 20_000_000, 10_000_000];

/// The dataplane that is wanted, or an error if it is not to be had.
pub(crate) fn dataplane(wanted: Option<Kind>) -> Result<Kind, Error> {
    match (wanted, nicteam_dataplane::probe()) {
        (Some(Kind::Bpf), (Kind::Packet, reason)) => {
            let reason = reason.unwrap_or_default();
            Err(nicteam_dataplane::Error::Unavailable { kind: Kind::Bpf, reason }.into())
        }
        (Some(kind), _) => Ok(kind),
        (None, (kind, _)) => Ok(kind),
    }
}

/// MTU-sized packets wherever the machine can carry them, else the smallest GSO frames it can.
pub(crate) fn granularity(experiment: &Experiment, kind: Kind) -> Granularity {
    match experiment.granularity {
        GranularityChoice::Packets => Granularity::Packets,
        GranularityChoice::SuperFrames => Granularity::WHOLE,
        GranularityChoice::Auto if carries(experiment, kind, 1) => Granularity::Packets,
        GranularityChoice::Auto => {
            let fewest = MAX_PACKETS.into_iter().find(|&packets| carries(experiment, kind, packets));
            fewest.map_or(Granularity::WHOLE, |max_packets| Granularity::SuperFrames { max_packets })
        }
    }
}

/// The experiment at the rate that lets this machine carry MTU-sized packets, and
/// that rate, if it is lower than the default and nobody chose the rate.
/// `at_rate` is the same experiment with another rate.
pub fn fit<E: From<Error>>(
    experiment: &Experiment,
    wanted: Option<Kind>,
    at_rate: impl Fn(u64) -> Result<Experiment, E>,
) -> Result<Option<(Experiment, u64)>, E> {
    let kind = dataplane(wanted)?;
    let is_free = experiment.rate_is_free && experiment.granularity == GranularityChoice::Auto;
    if !is_free || carries(experiment, kind, 1) {
        return Ok(None);
    }
    for rate_bps in LOWER_RATES_BPS {
        let slower = Experiment { rate_lowered_bps: Some(rate_bps), ..at_rate(rate_bps)? };
        if carries(&slower, kind, 1) {
            return Ok(Some((slower, rate_bps)));
        }
    }
    Ok(None)
}

/// Whether this machine carries every run of the file in frames of so many packets.
fn carries(experiment: &Experiment, kind: Kind, packets: u32) -> bool {
    let per_processor_bps = match kind {
        Kind::Bpf => PACKETS_BPF_BPS,
        Kind::Packet => PACKETS_SOCKETS_BPS,
    };
    let budget_bps = f64::from(cpu::count()) * per_processor_bps * f64::from(packets).powf(GAIN);
    experiment.highest_limit_bps <= budget_bps
}
