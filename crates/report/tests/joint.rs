//! stripe and multipath TCP: links that both ends of a connection use together.

use crate::common::{RATE_BPS, t3};
use nicteam_record::{
    Connection, Datagrams, Impaired, Impairments, MacMoves, OneSided, PlainHost, PlainMember, Relayed, Run,
};
use nicteam_report::{Side, explain, findings};

/// What counters show of a full link at most, bit/s.
const CAPACITY_BPS: f64 = RATE_BPS * 1514.0 / 1538.0;
/// Payload beside what counters show of it.
const PAYLOAD: f64 = 1448.0 / 1514.0;

/// One connection from a to b, whose four links each lead to one plain switch.
fn plain(mode: &str) -> Run {
    let mut run = t3().runs.swap_remove(0);
    run.topology.teams.retain(|team| team.node != "sw");
    run.topology.teams.iter_mut().for_each(|team| team.mode = mode.into());
    run.members.iter_mut().for_each(|member| {
        (member.tx_bps, member.rx_bps, member.tx_frames, member.rx_frames) = (0.0, 0.0, 1, 1);
    });
    run
}

/// The same with links as full as this, from a and towards b; what b receives is payload.
fn loaded(mode: &str, from_a: [f64; 4], to_b: [f64; 4]) -> Run {
    let mut run = plain(mode);
    carry(&mut run, "a", from_a, true);
    carry(&mut run, "b", to_b, false);
    let delivered_bps = to_b.iter().sum::<f64>() * CAPACITY_BPS * PAYLOAD;
    run.connections[0].delivered_bps = delivered_bps;
    (run.delivered_bps, run.of_limit) = (delivered_bps, delivered_bps / run.limit_bps);
    run
}

/// Sets what a host's links carried, away from it or towards it.
fn carry(run: &mut Run, host: &str, loads: [f64; 4], away: bool) {
    for (place, load) in loads.into_iter().enumerate() {
        for member in &mut run.members {
            let own = member.host == host && member.member == format!("eth{place}");
            let far = member.host == "sw" && member.member == format!("{host}-{place}");
            let (bps, frames) = (load * CAPACITY_BPS, (load * 10_000.0) as u64);
            if own && away || far && !away {
                (member.tx_bps, member.tx_frames) = (bps, frames);
            } else if own || far {
                (member.rx_bps, member.rx_frames) = (bps, frames);
            }
        }
    }
}

fn said(run: &Run) -> (Side, String, String) {
    let explanation = explain(run);
    let causes: Vec<String> = findings(run).into_iter().map(|finding| finding.cause).collect();
    (explanation.side, causes.join(", "), explanation.sentence)
}

const FULL: [f64; 4] = [0.98; 4];

/// What an impaired link does to frames.
fn line(delay_ms: f64, loss: f64) -> Impairments {
    Impairments {
        name: Some("line".into()),
        delay_ms,
        jitter_ms: 0.0,
        jitter_distribution: "uniform".into(),
        jitter_reorders: false,
        loss,
        gemodel: None,
        duplicate: 0.0,
        corrupt: 0.0,
        reorder: 0.0,
        reorder_gap: 1,
        seed: 1,
    }
}

#[test]
fn full_links_of_a_stripe_were_the_limit() {
    let (side, cause, sentence) = said(&loaded("stripe", FULL, FULL));
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "full"));
    assert_eq!(sentence, "Nothing held it back: all four links of a carried 0.98 of what they can.");
}

#[test]
fn a_member_without_carrier_leaves_the_others() {
    let three = [0.98, 0.98, 0.0, 0.98];
    let (side, cause, sentence) = said(&loaded("stripe", three, three));
    assert_eq!((side, cause.as_str()), (Side::Sending, "silent-member"));
    assert_eq!(
        sentence,
        "Sending side: a uses every member that receives frames (mode stripe). eth2 carried none: \
         it was down, or nothing came through it.",
        "once, though b's links are as narrow"
    );
    // The sender has links to spare, the receiver has not.
    let run = loaded("stripe", [0.735; 4], three);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Receiving, "silent-member"));
    assert!(sentence.starts_with("Receiving side: b uses every member"), "{sentence}");
}

