//! Options of balance-tlb and balance-alb.

use super::option::ConfigOption;
use crate::config::Config;
use crate::error::ConfigError;
use crate::names::modes;
use crate::values::{INT_MAX, Values, number};

/// `bond_tlb_dynamic_lb_tbl`.
const SWITCH: Values = Values::Number { max: 1, words: &[("off", 0), ("on", 1), ("default", 1)] };
/// `bond_lp_interval_tbl`.
const SECONDS: Values = Values::Positive { max: INT_MAX, words: &[("default", 1), ("minval", 1), ("maxval", INT_MAX)] };

/// `tlb_dynamic_lb`.
pub(super) const TLB_DYNAMIC_LB: ConfigOption = ConfigOption {
    name: "tlb_dynamic_lb",
    doc: "balance-tlb, balance-alb, stripe: whether flows move to the members with room, or stay where the hash puts them",
    values: SWITCH,
    get: |config| u32::from(config.tlb_dynamic_lb).to_string(),
    set: |config, text| number("tlb_dynamic_lb", SWITCH, text).map(|n| config.tlb_dynamic_lb = n == 1),
};

/// `lp_interval`.
pub(super) const LP_INTERVAL: ConfigOption = ConfigOption {
    name: "lp_interval",
    doc: "balance-tlb, balance-alb, stripe: between two learning packets of a member, seconds",
    values: SECONDS,
    get: |config| config.lp_interval_s.to_string(),
    set: |config, text| number("lp_interval", SECONDS, text).map(|n| config.lp_interval_s = n),
};

/// `rlb_ipv6`: nicteam's own.
pub(super) const RLB_IPV6: ConfigOption = ConfigOption {
    name: "rlb_ipv6",
    doc: "balance-alb: IPv6 clients, too, are told one member's address each (1), or all the active one's, as the \
          kernel does (0)",
    values: SWITCH,
    get: |config| u32::from(config.rlb_ipv6).to_string(),
    set: |config, text| number("rlb_ipv6", SWITCH, text).map(|n| config.rlb_ipv6 = n == 1),
};

/// Refuses what the kernel refuses; of the options of the two modes,
/// `lp_interval` and `rlb_ipv6` are kept in others without effect.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    if config.tlb_dynamic_lb || config.mode.balances_load() {
        return Ok(());
    }
    Err(ConfigError::Conflict(format!(
        "`tlb_dynamic_lb 0` works in {} alone; the mode is {}",
        modes(|of| of.buckets().is_some()),
        config.mode
    )))
}
