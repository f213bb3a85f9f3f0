//! H3C, switches with Comware 5.
//!
//! H3C's *Layer 2 - LAN Switching Configuration Guide*, chapter "Configuring Ethernet link aggregation", section
//! "Configuring load sharing criteria for link aggregation groups", which lists the criteria and their combinations.

use nicteam_team::HashPolicy;

use super::model::{Spread, SwitchModel};

/// `link-aggregation load-sharing mode`. By MAC addresses first, as the switch of test T3 was found to do.
pub(super) const H3C: SwitchModel = SwitchModel {
    name: "h3c",
    title: "H3C with Comware 5",
    command: "link-aggregation load-sharing mode",
    spreads: &[
        Spread { word: "destination-mac source-mac", policy: HashPolicy::SrcDstMac },
        Spread { word: "source-mac", policy: HashPolicy::SrcMac },
        Spread { word: "destination-mac", policy: HashPolicy::DstMac },
        Spread { word: "source-ip", policy: HashPolicy::SrcIp },
        Spread { word: "destination-ip", policy: HashPolicy::DstIp },
        Spread { word: "destination-ip source-ip", policy: HashPolicy::SrcDstIp },
        Spread { word: "destination-ip destination-port source-ip source-port", policy: HashPolicy::SrcDstPort },
    ],
    hash_buckets: 0,
    most_links: 8,
    most_groups: None,
    has_channel_group: false,
    assumed: "the hash: the exclusive or of the last bytes of the MAC addresses, of all bytes of two IP addresses and of \
        the ports, modulo the links of the group; and that what is not IP goes by MAC addresses",
};
