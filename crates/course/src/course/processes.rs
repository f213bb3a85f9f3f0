//! Processes that end, and that hang.

use std::time::Instant;

use super::{Course, JOURNAL, SETTLED, UNITS, seconds};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::guest::Guest;
use crate::stacks::LEASE;

impl Course<'_> {
    pub(super) fn kill(&mut self) -> Result<(), Failure> {
        for unit in UNITS {
            self.under_traffic(&format!("{unit} killed with -9"), |guest| {
                let replaced = replaced(guest, &[unit])?;
                signal(guest, unit, "KILL")?;
                guest.wait_for("systemd to start it again", &replaced, SETTLED).map(drop)
            })?;
        }
        Ok(())
    }

    /// Both processes stand still: systemd's watchdog replaces them, and until then LACP is answered all the same.
    pub(super) fn hang(&mut self) -> Result<(), Failure> {
        const WHAT: &str = "both hung (SIGSTOP)";
        let before = self.outside.changes_at_partner()?.len();
        let time = self.under_traffic(WHAT, |guest| {
            let replaced = replaced(guest, &UNITS)?;
            let start = Instant::now();
            UNITS.iter().try_for_each(|unit| signal(guest, unit, "STOP"))?;
            guest.wait_for("the watchdog to replace them", &replaced, SETTLED)?;
            Ok(start.elapsed())
        })?;
        let name = format!("{WHAT}: seconds until they are replaced");
        let bound = format!("< {}, the lease", LEASE.as_secs());
        self.figures.push(Figure::text(name, seconds(time), &bound, Some(time < LEASE)));
        let changes = self.outside.changes_at_partner()?.split_off(before);
        changes.iter().for_each(|change| eprintln!("service: {WHAT}: at the partner: {change}"));
        self.tell(&format!("{WHAT}: changes of LACP at the partner"), changes.len());
        if !changes.is_empty() {
            self.explain(JOURNAL);
        }
        Ok(())
    }
}

/// Sends a signal to a unit's main process.
fn signal(guest: &mut Guest, unit: &str, signal: &str) -> Result<(), Failure> {
    guest.must(&format!("kill -{signal} $(systemctl show -P MainPID {unit})")).map(drop)
}

/// A condition for later: each of the units is active, by another process than now.
pub(super) fn replaced(guest: &mut Guest, units: &[&str]) -> Result<String, Failure> {
    let condition = |unit: &&str| {
        let old = guest.must(&format!("systemctl show -P MainPID {unit}"))?;
        let old = old.trim();
        Ok(format!("systemctl --quiet is-active {unit} && test \"$(systemctl show -P MainPID {unit})\" != {old}"))
    };
    Ok(units.iter().map(condition).collect::<Result<Vec<_>, Failure>>()?.join(" && "))
}
