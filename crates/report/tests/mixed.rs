//! Runs in which several teams, directions or pairs of hosts meet: the sentence
//! must name the link that was the narrowest, and the node that chose it.

use crate::common::net::{FULL, net};
use nicteam_record::{Host, MacMoves, PagpHeard, Run, Topology};
use nicteam_report::{Side, explain};

fn said(run: &Run) -> (Side, Option<String>, String) {
    let explanation = explain(run);
    (explanation.side, explanation.policy, explanation.sentence)
}

const L34: &str = "balance-xor layer3+4";
const MAC: &str = "balance-xor layer2";

#[test]
fn an_active_backup_receiver_is_to_blame_not_the_sender_that_spreads() {
    let run = net(&[("a", 2, 1.0, L34), ("b", 2, 1.0, "active-backup")], "src-dst-port", &[("a", "b", 4, FULL / 4.0)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("active-backup")));
    assert_eq!(
        sentence,
        "Receiving side: b uses one member at a time (mode active-backup): eth0 carried all, eth1 stood by."
    );
}

#[test]
fn load_balancing_gives_a_neighbour_one_member() {
    let receiver = |mode| [("a", 2, 1.0, L34), ("b", 2, 1.0, mode)];
    let from = |mode| [("a", 2, 1.0, mode), ("b", 2, 1.0, L34)];
    for (hosts, side, expected) in [
        (
            receiver("balance-tlb"),
            Side::Receiving,
            "Receiving side: b receives by its active member alone (mode balance-tlb): \
             the busiest was full, the least used at 0.00.",
        ),
        (
            receiver("balance-alb"),
            Side::Receiving,
            "Receiving side: b announces one member's address to each neighbour (mode balance-alb): \
             the busiest was full, the least used at 0.00.",
        ),
        (
            from("balance-alb"),
            Side::Sending,
            "Sending side: a sends to each neighbour by one member (mode balance-alb): \
             the busiest was full, the least used at 0.00.",
        ),
    ] {
        let run = net(&hosts, "src-dst-port", &[("a", "b", 4, FULL / 4.0)]);
        let (found, _, sentence) = said(&run);
        assert_eq!((found, sentence.as_str()), (side, expected));
    }
}

#[test]
fn open_vswitchs_modes_give_a_bucket_one_link() {
    let receiver = |mode| [("a", 2, 1.0, L34), ("b", 2, 1.0, mode)];
    let from = |mode| [("a", 2, 1.0, mode), ("b", 2, 1.0, L34)];
    for (hosts, connections, side, expected) in [
        (
            receiver("ovs-active-backup"),
            4,
            Side::Receiving,
            "Receiving side: b uses one member at a time (mode ovs-active-backup): eth0 carried all, eth1 stood by.",
        ),
        (
            from("ovs-balance-slb"),
            4,
            Side::Sending,
            "Sending side: a sends from one address (mode ovs-balance-slb). A source address has one bucket, and a bucket \
             has one link: the busiest was full, the least used at 0.00.",
        ),
        (
            receiver("ovs-balance-slb"),
            4,
            Side::Receiving,
            "Receiving side: b sends from each address by one link, that of the address's bucket (mode ovs-balance-slb). sw \
             sends to an address by the link on which it learned the address: the busiest was full, the least used at 0.00.",
        ),
        (
            from("ovs-balance-tcp"),
            4,
            Side::Sending,
            "Sending side: a sends 4 connections (mode ovs-balance-tcp). A connection has one bucket, and a bucket has one \
             link, assigned at random: the busiest was full, the least used at 0.00.",
        ),
        (
            from("ovs-balance-tcp"),
            1,
            Side::Sending,
            "Sending side: a sends one connection (mode ovs-balance-tcp). A connection has one bucket, and a bucket has one \
             link: the busiest was full, the least used at 0.00.",
        ),
    ] {
        let run = net(&hosts, "src-dst-port", &[("a", "b", connections, FULL / connections as f64)]);
        let explanation = explain(&run);
        assert_eq!(explanation.side, side, "{expected}");
        assert!(explanation.sentence.starts_with(expected), "{}", explanation.sentence);
    }
}

