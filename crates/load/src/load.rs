//! What the machine was busy with in a measured window: its processors and its memory.

use std::time::Duration;

use nicteam_record::{Cpu, HostCpu, Memory};
use nicteam_sys::Result;

use crate::cpu::{self, Times};

/// The machine's load since a moment.
#[derive(Debug)]
pub struct Load {
    all: Times,
    cores: Vec<Times>,
    memory: Memory,
}

impl Load {
    /// From now on.
    pub fn begin() -> Result<Load> {
        let mut load = Load { all: cpu::times()?, cores: cpu::cores()?, memory: Memory::default() };
        load.look();
        Ok(load)
    }

    /// Looks at the memory in use; the most that is seen counts.
    pub fn look(&mut self) {
        let Ok(now) = cpu::memory_use() else { return };
        self.memory.used_bytes = self.memory.used_bytes.max(now.used_bytes);
        self.memory.swapped_bytes = self.memory.swapped_bytes.max(now.swapped_bytes);
    }

    /// Until now; hosts' processor times are added later.
    pub fn end(mut self) -> Result<(Cpu, Memory)> {
        self.look();
        let (all, cores) = (cpu::times()?, cpu::cores()?);
        let cores = self.cores.iter().zip(&cores).map(|(before, after)| part(before, after, |times| times.busy));
        let of_all = |of| part(&self.all, &all, of);
        let seconds: Vec<HostCpu> = Vec::new();
        let (busy, stolen) = (of_all(|times| times.busy), of_all(|times| times.stolen));
        Ok((Cpu { busy, stolen, seconds, cores: cores.collect() }, self.memory))
    }
}

/// `part / whole`, zero where there is no whole.
pub fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

/// How much of the time between two moments was such time, 0 to 1.
fn part(before: &Times, after: &Times, of: fn(&Times) -> Duration) -> f64 {
    share(of(after).saturating_sub(of(before)), after.total.saturating_sub(before.total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_parts_are_of_the_time_that_passed() {
        let times = |total, busy| Times {
            total: Duration::from_secs(total),
            busy: Duration::from_secs(busy),
            stolen: Duration::ZERO,
        };
        assert_eq!(part(&times(100, 10), &times(110, 15), |times| times.busy), 0.5);
        assert_eq!(part(&times(100, 10), &times(100, 10), |times| times.busy), 0.0);
    }

    #[test]
    fn a_load_has_a_part_for_each_processor_and_memory_in_use() {
        let (cpu, memory) = Load::begin().unwrap().end().unwrap();
        assert!(!cpu.cores.is_empty() && cpu.cores.iter().all(|busy| (0.0..=1.0).contains(busy)), "{cpu:?}");
        assert!(memory.used_bytes > 0);
    }
}
