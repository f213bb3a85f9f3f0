//! What of a team's options the kernel's own bonding has: writers of other programs' formats need it.

use nicteam_team::Config;

use crate::Team;

/// A team as the kernel's bonding would run it.
pub(crate) enum Kernel {
    /// It could.
    Can {
        /// The options that it has, in the kernel's words.
        options: Vec<(String, String)>,
        /// Those that it does not have, each as a sentence.
        left: Vec<String>,
    },
    /// It could not, for this reason.
    Cannot(String),
}

/// Options that are nicteam's or Open vSwitch's, and unknown to the kernel (6.18, `drivers/net/bonding/bond_options.c`).
const NOT_THE_KERNELS: [&str; 18] = [
    "hash_buckets",
    "carrier_failover",
    "rlb_ipv6",
    "aggregate_wait",
    "wait_to_restore",
    "lacp_lease",
    "lacp",
    "lacp_fallback_ab",
    "bond_hash_basis",
    "bond_rebalance_interval",
    "bond_detect_mode",
    "stripe_rate",
    "stripe_interval",
    "tcp_min_rtt_wlen",
    "sack_delay",
    "redundant",
    "stripe_key",
    "stripe_key_old",
];

/// Sorts a team's options into the kernel's and others.
pub(crate) fn kernels(team: &Team) -> Kernel {
    let name = &team.name;
    let Ok(config) = team.config() else {
        return Kernel::Cannot(format!("team {name}: its options do not go together"));
    };
    if config.mode.number().is_none() {
        return Kernel::Cannot(format!("team {name}: the kernel's bonding has no mode {}", config.mode));
    }
    let (mut options, mut left) = (Vec::new(), Vec::new());
    let mut leave = |what: String| left.push(format!("team {name}: the kernel's bonding has no `{what}`"));
    for (option, value) in &team.options {
        let is_policy = option == "xmit_hash_policy";
        if NOT_THE_KERNELS.contains(&option.as_str()) || is_policy && config.xmit_hash_policy.number().is_none() {
            let is_secret = Config::OPTIONS.iter().any(|of| of.name == option && of.is_secret());
            leave(if is_secret { option.clone() } else { format!("{option} = {value}") });
        } else {
            options.push((option.clone(), value.clone()));
        }
    }
    if let Some(dataplane) = &team.dataplane {
        leave(format!("dataplane = {dataplane}"));
    }
    // Where nothing is said nicteam reads carrier, and the kernel does not.
    if !options.iter().any(|(option, _)| matches!(option.as_str(), "miimon" | "arp_interval")) {
        options.push(("miimon".to_owned(), config.miimon_ms.to_string()));
    }
    Kernel::Can { options, left }
}
