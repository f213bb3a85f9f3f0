//! Probes that are echo requests, and what `ping` of iputils would have printed of them.

use std::fmt::Write;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What is known of echo requests (ICMP, ICMPv6) beside what is known of all probes. Probes that the system refused
/// to send count as sent, as `ping` counts them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    /// Address that they come from.
    pub src: String,
    /// Address that is to send them back.
    pub dst: String,
    /// Payload of each, bytes (`ping -s`); on the way 8 more of ICMP, and those of the IP header.
    pub payload_bytes: u32,
    /// They must not be cut (`ping -M do`).
    #[serde(default)]
    pub dont_fragment: bool,
    /// From one to the next, milliseconds.
    pub interval_ms: f64,
    /// From the first to the last that was sent, milliseconds.
    pub took_ms: f64,
    /// Answers, each counted once.
    pub received: u64,
    /// Answers that came once more.
    #[serde(default)]
    pub duplicates: u64,
    /// Answers that came after that of a later one.
    #[serde(default)]
    pub reordered: u64,
    /// How often this host or another refused one.
    #[serde(default)]
    pub errors: u64,
    /// The last of these, in ping's words: `From 10.0.0.9 icmp_seq=3 Frag needed and DF set (mtu = 1400)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Round-trip times of all answers, those that came twice included; none without an answer, or without room for a
    /// time in the payload (16 bytes), as `ping` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
    /// The most that were under way at once.
    #[serde(default)]
    pub most_outstanding: u64,
    /// The first answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<EchoReply>,
}

/// Round-trip times, microseconds, in whole ones as `ping` computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    /// The shortest.
    pub min_us: u64,
    /// Their mean.
    pub avg_us: u64,
    /// The longest.
    pub max_us: u64,
    /// Their standard deviation.
    pub mdev_us: u64,
}

/// One answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EchoReply {
    /// Its number, from 1, modulo 65,536.
    pub sequence: u16,
    /// ICMP and payload, bytes.
    pub bytes: u32,
    /// Time to live, or hop limit, that was left.
    pub ttl: u8,
    /// Round-trip time, microseconds.
    pub rtt_us: u64,
    /// It had come before.
    #[serde(default)]
    pub duplicate: bool,
}

/// Sums from which [`RoundTrip`] follows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrips {
    count: u64,
    sum_us: u64,
    sum_of_squares: u128,
    min_us: u64,
    max_us: u64,
}

/// The shortest payload that has room for the time at which it was sent, bytes (`struct timeval`).
pub const TIMED_PAYLOAD_BYTES: u32 = 16;

impl RoundTrips {
    /// Counts one, microseconds.
    pub fn add(&mut self, us: u64) {
        self.min_us = if self.count == 0 { us } else { self.min_us.min(us) };
        self.max_us = self.max_us.max(us);
        self.count += 1;
        self.sum_us = self.sum_us.saturating_add(us);
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(us) * u128::from(us));
    }

    /// What they come to; none without any.
    pub fn summary(&self) -> Option<RoundTrip> {
        let count = u128::from(self.count);
        if count == 0 {
            return None;
        }
        let sum = u128::from(self.sum_us);
        let variance = self.sum_of_squares.saturating_sub(sum * sum / count) / count;
        Some(RoundTrip {
            min_us: self.min_us,
            avg_us: self.sum_us / self.count,
            max_us: self.max_us,
            mdev_us: variance.isqrt() as u64,
        })
    }
}

impl Echo {
    /// What `ping` of iputils (20221126) would have printed of `sent` probes: its first line, a line for each of the
    /// first answers, the statistics. Lines end with a newline.
    pub fn words(&self, sent: u64) -> String {
        let mut text = self.heading() + "\n";
        for reply in &self.first {
            text += &self.reply(reply);
            text.push('\n');
        }
        let more = (self.received + self.duplicates).saturating_sub(self.first.len() as u64);
        if more > 0 {
            text += &format!("[{more} more answers]\n");
        }
        if let Some(error) = &self.last_error {
            text += &format!("{error}\n");
        }
        text + &self.statistics(sent)
    }

    /// `PING 10.0.0.2 (10.0.0.2) 65000(65028) bytes of data.`
    fn heading(&self) -> String {
        const HEADERS: u32 = 28;
        let (dst, payload) = (&self.dst, self.payload_bytes);
        match self.dst.parse() {
            Ok(IpAddr::V6(_)) => format!("PING {dst}({dst}) {payload} data bytes"),
            _ => format!("PING {dst} ({dst}) {payload}({}) bytes of data.", payload + HEADERS),
        }
    }

    /// `65008 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.31 ms`
    fn reply(&self, reply: &EchoReply) -> String {
        let EchoReply { sequence, bytes, ttl, rtt_us, duplicate } = reply;
        let mut line = format!("{bytes} bytes from {}: icmp_seq={sequence} ttl={ttl}", self.dst);
        if self.payload_bytes >= TIMED_PAYLOAD_BYTES {
            line += &format!(" time={} ms", reply_time(*rtt_us));
        }
        if *duplicate { line + " (DUP!)" } else { line }
    }

