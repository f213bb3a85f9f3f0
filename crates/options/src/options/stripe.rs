//! Options of stripe; the kernel has no such mode.

use std::collections::BTreeMap;

use super::option::ConfigOption;
use crate::config::Config;
use crate::error::ConfigError;
use crate::mode::Traits;
use crate::names::{modes, names};
use crate::stripe::{DEFAULT_INTERVAL_MS, DEFAULT_SACK_DELAY_MS, MAX_SACK_DELAY, StripeKey, StripePlain};
use crate::values::{HIDDEN, Values, device, digits, number};

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

const INTERVAL: Values = Values::Positive { max: 1000, words: &[("default", DEFAULT_INTERVAL_MS)] };

/// `stripe_interval`.
pub(super) const STRIPE_INTERVAL: ConfigOption = ConfigOption {
    name: "stripe_interval",
    doc: "stripe: between two probes of a path to a peer with traffic, milliseconds",
    values: INTERVAL,
    get: |config| config.stripe_interval_ms.to_string(),
    set: |config, text| number("stripe_interval", INTERVAL, text).map(|n| config.stripe_interval_ms = n),
};

const LONGEST_WLEN_S: u32 = 86_400;
const WLEN: Values = Values::Text { takes: "0 to 86400, or `keep`", example: "keep" };

/// `tcp_min_rtt_wlen`.
pub(super) const TCP_MIN_RTT_WLEN: ConfigOption = ConfigOption {
    name: "tcp_min_rtt_wlen",
    doc: "stripe: what `net.ipv4.tcp_min_rtt_wlen` of the host is while the team runs, seconds; `keep` leaves it as it is",
    values: WLEN,
    get: |config| config.tcp_min_rtt_wlen_s.map_or_else(|| KEEP.to_owned(), |seconds| seconds.to_string()),
    set: |config, text| {
        let refused =
            || ConfigError::BadValue { option: "tcp_min_rtt_wlen", value: text.to_owned(), expected: WLEN.to_string() };
        let text_s = text.trim();
        let seconds = digits(text_s).filter(|seconds| *seconds <= LONGEST_WLEN_S);
        config.tcp_min_rtt_wlen_s = if text_s == KEEP { None } else { Some(seconds.ok_or_else(refused)?) };
        Ok(())
    },
};
const KEEP: &str = "keep";

const SACK_DELAY_VALUES: Values =
    Values::Number { max: MAX_SACK_DELAY.as_millis() as u32, words: &[("off", 0), ("default", DEFAULT_SACK_DELAY_MS)] };

/// `sack_delay`.
pub(super) const SACK_DELAY: ConfigOption = ConfigOption {
    name: "sack_delay",
    doc: "stripe: age of a gap in the data that a TCP connection received from a peer at which it is reported by SACK, milliseconds; 0: at once",
    values: SACK_DELAY_VALUES,
    get: |config| config.sack_delay_ms.to_string(),
    set: |config, text| number("sack_delay", SACK_DELAY_VALUES, text).map(|n| config.sack_delay_ms = n),
};

/// `stripe_plain`.
pub(super) const STRIPE_PLAIN: ConfigOption = ConfigOption {
    name: "stripe_plain",
    doc: "stripe: what goes by several members towards a host or gateway without nicteam, where that delivers more; its answers come by one",
    values: names!(StripePlain),
    get: |config| config.stripe_plain.to_string(),
    set: |config, text| text.parse().map(|plain| config.stripe_plain = plain),
};

/// `redundant`.
pub(super) const REDUNDANT: ConfigOption = ConfigOption {
    name: "redundant",
    doc: "stripe: what goes by two paths, each frame numbered; the team's MTU is 6 bytes less with it",
    values: CLASSES,
    get: |config| config.redundant.to_string(),
    set: |config, text| {
        let refused =
            |_| ConfigError::BadValue { option: "redundant", value: text.to_owned(), expected: CLASSES.to_string() };
        text.parse().map(|classes| config.redundant = classes).map_err(refused)
    },
};

const CLASSES: Values = Values::Text {
    takes: "off, all, or code points (0 to 63) and at most 16 ports (1 to 65535) as in `dscp:46,udp:4789,tcp:22`",
    example: "dscp:46,udp:4789",
};

const KEYS: Values = Values::Text {
    takes: "16 to 64 letters, digits and signs of ASCII without spaces, not `file:...` (which the command line reads), or nothing",
    example: "8Zk2vWmTq0uYxN5c",
};

/// `stripe_key`. Its value is shown to nobody.
pub(super) const STRIPE_KEY: ConfigOption = ConfigOption {
    name: "stripe_key",
    doc: "stripe: a secret of all teams that stripe here, by which they know each other's hellos",
    values: KEYS,
    get: |config| config.stripe_key.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
    set: |config, text| key(STRIPE_KEY.name, text).map(|key| config.stripe_key = key),
};

/// `stripe_key_old`. Its value is shown to nobody, either.
pub(super) const STRIPE_KEY_OLD: ConfigOption = ConfigOption {
    name: "stripe_key_old",
    doc: "stripe: during a key change, the previous `stripe_key`: hellos with either key are accepted, and those of this team carry both",
    values: KEYS,
    get: |config| config.stripe_key_old.as_ref().map(|key| key.0.clone()).unwrap_or_default(),
    set: |config, text| key(STRIPE_KEY_OLD.name, text).map(|key| config.stripe_key_old = key),
};

/// Refuses what would have no effect.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    if config.mode.stripes() {
        return match (&config.stripe_key, &config.stripe_key_old) {
            (None, Some(_)) => Err(ConfigError::Conflict(
                "`stripe_key_old` is the key before `stripe_key`, and there is no `stripe_key`; hint: set both at once"
                    .to_owned(),
            )),
            _ => Ok(()),
        };
    }
    let refused = |option: String| {
        let mode = config.mode;
        let works_in = modes(Traits::stripes);
        Err(ConfigError::Conflict(format!("`{option}` works in {works_in} alone; the mode is {mode}")))
    };
    let defaults = Config::default();
    for option in [&REDUNDANT, &SACK_DELAY, &STRIPE_INTERVAL, &STRIPE_PLAIN, &TCP_MIN_RTT_WLEN] {
        let value = (option.get)(config);
        if value != (option.get)(&defaults) {
            return refused(format!("{} {value}", option.name));
        }
    }
    if let Some((device, rate)) = config.stripe_rate_mbps.first_key_value() {
        return refused(format!("stripe_rate {device}:{rate}"));
    }
    // Their values are shown to nobody.
    for (key, option) in [(&config.stripe_key, &STRIPE_KEY), (&config.stripe_key_old, &STRIPE_KEY_OLD)] {
        if key.is_some() {
            return refused(option.name.to_owned());
        }
    }
    Ok(())
}

fn key(option: &'static str, text: &str) -> Result<Option<StripeKey>, ConfigError> {
    let key = text.trim();
    let is_long_enough = (StripeKey::SHORTEST..=StripeKey::LONGEST).contains(&key.len());
    if key.is_empty() {
        Ok(None)
    } else if is_long_enough && key.bytes().all(|byte| byte.is_ascii_graphic()) && !key.starts_with("file:") {
        Ok(Some(StripeKey(key.to_owned())))
    } else {
        // The error does not show the key: others than its owner may read the error.
        Err(ConfigError::BadValue { option, value: HIDDEN.to_owned(), expected: KEYS.to_string() })
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