#[test]
fn a_slow_link_beside_full_ones_is_named() {
    let uneven = [0.98, 0.98, 0.5, 0.98];
    let mut run = loaded("stripe", uneven, uneven);
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Sending, "uneven"));
    assert_eq!(
        sentence,
        "Sending side: each frame takes the link on which it arrives first (mode stripe): the busiest of a's 4 was full, \
         the least used, eth2, at 0.50."
    );
    assert!((findings(&run)[0].lost - (1.0 - run.of_limit)).abs() < 1e-9);

    run.topology.links[2].impaired = Some(Impaired { a_to_b: line(5.0, 0.01), b_to_a: line(5.0, 0.01) });
    let counted =
        Relayed { node: "a".into(), device: "eth2".into(), frames: 1000, lost: 8, cut: 4, ..Relayed::default() };
    run.relayed = vec![counted];
    run.members.iter_mut().filter(|member| member.host == "a" && member.member == "eth2").for_each(|member| {
        member.tx_drops = member.tx_frames / 100;
    });
    let sentence = said(&run).2;
    assert!(
        sentence.ends_with(
            "the least used, eth2, which lost 1.2 % of its frames, dropped 1.0 % of its frames and delays \
             frames by 5 ms, at 0.50."
        ),
        "{sentence}"
    );
}

#[test]
fn a_link_that_takes_longer_is_not_taken_for_dead() {
    let mut run = loaded("stripe", [0.98, 0.98, 0.98, 0.0], [0.98, 0.98, 0.98, 0.0]);
    run.topology.links[3].impaired = Some(Impaired { a_to_b: line(5.0, 0.0), b_to_a: line(5.0, 0.0) });
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Sending, "uneven"));
    assert!(sentence.ends_with("the least used, eth3, which delays frames by 5 ms, at 0.00."), "{sentence}");
}

#[test]
fn unlike_rates_are_named() {
    let uneven = [0.5, 0.5, 0.5, 0.98];
    let mut run = multipath(4, uneven, uneven);
    run.topology.links.iter_mut().filter(|link| link.a.device != "eth3").for_each(|link| link.rate_bps *= 2);
    assert_eq!(
        said(&run).2,
        "Sending side: multipath TCP gives each segment to a subflow that has room: the busiest of a's 4, \
         eth3 (100 Mbit/s), was full, the least used, eth0 (200 Mbit/s), at 0.25."
    );
}

#[test]
fn busy_processors_leave_links_a_little_uneven() {
    let mut run = loaded("stripe", [0.92, 0.88, 0.91, 0.89], [0.89; 4]);
    assert_eq!(said(&run).1, "uneven");
    run.cpu.busy = 0.97;
    let (side, _, sentence) = said(&run);
    assert_eq!(side, Side::Machine);
    assert_eq!(
        sentence,
        "The machine's processors were the limit (97 % busy); the least used link of a carried 0.88 of what it can."
    );
    let mut lame = loaded("stripe", [0.98, 0.98, 0.4, 0.98], [0.8; 4]);
    lame.cpu.busy = 0.97;
    assert_eq!(said(&lame).1, "uneven", "no processor leaves one link idle");
}

#[test]
fn full_links_are_not_the_reason_where_no_processor_had_time_left() {
    let mut run = loaded("stripe", [0.93; 4], [0.93; 4]);
    for (busy, cause) in [(0.97, "full"), (0.999, "machine")] {
        run.cpu.busy = busy;
        assert_eq!(said(&run).1, cause, "{busy}");
    }
    let mut whole = loaded("stripe", FULL, FULL);
    whole.cpu.busy = 0.999;
    assert_eq!(said(&whole).1, "full");
}

#[test]
fn segments_sent_again_hold_a_stripe_below_its_links() {
    let mut run = loaded("stripe", [0.7; 4], [0.7; 4]);
    run.connections[0].segments = 1000;
    run.connections[0].retransmits = 50;
    let (side, cause, sentence) = said(&run);
    assert_eq!((side, cause.as_str()), (Side::Sending, "reordering"));
    assert_eq!(
        sentence,
        "Sending side: a sends each frame over the one of 4 links on which it arrives first (mode stripe). Some were \
         overtaken or lost, and TCP sent 5.0 % of its segments again and slowed down."
    );
}

