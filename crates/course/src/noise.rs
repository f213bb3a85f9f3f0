//! What else the machine did.

use std::fmt;
use std::time::Duration;

use nicteam_load::cpu;
use nicteam_sys::process;

use crate::failure::Failure;

/// What else the machine did while something was measured. Shares, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Busy share of all processors before it began.
    pub busy_before: f64,
    /// Share that a hypervisor took while it ran.
    pub stolen: f64,
}

impl Noise {
    /// The worse of two in both respects.
    pub fn worse(self, other: Noise) -> Noise {
        Noise { busy_before: self.busy_before.max(other.busy_before), stolen: self.stolen.max(other.stolen) }
    }

    /// Watches the machine at rest for a moment, measures, and tells what else it did.
    pub fn around<T>(measure: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Noise), Failure> {
        let at_rest = cpu::times()?;
        process::sleep_or_termination(WATCH);
        let before = cpu::times()?;
        let measured = measure()?;
        let after = cpu::times()?;
        let busy_before = share(at_rest, before, |times| times.busy);
        Ok((measured, Noise { busy_before, stolen: share(before, after, |times| times.stolen) }))
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "busy {:.2}, steal {:.2}", self.busy_before, self.stolen)
    }
}

/// How long the machine is watched at rest.
const WATCH: Duration = Duration::from_millis(300);

fn share(from: cpu::Times, to: cpu::Times, part: fn(cpu::Times) -> Duration) -> f64 {
    let total = to.total.saturating_sub(from.total).as_secs_f64();
    let part = part(to).saturating_sub(part(from)).as_secs_f64();
    if total > 0.0 { part / total } else { 0.0 }
}
