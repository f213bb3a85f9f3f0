//! The devices above a team: VLANs on it, a bridge it is a port of, and what is on these.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_verify_device_path`: a frame that
//! leaves such a device carries the tags of the VLAN devices on its way down.

use nicteam_netlink::Link;
use nicteam_wire::{Mac, Vlan};

/// A device above a team, or the team's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpperDevice {
    /// Interface index.
    pub(crate) index: u32,
    /// Its address.
    pub(crate) mac: Mac,
    /// The tags of the frames that it sends, the outermost first.
    pub(crate) tags: Vec<Vlan>,
}

/// The team device of this index and all that is above it, from the bottom up.
pub(crate) fn upper_devices(links: &[Link], team: u32) -> Vec<UpperDevice> {
    let own = links.iter().filter(|link| link.index == team);
    let mut found: Vec<UpperDevice> =
        own.map(|link| UpperDevice { index: team, mac: Mac(link.mac), tags: Vec::new() }).collect();
    let mut next = 0;
    while let Some(below) = found.get(next).cloned() {
        let master = links.iter().find(|link| link.index == below.index).and_then(|link| link.master);
        for link in links.iter().filter(|link| is_on(link, below.index) || master == Some(link.index)) {
            // One that two ways lead to has the shorter one; and nothing goes round for ever.
            if found.iter().all(|known| known.index != link.index) {
                let tag = link.vlan.map(|tag| Vlan { protocol: tag.protocol, tci: tag.tci });
                let tags = below.tags.iter().copied().chain(tag).collect();
                found.push(UpperDevice { index: link.index, mac: Mac(link.mac), tags });
            }
        }
        next += 1;
    }
    found
}

/// True if a change of this device may be one of what is above.
pub(crate) fn concerns(link: &Link, upper_devices: &[UpperDevice]) -> bool {
    upper_devices.iter().any(|known| link.index == known.index || is_on(link, known.index))
}

/// True for a device that sends by that one: not the other end of a veth pair,
/// nor a device whose lower one lives in another namespace.
fn is_on(link: &Link, lower: u32) -> bool {
    const KINDS: [&str; 4] = ["vlan", "macvlan", "macvtap", "ipvlan"];
    KINDS.contains(&link.kind.as_str()) && link.peer == Some(lower) && !link.peer_elsewhere
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_sys::packet::Tag;

    const QINQ: u16 = 0x88a8;
    const CUSTOMER: u16 = 0x8100;

    fn device(index: u32, kind: &str, peer: Option<u32>) -> Link {
        Link { index, kind: kind.to_owned(), peer, mac: [2, 0, 0, 0, 0, index as u8], ..Link::default() }
    }

    fn vlan(index: u32, on: u32, protocol: u16, tci: u16) -> Link {
        Link { vlan: Some(Tag { protocol, tci }), ..device(index, "vlan", Some(on)) }
    }

    /// What is above device 3, as index and tags.
    fn found(links: &[Link]) -> Vec<(u32, Vec<(u16, u16)>)> {
        let tags = |tags: Vec<Vlan>| tags.into_iter().map(|tag| (tag.protocol, tag.tci)).collect();
        upper_devices(links, 3).into_iter().map(|device| (device.index, tags(device.tags))).collect()
    }

    #[test]
    fn tags_gather_from_the_team_upwards() {
        let links = [
            device(3, "veth", Some(4)),
            device(4, "veth", Some(3)),
            vlan(7, 6, CUSTOMER, 5),
            vlan(6, 3, QINQ, 100),
            vlan(8, 4, CUSTOMER, 9),
            Link { peer_elsewhere: true, ..vlan(9, 3, CUSTOMER, 9) },
            device(10, "macvlan", Some(7)),
        ];
        let (outer, both) = (vec![(QINQ, 100)], vec![(QINQ, 100), (CUSTOMER, 5)]);
        assert_eq!(found(&links), [(3, vec![]), (6, outer), (7, both.clone()), (10, both)]);
        assert_eq!(upper_devices(&links, 3)[1].mac, Mac([2, 0, 0, 0, 0, 6]));
        assert_eq!(found(&links[1..]), [], "the team itself is gone");
    }

    #[test]
    fn a_bridge_adds_no_tag_and_a_loop_ends() {
        let links = [
            Link { master: Some(5), ..device(3, "veth", Some(4)) },
            Link { master: Some(3), ..device(5, "bridge", None) },
            vlan(6, 5, CUSTOMER, 5),
            vlan(7, 8, CUSTOMER, 1),
            vlan(8, 7, CUSTOMER, 2),
        ];
        assert_eq!(found(&links), [(3, vec![]), (5, vec![]), (6, vec![(CUSTOMER, 5)])]);
        let known = upper_devices(&links, 3);
        let concerned: Vec<u32> = links.iter().filter(|link| concerns(link, &known)).map(|link| link.index).collect();
        assert_eq!(concerned, [3, 5, 6]);
    }
}