/// The run with a team of another mode, or with none, at one of its hosts.
fn without_stripe(mut run: Run, host: &str) -> Run {
    run.topology.teams.iter_mut().filter(|team| team.node == host).for_each(|team| team.mode = "balance-rr".into());
    run
}

#[test]
fn towards_a_host_that_does_not_stripe_it_is_balance_alb() {
    let one = [0.0, 0.98, 0.0, 0.0];
    let (side, cause, sentence) = said(&without_stripe(loaded("stripe", one, [0.245; 4]), "b"));
    assert_eq!((side, cause.as_str()), (Side::Sending, "peer-does-not-stripe"));
    assert_eq!(
        sentence,
        "Sending side: b does not stripe, so a sends to it by one member, as in balance-alb (mode stripe): \
         the busiest was full, the least used at 0.00."
    );
    let (side, cause, sentence) = said(&without_stripe(loaded("stripe", [0.245; 4], one), "a"));
    assert_eq!((side, cause.as_str()), (Side::Receiving, "peer-does-not-stripe"));
    assert_eq!(
        sentence,
        "Receiving side: a does not stripe, so b announces one member's address to it, as in balance-alb (mode stripe): \
         the busiest was full, the least used at 0.00."
    );
}

/// One that sends to a host which does not stripe, with these members full, and what the team said of it.
fn one_sided(kind: &str, from_a: [f64; 4], width: u32, held_ms: u32) -> Run {
    let mut run = without_stripe(loaded("stripe", from_a, [from_a.iter().sum::<f64>() / 4.0; 4]), "b");
    let mac = run.topology.hosts.iter().find(|host| host.name == "b").unwrap().mac.clone();
    let team = run.topology.teams.iter_mut().find(|team| team.node == "a").unwrap();
    team.options.insert("stripe_plain".into(), kind.into());
    let member =
        |place| PlainMember { member: format!("eth{place}"), sent: 1000, state: "used".into(), ..Default::default() };
    run.one_sided = vec![OneSided {
        host: "a".into(),
        team: "team0".into(),
        hosts: vec![PlainHost { mac, width, delivered_mbps: 90 * width, held_ms }],
        members: (0..4).map(member).collect(),
    }];
    run.mac_moves = vec![MacMoves { switch: "sw".into(), moves: 0, at_least: false }];
    run
}

#[test]
fn one_sided_it_is_said_by_how_many_members_and_why_not_by_more() {
    const ONE: [f64; 4] = [0.98, 0.0, 0.0, 0.0];
    const THREE: [f64; 4] = [0.98, 0.98, 0.98, 0.0];
    let rest = "the busiest was full, the least used at 0.00.";
    let is_said = |run: &Run, expected: &str| {
        let (side, cause, sentence) = said(run);
        assert_eq!((side, cause.as_str()), (Side::Sending, "one-sided"));
        assert_eq!(sentence, format!("Sending side: {expected}: {rest}"));
    };
    let off = "b does not stripe and one-sided striping is off (`stripe_plain=off`), so a sends to it by one member";
    is_said(&Run { one_sided: Vec::new(), ..one_sided("off", ONE, 1, 0) }, off);
    let mut udp = one_sided("tcp", ONE, 1, 0);
    udp.connections[0].datagrams = Some(Datagrams::default());
    is_said(&udp, "b does not stripe, and a sends datagrams to it by one member (`stripe_plain=tcp`)");
    let by = |width: u32| format!("a sends to b by {width} of 4 members (mode stripe, one-sided)");
    is_said(&one_sided("tcp", THREE, 3, 900), &format!("{}; more were tried and gained nothing", by(3)));
    is_said(&one_sided("tcp", THREE, 3, 0), &by(3));
    let mut left = one_sided("tcp", THREE, 3, 0);
    let member = &mut left.one_sided[0].members[3];
    (member.state, member.why, member.resent) =
        ("lossy".into(), Some("60 of 1000 segments were sent again".into()), 60);
    is_said(&left, &format!("{}; eth3 is left, 60 of 1000 segments were sent again", by(3)));
    let facts = explain(&left).facts;
    for fact in [
        "a sent to b by 3 of 4 members, one-sided.",
        "eth3 of a is left towards hosts that do not stripe: 60 of 1000 segments were sent again.",
        "Of 4,000 segments that a sent one-sided 60 (1.50 %) were sent again: by eth3 60.",
        "sw learned no known address at another port.",
    ] {
        assert!(facts.iter().any(|told| told == fact), "{fact}: {facts:#?}");
    }
}

