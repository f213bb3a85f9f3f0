//! The team's device: a veth end beside a TAP.

use nicteam_dataplane::Kind;
use nicteam_netlink::shape::Granularity;

use crate::bench::arguments::Arguments;
use crate::bench::network::{Maker, Pair};
use crate::bench::stream::built_anew;
use crate::bench::throughput::{STREAMS, spread, words};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::Estimate;

/// A veth end beside a TAP as the team's device.
pub(super) const PART: Part<Arguments> =
    Part::new("device", "the team's device: a veth end beside a TAP, balance-rr, bpf", measure);

const OPTIONS: [(&str, &str); 1] = [("mode", "balance-rr")];

/// Measures the raw veth, the team on a veth end and the team on a TAP in one
/// set of turns. Nothing is judged: the product has chosen the veth end, for
/// reasons that docs/design/dataplane.md names; this says what the choice costs.
fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let maker = Maker { product: context.product, scratch: context.scratch };
    let build = || {
        let veth = Pair::team(maker, &OPTIONS, Kind::Bpf, Granularity::WHOLE)?;
        Ok(vec![Pair::raw(Granularity::WHOLE)?, veth, Pair::team_on_tap(&OPTIONS)?])
    };
    let mut figures = Vec::new();
    for streams in STREAMS {
        eprintln!("veth end, TAP: {}", words(streams));
        let (rates, noise) = Noise::around(|| built_anew(build, streams, context.arguments.times()))?;
        let [raw, veth, tap] = [&rates[0], &rates[1], &rates[2]];
        for (name, ours, theirs, peer) in [
            ("veth end / raw veth", veth, raw, "raw veth"),
            ("TAP / raw veth", tap, raw, "raw veth"),
            ("veth end / TAP", veth, tap, "team on a TAP"),
        ] {
            let name = format!("{name}, {}", words(streams));
            let ratio = Estimate::of_ratios(ours, theirs);
            figures.push(Figure::ratio(name, ratio, Bound::None).noise(noise).peer(spread(peer, theirs)));
        }
    }
    Ok(figures)
}
