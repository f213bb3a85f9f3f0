//! What members give, and get back, however the team ends.

use crate::common::{Pair, cabled, identities, on_each_dataplane, spec, start};
use nicteam_daemon::TeamSpec;
use nicteam_netlink::AddrGenMode;
use nicteam_testnet::{Host, eventually};

#[test]
fn a_removed_team_gives_its_members_back() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = [a.link("eth0"), a.link("eth1")];
        let with_mtu = TeamSpec { mtu: Some(1400), ..spec(&[("mode", "balance-rr")], kind) };
        let team = start(&a, with_mtu).unwrap();
        assert_eq!(a.link("eth1").mac, before[0].mac, "{kind}: members carry the team's address");
        assert_eq!(a.link("eth1").mtu, 1400);
        assert_eq!(a.link("team0").mtu, 1400);
        team.remove().unwrap();
        for link in before {
            let after = a.link(&link.name);
            assert_eq!((after.mac, after.mtu, after.up), (link.mac, link.mtu, link.up), "{kind}");
        }
        assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: the device is left");
        assert!(a.netlink.link("team0-dp").unwrap().is_none(), "{kind}: the end behind it is left");
    });
}

#[test]
fn what_a_member_was_stands_in_its_alias() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[], kind);
        let text = pair.a.link("eth1").alias;
        assert!(text.starts_with("nicteam team0: was mac "), "{kind}: {text}");
        assert!(text.ends_with(" mtu 1500 up addrgenmode eui64 ipv6"), "{kind}: {text}");
    });
}

/// What it said from the team's address would lead a switch astray.
#[test]
fn a_member_has_no_ipv6_of_its_own_and_gets_it_back() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let index = a.index("eth1");
        let addresses = |a: &mut Host| a.netlink.addresses(index).unwrap();
        eventually("a link-local address", || addresses(&mut a).len() == 1);
        let before = addresses(&mut a);
        let team = start(&a, spec(&[], kind)).unwrap();
        assert_eq!(addresses(&mut a), [], "{kind}");
        drop(team);
        let team = start(&a, spec(&[], kind)).unwrap();
        // Beyond 1280 bytes a device gets IPv6 anew.
        for mtu in [1000, 1400] {
            let device = a.index("team0");
            a.netlink.set_mtu(device, mtu).unwrap();
            eventually("the members' MTU", || a.link("eth1").mtu == mtu);
        }
        team.handle().status().unwrap();
        assert_eq!(addresses(&mut a), [], "{kind}");
        team.remove().unwrap();
        eventually("the address", || addresses(&mut a) == before);
    });
}

#[test]
fn a_taken_over_team_gives_back_what_its_predecessor_found() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        set(&mut a);
        let before = identities(&mut a, &["eth0", "eth1"]);
        let with_mtu = || TeamSpec { mtu: Some(1400), ..spec(&[], kind) };
        // Dropping leaves the kernel as an end without farewell does.
        drop(start(&a, with_mtu()).unwrap());
        drop(start(&a, with_mtu()).unwrap());
        assert_eq!((a.link("eth1").mac, a.link("eth1").mtu), (a.link("eth0").mac, 1400));
        start(&a, with_mtu()).unwrap().remove().unwrap();
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
    });
}

#[test]
fn members_that_the_next_process_does_not_name_are_given_back() {
    on_each_dataplane(|kind| {
        let (mut a, b) = cabled();
        set(&mut a);
        let before = identities(&mut a, &["eth1"]);
        drop(start(&a, TeamSpec { mtu: Some(1400), ..spec(&[], kind) }).unwrap());
        let _team = start(&a, TeamSpec { members: vec!["eth0".to_owned()], ..spec(&[], kind) }).unwrap();
        assert_eq!(identities(&mut a, &["eth1"]), before, "{kind}");
        assert_receives(&mut a, b, "eth1");
    });
}

#[test]
fn what_a_process_on_another_dataplane_left_is_given_back() {
    on_each_dataplane(|kind| {
        let (mut a, b) = cabled();
        let before = identities(&mut a, &["eth0", "eth1"]);
        drop(start(&a, spec(&[], nicteam_dataplane::Kind::Packet)).unwrap());
        start(&a, spec(&[], kind)).unwrap().remove().unwrap();
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
        assert_receives(&mut a, b, "eth1");
    });
}

