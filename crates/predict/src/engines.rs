//! How the engines find a frame's member: a line an engine.

use nicteam_team::mode::Sends;
use nicteam_team::{HashPolicy, hash};
use nicteam_wire::Frame;

/// The hash of a frame by a policy.
pub type Hash = fn(HashPolicy, &Frame<'_>) -> u32;

/// What is known of an engine.
struct Known {
    /// Its name in the record. Older records name none, and had one.
    name: &'static str,
    /// Whether its hash by this policy is ours.
    hashes: fn(HashPolicy) -> bool,
    /// Whether its buckets are Open vSwitch's.
    has_buckets: bool,
}

/// Bits of a tag that name the VLAN.
const VLAN_ID: u16 = 0x0fff;

const ENGINES: [Known; 4] = [
    Known { name: "nicteam", hashes: |_| true, has_buckets: true },
    Known { name: "", hashes: |_| true, has_buckets: false },
    Known { name: "ovs", hashes: |_| false, has_buckets: true },
    Known { name: "kernel", hashes: is_the_kernels, has_buckets: false },
];

/// How this engine hashes by this policy; none if that is not known: then nothing is predicted.
pub fn hash_of(engine: &str, policy: HashPolicy) -> Option<Hash> {
    known(engine).filter(|known| (known.hashes)(policy)).map(|_| hash::hash as Hash)
}

/// The bucket of a frame, its tag beside it, where a team of this engine sends so, with this `bond-hash-basis`; none if it has no buckets that
/// can be computed.
pub fn bucket(engine: &str, sends: Sends, frame: &Frame<'_>, basis: u32) -> Option<u8> {
    known(engine).filter(|known| known.has_buckets)?;
    match sends {
        Sends::BySource => Some(hash::slb::bucket(frame.src(), frame.vlan().map_or(0, |tag| tag.tci & VLAN_ID), basis)),
        Sends::ByFlow => Some(hash::flow::bucket(frame, basis)),
        _ => None,
    }
}

fn known(engine: &str) -> Option<&'static Known> {
    ENGINES.iter().find(|known| known.name == engine)
}

/// The driver's own hash of the frames of its own host's sockets: by the policies for tunnels it takes the socket's, which is
/// random.
fn is_the_kernels(policy: HashPolicy) -> bool {
    policy.number().is_some() && !matches!(policy, HashPolicy::Encap23 | HashPolicy::Encap34)
}

#[cfg(test)]
mod tests {
    use nicteam_wire::{Vlan, ethertype, tagged};

    use super::*;

    #[test]
    fn what_nobody_knows_is_not_predicted() {
        let layer34 = HashPolicy::Layer34;
        assert!(hash_of("nicteam", layer34).is_some() && hash_of("kernel", layer34).is_some());
        assert!(hash_of("other", layer34).is_none() && hash_of("ovs", layer34).is_none());
        assert!(hash_of("kernel", HashPolicy::Encap34).is_none() && hash_of("kernel", HashPolicy::SrcMac).is_none());
        let bytes = [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1], [8, 0, 0, 0, 0, 0]].concat();
        let frame = Frame::parse(&bytes).unwrap();
        // What `ovs-appctl bond/hash 02:00:00:00:00:01` prints.
        assert_eq!(bucket("ovs", Sends::BySource, &frame, 0), Some(38));
        // And `ovs-appctl bond/hash 02:00:00:00:00:01 10`; the priority does not count.
        let bytes = tagged(bytes.clone(), &[Vlan { protocol: ethertype::VLAN, tci: 0xa00a }]);
        let in_vlan = bucket("ovs", Sends::BySource, &Frame::parse_untagged(&bytes).unwrap(), 0);
        assert_eq!(in_vlan, Some(hash::slb::bucket(frame.src(), 10, 0)));
        assert_ne!(in_vlan, Some(38));
        assert_eq!(bucket("kernel", Sends::BySource, &frame, 0), None);
        assert_eq!(bucket("ovs", Sends::InTurn, &frame, 0), None);
    }
}
