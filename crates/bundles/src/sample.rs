//! Counters of devices at a time, and their rates between two times.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counters of a device, since it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received; those that the driver joined count as one.
    pub rx_packets: u64,
    /// Frames received damaged.
    pub rx_errors: u64,
    /// Frames dropped on the way in.
    pub rx_drops: u64,
    /// Frames for which the device had no place.
    pub rx_missed: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent; a GSO frame counts as one with most drivers.
    pub tx_packets: u64,
    /// Frames that the device could not send.
    pub tx_errors: u64,
    /// Frames dropped on the way out.
    pub tx_drops: u64,
    /// Frames that met another one when most of them had been sent (late collisions).
    #[serde(default)]
    pub late_collisions: u64,
}

/// The counters of devices at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When, by a clock that only rises.
    pub at: Duration,
    /// Interface index and counters, by the device's name.
    pub devices: BTreeMap<String, (u32, Counters)>,
}

/// The rates of devices between two samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// How long that was, seconds.
    pub seconds: f64,
    /// Rates by the device's name: those that are in both samples and did not change in between.
    pub devices: BTreeMap<String, Rate>,
}

/// Rates of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Bit/s received.
    pub rx_bps: f64,
    /// Bit/s sent.
    pub tx_bps: f64,
    /// Packets/s received.
    pub rx_pps: f64,
    /// Packets/s sent.
    pub tx_pps: f64,
    /// What the counters rose by.
    pub counted: Counters,
}

impl Counters {
    /// What was counted since an earlier sample; none if a counter has fallen: the device was reset, or is another one.
    pub fn since(&self, earlier: &Counters) -> Option<Counters> {
        Some(Counters {
            rx_bytes: self.rx_bytes.checked_sub(earlier.rx_bytes)?,
            rx_packets: self.rx_packets.checked_sub(earlier.rx_packets)?,
            rx_errors: self.rx_errors.checked_sub(earlier.rx_errors)?,
            rx_drops: self.rx_drops.checked_sub(earlier.rx_drops)?,
            rx_missed: self.rx_missed.checked_sub(earlier.rx_missed)?,
            tx_bytes: self.tx_bytes.checked_sub(earlier.tx_bytes)?,
            tx_packets: self.tx_packets.checked_sub(earlier.tx_packets)?,
            tx_errors: self.tx_errors.checked_sub(earlier.tx_errors)?,
            tx_drops: self.tx_drops.checked_sub(earlier.tx_drops)?,
            late_collisions: self.late_collisions.checked_sub(earlier.late_collisions)?,
        })
    }

    /// Frames lost on the way in: damaged, dropped, without a place.
    pub fn rx_lost(&self) -> u64 {
        // Drivers count a frame without a place among the errors or the drops, too: the largest is a lower bound.
        self.rx_errors.max(self.rx_missed).saturating_add(self.rx_drops)
    }

    /// Frames lost on the way out.
    pub fn tx_lost(&self) -> u64 {
        self.tx_errors.saturating_add(self.tx_drops)
    }
}

impl Rates {
    /// Between two samples; none if the second is not later than the first.
    pub fn between(first: &Sample, second: &Sample) -> Option<Rates> {
        let time = second.at.checked_sub(first.at).filter(|time| !time.is_zero())?;
        let seconds = time.as_secs_f64();
        let rate = |(name, (index, counters)): (&String, &(u32, Counters))| {
            let (before, earlier) = first.devices.get(name)?;
            let counted = counters.since(earlier).filter(|_| before == index)?;
            Some((name.clone(), Rate::of(counted, seconds)))
        };
        Some(Rates { seconds, devices: second.devices.iter().filter_map(rate).collect() })
    }

    /// Those of a device; zeros for one that has none.
    pub fn of(&self, device: &str) -> Rate {
        self.devices.get(device).copied().unwrap_or_default()
    }
}

impl Rate {
    fn of(counted: Counters, seconds: f64) -> Rate {
        let per_second = |count: u64| count as f64 / seconds;
        Rate {
            rx_bps: per_second(counted.rx_bytes) * 8.0,
            tx_bps: per_second(counted.tx_bytes) * 8.0,
            rx_pps: per_second(counted.rx_packets),
            tx_pps: per_second(counted.tx_packets),
            counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_ms: u64, index: u32, rx_bytes: u64) -> Sample {
        let counters = Counters { rx_bytes, rx_packets: rx_bytes / 100, ..Counters::default() };
        Sample { at: Duration::from_millis(at_ms), devices: BTreeMap::from([("eth0".to_owned(), (index, counters))]) }
    }

    #[test]
    fn rates_are_of_the_time_between_two_samples() {
        let rates = Rates::between(&sample(1000, 3, 500), &sample(3000, 3, 2500)).unwrap();
        assert_eq!((rates.seconds, rates.of("eth0").rx_bps, rates.of("eth0").rx_pps), (2.0, 8000.0, 10.0));
        assert_eq!(rates.of("eth0").counted.rx_bytes, 2000);
        assert_eq!(rates.of("eth1"), Rate::default());
    }

    #[test]
    fn a_device_that_is_another_one_now_has_no_rate() {
        let has = |first: &Sample, second: &Sample| !Rates::between(first, second).unwrap().devices.is_empty();
        assert!(has(&sample(0, 3, 500), &sample(1000, 3, 500)));
        assert!(!has(&sample(0, 3, 500), &sample(1000, 4, 600)), "another index");
        assert!(!has(&sample(0, 3, 500), &sample(1000, 3, 499)), "a counter fell");
        assert_eq!(Rates::between(&sample(1000, 3, 1), &sample(1000, 3, 2)), None, "no time between");
    }
}
