//! Values as text.

use std::fmt::Write;

use super::collect::Values;
use super::registry::{METRICS, Type};

/// The two formats that Prometheus reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus's own, 0.0.4, which node_exporter's textfile collector reads, too.
    Text,
}

impl Format {
    /// As HTTP names it.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Writes values, metric by metric; one that has none is left out.
pub fn encode(values: &Values, format: Format) -> String {
    let mut text = String::new();
    for metric in METRICS {
        let mut samples = values.of(metric).peekable();
        if samples.peek().is_none() {
            continue;
        }
        // OpenMetrics names a counter without the end of its values' name, the older format with it.
        let name = match format {
            Format::OpenMetrics => metric.name.to_owned(),
            Format::Text => metric.sample_name(),
        };
        let kind = match metric.kind {
            Type::Counter => "counter",
            Type::Gauge => "gauge",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", metric.help);
        if let (Format::OpenMetrics, Some(unit)) = (format, metric.unit()) {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let name = metric.sample_name();
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    if format == Format::OpenMetrics {
        text += "# EOF\n";
    }
    text
}