#[test]
fn two_sides_as_narrow_are_both_named() {
    let run = net(&[("a", 2, 1.0, L34), ("b", 2, 1.0, "active-backup")], "src-dst-port", &[("a", "b", 1, FULL)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("active-backup")));
    assert_eq!(
        sentence,
        "Receiving side: b uses one member at a time (mode active-backup): eth0 carried all, eth1 stood by. \
         As narrow, sending side: a spreads by IP address and port (layer3+4) and puts the connection on link 1 of 2 \
         towards sw; link 2 stayed idle (a connection never uses two)."
    );
}

#[test]
fn a_link_that_is_not_the_narrowest_is_not_blamed() {
    // a's links are a little faster: the one in use is at 0.91, b's at 0.98.
    let run = net(&[("a", 2, 1.08, MAC), ("b", 2, 1.0, "active-backup")], "src-dst-mac", &[("a", "b", 4, FULL / 4.0)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("active-backup")), "{sentence}");
    assert!(!sentence.contains("layer2"), "{sentence}");
}

#[test]
fn each_direction_has_its_own_limit() {
    let run = net(
        &[("a", 4, 1.0, "balance-rr"), ("b", 2, 1.0, "active-backup")],
        "src-dst-mac",
        &[("a", "b", 4, FULL / 4.0), ("b", "a", 4, FULL / 4.0)],
    );
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Both, Some("active-backup")));
    assert_eq!(
        sentence,
        "Towards b: receiving side: b uses one member at a time (mode active-backup): eth0 carried all, eth1 stood by. \
         Towards a: sending side: b uses one member at a time (mode active-backup): eth0 carried all, eth1 stood by. \
         As narrow, receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so all 4 connections use link 4 of 4 towards a."
    );
}

#[test]
fn of_two_pairs_the_costlier_limit_comes_first() {
    let hosts =
        [("a", 2, 1.0, L34), ("b", 2, 1.0, "active-backup"), ("c", 4, 1.0, "balance-rr"), ("d", 4, 1.0, "balance-rr")];
    let traffic = [("a", "b", 4, FULL / 4.0), ("c", "d", 2, FULL / 2.0)];
    let (side, policy, sentence) = said(&net(&hosts, "src-dst-mac", &traffic));
    assert_eq!((side, policy), (Side::Receiving, None));
    assert_eq!(
        sentence,
        "Towards d: receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so both connections \
         use link 4 of 4 towards d. Towards b: receiving side: b uses one member at a time (mode active-backup): \
         eth0 carried all, eth1 stood by."
    );
    let backwards = [traffic[1], traffic[0]];
    assert_eq!(said(&net(&hosts, "src-dst-mac", &backwards)).2, sentence, "the order of the traffic plays no part");
}

#[test]
fn a_host_that_sends_and_receives_mixes_no_limits() {
    // a to b and c to a: two directions by the same switch, with nothing in common.
    let hosts = [("a", 2, 1.0, L34), ("b", 2, 1.0, "active-backup"), ("c", 2, 1.0, "balance-rr")];
    let run = net(&hosts, "src-dst-mac", &[("a", "b", 4, FULL / 4.0), ("c", "a", 1, FULL)]);
    let (_, _, sentence) = said(&run);
    assert!(sentence.contains("Towards b: receiving side: b uses one member"), "{sentence}");
    assert!(sentence.contains("Towards a: receiving side: sw spreads by MAC address"), "{sentence}");
}

#[test]
fn one_narrow_receiver_of_four_is_its_own_limit() {
    let hosts = [
        ("a", 4, 1.0, "balance-rr"),
        ("b", 4, 1.0, "balance-rr"),
        ("c", 4, 1.0, "balance-rr"),
        ("d", 4, 1.0, "balance-rr"),
        ("e", 1, 0.1, ""),
    ];
    let traffic = [("a", "b", 2, FULL / 2.0), ("a", "c", 2, 0.3), ("a", "d", 2, 0.3), ("a", "e", 2, 0.049)];
    let (side, policy, sentence) = said(&net(&hosts, "src-dst-mac", &traffic));
    assert_eq!((side, policy.as_deref()), (Side::Both, None), "{sentence}");
    assert!(sentence.contains("Towards b: receiving side: sw spreads by MAC address"), "{sentence}");
    assert!(
        sentence.contains("Towards e: nothing held it back: the one link of e carried 0.98 of what it can."),
        "{sentence}"
    );
    assert!(sentence.contains("Towards c and d: no link was full"), "{sentence}");

    // With a's links full the run is at its limit, however narrow e's link is.
    let full = [("a", "b", 2, 0.48), ("a", "c", 2, 0.48), ("a", "d", 4, 0.4775), ("a", "e", 2, 0.049)];
    let (side, _, sentence) = said(&net(&hosts, "src-dst-port", &full));
    assert_eq!(side, Side::Nowhere, "{sentence}");
    assert!(sentence.starts_with("Nothing held it back: all four links of a carried"), "{sentence}");
}

