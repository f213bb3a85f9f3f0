//! Cisco Catalyst, switches of the 2960-S and 3560 series.
//!
//! *Catalyst 2960 and 2960-S Switches Software Configuration Guide*, chapter "Configuring EtherChannels and
//! Link-State Tracking"; *Catalyst 3560 Switch Software Configuration Guide*, the same chapter; *Understand
//! EtherChannel Load Balance and Redundancy on Catalyst Switches* (document 12023), which has the shares of eight
//! values over 2 to 8 ports; *Understand EtherChannel Load Balancing* (document 116385), which says that these
//! switches compute such a value, too.

use nicteam_team::HashPolicy;

use super::model::{Spread, SwitchModel};

/// `port-channel load-balance`, source MAC address first: their default.
const SPREADS: &[Spread] = &[
    Spread { word: "src-mac", policy: HashPolicy::SrcMac },
    Spread { word: "dst-mac", policy: HashPolicy::DstMac },
    Spread { word: "src-dst-mac", policy: HashPolicy::SrcDstMac },
    Spread { word: "src-ip", policy: HashPolicy::SrcIp },
    Spread { word: "dst-ip", policy: HashPolicy::DstIp },
    Spread { word: "src-dst-ip", policy: HashPolicy::SrcXorDstIp },
];

const ASSUMED: &str = "which of its eight values a frame gets: the lowest three bits of the address, of two addresses \
    their exclusive or; and that what is not IP goes by MAC addresses where IP addresses are chosen by";

/// 24 or 48 ports, six groups.
pub(super) const CATALYST_2960S: SwitchModel = SwitchModel {
    name: "catalyst-2960s",
    title: "Cisco Catalyst 2960-S",
    command: "port-channel load-balance",
    spreads: SPREADS,
    hash_buckets: 8,
    most_links: 8,
    most_groups: Some(6),
    has_channel_group: true,
    assumed: ASSUMED,
};

/// 24 or 48 ports, 48 groups.
pub(super) const CATALYST_3560G: SwitchModel =
    SwitchModel { name: "catalyst-3560g", title: "Cisco Catalyst 3560G", most_groups: Some(48), ..CATALYST_2960S };
