//! A team is brought up or taken down, and the process that does it is killed between any two steps.

use nicteam_testnet::{assert_becomes, assert_same_network, is_soak, may_make_networks};

use crate::common::network::{Network, team};

/// More than there are steps.
const MANY: usize = 200;
/// The end behind a team device (`team0-dp`) has a random address.
const NUMBERED: &[&str] = &["dp"];

#[test]
fn up_moves_everything_and_down_restores_it() {
    if !may_make_networks() {
        return;
    }
    let network = Network::laden();
    let before = network.host.snapshot(NUMBERED);
    let done = network.up(&team(), None).unwrap();
    assert!(done.changes.len() > 20, "{:#?}", done.changes);
    assert!(done.notes.iter().any(|note| note.contains("10.0.0.99/24 of eth0 is a lease")), "{:?}", done.notes);
    let up = network.host.snapshot(NUMBERED);
    for expected in [
        "default via 10.0.0.2 dev team0 metric 100 mtu 1400",
        "10.0.0.0/24 dev team0 scope link src 10.0.0.1 metric 50",
        "10.5.0.0/16 via 10.0.0.2 dev team0 table 5",
        "10.7.0.0/16 via 10.0.7.9 dev mac0",
        "10.44.0.0/16 via 10.0.0.2 dev team0",
        "2001:db8:9::/48 via fe80::9 dev team0 metric 1024 pref medium",
        "100: from all iif team0 lookup 5",
        "101: from all oif team0 lookup 6",
        "10.0.0.50 dev team0 lladdr 02:00:00:00:00:99 PERMANENT",
        "10.0.0.51 dev team0 proxy",
        "/proc/sys/net/ipv4/conf/team0/rp_filter 1",
        "/proc/sys/net/ipv6/conf/team0/accept_ra 2",
        "/proc/sys/net/ipv4/conf/mac0/arp_ignore 1",
    ] {
        assert!(up.iter().any(|line| line.trim() == expected), "no `{expected}` in {up:#?}");
    }
    let held = |device: &str, text: &str| up.iter().any(|line| line.starts_with(device) && line.contains(text));
    for address in ["10.0.0.1/24 brd 10.0.0.255", "10.0.0.77/24", "10.0.0.200/24", "172.16.0.1 peer 172.16.0.2/32"] {
        assert!(held("team0", address) && !held("eth", address), "{address} in {up:#?}");
    }
    assert!(held("team0", "2001:db8:5::1/64") && held("team0", "2001:db8::1/64") && held("mac0", "10.0.7.1/24"));
    assert!(
        !up.iter().any(|line| line.contains("tentative") || line.contains("10.0.0.0/24 dev team0 proto")),
        "{up:#?}"
    );

    let again = network.up(&team(), None).unwrap();
    assert_eq!(again.changes, [""; 0], "twice is once");
    assert_same_network(&network.host.snapshot(NUMBERED), &up, "twice");
    network.down("team0", None).unwrap();
    assert_same_network(&network.host.snapshot(NUMBERED), &before, "down");
    assert!(network.down("team0", None).is_err(), "there is none any more");
}

#[test]
fn an_address_that_has_ended_at_the_team_does_not_come_back() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new();
    let before = network.host.snapshot(NUMBERED);
    network.ip("address add 10.0.0.1/24 dev eth0 valid_lft 2 preferred_lft 2");
    network.ip("address add 10.0.1.1/24 dev eth0 valid_lft 1000 preferred_lft 900");
    network.up(&team(), None).unwrap();
    let shows = |address: &str| network.host.snapshot(NUMBERED).iter().any(|line| line.contains(address));
    nicteam_testnet::eventually("the end", || !shows("10.0.0.1/24"));
    assert!(shows("10.0.1.1/24"));
    assert_eq!(network.up(&team(), None).unwrap().changes, [""; 0], "nor at the team");
    network.down("team0", None).unwrap();
    assert!(!shows("10.0.0.1/24") && shows("10.0.1.1/24"));
    network.ip("address del 10.0.1.1/24 dev eth0");
    assert_becomes(|| network.host.snapshot(NUMBERED), &before, "down");
}

#[test]
fn a_kill_between_two_steps_leaves_what_can_be_repaired() {
    if !may_make_networks() {
        return;
    }
    let network = Network::laden();
    let before = network.host.snapshot(NUMBERED);
    network.up(&team(), None).unwrap();
    let up = network.host.snapshot(NUMBERED);
    network.down("team0", None).unwrap();
    let (stride, mut killed) = (if is_soak() { 1 } else { 9 }, 0);
    for step in (0..MANY).step_by(stride) {
        // Every other time the team's process is killed, too.
        let is_whole = !network.up(&team(), Some(step)).unwrap().changes.is_empty();
        if step % 2 == 0 {
            network.kill_team();
        }
        network.down("team0", None).unwrap();
        assert_becomes(
            || network.host.snapshot(NUMBERED),
            &before,
            &format!("up was killed before step {step}, and down"),
        );
        if is_whole {
            break;
        }
        network.up(&team(), Some(step)).unwrap();
        network.up(&team(), None).unwrap();
        assert_same_network(
            &network.host.snapshot(NUMBERED),
            &up,
            &format!("up was killed before step {step}, and up"),
        );
        network.down("team0", Some(step)).unwrap();
        if step % 2 == 1 {
            network.kill_team();
        }
        // It may have come to its end.
        let _ = network.down("team0", None);
        assert_becomes(|| network.host.snapshot(NUMBERED), &before, &format!("down was killed before step {step}"));
        killed += 1;
    }
    assert!(killed > 2 && killed < MANY, "{killed}");
}
