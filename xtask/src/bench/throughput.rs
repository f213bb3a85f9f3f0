//! Teams beside the raw veth, interleaved.

use nicteam_dataplane::Kind;
use nicteam_netlink::shape::Granularity;

use crate::bench::arguments::Arguments;
use crate::bench::network::{Maker, Options, Pair};
use crate::bench::stream::{Times, built_anew};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::Product;
use crate::scratch::Scratch;
use nicteam_statistics::Estimate;

/// Teams beside the raw veth.
pub(super) const PART: Part<Arguments> =
    Part::new("throughput", "throughput beside a raw veth: 4 members, teams at both ends, unlimited, cubic", measure);

/// Numbers of streams that are measured.
pub(crate) const STREAMS: [usize; 2] = [1, 16];

/// What a team must reach of what the raw veth does.
const BOUND: Bound = Bound::AtLeast(0.90);

/// A team that is measured.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    options: &'static Options,
    pub(crate) kind: Kind,
    granularity: Granularity,
    bound: Bound,
}

const ROUND_ROBIN: Contestant = Contestant {
    name: "balance-rr, bpf",
    options: &[("mode", "balance-rr")],
    kind: Kind::Bpf,
    granularity: Granularity::WHOLE,
    bound: BOUND,
};

/// The teams.
pub(crate) const TEAMS: [Contestant; 6] = [
    Contestant { name: "active-backup, bpf", options: &[("mode", "active-backup")], ..ROUND_ROBIN },
    ROUND_ROBIN,
    Contestant {
        name: "balance-xor layer3+4, bpf",
        options: &[("mode", "balance-xor"), ("xmit_hash_policy", "layer3+4")],
        ..ROUND_ROBIN
    },
    Contestant { name: "balance-rr, packet", kind: Kind::Packet, bound: Bound::None, ..ROUND_ROBIN },
    Contestant {
        name: "balance-rr, bpf, MTU-sized packets",
        granularity: Granularity::Packets,
        bound: Bound::None,
        ..ROUND_ROBIN
    },
    Contestant {
        name: "balance-rr, packet, MTU-sized packets",
        kind: Kind::Packet,
        granularity: Granularity::Packets,
        bound: Bound::None,
        ..ROUND_ROBIN
    },
];

/// Measures every team, with every number of streams; of `rows` those whose names have one of these texts.
fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let (times, rows) = (context.arguments.times(), &context.arguments.row);
    let maker = Maker { product: context.product, scratch: context.scratch };
    let mut figures = Vec::new();
    for Contestant { name, options, kind, granularity, bound } in TEAMS {
        let build = || Ok(vec![Pair::raw(granularity)?, Pair::team(maker, options, kind, granularity)?]);
        for streams in STREAMS {
            let name = format!("{name}, {}", words(streams));
            if !rows.is_empty() && !rows.iter().any(|row| name.contains(row)) {
                continue;
            }
            eprintln!("{name}");
            let (rates, noise) = Noise::around(|| built_anew(build, streams, times))?;
            let ratio = Estimate::of_ratios(&rates[1], &rates[0]);
            let peer = format!("{}, {}", spread("raw veth", &rates[0]), spread("ours", &rates[1]));
            figures.push(Figure::ratio(name, ratio, bound).unit("of the raw veth").noise(noise).peer(peer));
        }
    }
    Ok(figures)
}

/// A team run by each of these programs, in turn: bit/s by program and build.
pub(crate) fn built_in_turn(
    products: [&Product; 2],
    scratch: &Scratch,
    team: &Contestant,
    streams: usize,
    times: Times,
) -> Result<Vec<Vec<f64>>, Failure> {
    let pair = |product| Pair::team(Maker { product, scratch }, team.options, team.kind, team.granularity);
    built_anew(|| products.into_iter().map(pair).collect(), streams, times)
}

/// `1 stream`, `16 streams`.
pub(crate) fn words(streams: usize) -> String {
    format!("{streams} stream{}", if streams == 1 { "" } else { "s" })
}

/// A peer's own figures: `raw veth 48.1 [46.0, 49.2] Gbit/s`.
pub(crate) fn spread(name: &str, rates: &[f64]) -> String {
    Estimate::of(rates).map_or_else(String::new, |Estimate { median, low, high, .. }| {
        format!("{name} {:.1} [{:.1}, {:.1}] Gbit/s", median / 1e9, low / 1e9, high / 1e9)
    })
}
