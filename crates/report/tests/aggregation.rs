//! 802.3ad with members that do not aggregate: who is left out, and why.

use crate::common::{LINK_PAYLOAD_BPS, Spec, receive_what_was_sent, run};
use nicteam_record::{Link, LinkEnd, Port, Run};
use nicteam_report::{Side, explain};

const FULL_BPS: f64 = 0.978 * LINK_PAYLOAD_BPS;
const PARTNER: &str = "02:00:00:00:00:99";

fn port(member: &str, aggregates: bool, partner: Option<&str>, why_not: Option<&str>) -> Port {
    Port {
        host: "a".into(),
        team: "team0".into(),
        member: member.into(),
        aggregates,
        partner: partner.map(str::to_owned),
        why_not: why_not.map(str::to_owned),
    }
}

/// One connection from a to b at the speed of a link; a's team is 802.3ad with
/// these ports and sends all by one member. b's links are ten times as fast.
fn narrow(ports: Vec<Port>, sends_by: usize) -> Run {
    let mut run = run(&Spec {
        name: "lacp",
        published: None,
        hosts: &[("a", 0x10), ("b", 0x12)],
        connections: &[("a", "b", 2)],
        each_bps: FULL_BPS,
        limit_bps: 4.0 * LINK_PAYLOAD_BPS,
    });
    run.topology.links.iter_mut().filter(|link| link.a.node == "b").for_each(|link| link.rate_bps *= 10);
    let team = run.topology.teams.iter_mut().find(|team| team.node == "a").unwrap();
    (team.mode, team.xmit_hash_policy) = ("802.3ad".into(), "layer2".into());
    let own = || run.members.iter().filter(|member| member.host == "a");
    let (bps, frames) = (own().map(|member| member.tx_bps).sum::<f64>(), own().map(|member| member.tx_frames).sum());
    for (place, member) in run.members.iter_mut().filter(|member| member.host == "a").enumerate() {
        (member.tx_bps, member.tx_frames) = if place == sends_by { (bps, frames) } else { (0.0, 0) };
    }
    receive_what_was_sent(&mut run);
    run.ports = ports;
    run
}

fn silent(member: &str) -> Port {
    port(member, false, None, Some("partner silent: no LACPDU comes"))
}

#[test]
fn a_switch_without_lacp_leaves_one_member() {
    let ports = vec![port("eth0", true, None, None), silent("eth1"), silent("eth2"), silent("eth3")];
    let explanation = explain(&narrow(ports, 0));
    assert_eq!((explanation.side, explanation.policy.as_deref()), (Side::Sending, Some("802.3ad")));
    assert_eq!(
        explanation.sentence,
        "Sending side: of 4 members of team0 on a 1 carries the traffic alone, because eth1, eth2 and eth3 do not: \
         partner silent: no LACPDU comes."
    );
    assert!(!explanation.facts.iter().any(|fact| fact.contains("of 4 members")), "once: {:?}", explanation.facts);
}

#[test]
fn members_are_told_apart_by_their_reasons() {
    let keys = "keys differ: the partner's is 8 here, 7 in the active aggregator";
    let ports = vec![
        port("eth0", true, Some(PARTNER), None),
        port("eth1", false, Some(PARTNER), Some(keys)),
        port("eth2", false, Some(PARTNER), Some(keys)),
        silent("eth3"),
    ];
    assert_eq!(
        explain(&narrow(ports, 0)).sentence,
        "Sending side: of 4 members of team0 on a 1 aggregates, because eth1 and eth2 do not: keys differ: \
         the partner's is 8 here, 7 in the active aggregator; eth3 does not: partner silent: no LACPDU comes."
    );
}

