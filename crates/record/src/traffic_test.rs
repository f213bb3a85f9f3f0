//! A test of throughput in SoftEther's scheme, and its table.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::numbers::thousands;

/// Bytes of a full Ethernet frame, and of the payload in it, that SoftEther takes for its correction.
const FRAME_BYTES: f64 = 1514.0;
const PAYLOAD_BYTES: f64 = 1460.0;

/// What one client measured in SoftEther's scheme (`TrafficClient`): connections of which some carry payload down,
/// some up, for a span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrafficTest {
    /// Its workload.
    pub workload: String,
    /// Number of the task in the run, from 0: of its first connection.
    pub index: u32,
    /// The client.
    pub from: String,
    /// The server.
    pub to: String,
    /// The program of the connections: `nicteam` or `softether`.
    pub by: String,
    /// Connections.
    pub connections: u32,
    /// True if the figures count Ethernet frames; else payload.
    pub ethernet_frames: bool,
    /// How long was measured, milliseconds.
    pub span_ms: f64,
    /// What the client received, bytes.
    pub download_bytes: u64,
    /// What it sent, bytes.
    pub upload_bytes: u64,
}

impl TrafficTest {
    /// Payload as this test counts it: with the correction, the bytes of the Ethernet frames that carry it.
    pub fn counted(payload_bytes: f64, ethernet_frames: bool) -> u64 {
        let bytes = if ethernet_frames { payload_bytes * FRAME_BYTES / PAYLOAD_BYTES } else { payload_bytes };
        bytes.round() as u64
    }

    /// Average throughput in download direction, bit/s.
    pub fn download_bps(&self) -> f64 {
        self.bps(self.download_bytes)
    }

    /// Average throughput in upload direction, bit/s.
    pub fn upload_bps(&self) -> f64 {
        self.bps(self.upload_bytes)
    }

    /// Both.
    pub fn total_bps(&self) -> f64 {
        self.bps(self.download_bytes.saturating_add(self.upload_bytes))
    }

    fn bps(&self, bytes: u64) -> f64 {
        if self.span_ms > 0.0 { bytes as f64 * 8e3 / self.span_ms } else { 0.0 }
    }

    /// SoftEther's table, line by line.
    pub fn table(&self) -> String {
        let total = self.download_bytes.saturating_add(self.upload_bytes);
        let bytes = |count: u64| [format!("{} Bytes", thousands(count)), simplified(count as f64, "Bytes")];
        let bps = |rate: f64| [format!("{} bps", thousands(rate as u64)), simplified(rate, "bps")];
        let yes_no = |yes: bool| [String::new(), if yes { "Yes" } else { "No" }.to_owned()];
        let rows: [(&str, [String; 2]); 9] = [
            ("Time Span for Measurement", [String::new(), span(self.span_ms)]),
            ("Data Correction for Ethernet Frames", yes_no(self.ethernet_frames)),
            ("Communication Data Volume in Download Direction", bytes(self.download_bytes)),
            ("Communication Data Volume in Upload Direction", bytes(self.upload_bytes)),
            ("Total Communication Data Volume", bytes(total)),
            ("Relay Device Input Output Total Throughput Computation", yes_no(false)),
            ("Average Throughput in Download Direction", bps(self.download_bps())),
            ("Average Throughput in Upload Direction", bps(self.upload_bps())),
            ("Total Average Throughput", bps(self.total_bps())),
        ];
        // A value that has one form stands in the first column.
        let rows =
            rows.map(|(name, [full, short])| if full.is_empty() { (name, short, full) } else { (name, full, short) });
        let widest = |column: fn(&(&str, String, String)) -> usize, head: &str| {
            rows.iter().map(column).max().unwrap_or(0).max(head.len())
        };
        let (name, full) = (widest(|row| row.0.len(), "Item Name"), widest(|row| row.1.len(), "Normal View"));
        let short = widest(|row| row.2.len(), "Simplified View");
        let mut table = format!("{:name$}|{:>full$}|{:>short$}\n", "Item Name", "Normal View", "Simplified View");
        let _ = writeln!(table, "{}+{}+{}", "-".repeat(name), "-".repeat(full), "-".repeat(short));
        for (title, one, other) in rows {
            let line = format!("{title:name$}|{one:>full$}|{other:>short$}");
            let _ = writeln!(table, "{}", line.trim_end());
        }
        table
    }

