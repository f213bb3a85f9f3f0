//! HP ProCurve, series 2800.
//!
//! *Management and Configuration Guide* of the 2600, 2600-PWR, 2800, 4100 and 6108 series, chapter "Port Status and
//! Configuration", section "Outbound Traffic Distribution Across Trunked Links": source/destination address pairs.

use nicteam_team::HashPolicy;

use super::model::{Spread, SwitchModel};

/// It has no command: address pairs (SA/DA) are what it does.
pub(super) const PROCURVE_2824: SwitchModel = SwitchModel {
    name: "procurve-2824",
    title: "HP ProCurve 2824",
    command: "",
    spreads: &[Spread { word: "sa-da", policy: HashPolicy::SrcDstMac }],
    hash_buckets: 0,
    most_links: 8,
    most_groups: Some(24),
    has_channel_group: false,
    assumed: "that the addresses of a pair are MAC addresses, and the hash: the exclusive or of their last bytes, modulo \
        the links of the group; and both limits",
};
