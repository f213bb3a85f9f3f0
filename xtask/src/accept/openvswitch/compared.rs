//! Whether ours decides as Open vSwitch does: the tests that ask both, whole.

use crate::accept::arguments::Arguments;
use crate::accept::tested::{self, Tests};
use crate::part::Part;

/// Hashes, rebalancing, members.
pub(in crate::accept) const PART: Part<Arguments> = Part {
    tools: &[("ovs-vswitchd", "openvswitch-switch")],
    prepare: || tested::build(PACKAGE),
    ..Part::new("ovs", "the same decisions as Open vSwitch's daemon", |_| tested::figures(&TESTS))
};

const PACKAGE: &str = "nicteam-oracle";

const TESTS: [Tests; 4] = [
    Tests::of(PACKAGE, "live::openvswitch::hash::", "balance-slb: 100,000 addresses, VLANs and bases have its buckets")
        .whole(),
    Tests::of(PACKAGE, "live::openvswitch::flow::", "balance-tcp: 100,000 flows leave by the members of its buckets")
        .whole(),
    Tests::of(PACKAGE, "live::openvswitch::rebalance::", "rebalancing: 50 traces of loads move the same buckets")
        .whole(),
    Tests::of(
        PACKAGE,
        "live::openvswitch::events::",
        "members: 100 traces of events enable and activate the same ones",
    )
    .whole(),
];
