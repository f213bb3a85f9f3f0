//! Which lab an agent belongs to, for those who come after.

use std::fmt;
use std::str::FromStr;

/// A process for all time: its number, and when it started (a number may be given again).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LabId {
    pid: u32,
    started_ticks: u64,
}

impl LabId {
    /// This process.
    pub(crate) fn own() -> LabId {
        let pid = std::process::id();
        LabId { pid, started_ticks: started_ticks(pid).unwrap_or_default() }
    }

    /// True while the process runs.
    pub(crate) fn is_alive(self) -> bool {
        started_ticks(self.pid) == Some(self.started_ticks)
    }
}

/// Clock ticks from boot to a process's start (`/proc/PID/stat`, field 22); nothing if it has ended.
fn started_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name, in brackets, and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if state == "Z" { None } else { fields.nth(18)?.parse().ok() }
}

impl fmt::Display for LabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.pid, self.started_ticks)
    }
}

impl FromStr for LabId {
    type Err = ();

    fn from_str(text: &str) -> Result<LabId, ()> {
        let (pid, started_ticks) = text.split_once('@').ok_or(())?;
        Ok(LabId { pid: pid.parse().map_err(drop)?, started_ticks: started_ticks.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself_alone() {
        let own = LabId::own();
        assert!(own.is_alive());
        assert_eq!(own.to_string().parse(), Ok(own));
        let earlier = LabId { started_ticks: own.started_ticks - 1, ..own };
        assert!(!earlier.is_alive(), "another process of the same number");
        assert!("1".parse::<LabId>().is_err());
    }
}
