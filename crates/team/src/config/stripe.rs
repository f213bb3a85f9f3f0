//! Options of stripe; the kernel has no such mode.

use std::collections::BTreeMap;

use super::options::{device, digits, number};
use super::{Config, ConfigError, ConfigOption, Mode, Values};

impl Config {
    /// What this member carries, Mbit/s, if it was said.
    pub fn stripe_rate_of(&self, device: &str) -> Option<u32> {
        self.stripe_rate_mbps.get(device).copied()
    }
}

const RATES: Values = Values::Text {
    takes: "devices with their rates in Mbit/s, 1 to 1000000, as in `eth0:1000,eth1:100`, or nothing",
    example: "eth0:1000,eth1:100",
};
/// The fastest link that can be named, Mbit/s.
const FASTEST_MBPS: u32 = 1_000_000;

/// `stripe_rate`.
pub(super) const STRIPE_RATE: ConfigOption = ConfigOption {
    name: "stripe_rate",
    doc: "stripe: what members carry, Mbit/s, where it is not what their drivers say",
    values: RATES,
    get: |config| {
        let all = config.stripe_rate_mbps.iter().map(|(device, rate)| format!("{device}:{rate}"));
        all.collect::<Vec<_>>().join(",")
    },
    set: |config, text| rates(text).map(|rates| config.stripe_rate_mbps = rates),
};

/// So a silent failure is found within 30 ms: three probes have to be missing, and a fourth to come back by another path.
pub(super) const DEFAULT_INTERVAL_MS: u32 = 5;
const INTERVAL: Values = Values::Positive { max: 1000, words: &[("default", DEFAULT_INTERVAL_MS)] };

/// `stripe_interval`.
pub(super) const STRIPE_INTERVAL: ConfigOption = ConfigOption {
    name: "stripe_interval",
    doc: "stripe: between two probes of a path to a peer with traffic, milliseconds",
    values: INTERVAL,
    get: |config| config.stripe_interval_ms.to_string(),
    set: |config, text| number("stripe_interval", INTERVAL, text).map(|n| config.stripe_interval_ms = n),
};

/// Refuses what would have no effect.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    match config.stripe_rate_mbps.first_key_value() {
        Some((device, rate)) if config.mode != Mode::Stripe => Err(ConfigError::Conflict(format!(
            "`stripe_rate {device}:{rate}` works in mode stripe alone; the mode is {}",
            config.mode
        ))),
        _ => Ok(()),
    }
}

fn rates(text: &str) -> Result<BTreeMap<String, u32>, ConfigError> {
    let refused =
        || ConfigError::BadValue { option: "stripe_rate", value: text.to_owned(), expected: RATES.to_string() };
    let one = |entry: &str| {
        let (name, rate) = entry.split_once(':')?;
        let rate = digits(rate.trim()).filter(|rate| (1..=FASTEST_MBPS).contains(rate))?;
        Some((device("stripe_rate", name).ok()??, rate))
    };
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(|entry| one(entry).ok_or_else(refused)).collect()
}