    fn statistics(&self, sent: u64) -> String {
        let mut text = format!("\n--- {} ping statistics ---\n", self.dst);
        // Writing to a string does not fail.
        let _ = write!(text, "{sent} packets transmitted, {} received", self.received);
        for (count, what) in [(self.duplicates, "duplicates"), (self.errors, "errors")] {
            if count > 0 {
                let _ = write!(text, ", +{count} {what}");
            }
        }
        if sent > 0 {
            let lost = sent.saturating_sub(self.received) as f64 * 100.0 / sent as f64;
            let _ = write!(text, ", {}% packet loss, time {:.0}ms", six_digits(lost), self.took_ms.floor());
        }
        text.push('\n');
        let mut line = String::new();
        if let Some(RoundTrip { min_us, avg_us, max_us, mdev_us }) = self.round_trip {
            let ms = |us: u64| format!("{}.{:03}", us / 1000, us % 1000);
            let times = [min_us, avg_us, max_us, mdev_us].map(ms).join("/");
            line += &format!("rtt min/avg/max/mdev = {times} ms");
        }
        if self.most_outstanding > 1 {
            let comma = if line.is_empty() { "" } else { ", " };
            line += &format!("{comma}pipe {}", self.most_outstanding);
        }
        if line.is_empty() { text } else { text + &line + "\n" }
    }
}

/// A time as `ping` prints it: three digits that say something.
fn reply_time(us: u64) -> String {
    match us {
        99_950.. => format!("{}", (us + 500) / 1000),
        9_995.. => format!("{}.{}", (us + 50) / 1000, (us + 50) % 1000 / 100),
        1_000.. => format!("{}.{:02}", (us + 5) / 1000, (us + 5) % 1000 / 10),
        _ => format!("{}.{us:03}", us / 1000),
    }
}

/// C's `%g` of something from 0 to 100: six digits that say something, without zeros at the end.
fn six_digits(value: f64) -> String {
    if value != 0.0 && value < 1e-4 {
        // One of a million: as C has it, with an exponent of two digits.
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        return format!("{}e{}{:02}", without_zeros(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs());
    }
    let before = if value < 1.0 { value.log10().floor() as i32 + 1 } else { value.log10() as i32 + 1 };
    let decimals = if value == 0.0 { 0 } else { (6 - before).max(0) as usize };
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> Echo {
        let reply = |sequence, rtt_us| EchoReply { sequence, bytes: 65008, ttl: 64, rtt_us, duplicate: false };
        let mut times = RoundTrips::default();
        [1310, 142, 178].into_iter().for_each(|us| times.add(us));
        Echo {
            src: "10.0.0.1".to_owned(),
            dst: "10.0.0.2".to_owned(),
            payload_bytes: 65000,
            interval_ms: 1000.0,
            took_ms: 9012.7,
            received: 3,
            round_trip: times.summary(),
            most_outstanding: 1,
            first: vec![reply(1, 1310), reply(2, 142), EchoReply { duplicate: true, ..reply(2, 178) }],
            ..Echo::default()
        }
    }

    #[test]
    fn the_words_are_those_of_ping() {
        let expected = "\
PING 10.0.0.2 (10.0.0.2) 65000(65028) bytes of data.
65008 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.31 ms
65008 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.142 ms
65008 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.178 ms (DUP!)

--- 10.0.0.2 ping statistics ---
3 packets transmitted, 2 received, +1 duplicates, 33.3333% packet loss, time 9012ms
rtt min/avg/max/mdev = 0.142/0.543/1.310/0.542 ms
";
        assert_eq!(Echo { received: 2, duplicates: 1, ..echo() }.words(3), expected);
    }

    #[test]
    fn refusals_and_silence_are_told_as_ping_tells_them() {
        let silent = Echo {
            dst: "::1".to_owned(),
            payload_bytes: 1600,
            received: 0,
            errors: 2,
            last_error: Some("ping: local error: message too long, mtu: 1500".to_owned()),
            took_ms: 202.0,
            round_trip: None,
            first: Vec::new(),
            ..echo()
        };
        let expected = "\
PING ::1(::1) 1600 data bytes
ping: local error: message too long, mtu: 1500

--- ::1 ping statistics ---
2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 202ms
";
        assert_eq!(silent.words(2), expected);
        assert!(Echo { most_outstanding: 3, ..silent.clone() }.words(2).ends_with("202ms\npipe 3\n"));
        assert!(Echo { most_outstanding: 3, ..echo() }.words(3).ends_with("0.542 ms, pipe 3\n"));
        // No room for a time.
        let short = Echo { payload_bytes: 3, round_trip: None, ..echo() }.words(3);
        assert!(short.contains("icmp_seq=1 ttl=64\n") && !short.contains("rtt"), "{short}");
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0, 45, 999, 1000, 1314, 9994, 9995, 10_049, 99_949, 99_950, 1_234_567];
        let words = ["0.000", "0.045", "0.999", "1.00", "1.31", "9.99", "10.0", "10.0", "99.9", "100", "1235"];
        assert_eq!(times.map(reply_time), words);
    }

    #[test]
    fn parts_are_those_of_printf() {
        let values = [0.0, 100.0, 50.0, 100.0 / 3.0, 200.0 / 3.0, 0.1, 0.012_345_678, 1e-5, 9.999_999_9, 5.0];
        let words = ["0", "100", "50", "33.3333", "66.6667", "0.1", "0.0123457", "1e-05", "10", "5"];
        assert_eq!(values.map(six_digits), words);
    }

    #[test]
    fn the_deviation_of_equal_times_is_nothing() {
        let mut times = RoundTrips::default();
        assert_eq!(times.summary(), None);
        times.add(u64::MAX / 4);
        times.add(u64::MAX / 4);
        let all = u64::MAX / 4;
        assert_eq!(times.summary(), Some(RoundTrip { min_us: all, avg_us: all, max_us: all, mdev_us: 0 }));
    }
}
