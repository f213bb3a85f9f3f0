//! What each run would deliver, by the crate `predict`: without root, without building anything.

mod bound;
mod held;
mod outcome;
mod show;
mod translate;

use std::time::Duration;

use nicteam_predict::{Network, Prediction};
use nicteam_team::hash::drawn;

use crate::limit::limit;
use held::Holds;
use nicteam_elements::resolved::{Experiment, Run};
use translate::Translated;

pub use outcome::{Measured, Outcome, Predicted, Spread};
pub use show::{predicted_json, show_predicted};

/// What each run of an experiment would deliver.
pub fn predict(experiment: &Experiment) -> Vec<Predicted> {
    predict_drawn(experiment, 0)
}

/// The same, and with addresses and ports drawn from the seeds 1 to `seeds`.
pub fn predict_drawn(experiment: &Experiment, seeds: u32) -> Vec<Predicted> {
    experiment.runs.iter().map(|run| of_run(run, seeds)).collect()
}

fn of_run(run: &Run, seeds: u32) -> Predicted {
    let limit_bps = limit(run).bps;
    let outcome = translate::translate(run).map(|translated| {
        let (mut holds, mut at_most) = (Holds::default(), None);
        let bps = over_time(run, &translated, |network, prediction, seconds| {
            holds.add(run, &translated, prediction, seconds);
            at_most = at_most.take().or_else(|| bound::at_most(run, &translated, network, prediction));
        });
        let of_seed = |seed| over_time(run, &drawn_from(&translated, seed), |_, _, _| ());
        let drawn = spread((1..=seeds).map(of_seed).collect());
        Outcome { bps, held_by: holds.longest(), at_most, drawn }
    });
    Predicted { run: run.name.clone(), limit_bps, outcome, measured: None }
}

/// What is delivered over the measured time, while cables come and go, bit/s. `look` sees each network, its prediction, and the
/// seconds for which it stays.
fn over_time(run: &Run, translated: &Translated, mut look: impl FnMut(&Network, &Prediction, f64)) -> f64 {
    let mut network = translated.network.clone();
    let (mut bits, mut since) = (0.0, Duration::ZERO);
    let ends = run.events.iter().map(|timed| (timed.at, timed.event.carrier()));
    for (at, change) in ends.chain([(run.duration, None)]) {
        let seconds = at.min(run.duration).saturating_sub(since).as_secs_f64();
        if seconds > 0.0 {
            let prediction: Prediction = nicteam_predict::predict(&network, &translated.flows);
            bits += translated.counted(&prediction.bps).sum::<f64>() * seconds;
            look(&network, &prediction, seconds);
            since = at;
        }
        if let Some((node, device, up)) = change
            && let Some(cable) = translated.cable_of(run, node, device)
        {
            network.cables[cable].up = up;
        }
    }
    let seconds = run.duration.as_secs_f64();
    if seconds > 0.0 { bits / seconds } else { 0.0 }
}

/// The same traffic between hosts with other addresses, from other ports.
fn drawn_from(translated: &Translated, seed: u32) -> Translated {
    let hosts: Vec<drawn::Host> = translated.addressed.iter().map(|(host, _)| *host).collect();
    let addresses = drawn::addresses(&hosts, seed);
    let ports = drawn::ports(translated.flows.len(), seed);
    let mut drawn = translated.clone();
    for ((flow, ends), port) in drawn.flows.iter_mut().zip(&translated.ends).zip(ports) {
        for (end, host) in ends.hosts.iter().enumerate() {
            flow.macs[end] = addresses[*host].0;
            flow.addresses[end].set_ip(addresses[*host].1);
        }
        flow.addresses[ends.client].set_port(port);
    }
    for ((_, cable_end), (mac, _)) in translated.addressed.iter().zip(&addresses) {
        if let Some((cable, end)) = cable_end {
            drawn.network.cables[*cable].macs[*end] = Some(*mac);
        }
    }
    drawn
}

/// The nearest rank of each part.
fn spread(mut bps: Vec<f64>) -> Option<Spread> {
    bps.sort_by(f64::total_cmp);
    let rank = |part: f64| {
        let place = (part * bps.len() as f64).ceil() as usize;
        bps.get(place.saturating_sub(1)).copied()
    };
    Some(Spread { p5_bps: rank(0.05)?, median_bps: rank(0.5)?, p95_bps: rank(0.95)? })
}