#[test]
fn cables_to_two_switches_use_one_of_them() {
    let another = "partner in another system: 02:00:00:00:00:98 here, 02:00:00:00:00:99 in the active aggregator";
    let idle = |name| port(name, false, Some("02:00:00:00:00:98"), Some(another));
    let healthy = |name| port(name, true, Some(PARTNER), None);
    let mut run = narrow(vec![idle("eth0"), idle("eth1"), healthy("eth2"), healthy("eth3")], 2);
    // eth2 and eth3 lead to a second switch, the longer way, and are full.
    let own = |link: &&mut Link| link.a.node == "a" && matches!(&*link.a.device, "eth2" | "eth3");
    run.topology.links.iter_mut().filter(own).for_each(|link| link.b.node = "sw2".into());
    run.topology.links.push(Link {
        a: LinkEnd { node: "sw2".into(), device: "trunk".into() },
        b: LinkEnd { node: "sw".into(), device: "trunk".into() },
        rate_bps: 1_000_000_000,
        mtu: 1500,
        mtus: None,
        impaired: None,
        ..Link::default()
    });
    let sent = run.members.iter().find(|member| member.host == "a" && member.member == "eth2").unwrap().clone();
    let other = run.members.iter_mut().find(|member| member.host == "a" && member.member == "eth3").unwrap();
    (other.tx_bps, other.tx_frames) = (sent.tx_bps, sent.tx_frames);
    run.connections[0].delivered_bps *= 2.0;
    run.of_limit *= 2.0;
    let explanation = explain(&run);
    assert_eq!((explanation.side, explanation.policy.as_deref()), (Side::Sending, Some("802.3ad")));
    assert_eq!(
        explanation.sentence,
        format!("Sending side: of 4 members of team0 on a 2 aggregate, because eth0 and eth1 do not: {another}.")
    );
    // Where two full links are as much as the other end takes, more members would be no use.
    run.of_limit = 0.97;
    assert_eq!(explain(&run).side, Side::Nowhere);
}

#[test]
fn the_hash_is_over_the_members_that_aggregate() {
    // Two of four aggregate, and one of the two carries all: the hash's doing, and LACP's beside it.
    let healthy = |name| port(name, true, Some(PARTNER), None);
    let ports = || vec![silent("eth0"), healthy("eth1"), silent("eth2"), healthy("eth3")];
    let explained = [1, 3].map(|sends_by| explain(&narrow(ports(), sends_by)));
    let predicted: Vec<_> = explained.iter().filter(|it| !it.sentence.contains("counted, not predicted")).collect();
    let [explanation] = predicted.as_slice() else { panic!("one of the two is what the hash says: {explained:#?}") };
    assert_eq!(explanation.policy.as_deref(), Some("layer2"));
    assert!(explanation.sentence.contains("spreads by MAC address (layer2)"), "{}", explanation.sentence);
    let fact = "Of 4 members of team0 on a 2 aggregate, because eth0 and eth2 do not: partner silent: no LACPDU comes.";
    assert!(explanation.facts.iter().any(|known| known == fact), "{:?}", explanation.facts);
}

#[test]
fn whole_teams_and_older_records_say_nothing_of_it() {
    let healthy: Vec<Port> =
        ["eth0", "eth1", "eth2", "eth3"].map(|name| port(name, true, Some(PARTNER), None)).to_vec();
    for ports in [healthy, Vec::new()] {
        let explanation = explain(&narrow(ports, 0));
        let all = [vec![explanation.sentence], explanation.facts].concat().join("\n");
        assert!(!all.contains("aggregate"), "{all}");
    }
}

#[test]
fn the_record_carries_it_and_older_ones_read() {
    let run = narrow(vec![silent("eth0")], 0);
    let mut json = serde_json::to_value(&run).unwrap();
    assert_eq!(json["ports"][0]["why_not"], "partner silent: no LACPDU comes");
    assert_eq!(serde_json::from_value::<Run>(json.clone()).unwrap(), run);
    json.as_object_mut().unwrap().remove("ports");
    assert_eq!(serde_json::from_value::<Run>(json).unwrap().ports, []);
}
