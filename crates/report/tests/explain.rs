//! Each rule on a record that shows its case, and the five runs of T3.

use crate::common::{LINK_PAYLOAD_BPS, Spec, receive_what_was_sent, run, scale, t3, team};
use nicteam_record::{Datagrams, Event, EventKind, Impaired, Impairments, Link, LinkEnd, Relayed, Run, Topology};
use nicteam_report::{Side, explain};

const FULL_BPS: f64 = 0.978 * LINK_PAYLOAD_BPS;

fn said(run: &Run) -> (Side, Option<String>, String) {
    let explanation = explain(run);
    (explanation.side, explanation.policy, explanation.sentence)
}

/// T3's second run: four connections, link 3.
fn four_connections() -> Run {
    t3().runs.swap_remove(1)
}

#[test]
fn t3_is_explained() {
    let said: Vec<_> = t3().runs.iter().map(said).collect();
    let mac = Some("src-dst-mac".to_owned());
    let expected = [
        (
            Side::Receiving,
            mac.clone(),
            "Receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so the connection uses link 3 of 4 towards b.",
        ),
        (
            Side::Receiving,
            mac.clone(),
            "Receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so all 4 connections use link 3 of 4 towards b.",
        ),
        (Side::Nowhere, None, "Nothing held it back: all four links of a carried 0.98 of what they can."),
        (Side::Nowhere, None, "Nothing held it back: all four links of a carried 0.98 of what they can."),
        (
            Side::Receiving,
            mac,
            "Receiving side: sw spreads by MAC address (src-dst-mac) and puts b and c on link 1 of 4 towards a, d and e on link 3; \
             links 2 and 4 stayed idle.",
        ),
    ];
    assert_eq!(said, expected.map(|(side, policy, sentence)| (side, policy, sentence.to_owned())));
}

#[test]
fn facts_compare_the_hash_with_the_counters_and_show_every_hop() {
    let facts = explain(&t3().runs[4]).facts;
    assert_eq!(
        facts,
        [
            "Towards a the hash of sw (src-dst-mac) puts the 8 connections on links 1 and 3; the counters agree.",
            "With random addresses (200 cases) the hash of sw towards a uses 1, 2, 3 and 4 links in 0, 30, 64 and 7 % of the \
             cases, 2.77 on average; with those of this run 2.",
            "b, c, d and e towards sw (balance-rr): links 0.12, 0.12, 0.12, 0.12 full.",
            "sw towards a (balance-xor src-dst-mac): links 0.98, 0.00, 0.98, 0.00 full.",
        ]
    );
}

#[test]
fn names_and_descriptions_play_no_part() {
    for run in t3().runs {
        let renamed = Run {
            name: "x".into(),
            description: Some("everything was perfect".into()),
            published: None,
            published_of_limit: None,
            limit_reason: "unknown".into(),
            ..run.clone()
        };
        assert_eq!(explain(&renamed), explain(&run));
    }
}

#[test]
fn a_hash_that_the_counters_contradict_is_counted_not_predicted() {
    let mut run = four_connections();
    run.topology.hosts[1].mac = "02:00:00:00:00:11".into();
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("src-dst-mac")));
    assert_eq!(
        sentence,
        "Receiving side: sw spreads by MAC address (src-dst-mac) and used link 3 of 4 towards b; links 1, 2 and 4 stayed idle \
         (counted, not predicted: by the hash it would be link 2)."
    );
}

#[test]
fn a_policy_nobody_knows_is_counted_not_predicted() {
    let mut run = four_connections();
    run.topology
        .teams
        .iter_mut()
        .filter(|team| team.node == "sw")
        .for_each(|team| team.xmit_hash_policy = "dice".into());
    let (_, policy, sentence) = said(&run);
    assert_eq!(policy.as_deref(), Some("dice"));
    assert_eq!(
        sentence,
        "Receiving side: sw spreads by dice and used link 3 of 4 towards b; links 1, 2 and 4 stayed idle (counted, not predicted)."
    );
}

#[test]
fn addresses_of_one_end_alone_are_named() {
    let mut run = four_connections();
    run.topology
        .teams
        .iter_mut()
        .filter(|team| team.node == "sw")
        .for_each(|team| team.xmit_hash_policy = "dst-mac".into());
    assert_eq!(
        said(&run).2,
        "Receiving side: sw spreads by destination MAC address (dst-mac) and b has one, so all 4 connections use link 3 of 4 towards b."
    );
}

