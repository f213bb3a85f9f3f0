//! What both ends have in common.

use nicteam_team::lacp::LacpRate;

pub(super) const TEAM: &str = "team0";
pub(super) const MEMBERS: [&str; 2] = ["eth0", "eth1"];

/// The options of both ends.
pub(super) fn options(rate: LacpRate) -> [(&'static str, &'static str); 4] {
    [("mode", "802.3ad"), ("lacp_rate", rate.name()), ("aggregate_wait", "0"), ("xmit_hash_policy", "layer3+4")]
}
