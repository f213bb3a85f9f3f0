//! How a team sends and receives, by its configuration.

use nicteam_team::Config;
use nicteam_team::mode::{self, Eligible};

use crate::network::{Receives, Sends};

/// How a team with this configuration sends and receives. `has_partner`: of a mode that speaks LACP, whether the other end
/// does, too.
pub fn uses(config: &Config, has_partner: bool) -> (Sends, Receives) {
    let traits = config.mode.traits();
    if traits.aggregates(config) && !traits.openvswitch && !has_partner {
        // Each member is an aggregator of its own, of which one is used.
        return (Sends::Active, Receives::Active);
    }
    let (policy, buckets) = (config.xmit_hash_policy, config.hash_buckets);
    let basis = config.bond.hash_basis;
    let sends = match traits.sends {
        mode::Sends::InTurn => Sends::InTurn,
        mode::Sends::ByActive => Sends::Active,
        mode::Sends::ByHash => Sends::Hash { policy, buckets },
        mode::Sends::ByAll => Sends::All,
        mode::Sends::ByBuckets(Eligible::Tlb | Eligible::Alb) if config.tlb_dynamic_lb => Sends::ByDestination,
        mode::Sends::ByBuckets(_) => Sends::Hash { policy, buckets: nicteam_team::MAX_BUCKETS as u32 },
        mode::Sends::Striped => Sends::Striped,
        mode::Sends::BySource => Sends::BySource { basis },
        // It sends nothing until LACP has agreed.
        mode::Sends::ByFlow if !has_partner => Sends::Nobody,
        mode::Sends::ByFlow => Sends::ByFlow { basis },
    };
    let receives = match traits.receives {
        mode::Receives::ByActive => Receives::Active,
        mode::Receives::ByAddress => Receives::ByPeer,
        mode::Receives::ByAll | mode::Receives::UnlessReflected => Receives::WhereSent,
    };
    (sends, receives)
}

/// Of members that LACP may aggregate those that it does: only links of one rate, of the largest aggregator the first of
/// equal ones.
pub fn aggregated(members: &[usize], rate_of: impl Fn(usize) -> u64) -> Vec<usize> {
    let alike = |rate: u64| members.iter().filter(|cable| rate_of(**cable) == rate).count();
    let best = members.iter().map(|cable| rate_of(*cable)).rev().max_by_key(|rate| alike(*rate));
    members.iter().copied().filter(|cable| Some(rate_of(*cable)) == best).collect()
}