#[test]
fn ports_put_connections_where_their_ports_say() {
    let mut run = four_connections();
    run.topology
        .teams
        .iter_mut()
        .filter(|team| team.node == "sw")
        .for_each(|team| team.xmit_hash_policy = "src-dst-port".into());
    // The same port: one link for all, and the hash knows which.
    let port = |number: u32| format!("10.0.0.1:{number}");
    let link_of = |run: &Run| {
        run.members.iter().position(|member| member.host == "sw" && member.tx_bps > 1e6 && member.team == "b")
    };
    let before = link_of(&run);
    let sentence = (40000..40004)
        .map(|number| {
            run.connections.iter_mut().for_each(|connection| connection.src = port(number));
            said(&run).2
        })
        .find(|sentence| !sentence.contains("counted"));
    assert_eq!(before, link_of(&run));
    assert_eq!(
        sentence.as_deref(),
        Some(
            "Receiving side: sw spreads by IP address and port (src-dst-port) and puts all 4 connections on link 3 of 4 towards b; links 1, 2 and 4 stayed idle."
        ),
    );
}

#[test]
fn a_sending_hosts_hash_is_the_sending_side() {
    let mut run = four_connections();
    for team in run.topology.teams.iter_mut().filter(|team| team.node == "a") {
        (team.mode, team.xmit_hash_policy) = ("balance-xor".into(), "layer2".into());
    }
    // dst[5] ^ src[5] ^ 0x0800 = 2: link 3 at the sending side as well, which comes first.
    for (place, member) in run.members.iter_mut().filter(|member| member.host == "a").enumerate() {
        member.tx_bps = if place == 2 { 0.978 * 98.4e6 } else { 0.0 };
    }
    receive_what_was_sent(&mut run);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("layer2")));
    assert_eq!(
        sentence,
        "Sending side: a spreads by MAC address (layer2) and both ends have one, so all 4 connections use link 3 of 4 towards sw. \
         As narrow, receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so all 4 connections use link 3 of 4 towards b."
    );
}

#[test]
fn one_link_without_a_team_is_the_line_rate() {
    let mut run = one_cable();
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy), (Side::Nowhere, None));
    assert_eq!(sentence, "Nothing held it back: the one link of a carried 0.98 of what it can.");
    scale(&mut run, 0.5);
    assert!(matches!(said(&run).0, Side::Unknown), "{:?}", said(&run));
}

/// Two hosts and one cable: nothing is counted but payload.
fn one_cable() -> Run {
    let spec = Spec {
        name: "plain",
        published: None,
        hosts: &[("a", 1), ("b", 2)],
        connections: &[("a", "b", 0)],
        each_bps: FULL_BPS,
        limit_bps: LINK_PAYLOAD_BPS,
    };
    let mut run = run(&spec);
    run.members.clear();
    let end = |node: &str| LinkEnd { node: node.into(), device: "eth0".into() };
    run.topology = Topology {
        hosts: run.topology.hosts,
        links: vec![Link {
            a: end("a"),
            b: end("b"),
            rate_bps: 100_000_000,
            mtu: 1500,
            mtus: None,
            impaired: None,
            ..Link::default()
        }],
        ..Topology::default()
    };
    run
}

#[test]
fn the_machine_is_named_when_no_link_was_full() {
    let mut run = four_connections();
    scale(&mut run, 0.5);
    run.cpu.busy = 0.97;
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Machine);
    assert_eq!(sentence, "The machine's processors were the limit (97 % busy); no link was full.");

    let mut full = four_connections();
    full.cpu.busy = 0.97;
    assert_eq!(said(&full).0, Side::Receiving, "a full link outweighs busy processors");
}

#[test]
fn declared_losses_are_named_beside_what_they_leave() {
    let mut run = one_cable();
    scale(&mut run, 0.1);
    let clean = Impairments {
        name: Some("line".into()),
        delay_ms: 5.0,
        jitter_ms: 0.0,
        jitter_distribution: "uniform".into(),
        jitter_reorders: false,
        loss: 0.0,
        gemodel: None,
        duplicate: 0.0,
        corrupt: 0.0,
        reorder: 0.0,
        reorder_gap: 1,
        seed: 1,
    };
    let lossy = Impairments { loss: 0.01, ..clean.clone() };
    let impaired =
        |a_to_b: &Impairments, b_to_a: &Impairments| Some(Impaired { a_to_b: a_to_b.clone(), b_to_a: b_to_a.clone() });
    (run.connections[0].segments, run.connections[0].retransmits, run.connections[0].rtt_us) = (1000, 10, 10_000.0);
    run.topology.links[0].impaired = impaired(&lossy, &clean);
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Links);
    // 1448 bytes each 10 ms, times the root of 150: 14.2 Mbit/s.
    assert!(sentence.starts_with("Links on the way lose 1.0 % of the frames, as declared"), "{sentence}");
    assert!(sentence.contains("about 14.2 Mbit/s a connection"), "{sentence}");

    run.topology.links[0].impaired = impaired(&clean, &lossy);
    assert_ne!(said(&run).0, Side::Links, "the loss is on the way back");

    let relayed = Relayed { frames: 1000, lost: 10, late: 11, latest_us: 2500, ..Relayed::default() };
    run.relayed = vec![relayed];
    let facts = explain(&run).facts;
    assert!(facts.contains(&"Impaired links lost 10 of 1,000 frames (1.0 %), as declared.".to_owned()), "{facts:?}");
    assert!(facts.iter().any(|fact| fact.contains("did not keep up with the impaired links: 1.1 %")), "{facts:?}");
    run.relayed[0].late = 10;
    assert!(!explain(&run).facts.iter().any(|fact| fact.contains("keep up")));
}