#[test]
fn every_copy_of_a_broadcast_counts() {
    // Two copies of each frame meet again towards b and fill the link that it listens on.
    let run =
        net(&[("a", 2, 1.0, "broadcast"), ("b", 2, 1.0, "active-backup")], "src-dst-mac", &[("a", "b", 4, FULL / 8.0)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("broadcast")));
    assert_eq!(
        sentence,
        "Sending side: a sends every frame by every member (mode broadcast), so two copies of each fill link 1 of 2 \
         towards b; 0.50 of that traffic is payload. As narrow, receiving side: b uses one member at a time \
         (mode active-backup): eth0 carried all, eth1 stood by."
    );

    // The same towards a host whose only link nobody counts.
    let run = net(&[("a", 4, 1.0, "broadcast"), ("b", 1, 1.0, "")], "src-dst-mac", &[("a", "b", 1, FULL / 4.0)]);
    assert_eq!(
        said(&run).2,
        "Sending side: a sends every frame by every member (mode broadcast), so four copies of each fill the link \
         towards b; 0.25 of that traffic is payload."
    );

    // Where each copy has a link of its own, the sender's links are full of them.
    let run = net(&[("a", 2, 1.0, "broadcast"), ("b", 2, 2.1, "balance-rr")], "src-dst-mac", &[("a", "b", 1, FULL)]);
    assert!(said(&run).2.contains("(mode broadcast), so its two links carry what one can"), "{}", said(&run).2);
}

#[test]
fn where_nothing_was_full_neither_team_is_blamed() {
    let hosts = [("a", 2, 1.0, L34), ("b", 2, 1.0, "active-backup")];
    let mut run = net(&hosts, "src-dst-port", &[("a", "b", 1, 0.5)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy), (Side::Unknown, None));
    assert_eq!(
        sentence,
        "No link was full (the fullest, b-0 of sw towards b, carried 0.50 of what it can), and the processors were 41 % busy. \
         The connection did not send more."
    );
    run.cpu.cores = vec![0.2, 0.94];
    assert_eq!(said(&run).0, Side::Unknown);
    run.cpu.cores = vec![0.2, 0.98];
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy), (Side::Machine, None));
    assert!(
        sentence.starts_with(
            "No link was full, and processor 1 of the machine was 98 % busy (all 2 together 41 %): one thread,"
        ),
        "{sentence}"
    );
    run.cpu.busy = 0.97;
    assert_eq!(said(&run).0, Side::Machine);
}

#[test]
fn plain_ports_to_a_team_that_spreads_are_named() {
    let run = net(&[("a", 2, 1.0, L34), ("b", 2, 1.0, L34)], "", &[("a", "b", 4, FULL / 4.0)]);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy), (Side::Receiving, None));
    assert_eq!(
        sentence,
        "Receiving side: sw has no group towards b. Of its 2 links it uses the one on which it last learned b's address."
    );
    // Where the address moved all the time, that is said, too.
    let mut moving = run.clone();
    moving.mac_moves = vec![MacMoves { switch: "sw".into(), moves: 12_000, at_least: true }];
    assert_eq!(said(&moving).2, format!("{sentence} It learned addresses at another port 12,000 times."));
    let facts = explain(&moving).facts;
    let fact = "sw learned a known address at another port at least 12,000 times (1500 a second): a host sends from one address by several \
                of its ports, which are no group.";
    assert!(facts.iter().any(|found| found == fact), "{facts:?}");
    moving.mac_moves[0].moves = 2;
    assert_eq!(said(&moving).2, sentence, "a host that was plugged in elsewhere");
    // And where b's team heard PAgP by these ports, that is the reason.
    let mut pagp = run;
    let heard = |member: &str| PagpHeard {
        host: "b".into(),
        team: "team0".into(),
        member: member.into(),
        switch: "sw".into(),
        port: String::new(),
        mode: "desirable".into(),
    };
    pagp.pagp = vec![heard(&pagp_member(&pagp.topology))];
    assert_eq!(
        said(&pagp).2,
        "Receiving side: the switch sw speaks PAgP (mode desirable), which no team answers, so its 2 ports to b form no group. It \
         uses the port on which it last learned b's address. At sw: `channel-group N mode on`."
    );
    assert!(explain(&pagp).facts.iter().any(|fact| fact.starts_with("b receives PAgP from sw (mode desirable) on ")));
}

