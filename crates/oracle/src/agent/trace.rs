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
    for (step, Step { requests, watch_ms }) in steps.into_iter().enumerate() {
        for request in requests {
            agent.answer(request)?;
        }
        let end = Instant::now() + Duration::from_millis(watch_ms);
        let mut first = true;
        while first || Instant::now() < end {
            let values = look(watch);
            if first || samples.last().is_none_or(|last| last.values != values) {
                samples.push(Sample { step, at_ms: start.elapsed().as_millis() as u64, values });
            }
            first = false;
            thread::sleep(LOOK);
        }
    }
    Ok(samples)
}

fn look(watch: &[String]) -> Vec<String> {
    watch.iter().map(|path| fs::read_to_string(path).unwrap_or_default().trim_end().to_owned()).collect()
}
