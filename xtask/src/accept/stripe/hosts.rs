//! Other numbers of links, unlike links, many hosts, plain hosts, and a server with unlike cards.

use nicteam_load::cpu;

use super::bundles::Bundles;
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// Least part of the limit.
const LEAST: f64 = 0.95;
/// Least of Jain's index over the clients of a server with unlike cards.
const FAIR: f64 = 0.99;

/// Runs of two hosts with unlike numbers of links.
const UNEVEN: [&str; 2] = ["three-to-four", "four-to-three"];

/// Mode stripe with other links and hosts.
pub(crate) const PART: Part<Arguments> =
    Part::new("stripe-hosts", "stripe: other links and hosts (bpf dataplane)", measure);

/// Measures all of it.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let run = |name| Bundles::run(run, name);
    let mut figures = widths(&run("stripe-widths")?)?;
    figures.extend(many(&run("stripe-many")?)?);
    figures.extend(unlike_cards(&run("stripe-unlike-cards")?)?);
    figures.extend(datagrams(&run("stripe-udp")?)?);
    figures.extend(cost(&run("stripe-cost")?)?);
    Ok(figures)
}

fn widths(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = vec![bundles.about()?];
    for run in ["two-links", "three-links", "eight-links", "back-to-back", "unlike-rates"].iter().chain(&UNEVEN) {
        figures.push(bundles.figure(run, "of limit", Bound::AtLeast(LEAST), |run| run.of_limit())?);
    }
    for run in UNEVEN {
        figures.push(bundles.figure(run, "% sent again", Bound::None, |run| Some(run.retransmitted()? * 1e2))?);
    }
    let slower = |run: &super::bundles::Measured| Some(run.each_way()?[0]);
    figures.push(bundles.figure("back-to-back-both-ways", "slower way, of limit", Bound::AtLeast(LEAST), slower)?);
    Ok(figures)
}

fn many(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = vec![bundles.about()?];
    let runs = ["four-to-one", "one-to-four", "to-a-plain-host", "from-a-plain-host", "plain-host-both-ways"];
    for run in runs {
        figures.push(bundles.figure(run, "of limit", Bound::AtLeast(LEAST), |run| run.of_limit())?);
    }
    Ok(figures)
}

fn unlike_cards(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let fair =
        |run, bound| bundles.figure(run, "Jain's index of the clients", bound, |run| run.fairness_around("server"));
    Ok(vec![
        bundles.about()?,
        bundles.figure("three-at-once", "of limit", Bound::AtLeast(LEAST), |run| run.of_limit())?,
        fair("three-at-once", Bound::AtLeast(FAIR))?,
        bundles.figure("one-alone", "of limit", Bound::None, |run| run.of_limit())?,
        bundles.figure("three-plain-clients", "of limit", Bound::None, |run| run.of_limit())?,
        fair("three-plain-clients", Bound::None)?,
    ])
}

fn datagrams(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = vec![bundles.about()?];
    for run in ["ninety-percent", "ten-percent", "eight-flows"] {
        figures.push(bundles.figure(run, "of the rate asked for", Bound::None, |run| run.of_limit())?);
        figures.push(bundles.figure(run, "% lost", Bound::None, |run| run.datagrams_percent(|d| d.lost))?);
        figures.push(bundles.figure(run, "% out of order", Bound::None, |run| run.datagrams_percent(|d| d.reordered))?);
        figures.push(bundles.figure(run, "% twice", Bound::None, |run| run.datagrams_percent(|d| d.duplicated))?);
    }
    Ok(figures)
}

fn cost(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let processors = f64::from(cpu::count());
    let figure =
        bundles.compared(("four-links", "one-fast-link"), "processor seconds a gigabit", Bound::None, |run| {
            run.cpu_per_gbit(processors)
        })?;
    Ok(vec![bundles.about()?, figure])
}
