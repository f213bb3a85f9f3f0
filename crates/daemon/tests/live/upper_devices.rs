//! What members take from the wire, and what the team asks, follows what is above the team.

use crate::common::{cabled, identities, on_each_dataplane, spec, start};
use nicteam_sys::packet::Batch;
use nicteam_testnet::{Host, eventually};
use nicteam_wire::{Arp, Frame, ethertype};

/// All multicast frames, every frame: what each member takes.
fn filters(host: &mut Host) -> [(bool, bool); 2] {
    ["eth0", "eth1"].map(|device| {
        let link = host.link(device);
        (link.all_multicast, link.promiscuous)
    })
}

#[test]
fn members_take_all_multicast_and_what_a_bridge_above_needs() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let eth1 = a.index("eth1");
        // What a user has set stays.
        a.netlink.set_promiscuous(eth1, true).unwrap();
        let before = identities(&mut a, &["eth0", "eth1"]);
        assert_eq!(filters(&mut a), [(false, false), (false, true)]);
        let team = start(&a, spec(&[], kind)).unwrap();
        assert_eq!(filters(&mut a), [(true, false), (true, true)], "{kind}");
        a.netlink.add_bridge("br0").unwrap();
        let (port, bridge) = (a.index("team0"), a.index("br0"));
        a.netlink.set_master(port, Some(bridge)).unwrap();
        eventually("members that take every frame", || filters(&mut a) == [(true, true); 2]);
        a.netlink.set_master(port, None).unwrap();
        eventually("members with a filter", || filters(&mut a) == [(true, false), (true, true)]);
        a.netlink.set_master(port, Some(bridge)).unwrap();
        eventually("members that take every frame again", || filters(&mut a) == [(true, true); 2]);
        team.remove().unwrap();
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
    });
}

#[test]
fn a_target_is_asked_from_the_bridge_above_the_team() {
    on_each_dataplane(|kind| {
        let (mut a, mut b) = cabled();
        let options = [("mode", "balance-rr"), ("arp_interval", "20"), ("arp_ip_target", "10.9.0.2")];
        let _team = start(&a, spec(&options, kind)).unwrap();
        let (tap, mut batch) = (b.packet_socket("eth0"), Batch::new());
        let mut asked_from = |address: [u8; 4]| {
            eventually("a question", || {
                tap.receive(&mut batch).unwrap();
                batch.frames().any(|received| {
                    let frame = Frame::parse(received.bytes).unwrap();
                    let arp = Arp::decode(frame.payload());
                    frame.ethertype() == ethertype::ARP && arp.is_ok_and(|arp| arp.sender_ip.octets() == address)
                })
            });
        };
        asked_from([0; 4]);
        a.netlink.add_bridge("br0").unwrap();
        let (port, bridge) = (a.index("team0"), a.index("br0"));
        a.netlink.set_master(port, Some(bridge)).unwrap();
        a.address("br0", &[("10.9.0.1", 24)]);
        asked_from([10, 9, 0, 1]);
        a.netlink.delete(bridge).unwrap();
        asked_from([0; 4]);
    });
}
