//! What tasks leave that are no flow of bytes. Flows of bytes are [`crate::Connection`]s.

use serde::{Deserialize, Serialize};

use crate::defaults::is_false;
use crate::echo::Echo;
use crate::storage::Stall;

/// Operations in the measured window: requests that are answered one by one.
/// If a steady state was found, the figures cover only that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// Their workload.
    pub workload: String,
    /// Number of the task in the run, from 0.
    pub index: u32,
    /// Host that asks.
    pub from: String,
    /// Host that answers.
    pub to: String,
    /// Operations that were answered.
    pub completed: u64,
    /// The same, a second.
    pub rate_per_s: f64,
    /// Operations that failed.
    pub errors: u64,
    /// Times from question to answer.
    pub latency: Histogram,
    /// The same for reads only; empty: there were none, or they are not distinguished.
    #[serde(default, skip_serializing_if = "Histogram::is_empty")]
    pub read_latency: Histogram,
    /// The same of those that wrote alone.
    #[serde(default, skip_serializing_if = "Histogram::is_empty")]
    pub write_latency: Histogram,
    /// What they were, in words: `32 KiB, 100 % read, sequential, 64 outstanding`; empty: nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub specification: String,
    /// Bytes of each operation; none: they differ, or are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Operations that were always under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// Bytes read in the time that counts.
    #[serde(default)]
    pub read_bytes: u64,
    /// Bytes written in it.
    #[serde(default)]
    pub written_bytes: u64,
    /// From when on figures count, milliseconds since the window began; none: the whole window counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_from_ms: Option<f64>,
    /// True if a steady state was looked for and not found, so that the whole window counts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unsteady: bool,
    /// The longest time without an answer in the measured window; none: it was not looked for, or nothing was
    /// outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// The cache and the disks that were modelled in front of the target's file; none: the file alone answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disks: Option<ModelledDisks>,
}

/// A cache and disks in front of a target's file, as a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledDisks {
    /// Part of the operations that the cache was to answer, 0 to 1.
    pub hit: f64,
    /// Time that the disks were given for any other, microseconds; 0: none.
    pub latency_us: u64,
    /// Operations that the disks took a second; none: as many as came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios_per_s: Option<f64>,
    /// Operations that went to the disks in the time that counts.
    pub misses: u64,
}

/// A program that was not ours, and how it ended. Its connections are among [`crate::Connection`]s.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its workload.
    pub workload: String,
    /// Number of the task in the run, from 0.
    pub index: u32,
    /// Host it ran on.
    pub host: String,
    /// Its words, as it was started.
    pub command: Vec<String>,
    /// Its exit status; 128 and the number of a signal that ended it, as in a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True if it was still there at the end of the run, which ended it.
    #[serde(default)]
    pub ended_by_run: bool,
    /// How long it was there, milliseconds.
    pub took_ms: u64,
    /// The last lines that it wrote, to either output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<String>,
}

impl Program {
    /// Whether it failed by itself.
    pub fn failed(&self) -> bool {
        !self.ended_by_run && self.exit_code != Some(0)
    }
}

/// A file, or something like it, that was carried from one host to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Its workload.
    pub workload: String,
    /// Number of the task in the run, from 0.
    pub index: u32,
    /// Host that has it.
    pub from: String,
    /// Host that gets it.
    pub to: String,
    /// Bytes that arrived.
    pub bytes: u64,
    /// From the first request to the last byte, milliseconds; none: it did not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// SHA-256 of what was sent, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_sha256: Option<String>,
    /// SHA-256 of what arrived, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_sha256: Option<String>,
    /// Host of the program that carried it: the initiator, the NFS client; empty: not distinguished.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Bytes of each request; none: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// What the program had in front of the disk: `write-back`; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cache: String,
    /// True if what it was written over was there before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub overwrite: bool,
    /// From the first request until the program got the result of the last one, milliseconds. With a write-back
    /// cache that is before the last byte was on its way; `took_ms` is when all had arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_ms: Option<f64>,
    /// Bytes that were compared with the expected content.
    #[serde(default)]
    pub verified_bytes: u64,
    /// Where the first wrong byte was found, from the beginning; none: none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_at: Option<u64>,
    /// The longest time without an answer; none: it was not looked for, or nothing was outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
    /// Why it ended early; none: it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Probes in the measured window: small packets at regular moments, each of which is to come back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Their workload.
    pub workload: String,
    /// Number of the task in the run, from 0.
    pub index: u32,
    /// Host that sends them.
    pub from: String,
    /// Host that sends them back.
    pub to: String,
    /// Probes sent.
    pub sent: u64,
    /// Probes that never came back.
    pub lost: u64,
    /// The longest time in which none came back, milliseconds.
    pub longest_silence_ms: f64,
    /// When that time began, milliseconds since the window began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_from_ms: Option<f64>,
    /// Round-trip times.
    #[serde(default)]
    pub round_trip: Histogram,
    /// What is known of them if they were echo requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<Echo>,
}

impl Transfer {
    /// Whether what arrived is what was sent; none if not all of it was compared.
    pub fn is_intact(&self) -> Option<bool> {
        if self.wrong_at.is_some() {
            return Some(false);
        }
        let sums = self.sent_sha256.as_ref().zip(self.received_sha256.as_ref());
        let compared = (self.verified_bytes > 0 && self.verified_bytes >= self.bytes).then_some(true);
        sums.map(|(sent, received)| sent.eq_ignore_ascii_case(received)).or(compared)
    }

    /// Rate at which it arrived, bit/s; none if it did not end.
    pub fn wire_bps(&self) -> Option<f64> {
        rate_bps(self.bytes, self.took_ms?)
    }