#[test]
fn a_port_that_the_members_fill_is_the_limit() {
    let mut run = one_sided("tcp", [0.98, 0.0, 0.0, 0.0], 1, 700);
    // One link of its own, of a member's rate, that was not full.
    let mut links = 0;
    run.topology.links.retain(|link| {
        let own = [&link.a, &link.b].iter().any(|end| end.node == "b");
        links += usize::from(own);
        !own || links == 1
    });
    run.members.iter_mut().filter(|member| member.host == "b").for_each(|member| member.rx_bps *= 0.5);
    run.members.iter_mut().filter(|member| member.member == "b-0").for_each(|member| member.tx_bps *= 0.5);
    let (_, cause, sentence) = said(&run);
    assert_eq!(cause, "one-sided");
    assert!(
        sentence.contains("by 1 of 4 members (mode stripe, one-sided), and its own link carries no more"),
        "{sentence}"
    );
    let facts = explain(&run).facts;
    let expected =
        "a sent to b by 1 of 4 members, one-sided; its own link carries no more, and trials with more gained nothing.";
    assert!(facts.iter().any(|fact| fact == expected), "{facts:#?}");
}

#[test]
fn one_sided_to_a_host_with_the_links_sum_nothing_is_left() {
    let run = one_sided("tcp", FULL, 4, 0);
    assert_eq!(findings(&run)[0].cause, "full");
    let facts = explain(&run).facts;
    assert!(facts.iter().any(|fact| fact == "a sent to b by all four members, one-sided."), "{facts:#?}");
    // Older records say nothing of it.
    let old = Run { one_sided: Vec::new(), ..run };
    assert!(!explain(&old).facts.iter().any(|fact| fact.contains("one-sided")));
}

/// Hosts that speak multipath TCP, the connection with so many subflows.
fn multipath(subflows: u32, from_a: [f64; 4], to_b: [f64; 4]) -> Run {
    let mut run = loaded("mptcp", from_a, to_b);
    let connection = &mut run.connections[0];
    *connection = Connection { transport: "mptcp".into(), subflows: Some(subflows), ..connection.clone() };
    run
}

#[test]
fn multipath_tcp_uses_all_links_that_its_subflows_lead_to() {
    let (side, cause, _) = said(&multipath(4, FULL, FULL));
    assert_eq!((side, cause.as_str()), (Side::Nowhere, "full"));
    let two = [0.98, 0.98, 0.0, 0.0];
    let (side, cause, sentence) = said(&multipath(2, two, two));
    assert_eq!((side, cause.as_str()), (Side::Sending, "few-subflows"));
    assert_eq!(sentence, "Sending side: multipath TCP had 2 subflows for a's 4 links, and eth2 and eth3 stayed idle.");
    let uneven = [0.98, 0.98, 0.7, 0.98];
    let (side, cause, sentence) = said(&multipath(4, uneven, uneven));
    assert_eq!((side, cause.as_str()), (Side::Sending, "uneven"));
    assert_eq!(
        sentence,
        "Sending side: multipath TCP gives each segment to a subflow that has room: the busiest of a's 4 was full, \
         the least used, eth2, at 0.70."
    );
}

#[test]
fn plain_tcp_between_such_hosts_uses_one_link() {
    let one = [0.98, 0.0, 0.0, 0.0];
    let (side, cause, sentence) = said(&loaded("mptcp", one, one));
    assert_eq!((side, cause.as_str()), (Side::Sending, "few-subflows"));
    assert_eq!(
        sentence,
        "Sending side: plain TCP uses one of a's 4 links, that of the address it connects to, and eth1, eth2 and eth3 \
         stayed idle."
    );
}

#[test]
fn names_of_runs_play_no_part() {
    for run in [loaded("stripe", FULL, FULL), multipath(2, [0.98, 0.98, 0.0, 0.0], [0.98, 0.98, 0.0, 0.0])] {
        let renamed = Run { name: "x".into(), description: None, limit_reason: "unknown".into(), ..run.clone() };
        assert_eq!(explain(&renamed), explain(&run));
    }
}
