//! Throughput of two programs' teams over unlimited cables.

use nicteam_dataplane::Kind;

use super::comparison::{Comparison, NO_WORSE, programs};
use crate::bench::stream::Times;
use crate::bench::throughput::{STREAMS, TEAMS, built_in_turn, spread, words};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::Estimate;

pub(super) const PART: Part<Comparison> =
    Part::new("throughput", "new and old: throughput, 4 members, teams at both ends, unlimited, cubic", measure);

/// The hosts are built anew so often for each round that is asked for: a build takes a second.
const BUILDS: u32 = 2;

fn measure(context: &Context<'_, Comparison>) -> Result<Vec<Figure>, Failure> {
    let times = Times { builds: BUILDS * context.arguments.rounds, ..Times::DEFAULT };
    let mut figures = Vec::new();
    for team in TEAMS.iter().filter(|team| team.kind == Kind::Bpf) {
        for streams in STREAMS {
            let name = format!("{}, {}", team.name, words(streams));
            eprintln!("new and old: {name}");
            let (rates, noise) =
                Noise::around(|| built_in_turn(programs(context), context.scratch, team, streams, times))?;
            let [new, old] = [&rates[0], &rates[1]];
            let peer = format!("{}, {}", spread("new", new), spread("old", old));
            let ratio = Estimate::of_ratios(new, old);
            figures.push(Figure::ratio(format!("{name}, new / old"), ratio, NO_WORSE).noise(noise).peer(peer));
        }
    }
    Ok(figures)
}
