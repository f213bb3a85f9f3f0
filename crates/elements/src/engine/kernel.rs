//! Engine `kernel`: a bond of Linux' own driver (drivers/net/bonding).

use nicteam_team::Config;

use super::able::{Engine, Unsupported};

pub(super) const NAME: &str = "kernel";

/// The options that the driver gets (Linux 6.1 drivers/net/bonding/bond_netlink.c). Newer kernels have more; an older
/// one would take those without a word and do nothing.
pub const OPTIONS: [&str; 31] = [
    "mode",
    "xmit_hash_policy",
    "packets_per_slave",
    "miimon",
    "updelay",
    "downdelay",
    "use_carrier",
    "arp_interval",
    "arp_ip_target",
    "ns_ip6_target",
    "arp_validate",
    "arp_all_targets",
    "arp_missed_max",
    "primary",
    "primary_reselect",
    "active_slave",
    "fail_over_mac",
    "resend_igmp",
    "num_grat_arp",
    "num_unsol_na",
    "peer_notif_delay",
    "all_slaves_active",
    "min_links",
    "lp_interval",
    "lacp_active",
    "lacp_rate",
    "ad_select",
    "ad_actor_sys_prio",
    "ad_user_port_key",
    "ad_actor_system",
    "tlb_dynamic_lb",
];

/// The bonding driver.
#[derive(Debug)]
pub(super) struct Kernel;

impl Engine for Kernel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, config: &Config) -> Result<(), Unsupported> {
        let (mode, policy) = (config.mode, config.xmit_hash_policy);
        if mode.number().is_none() {
            return Err(Unsupported { option: "mode", reason: format!("has no mode {mode}"), hint: None });
        }
        if policy.number().is_none() {
            let reason = format!("has no hash policy {policy}");
            let hint = Some("it has layer2, layer2+3, layer3+4, encap2+3, encap3+4 and vlan+srcmac".to_owned());
            return Err(Unsupported { option: "xmit_hash_policy", reason, hint });
        }
        let by_default = Config { mode, ..Config::default() }.options_and_wish();
        let differs = config.options_and_wish().into_iter().filter(|pair| !by_default.contains(pair));
        match differs.map(|(name, _)| name).find(|name| !OPTIONS.contains(name)) {
            Some(option) => {
                let reason = format!("does not set `{option}`, which not every kernel has");
                Err(Unsupported { option, reason, hint: None })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_modes_policies_and_options_are_taken_and_no_others() {
        let supports = |options: &[(&str, &str)]| {
            let mut config = Config::default();
            options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
            Kernel.supports(&config).map_err(|error| error.option)
        };
        for mode in nicteam_team::Mode::ALL {
            assert_eq!(supports(&[("mode", mode.name())]).is_ok(), mode.number().is_some(), "{mode}");
        }
        assert_eq!(supports(&[("mode", "802.3ad"), ("lacp_rate", "fast"), ("xmit_hash_policy", "layer3+4")]), Ok(()));
        assert_eq!(supports(&[("mode", "balance-xor"), ("xmit_hash_policy", "src-dst-mac")]), Err("xmit_hash_policy"));
        assert_eq!(supports(&[("mode", "802.3ad"), ("aggregate_wait", "100")]), Err("aggregate_wait"));
        assert_eq!(supports(&[("mode", "active-backup"), ("prio", "eth0:5")]), Err("prio"));
    }

    #[test]
    fn every_option_is_one_of_a_teams() {
        assert_eq!(OPTIONS.into_iter().find(|name| nicteam_team::ConfigOption::named(name).is_none()), None);
    }
}