    /// Rate that its program saw, bit/s; none if it was not measured.
    pub fn program_bps(&self) -> Option<f64> {
        rate_bps(self.bytes, self.program_ms?)
    }
}

/// Bytes in so many milliseconds as bit/s.
fn rate_bps(bytes: u64, took_ms: f64) -> Option<f64> {
    (took_ms > 0.0).then(|| bytes as f64 * 8e3 / took_ms)
}

/// How often which time was taken. Bounds of buckets are at most a sixteenth apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Times counted.
    pub count: u64,
    /// Their sum, microseconds.
    pub sum_us: u64,
    /// The longest, microseconds.
    pub max_us: u64,
    /// Buckets that are not empty, the shortest times first.
    pub buckets: Vec<Bucket>,
}

/// Times between the bound of the bucket before and this one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The longest time that belongs here, microseconds.
    pub up_to_us: u64,
    /// Times counted.
    pub count: u64,
}

impl Histogram {
    /// Counts one time.
    pub fn add(&mut self, us: u64) {
        self.count = self.count.saturating_add(1);
        self.sum_us = self.sum_us.saturating_add(us);
        self.max_us = self.max_us.max(us);
        self.count_in(bound_us(us), 1);
    }

    /// Counts all of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.count = self.count.saturating_add(other.count);
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
        self.max_us = self.max_us.max(other.max_us);
        other.buckets.iter().for_each(|bucket| self.count_in(bucket.up_to_us, bucket.count));
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Mean of the times, microseconds; none without any.
    pub fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_us as f64 / self.count as f64)
    }

    /// The time that this part of all does not exceed (0.5: the median), up to a
    /// sixteenth too long, microseconds; none without any.
    pub fn quantile_us(&self, part: f64) -> Option<u64> {
        let all: u64 = self.buckets.iter().fold(0, |sum, bucket| sum.saturating_add(bucket.count));
        let wanted = ((all as f64 * part.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut sum: u64 = 0;
        let found = self.buckets.iter().find(|bucket| {
            sum = sum.saturating_add(bucket.count);
            sum >= wanted
        });
        found.map(|bucket| bucket.up_to_us.min(self.max_us))
    }

    fn count_in(&mut self, up_to_us: u64, count: u64) {
        match self.buckets.binary_search_by_key(&up_to_us, |bucket| bucket.up_to_us) {
            Ok(place) => self.buckets[place].count = self.buckets[place].count.saturating_add(count),
            Err(place) => self.buckets.insert(place, Bucket { up_to_us, count }),
        }
    }
}

/// The longest time in the same bucket: sixteen buckets for each power of two.
fn bound_us(us: u64) -> u64 {
    let shift = us.checked_ilog2().unwrap_or(0).saturating_sub(4);
    us | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_a_sixteenth_too_long() {
        let mut histogram = Histogram::default();
        (1..=10_000).for_each(|us| histogram.add(us));
        assert_eq!((histogram.count, histogram.max_us, histogram.mean_us()), (10_000, 10_000, Some(5000.5)));
        for (part, exact) in [(0.0, 1), (0.001, 10), (0.5, 5000), (0.99, 9900), (1.0, 10_000)] {
            let found = histogram.quantile_us(part).unwrap();
            assert!((exact..=exact + exact / 16 + 1).contains(&found), "{part}: {found}");
        }
        assert!(histogram.buckets.len() < 180, "{}", histogram.buckets.len());
    }

    #[test]
    fn two_histograms_are_one() {
        let (mut one, mut other, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for us in [0, 15, 16, 17, 1000, u64::MAX] {
            one.add(us);
            both.add(us);
            other.add(us / 3);
            both.add(us / 3);
        }
        one.merge(&other);
        assert_eq!(one, both);
        assert_eq!(one.quantile_us(1.0), Some(u64::MAX));
    }

    #[test]
    fn nothing_counted_has_no_quantile() {
        assert_eq!((Histogram::default().quantile_us(0.5), Histogram::default().mean_us()), (None, None));
    }

    #[test]
    fn a_transfer_is_intact_if_both_sums_are_there_and_alike() {
        let transfer = Transfer {
            bytes: 1,
            sent_sha256: Some("AB".into()),
            received_sha256: Some("ab".into()),
            ..Transfer::default()
        };
        assert_eq!(transfer.is_intact(), Some(true));
        assert_eq!(Transfer { received_sha256: Some("cd".into()), ..transfer.clone() }.is_intact(), Some(false));
        assert_eq!(Transfer { received_sha256: None, ..transfer }.is_intact(), None);
    }

    #[test]
    fn a_transfer_is_intact_if_all_of_it_was_compared_and_nothing_was_wrong() {
        let of = |verified_bytes, wrong_at| {
            Transfer { bytes: 10, verified_bytes, wrong_at, ..Transfer::default() }.is_intact()
        };
        assert_eq!((of(0, None), of(9, None), of(10, None)), (None, None, Some(true)));
        assert_eq!((of(10, Some(3)), of(4, Some(3))), (Some(false), Some(false)));
    }

    #[test]
    fn what_the_program_saw_and_what_arrived_are_two_rates() {
        let transfer =
            Transfer { bytes: 1_000_000, took_ms: Some(1000.0), program_ms: Some(250.0), ..Transfer::default() };
        assert_eq!((transfer.wire_bps(), transfer.program_bps()), (Some(8e6), Some(32e6)));
        assert_eq!(Transfer { took_ms: Some(0.0), ..transfer }.wire_bps(), None);
    }
}
