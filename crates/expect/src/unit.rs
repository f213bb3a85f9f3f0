//! Units of figures, and bounds that are written with one.

/// The unit of a figure in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    Bps,
    /// A part of a whole, written as a number: 0.98.
    Part,
    /// A part of a whole, written in per cent.
    Share,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Times a second.
    PerSecond,
    /// A number of things.
    Count,
}

impl Unit {
    /// Its name in JSON and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bps => "bps",
            Unit::Part => "part",
            Unit::Share => "share",
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::Seconds => "s",
            Unit::Bytes => "bytes",
            Unit::PerSecond => "per_s",
            Unit::Count => "count",
        }
    }

    /// What may stand behind a number, and what that is in this unit; nothing behind a number: this unit.
    pub fn written(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Bps => &[("bit", 1.0), ("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)],
            Unit::Part | Unit::Share => &[("%", 0.01)],
            Unit::Us => &[("us", 1.0), ("ms", 1e3), ("s", 1e6)],
            Unit::Ms => &[("us", 1e-3), ("ms", 1.0), ("s", 1e3)],
            Unit::Seconds => &[("ms", 1e-3), ("s", 1.0)],
            Unit::Bytes => &[
                ("b", 1.0),
                ("kb", 1e3),
                ("mb", 1e6),
                ("gb", 1e9),
                ("kib", 1024.0),
                ("mib", 1_048_576.0),
                ("gib", 1_073_741_824.0),
            ],
            Unit::PerSecond | Unit::Count => &[],
        }
    }

    /// Reads a value: `0.98`, `98%`, `300mbit`, `20 ms`; letter case does not matter.
    ///
    /// # Errors
    /// What is wrong with it, and what it takes.
    pub fn read(self, text: &str) -> Result<f64, (String, String)> {
        let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E' | '_');
        let text = text.trim();
        let unit = text.trim_start_matches(number);
        let digits = text[..text.len() - unit.len()].replace('_', "");
        let unit = unit.trim().to_ascii_lowercase();
        let factor = match unit.as_str() {
            "" => Some(1.0),
            unit => self.written().iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor),
        };
        let value = digits.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
        let value = value.filter(|value| value.is_finite());
        value.ok_or_else(|| (format!("`{text}` is no value of this figure"), self.hint()))
    }

    /// What a bound takes.
    fn hint(self) -> String {
        let own = match self {
            Unit::Bps => "bits a second",
            Unit::Part | Unit::Share => "a part of 1",
            Unit::Us => "microseconds",
            Unit::Ms => "milliseconds",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::PerSecond => "times a second",
            Unit::Count => "a count",
        };
        let names: Vec<String> = self.written().iter().map(|(name, _)| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => format!("it takes a number: {own}"),
            names => format!("it takes a number ({own}), or a text with a unit: {}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_units() {
        for (unit, text, value) in [
            (Unit::Bps, "300mbit", 3e8),
            (Unit::Bps, "2.5 Gbit", 2.5e9),
            (Unit::Bps, "1_000", 1000.0),
            (Unit::Part, "0.98", 0.98),
            (Unit::Share, "5%", 0.05),
            (Unit::Us, "20ms", 20_000.0),
            (Unit::Us, "1e3us", 1000.0),
            (Unit::Ms, "1.5s", 1500.0),
            (Unit::Bytes, "64 KiB", 65_536.0),
            (Unit::Count, "-3", -3.0),
        ] {
            let read = unit.read(text).unwrap();
            assert!((read - value).abs() <= value.abs() * 1e-12, "{text}: {read}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_it_takes() {
        for (unit, text) in [
            (Unit::Bps, "300 mbps"),
            (Unit::Part, "fast"),
            (Unit::Count, "3 packets"),
            (Unit::Us, "1e999"),
            (Unit::Us, "ms"),
            (Unit::Part, "inf"),
            (Unit::Part, "1 2"),
            (Unit::Ms, ""),
        ] {
            let (message, hint) = unit.read(text).unwrap_err();
            assert!(message.contains(text) && hint.contains("it takes a number"), "{message}; {hint}");
        }
        assert!(Unit::Bps.read("1mb").unwrap_err().1.contains("`mbit`"));
    }
}
