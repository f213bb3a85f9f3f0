//! What a user changes on a running team: options, members, MTU, MAC address, names, the device itself.

use crate::common::stream::{Bridged, Copies};
use crate::common::{Pair, assert_reach, cabled, identities, on_each_dataplane, spec, start};
use nicteam_daemon::Error;
use nicteam_testnet::eventually;

/// Changes one after the other; how many copies of a frame arrive at the far host meanwhile.
type Steps = [(&'static [(&'static str, &'static str)], Copies)];

#[test]
fn options_change_under_traffic_without_losing_or_doubling_a_frame() {
    const STEPS: &Steps = &[
        (&[("xmit_hash_policy", "layer3+4")], Copies::One),
        (&[("xmit_hash_policy", "vlan+srcmac"), ("miimon", "20")], Copies::One),
        (&[("updelay", "40"), ("downdelay", "60"), ("min_links", "2")], Copies::One),
        (&[("mode", "balance-rr"), ("packets_per_slave", "3")], Copies::One),
        (&[("packets_per_slave", "0"), ("min_links", "1")], Copies::One),
        (&[("mode", "active-backup"), ("packets_per_slave", "1"), ("primary", "eth1")], Copies::One),
        (&[("primary", "eth2"), ("num_grat_arp", "3")], Copies::One),
        (&[("all_slaves_active", "1"), ("resend_igmp", "2"), ("lp_interval", "2")], Copies::One),
        (&[("all_slaves_active", "0"), ("primary_reselect", "failure")], Copies::One),
        (&[("primary", "eth0")], Copies::One),
        (&[("mode", "broadcast"), ("primary", "")], Copies::OneOrEvery(3)),
        (&[("mode", "balance-xor"), ("xmit_hash_policy", "layer2")], Copies::OneOrEvery(3)),
    ];
    on_each_dataplane(|kind| {
        let net = Bridged::new(&[("mode", "balance-xor")], kind);
        for (options, copies) in STEPS {
            let set: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            net.streamed(&format!("{kind} {options:?}"), *copies, || drop(net.team.handle().set(set).unwrap()));
        }
    });
}

#[test]
fn the_active_member_changes_under_traffic_without_losing_or_doubling_a_frame() {
    on_each_dataplane(|kind| {
        let net = Bridged::new(&[("mode", "active-backup")], kind);
        for member in ["eth1", "eth2", "eth0", "eth2", "eth1", "eth0"] {
            net.streamed(&format!("{kind} {member}"), Copies::One, || net.team.handle().activate(member).unwrap());
        }
    });
}

/// What the switch still sends to a member that leaves is that device's own, so
/// it is one by which the hosts do not speak just then.
#[test]
fn members_come_and_go_under_traffic_without_losing_or_doubling_a_frame() {
    on_each_dataplane(|kind| {
        for mode in ["active-backup", "balance-xor"] {
            let net = Bridged::new(&[("mode", mode), ("xmit_hash_policy", "layer2")], kind);
            net.streamed(&format!("{kind} {mode}: nothing"), Copies::One, || ());
            let speaks = |member: &nicteam_daemon::MemberReport| member.counters.tx_frames;
            let members = net.team.report().unwrap().members;
            let idle = members.iter().min_by_key(|member| speaks(member)).unwrap().status.name.clone();
            let (team, idle) = (net.team.handle(), idle.as_str());
            for _ in 0..2 {
                net.streamed(&format!("{kind} {mode}: del {idle}"), Copies::One, || {
                    team.remove_member(idle).unwrap();
                });
                net.streamed(&format!("{kind} {mode}: add {idle}"), Copies::One, || team.add_member(idle).unwrap());
            }
        }
    });
}

#[test]
fn members_follow_the_mtu_of_the_team() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-xor")], kind);
        let index = pair.a.index("team0");
        pair.a.netlink.set_mtu(index, 1400).unwrap();
        eventually("the members' MTU", || pair.a.link("eth0").mtu == 1400 && pair.a.link("eth1").mtu == 1400);
    });
}

#[test]
fn members_follow_the_mac_address_of_the_team() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-xor")], kind);
        let index = pair.a.index("team0");
        let mac = [2, 0, 0, 0, 0x77, 1];
        pair.a.netlink.set_mac(index, mac).unwrap();
        eventually("the members' address", || pair.a.link("eth0").mac == mac && pair.a.link("eth1").mac == mac);
        assert_reach(&pair.sockets(), "a datagram from the new address");
    });
}

#[test]
fn a_renamed_member_goes_on() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = identities(&mut a, &["eth0", "eth1"]);
        let (sender, notices) = std::sync::mpsc::channel();
        let options = [("mode", "active-backup"), ("primary", "eth1"), ("miimon", "5")];
        let team = crate::common::start_telling(&a, spec(&options, kind), sender).unwrap();
        let rename = |a: &mut nicteam_testnet::Host, from: &str, to: &str| {
            let index = a.index(from);
            // Down, or older kernels refuse; up again, it has to be found.
            a.set_up(from, false);
            a.netlink.set_name(index, to).unwrap();
            a.set_up(to, true);
        };
        rename(&mut a, "eth1", "uplink1");
        let member = || team.report().unwrap().members.remove(1);
        eventually("the new name", || member().status.name == "uplink1");
        eventually("the primary's return", || member().status.active);
        let troubles = notices.try_iter().filter(|notice| matches!(notice, nicteam_daemon::Notice::Trouble(_)));
        assert!(troubles.count() <= 1, "{kind}: at most one reading could meet the old name");
        team.remove().unwrap();
        rename(&mut a, "uplink1", "eth1");
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
    });
}

#[test]
fn a_team_whose_device_is_deleted_ends_and_gives_its_members_back() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = identities(&mut a, &["eth0", "eth1"]);
        let (sender, notices) = std::sync::mpsc::channel();
        let with_mtu = nicteam_daemon::TeamSpec { mtu: Some(1400), ..spec(&[("miimon", "5")], kind) };
        let team = crate::common::start_telling(&a, with_mtu, sender).unwrap();
        assert_ne!(identities(&mut a, &["eth0", "eth1"]), before);
        let index = a.index("team0");
        a.netlink.delete(index).unwrap();
        team.wait(None).unwrap();
        assert!(matches!(team.report(), Err(Error::Ended(_))), "{kind}");
        let error = team.remove().unwrap_err();
        assert!(matches!(error, Error::DeviceGone(_)), "{kind}: {error}");
        let told = notices.try_iter().any(|n| matches!(n, nicteam_daemon::Notice::Trouble(Error::DeviceGone(_))));
        assert!(told, "{kind}: nobody was told");
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
        start(&a, spec(&[], kind)).unwrap().remove().unwrap();
    });
}