#[test]
fn active_backup_uses_one() {
    let mut run = four_connections();
    for team in run.topology.teams.iter_mut().filter(|team| team.node == "sw") {
        (team.mode, team.xmit_hash_policy) = ("active-backup".into(), String::new());
    }
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("active-backup")));
    assert_eq!(
        sentence,
        "Receiving side: sw uses one member at a time (mode active-backup): b-2 carried all, the others stood by."
    );
}

#[test]
fn broadcast_carries_copies() {
    let mut run = t3().runs.swap_remove(2);
    run.topology.teams.iter_mut().filter(|team| team.node == "a").for_each(|team| team.mode = "broadcast".into());
    run.of_limit = 0.25;
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("broadcast")));
    assert_eq!(
        sentence,
        "Sending side: a sends every frame by every member (mode broadcast), so its four links carry what one can."
    );
}

/// T3's third run with so much delivered, and a's links full all the same.
fn one_to_four(part: f64) -> Run {
    let mut run = t3().runs.swap_remove(2);
    scale(&mut run, part);
    run.members.iter_mut().filter(|member| member.host == "a").for_each(|member| member.tx_bps /= part);
    receive_what_was_sent(&mut run);
    run
}

#[test]
fn a_silent_member_was_down() {
    let mut run = one_to_four(0.75);
    let dead = run.members.iter_mut().find(|member| member.host == "a" && member.member == "eth1").unwrap();
    (dead.tx_bps, dead.tx_frames) = (0.0, 0);
    receive_what_was_sent(&mut run);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("balance-rr")));
    assert_eq!(
        sentence,
        "Sending side: a uses every member that is up (mode balance-rr). eth1 of a sent no frame, so it was down."
    );
}

#[test]
fn turns_of_unlike_frames_leave_links_uneven() {
    let mut run = one_to_four(0.9);
    let lame = run.members.iter_mut().find(|member| member.host == "a" && member.member == "eth1").unwrap();
    lame.tx_bps *= 0.76;
    receive_what_was_sent(&mut run);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("balance-rr")));
    assert_eq!(
        sentence,
        "Sending side: a sends as many frames by each link, not as many bytes (mode balance-rr): the busiest was full, the least used at 0.74."
    );
}

#[test]
fn segments_sent_again_behind_a_round_robin_are_reordering() {
    let mut run = four_connections();
    scale(&mut run, 0.5);
    run.connections.iter_mut().for_each(|connection| connection.retransmits = connection.segments / 20);
    let explanation = explain(&run);
    assert_eq!((explanation.side, explanation.policy.as_deref()), (Side::Sending, Some("balance-rr")));
    assert!(explanation.sentence.contains("sent 5.0 % of its segments again"), "{}", explanation.sentence);
    assert!(explanation.facts.iter().any(|fact| fact.contains("out of order")), "{:?}", explanation.facts);
}

#[test]
fn one_choice_that_limits_both_directions_is_told_once() {
    let spec = Spec {
        name: "both",
        published: None,
        hosts: &[("a", 0x10), ("b", 0x12)],
        connections: &[("a", "b", 2), ("b", "a", 2)],
        each_bps: 0.95 * LINK_PAYLOAD_BPS,
        limit_bps: 8.0 * LINK_PAYLOAD_BPS,
    };
    let mut two_way = run(&spec);
    let (side, policy, sentence) = said(&two_way);
    assert_eq!((side, policy.as_deref()), (Side::Receiving, Some("src-dst-mac")));
    assert_eq!(
        sentence,
        "Receiving side: sw spreads by MAC address (src-dst-mac) and both ends have one, so the connection uses link 3 of 4 towards b, \
         and the connection uses link 3 of 4 towards a."
    );
    two_way.topology.teams.iter_mut().find(|team| team.node == "sw" && team.device == "a").unwrap().xmit_hash_policy =
        "src-mac".into();
    assert_eq!(said(&two_way).1, None, "two policies have no common name");
}