#[test]
fn a_policy_that_limits_several_hosts_is_told_once() {
    let hosts = [("a", 8, 1.0, "balance-rr"), ("b", 4, 1.0, "balance-rr"), ("c", 4, 1.0, "balance-rr")];
    let run = net(&hosts, "src-dst-mac", &[("a", "b", 2, FULL / 2.0), ("a", "c", 2, FULL / 2.0)]);
    assert_eq!(
        said(&run).2,
        "Receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so both connections use \
         link 4 of 4 towards b, and both connections use link 3 of 4 towards c."
    );
}

#[test]
fn full_links_without_payload_are_told_as_such() {
    let mut run =
        net(&[("a", 1, 1.0, "balance-rr"), ("b", 4, 1.0, "balance-rr")], "src-dst-mac", &[("a", "b", 4, FULL / 4.0)]);
    run.connections.iter_mut().for_each(|connection| {
        connection.delivered_bps *= 0.6;
        connection.retransmits = connection.segments / 4;
    });
    run.delivered_bps *= 0.6;
    run.of_limit *= 0.6;
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Unknown);
    assert!(
        sentence.starts_with(
            "All links of a were full, but only 0.60 of what they carried arrived as payload. TCP sent 25 % of its segments again."
        ),
        "{sentence}"
    );
}

#[test]
fn that_a_connection_never_uses_two_links_is_said_once() {
    let run = net(&[("a", 2, 1.0, L34), ("b", 2, 1.0, L34)], "src-dst-port", &[("a", "b", 1, FULL)]);
    assert_eq!(
        said(&run).2,
        "Sending side: a spreads by IP address and port (layer3+4) and puts the connection on link 1 of 2 towards sw; \
         link 2 stayed idle (a connection never uses two)."
    );
}

#[test]
fn a_link_is_full_if_either_end_counted_so() {
    let mut run = net(&[("a", 2, 1.0, L34), ("b", 4, 1.0, "balance-rr")], "src-dst-mac", &[("a", "b", 4, 0.235)]);
    // The window began with full queues: less was sent than arrived.
    run.members.iter_mut().filter(|member| member.host == "sw").for_each(|member| member.tx_bps *= 0.9);
    run.cpu.busy = 1.0;
    assert_eq!(said(&run).0, Side::Receiving, "{}", said(&run).2);
}

#[test]
fn guests_use_their_hosts_links() {
    let mut run = net(
        &[("a", 2, 1.0, "balance-xor vlan+srcmac"), ("b", 2, 1.0, L34)],
        "src-dst-port",
        &[("a", "b", 1, FULL / 2.0), ("a", "b", 1, FULL / 2.0)],
    );
    for (number, connection) in run.connections.iter_mut().enumerate() {
        connection.from = format!("a/guest{number}");
        // Odd, as that of the host by whose address the counters were made.
        let mac = format!("02:00:00:00:00:{:02x}", 0x11 + 2 * number);
        run.topology.hosts.push(Host {
            name: connection.from.clone(),
            mac,
            parent: Some("a".into()),
            ..run.topology.hosts[0].clone()
        });
    }
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("vlan+srcmac")), "{sentence}");
    assert!(sentence.contains("puts all of a/guest0 and a/guest1"), "{sentence}");
}

/// A member of b's team.
fn pagp_member(topology: &Topology) -> String {
    topology.teams.iter().find(|team| team.node == "b").unwrap().members[1].clone()
}
