//! Numbers in few characters.

use nicteam_bundles::Rate;
use serde::{Deserialize, Serialize};

/// What traffic is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Bit/s.
    #[default]
    Bits,
    /// Byte/s.
    Bytes,
    /// Packets/s.
    Packets,
}

impl Unit {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Unit::Bits => "bit/s",
            Unit::Bytes => "byte/s",
            Unit::Packets => "packets/s",
        }
    }

    /// The next one, in turn.
    pub(super) fn next(self) -> Unit {
        match self {
            Unit::Bits => Unit::Bytes,
            Unit::Bytes => Unit::Packets,
            Unit::Packets => Unit::Bits,
        }
    }

    /// What was sent and received.
    pub(super) fn of(self, rate: &Rate) -> [f64; 2] {
        match self {
            Unit::Bits => [rate.tx_bps, rate.rx_bps],
            Unit::Bytes => [rate.tx_bps / 8.0, rate.rx_bps / 8.0],
            Unit::Packets => [rate.tx_pps, rate.rx_pps],
        }
    }
}

/// A number in at most five characters: `0`, `999`, `1.25K`, `12.5M`, `125G`.
pub(super) fn short(number: f64) -> String {
    const STEPS: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    let mut number = if number.is_finite() { number.max(0.0) } else { 0.0 };
    let mut step = 0;
    // What would be rounded to four digits is the next step's.
    while number >= 999.5 && step + 1 < STEPS.len() {
        number /= 1000.0;
        step += 1;
    }
    let decimals = match number {
        _ if step == 0 => 0,
        number if number >= 99.95 => 0,
        number if number >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.decimals$}{}", STEPS[step])
}

/// At most so many characters; what is cut off is a `~`. Characters that steer a terminal become `?`.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let clean = |character: char| if character.is_control() { '?' } else { character };
    let count = text.chars().count();
    match (count <= width, width) {
        (true, _) => text.chars().map(clean).collect(),
        (false, 0) => String::new(),
        (false, _) => text.chars().take(width - 1).map(clean).chain(['~']).collect(),
    }
}

/// A bar of so many characters, of which a part is filled: something that is not nothing has one at least.
pub(super) fn bar(part: f64, width: usize) -> String {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    let mut filled = (part * width as f64).round() as usize;
    if part > 0.000_5 && filled == 0 {
        filled = 1;
    }
    format!("{}{}", "|".repeat(filled.min(width)), " ".repeat(width - filled.min(width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_characters_at_most() {
        for (number, text) in [
            (0.0, "0"),
            (0.4, "0"),
            (999.4, "999"),
            (999.5, "1.00K"),
            (1250.0, "1.25K"),
            (9996.0, "10.0K"),
            (99_960.0, "100K"),
            (941_200_000.0, "941M"),
            (999_600_000.0, "1.00G"),
            (f64::NAN, "0"),
            (-5.0, "0"),
        ] {
            assert_eq!(short(number), text, "{number}");
        }
        assert!((0..60).all(|power| short(1.7_f64.powi(power)).len() <= 5));
    }

    #[test]
    fn bars_and_names_fit() {
        assert_eq!(
            (bar(0.5, 4), bar(0.0, 4), bar(0.001, 4), bar(7.0, 4)),
            ("||  ".into(), "    ".into(), "|   ".into(), "||||".into())
        );
        assert_eq!(
            (fit("eth0", 4), fit("eth10", 4), fit("a\u{1b}[m", 9), fit("x", 0)),
            ("eth0".into(), "eth~".into(), "a?[m".into(), "".into())
        );
    }
}
