//! Published test T5, cell by cell: by which of two links a bond of Open vSwitch carries, run by ours and by the real one.

use nicteam_record::{Record, Run};

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product;
use nicteam_statistics::Estimate;

/// T5's table by both engines.
pub(super) const PART: Part<Arguments> = Part {
    tools: &[("ovs-vswitchd", "openvswitch-switch")],
    ..Part::new("t5", "T5, cell by cell: ours and Open vSwitch, parts of two links of 100 Mbit/s", measure)
};

const ENGINES: [&str; 2] = ["nicteam", "ovs"];
const RATE: &str = "100mbit";
/// What `nothing`, `one link` and `two links` have to be of both; the published test says no more.
const NOTHING: Bound = Bound::AtMost(0.01);
const ONE_LINK: Bound = Bound::Within(0.45, 0.52);
const TWO_LINKS: Bound = Bound::AtLeast(0.93);

/// Runs the table several times by both, and compares each cell with the published one.
fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { arguments, product, scratch } = *context;
    let mut records = Vec::new();
    for repeat in 1..=arguments.repeats {
        eprintln!("T5: {repeat} of {}", arguments.repeats);
        let mut command = product.lab_run("t5");
        command.args(["--engine", &ENGINES.join(","), "--rate", RATE]);
        command.arg("--duration").arg(format!("{}s", arguments.seconds));
        command.arg("--output").arg(scratch.path().join(format!("t5-{repeat}")));
        let record = product::record(&mut command)?;
        match record.skipped.first() {
            None => records.push(record),
            Some(skipped) => return Err(Failure::Missing(format!("T5 left out {}: {}", skipped.run, skipped.reason))),
        }
    }
    figures(&records)
}

fn figures(records: &[Record]) -> Result<Vec<Figure>, Failure> {
    let first = records.first().ok_or_else(|| Failure::failed("no run"))?;
    let mut cells: Vec<&str> = Vec::new();
    for (cell, _) in first.runs.iter().filter_map(cell) {
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    if cells.is_empty() {
        return Err(Failure::failed("the record of T5 has no runs by engine"));
    }
    let pairs = cells.into_iter().flat_map(|cell| ENGINES.map(|engine| (cell, engine)));
    pairs.map(|(cell, engine)| figure(records, cell, engine)).collect()
}

/// Which cell of the table a run is, and by which engine.
fn cell(run: &Run) -> Option<(&str, &str)> {
    run.variant.as_ref().map(|variant| (variant.of.as_str(), variant.engine.as_str()))
}

/// One cell by one engine, over all repeats.
fn figure(records: &[Record], name: &str, engine: &str) -> Result<Figure, Failure> {
    let wanted = Some((name, engine));
    let runs = records.iter().map(|record| Some((record, record.runs.iter().find(|run| cell(run) == wanted)?)));
    let runs: Vec<(&Record, &Run)> = runs
        .collect::<Option<_>>()
        .ok_or_else(|| Failure::failed(format!("the record of T5 has no run {name} by {engine}")))?;
    let noise =
        runs.iter().map(|(record, run)| Noise { busy_before: record.environment.busy_before, stolen: run.cpu.stolen });
    let parts: Vec<f64> = runs.iter().map(|(_, run)| run.of_limit).collect();
    let published = runs.first().map(|(_, run)| *run).and_then(|run| run.published_of_limit);
    let bound = match published {
        Some(part) if part > 0.75 => TWO_LINKS,
        Some(part) if part < 0.25 => NOTHING,
        Some(_) => ONE_LINK,
        None => Bound::None,
    };
    let words = runs.first().and_then(|(_, run)| run.published.clone());
    let figure = Figure::ratio(format!("{name}, {engine}"), Estimate::of(&parts), bound).unit("of two links");
    Ok(figure
        .noise(noise.reduce(Noise::worse).unwrap_or_default())
        .peer(words.map_or_else(|| "not in the published text".to_owned(), |words| format!("published: {words}"))))
}
