//! A team as the kernel's bonding driver can run it: what formats of the kernel's bonds write.

use nicteam_options::{AggrLayers, Config, HashPolicy, Mode};

use crate::Team;

/// Options that the driver of Linux 6.18 has (drivers/net/bonding/bond_options.c); ours beside them are nobody else's.
const OPTIONS: &[&str] = &[
    "mode",
    "xmit_hash_policy",
    "packets_per_slave",
    "miimon",
    "updelay",
    "downdelay",
    "primary",
    "primary_reselect",
    "min_links",
    "num_grat_arp",
    "num_unsol_na",
    "peer_notif_delay",
    "arp_interval",
    "arp_ip_target",
    "ns_ip6_target",
    "arp_validate",
    "arp_all_targets",
    "arp_missed_max",
    "fail_over_mac",
    "all_slaves_active",
    "resend_igmp",
    "use_carrier",
    "prio",
    "active_slave",
    "queue_id",
    "tlb_dynamic_lb",
    "lp_interval",
    "lacp_active",
    "lacp_rate",
    "ad_select",
    "ad_actor_sys_prio",
    "ad_actor_system",
    "ad_user_port_key",
    "actor_port_prio",
    "coupled_control",
    "lacp_strict",
    "broadcast_neighbor",
];

/// A bond for the kernel's driver.
pub struct Bond {
    /// Its options by the kernel's names, `mode` first; how its links are watched is among them.
    pub options: Vec<(&'static str, String)>,
}

impl Bond {
    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// The bond of a team; what the driver has nothing for is told in `left`. None for a mode that is not the kernel's.
pub fn bond(team: &Team, left: &mut Vec<String>) -> Option<Bond> {
    let name = &team.name;
    let config = match team.config() {
        Ok(config) => config,
        Err(error) => {
            left.push(format!("{name} is not written: {error}"));
            return None;
        }
    };
    if config.mode.number().is_none() {
        let kernels = Mode::ALL.iter().filter(|mode| mode.number().is_some()).map(|mode| mode.name());
        let kernels = kernels.collect::<Vec<_>>().join(", ");
        left.push(format!("{name} is not written: mode {} is not the kernel's, which has {kernels}", config.mode));
        return None;
    }
    let mut options = vec![("mode", config.mode.to_string())];
    let (all, defaults) = (config.options_and_wish(), Config { mode: config.mode, ..Config::default() }.options());
    let is_given = |name: &str| team.options.iter().any(|(given, _)| given == name);
    for (option, value) in all.into_iter().filter(|(option, _)| *option != "mode") {
        // Ours is 100 where the driver's is 0.
        let is_watched = option == "miimon" && !config.arp.is_on();
        if !is_given(option) && !is_watched {
            continue;
        }
        let is_default = defaults.iter().any(|(known, default)| *known == option && *default == value);
        match (OPTIONS.contains(&option), is_default) {
            (true, _) if option == "xmit_hash_policy" => options.push((option, policy(name, &config, left))),
            (true, _) => options.push((option, value)),
            (false, true) => {}
            (false, false) => left.push(format!("{name}: the kernel's driver has no `{option}`")),
        }
    }
    Some(Bond { options })
}

/// The policy, or the kernel's nearest.
fn policy(team: &str, config: &Config, left: &mut Vec<String>) -> String {
    let wanted = config.xmit_hash_policy;
    let nearest = match wanted {
        of if of.number().is_some() => return of.to_string(),
        HashPolicy::Aggr(layers) if layers.contains(AggrLayers::L4) => HashPolicy::Layer34,
        HashPolicy::Aggr(layers) if layers.contains(AggrLayers::L3) => HashPolicy::Layer23,
        HashPolicy::SrcDstPort => HashPolicy::Layer34,
        HashPolicy::SrcDstIp | HashPolicy::SrcIp | HashPolicy::DstIp | HashPolicy::SrcXorDstIp => HashPolicy::Layer23,
        _ => HashPolicy::Layer2,
    };
    left.push(format!(
        "{team}: the kernel's driver has no `xmit_hash_policy {wanted}`; `{nearest}`, the nearest, is written"
    ));
    nearest.to_string()
}