#[test]
fn a_member_that_cannot_follow_leaves_all_as_they_were() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let Ok(_tap) = a.netns.run(|| nicteam_sys::tap::Tap::open("tap0")).unwrap() else {
            eprintln!("SKIPPED: no TAP device");
            return;
        };
        set(&mut a);
        let devices = ["eth0", "eth1", "tap0"];
        let before = identities(&mut a, &devices);
        let members: Vec<String> = devices.map(str::to_owned).into();
        // More than a TAP device takes.
        let huge = |members| TeamSpec { members, mtu: Some(65_535), ..spec(&[], kind) };
        let error = start(&a, huge(members.clone())).unwrap_err().to_string();
        assert!(error.contains("MTU"), "{kind}: {error}");
        assert_eq!(identities(&mut a, &devices), before, "{kind}");
        assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: the device is left");

        drop(start(&a, huge(members[..1].to_vec())).unwrap());
        let left = identities(&mut a, &["eth0", "team0"]);
        start(&a, huge(members)).unwrap_err();
        assert_eq!(identities(&mut a, &["eth1", "tap0"])[..], before[1..], "{kind}: new members");
        assert_eq!(identities(&mut a, &["eth0", "team0"]), left, "{kind}: the team that was there");
    });
}

#[test]
fn a_foreign_or_damaged_alias_is_the_users() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let index = a.index("eth0");
        for alias in ["nicteam team0: was mac 02:00:00:00:00:01 mtu 15", "nicteam : was", "\u{e4} \t x"] {
            a.netlink.set_alias(index, alias).unwrap();
            let before = identities(&mut a, &["eth0"]);
            drop(start(&a, spec(&[], kind)).unwrap());
            start(&a, spec(&[], kind)).unwrap().remove().unwrap();
            assert_eq!(identities(&mut a, &["eth0"]), before, "{kind}");
        }
        a.netlink.set_alias(index, &"x".repeat(250)).unwrap();
        let before = identities(&mut a, &["eth0"]);
        let error = start(&a, spec(&[], kind)).unwrap_err().to_string();
        assert!(error.contains("the alias of `eth0` is too long"), "{kind}: {error}");
        assert_eq!(identities(&mut a, &["eth0"]), before, "{kind}");
    });
}

#[test]
fn a_member_that_cannot_be_given_back_keeps_no_other_from_it() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = identities(&mut a, &["eth1"]);
        // Never its MTU; as if the driver had been exchanged meanwhile.
        let alias = "nicteam team0: was mac 02:00:00:00:00:01 mtu 99999 up addrgenmode eui64";
        let index = a.index("eth0");
        a.netlink.set_alias(index, alias).unwrap();
        let team = start(&a, TeamSpec { mtu: Some(1400), ..spec(&[], kind) }).unwrap();
        let error = team.remove().unwrap_err().to_string();
        assert!(error.contains("MTU") && error.contains("99999"), "{kind}: {error}");
        assert_eq!(identities(&mut a, &["eth1"]), before, "{kind}");
        let eth0 = a.link("eth0");
        assert_eq!((eth0.mac, eth0.alias.as_str()), ([2, 0, 0, 0, 0, 1], alias), "{kind}: what can be, and the note");
        assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: the device is left");
    });
}

/// Gives eth0 an alias, another way to make addresses, and sets it down.
fn set(host: &mut Host) {
    let index = host.index("eth0");
    host.netlink.set_alias(index, "uplink to rack 4").unwrap();
    host.netlink.set_addr_gen_mode(index, AddrGenMode::Random).unwrap();
    host.netlink.set_up(index, false).unwrap();
}

/// Datagrams reach the host by this device.
fn assert_receives(a: &mut Host, mut b: Host, device: &str) {
    a.address(device, &[("10.3.0.1", 24)]);
    b.address(device, &[("10.3.0.2", 24)]);
    let address = |n: u8| std::net::SocketAddr::from(([10, 3, 0, n], 7000));
    let (near, far) = (a.udp(address(1)), b.udp(address(2)));
    far.connect(address(1)).unwrap();
    near.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    crate::common::assert_reach(&(far, near), "a datagram for the device itself");
}