    /// What the table of SoftEther's client says: span in milliseconds, bytes down and bytes up; none if it is not
    /// whole.
    pub fn read_table<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> Option<(f64, u64, u64)> {
        let value = |name: &str| {
            let mut rows = lines.clone().filter_map(|line| line.split_once('|'));
            let (_, rest) = rows.find(|(title, _)| title.trim() == name)?;
            rest.split('|').next().map(|value| value.trim().to_owned())
        };
        let bytes = |name: &str| {
            let digits: String = value(name)?.strip_suffix("Bytes")?.trim().chars().filter(|c| *c != ',').collect();
            digits.parse::<u64>().ok()
        };
        let span = value("Time Span for Measurement")?;
        let mut parts = span.split(':').map(|part| part.parse::<f64>());
        let (hours, minutes, seconds) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        let span_ms = ((hours * 60.0 + minutes) * 60.0 + seconds) * 1e3;
        let is_whole = span_ms > 0.0 && span_ms.is_finite();
        is_whole.then_some((
            span_ms,
            bytes("Communication Data Volume in Download Direction")?,
            bytes("Communication Data Volume in Upload Direction")?,
        ))
    }
}

/// `00:00:15.012`.
fn span(ms: f64) -> String {
    let ms = ms.max(0.0).round() as u64;
    format!("{:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000)
}

/// `5.14 GBytes`, by powers of a thousand.
fn simplified(value: f64, unit: &str) -> String {
    let (power, prefix) = match value {
        _ if value >= 1e12 => (1e12, "T"),
        _ if value >= 1e9 => (1e9, "G"),
        _ if value >= 1e6 => (1e6, "M"),
        _ if value >= 1e3 => (1e3, "K"),
        _ => return format!("{value:.0} {unit}"),
    };
    format!("{:.2} {prefix}{unit}", value / power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `vpncmd` 5.01 printed it.
    const PRINTED: &str = "\
Item Name                                             |        Normal View|Simplified View
------------------------------------------------------+-------------------+---------------
Time Span for Measurement                             |       00:00:02.003|
Data Correction for Ethernet Frames                   |                Yes|
Communication Data Volume in Download Direction       |2,979,325,794 Bytes|    2.98 GBytes
Communication Data Volume in Upload Direction         |2,737,665,227 Bytes|    2.74 GBytes
Total Communication Data Volume                       |5,716,991,021 Bytes|    5.72 GBytes
Relay Device Input Output Total Throughput Computation|                 No|
Average Throughput in Download Direction              | 11,899,453,995 bps|     11.90 Gbps
Average Throughput in Upload Direction                | 10,934,259,518 bps|     10.93 Gbps
Total Average Throughput                              | 22,833,713,513 bps|     22.83 Gbps
";

    #[test]
    fn the_table_is_softethers_line_by_line() {
        let (span_ms, download_bytes, upload_bytes) = TrafficTest::read_table(PRINTED.lines()).unwrap();
        assert_eq!((span_ms, download_bytes, upload_bytes), (2003.0, 2_979_325_794, 2_737_665_227));
        let test =
            TrafficTest { span_ms, download_bytes, upload_bytes, ethernet_frames: true, ..TrafficTest::default() };
        // Its rates follow from a span in finer parts than it prints.
        let digits = |text: &str| text.split('|').nth(1).map(|value| value.trim().len());
        for (ours, theirs) in test.table().lines().zip(PRINTED.lines()) {
            let (our_name, their_name) = (ours.split('|').next(), theirs.split('|').next());
            assert_eq!((our_name, digits(ours)), (their_name, digits(theirs)), "{ours}");
            if !ours.contains("bps") {
                assert_eq!(ours, theirs.trim_end());
            }
        }
        assert!((test.download_bps() / 11_899_453_995.0 - 1.0).abs() < 1e-3);
        assert_eq!(TrafficTest::read_table(test.table().lines()), Some((span_ms, download_bytes, upload_bytes)));
    }

    #[test]
    fn half_a_table_is_none() {
        for cut in 0..PRINTED.len() - 1 {
            let read = TrafficTest::read_table(PRINTED[..cut].lines());
            assert!(read.is_none() || cut > PRINTED.find("Total Communication").unwrap() - 20, "{cut}: {read:?}");
        }
        assert_eq!(TrafficTest::read_table(["Time Span for Measurement | 1:2"].into_iter()), None);
    }

    #[test]
    fn the_correction_counts_frames() {
        assert_eq!((TrafficTest::counted(1460.0, true), TrafficTest::counted(1460.0, false)), (1514, 1460));
    }
}
