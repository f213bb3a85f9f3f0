//! Watching files while things happen.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_oracle::{Refusal, Sample, Step};

use crate::Agent;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(1);

pub(crate) fn trace(agent: &mut Agent, steps: Vec<Step>, watch: &[String]) -> Result<Vec<Sample>, Refusal> {
    let start = Instant::now();
    let mut samples: Vec<Sample> = Vec::new();
    for (step, Step { requests, until, patience_ms }) in steps.into_iter().enumerate() {
        let mut values = look(watch);
        samples.push(Sample { step, at_ms: millis(start), values: values.clone() });
        for request in requests {
            agent.answer(request)?;
        }
        let end = Instant::now() + Duration::from_millis(patience_ms);
        while values != until && Instant::now() < end {
            thread::sleep(LOOK);
            let now = look(watch);
            if now != values {
                samples.push(Sample { step, at_ms: millis(start), values: now.clone() });
                values = now;
            }
        }
    }
    Ok(samples)
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}

fn look(watch: &[String]) -> Vec<String> {
    watch.iter().map(|path| fs::read_to_string(path).unwrap_or_default().trim_end().to_owned()).collect()
}
