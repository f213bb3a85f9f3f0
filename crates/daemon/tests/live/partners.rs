//! 802.3ad on live links with partners that are cabled wrongly, or come and go:
//! each end says what is the matter.

use crate::common::aggregate::{FAST, aggregating, fast, problems, says};
use crate::common::{Pair, assert_reach, on_each_dataplane, spec, start};
use nicteam_daemon::{TeamSpec, show};
use nicteam_sys::packet::Batch;
use nicteam_testnet::{Host, cable, cables, eventually, looped_cable};
use nicteam_wire::Mac;

#[test]
fn cables_to_two_partners_leave_one_of_them_out() {
    on_each_dataplane(|kind| {
        let (mut a, mut b, mut c) = (Host::quiet(), Host::quiet(), Host::quiet());
        cables(&mut a, &mut b, 2);
        cable(&mut a, "eth2", &mut c, "eth0");
        cable(&mut a, "eth3", &mut c, "eth1");
        let two = ["eth0", "eth1"];
        let first = start(&b, fast(&two, &[], kind)).unwrap();
        let team = start(&a, fast(&["eth0", "eth1", "eth2", "eth3"], &[], kind)).unwrap();
        eventually("the first partner", || aggregating(&team) == [true, true, false, false]);
        let second = start(&c, fast(&two, &[], kind)).unwrap();
        let (b_mac, c_mac) = (Mac(b.link("team0").mac), Mac(c.link("team0").mac));
        let reason = format!("partner in another system: {c_mac} here, {b_mac} in the active aggregator");
        eventually(&reason, || says(&team, &["eth2", "eth3"], &reason));
        // The partner that is left out knows that it is.
        eventually("its words", || {
            says(&second, &two, "suspended: the partner receives our LACPDUs but does not attach its port")
        });
        assert_eq!(aggregating(&team), [true, true, false, false], "{kind}");
        assert_eq!((aggregating(&first), aggregating(&second)), (vec![true; 2], vec![false; 2]), "{kind}");
        assert_eq!(problems(&first), "", "{kind}");
        let shown = show::text(&team.handle().status().unwrap());
        assert!(shown.contains(&format!("2 aggregate with {b_mac}")), "{kind}: {shown}");
        assert!(shown.contains("hint: cable all members to one system"), "{kind}: {shown}");
    });
}

#[test]
fn a_looped_cable_carries_nothing() {
    on_each_dataplane(|kind| {
        let mut a = Host::quiet();
        looped_cable(&mut a, "eth0", "eth1");
        let team = start(&a, fast(&["eth0", "eth1"], &[], kind)).unwrap();
        eventually("the reason", || says(&team, &["eth0", "eth1"], "looped to ourselves: our own LACPDUs come back"));
        assert_eq!(aggregating(&team), [false, false], "{kind}");
        assert!(!a.link("team0").carrier, "{kind}");
    });
}

#[test]
fn a_looped_cable_disturbs_nobody_beside_it() {
    on_each_dataplane(|kind| {
        let (mut a, mut b) = (Host::quiet(), Host::quiet());
        looped_cable(&mut a, "eth0", "eth1");
        cable(&mut a, "eth2", &mut b, "eth0");
        cable(&mut a, "eth3", &mut b, "eth1");
        let _far = start(&b, fast(&["eth0", "eth1"], &[], kind)).unwrap();
        let team = start(&a, fast(&["eth0", "eth1", "eth2", "eth3"], &[], kind)).unwrap();
        eventually("two members", || aggregating(&team) == [false, false, true, true]);
        eventually("the reason", || says(&team, &["eth0", "eth1"], "looped to ourselves"));
        assert!(!problems(&team).contains("eth2") && !problems(&team).contains("eth3"), "{kind}: {}", problems(&team));
    });
}

#[test]
fn a_partner_that_restarts_is_taken_back() {
    // So that eBPF does not speak for it much longer.
    let options = [FAST, &[("lacp_lease", "1000")]].concat();
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&options, kind);
        let settled = |pair: &Pair| pair.teams.iter().all(|team| aggregating(team) == [true, true]);
        eventually("both members", || settled(&pair));
        let sockets = pair.sockets();
        for silent in [false, true] {
            // Dropped it ends without farewell, as a crash does; its links stay up.
            drop(pair.teams.pop().unwrap());
            if silent {
                let reason = "partner silent: no LACPDU comes";
                eventually(reason, || {
                    says(&pair.teams[0], &["eth0"], reason) || says(&pair.teams[0], &["eth1"], reason)
                });
            }
            pair.teams.push(start(&pair.b, spec(&options, kind)).unwrap());
            eventually("both members again", || settled(&pair));
            assert_reach(&sockets, "a datagram");
            assert_eq!(problems(&pair.teams[0]), "", "{kind}");
        }
    });
}

/// Linux tools/testing/selftests/drivers/net/bonding/bond-break-lacpdu-tx.sh.
#[test]
fn a_team_with_an_address_of_its_own_speaks() {
    on_each_dataplane(|kind| {
        let (mut a, mut b) = (Host::quiet(), Host::quiet());
        cables(&mut a, &mut b, 2);
        let mac = Mac([0x52, 0x54, 0, 0x3b, 0x7c, 0xa6]);
        let ears = [b.packet_socket("eth0"), b.packet_socket("eth1")];
        let spec = TeamSpec { mac: Some(mac), ..fast(&["eth0", "eth1"], &[("ad_actor_sys_prio", "65535")], kind) };
        let _team = start(&a, spec).unwrap();
        for ear in &ears {
            let mut batch = Batch::new();
            eventually("a LACPDU", || {
                ear.receive(&mut batch).unwrap();
                let is_ours = |bytes: &[u8]| bytes.len() > 14 && bytes[6..12] == mac.0 && bytes[12..15] == [0x88, 9, 1];
                batch.frames().any(|frame| is_ours(frame.bytes))
            });
        }
    });
}