#[test]
fn drops_and_busy_processors_are_facts() {
    let mut run = four_connections();
    run.members[0].tx_drops = 1234;
    run.cpu.busy = 0.95;
    let facts = explain(&run).facts;
    assert!(
        facts.contains(&"team0 of a dropped 1,234 frames on the way out (by member: 1,234; 0; 0; 0).".to_owned()),
        "{facts:?}"
    );
    assert!(facts.iter().any(|fact| fact.contains("95 % busy")), "{facts:?}");
}

#[test]
fn an_end_that_takes_no_such_packet_is_named() {
    let mut run = four_connections();
    // Jumbo frames everywhere but at the switch's ports to b.
    for link in &mut run.topology.links {
        let to_b = [&link.a.node, &link.b.node].contains(&&"b".to_owned());
        (link.mtu, link.mtus) = match (to_b, link.a.node == "b") {
            (false, _) => (9000, None),
            (true, true) => (1500, Some([9000, 1500])),
            (true, false) => (1500, Some([1500, 9000])),
        };
    }
    let passes = run.clone();
    scale(&mut run, 0.0);
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Links);
    assert_eq!(
        sentence,
        "Links: packets of 9000 bytes do not pass from sw to b, since b-0 of sw has an MTU of 1500. Shorter packets pass, so \
         connections open and then stall. Give every end on the way an MTU of 9000."
    );
    // As GSO frames they pass, which is said, and is no reason for anything.
    assert!(!said(&passes).2.contains("MTU"), "{}", said(&passes).2);
    let fact = "b-0 of sw has an MTU of 1500, and packets of 9000 bytes arrive there.";
    assert!(explain(&passes).facts.iter().any(|found| found.starts_with(fact)), "{:?}", explain(&passes).facts);
    // With MTU 1500 at b as well TCP sends no larger segments.
    run.topology.links.iter_mut().filter(|link| link.mtus.is_some()).for_each(|link| link.mtus = None);
    assert!(!said(&run).2.contains("MTU"), "{}", said(&run).2);
}

#[test]
fn where_nothing_was_full_it_says_so() {
    let mut run = four_connections();
    scale(&mut run, 0.5);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy), (Side::Unknown, None));
    assert_eq!(
        sentence,
        "No link was full (the fullest, b-2 of sw towards b, carried 0.49 of what it can), and the processors were 41 % busy. \
         The 4 connections did not send more."
    );
}

#[test]
fn datagrams_that_an_event_cost_are_not_put_down_to_the_processors() {
    let mut run = four_connections();
    scale(&mut run, 0.5);
    run.cpu.busy = 1.0;
    let datagrams =
        Datagrams { sent: 8000, received: 7000, lost: 1000, longest_silence_us: 1_000_000, ..Datagrams::default() };
    run.connections.iter_mut().for_each(|connection| connection.datagrams = Some(datagrams));
    assert_eq!(said(&run).0, Side::Machine, "nothing was done to the network");
    run.events = vec![Event {
        t_ms: 3000.0,
        node: "b/guest1".into(),
        kind: EventKind::Fault,
        team: None,
        member: None,
        text: "b/guest1 moves to c, not announced".into(),
    }];
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Links);
    assert_eq!(
        sentence,
        "b/guest1 moves to c, not announced: no datagram arrived for up to 1000 ms, and 12 % were lost; no link was full."
    );
    // Those that only waited are missing, too.
    let mut waited = run.clone();
    let lossless = Datagrams { lost: 0, received: 8000, longest_silence_us: 4_000_000, ..datagrams };
    waited.connections.iter_mut().for_each(|connection| connection.datagrams = Some(lossless));
    assert_eq!(said(&waited).0, Side::Links);
    // Losses all along are not the event's.
    run.connections
        .iter_mut()
        .flat_map(|connection| &mut connection.datagrams)
        .for_each(|of| of.longest_silence_us /= 10);
    assert_eq!(said(&run).0, Side::Machine);
}

#[test]
fn broken_records_are_explained_without_a_panic() {
    let run = four_connections();
    let broken: [fn(&mut Run); 7] = [
        |run| run.connections.clear(),
        |run| run.topology = Topology::default(),
        |run| run.members.clear(),
        |run| run.topology.teams = vec![team("a", "team0", "sw", "balance-xor", "layer2", Vec::new())],
        |run| run.topology.links.iter_mut().for_each(|link| (link.rate_bps, link.mtu) = (0, 0)),
        |run| run.connections.iter_mut().for_each(|connection| connection.src = "nowhere".into()),
        |run| run.topology.hosts.iter_mut().for_each(|host| host.mac = "02".into()),
    ];
    for (number, breakage) in broken.iter().enumerate() {
        let mut run = run.clone();
        breakage(&mut run);
        let explanation = explain(&run);
        let text = format!("{explanation:?}");
        assert!(
            !text.contains("NaN") && !text.contains("inf,") && !explanation.sentence.is_empty(),
            "{number}: {text}"
        );
    }
}
