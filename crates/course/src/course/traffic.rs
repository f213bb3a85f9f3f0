//! What it costs those outside that something happens.

use std::time::Duration;

use nicteam_sys::process;

use super::Course;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::guest::Guest;
use crate::probe::{self, Cost, DENSE};

/// How long nothing happens, for comparison.
const QUIET: Duration = Duration::from_secs(6);
/// How long is watched after something has happened.
const AFTERWARDS: Duration = Duration::from_secs(4);
/// What tells where the guest lost frames.
const COUNTERS: &str = "cut -d' ' -f1-3 /proc/net/softnet_stat; cat /proc/net/snmp; cat /proc/net/dev; tc -statistics qdisc show | grep -E 'qdisc|dropped'";

impl Course<'_> {
    /// What it costs those outside that something happens, and beside it that nothing does.
    pub(super) fn under_traffic<T>(
        &mut self,
        what: &str,
        happens: impl FnOnce(&mut Guest) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let probes = self.outside.probes()?;
        let (quiet, ()) = probe::watch(&probes, DENSE, || {
            process::sleep_or_termination(QUIET);
            Ok(())
        })?;
        let guest = &mut self.guest;
        let before = answers_without_room(guest)?;
        let (courses, happened) = probe::watch(&probes, DENSE, || {
            let happened = happens(guest)?;
            process::sleep_or_termination(AFTERWARDS);
            Ok(happened)
        })?;
        let no_room = answers_without_room(guest)?.saturating_sub(before);
        let sum = |courses: &[probe::Course]| courses.iter().map(probe::Course::cost).fold(Cost::default(), Cost::and);
        let (quiet, cost) = (sum(&quiet), sum(&courses));
        if cost.lost > 0 {
            self.explain(COUNTERS);
        }
        let parts: Vec<String> =
            courses.iter().map(probe::Course::cost).map(|cost| format!("{} of {}", cost.lost, cost.sent)).collect();
        // What arrived, and the guest's kernel could not answer, no team has lost.
        let lost = (cost.lost as u64).saturating_sub(no_room);
        let measured = match no_room {
            0 => parts.join(", "),
            _ => format!("{lost} ({} not answered, {no_room} of them arrived)", parts.join(", ")),
        };
        let lost = Figure::count(format!("{what}: frames lost"), lost, measured);
        self.figures.push(lost.peer(format!("quiet: {} of {}", quiet.lost, quiet.sent)));
        let twice = Figure::count(format!("{what}: frames twice"), cost.duplicates, cost.duplicates.to_string());
        self.figures.push(twice.peer(format!("quiet: {}", quiet.duplicates)));
        let silence = format!("{:.0}", cost.silence_ms);
        let silence = Figure::text(format!("{what}: longest silence, ms"), silence, "-", None);
        self.figures.push(silence.peer(format!("quiet: {:.0}", quiet.silence_ms)));
        Ok(happened)
    }
}

/// How many answers to echo requests the guest's kernel had no room for (`IcmpOutErrors`): its own socket takes about
/// 170 at once (Linux net/ipv4/icmp.c, `icmp_init`), and when an emulated processor has stood still, more arrive.
fn answers_without_room(guest: &mut Guest) -> Result<u64, Failure> {
    let text = guest.must("grep ^Icmp: /proc/net/snmp")?;
    icmp_counter(&text, "OutErrors").ok_or_else(|| Failure::failed(format!("no IcmpOutErrors in {text}")))
}

/// A counter by its name, of a line of names and one of numbers.
fn icmp_counter(text: &str, name: &str) -> Option<u64> {
    let (names, numbers) = text.trim().split_once('\n')?;
    let mut both = names.split_whitespace().zip(numbers.split_whitespace());
    both.find(|(known, _)| *known == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_found_by_its_name() {
        let text = "Icmp: InMsgs InErrors OutMsgs OutErrors OutDestUnreachs\nIcmp: 9 1 8 3 2\n";
        assert_eq!(icmp_counter(text, "OutErrors"), Some(3));
        assert_eq!(icmp_counter(text, "Other"), None);
        assert_eq!(icmp_counter("", "OutErrors"), None);
    }
}
