//! Open vSwitch's modes that spread by buckets, and balance-tcp without LACP.

use crate::common::{receive_what_was_sent, scale, t3};
use nicteam_record::{BucketMember, Run};
use nicteam_report::{Side, explain};

fn said(run: &Run) -> (Side, Option<String>, String) {
    let explanation = explain(run);
    (explanation.side, explanation.policy, explanation.sentence)
}

/// T3's second run with a's team in this mode of Open vSwitch, which sends by this member alone.
fn by_buckets(mode: &str, member: &str) -> Run {
    let mut run = t3().runs.swap_remove(2);
    for team in run.topology.teams.iter_mut().filter(|team| team.node == "a") {
        (team.mode, team.engine) = (mode.into(), "ovs".into());
    }
    scale(&mut run, 0.25);
    let own = run.members.iter_mut().filter(|of| of.host == "a");
    own.for_each(|of| of.tx_bps *= if of.member == member { 4.0 } else { 0.0 });
    receive_what_was_sent(&mut run);
    run
}

#[test]
fn buckets_are_told_with_the_member_that_the_daemon_says() {
    let mut run = by_buckets("ovs-balance-slb", "eth2");
    let begins = "Sending side: a sends from one address (mode ovs-balance-slb). A source address has one bucket, and a bucket has \
                  one link: ";
    let without = said(&run).2;
    // `ovs-appctl bond/hash` of a's address.
    let mac: nicteam_wire::Mac = run.topology.hosts[0].mac.parse().unwrap();
    let bucket = nicteam_team::hash::slb::bucket(mac, 0, 0);
    let all = run.connections.len();
    assert_eq!(without, format!("{begins}all {all} connections hash to bucket {bucket}."));
    let (host, team, member) = ("a".into(), "team0".into(), "eth2".into());
    run.buckets = vec![BucketMember { host, team, bucket, member }];
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("ovs-balance-slb")));
    assert_eq!(sentence, format!("{begins}all {all} connections hash to bucket {bucket}, which has member eth2."));
    // Another engine's buckets nobody knows.
    run.topology.teams.iter_mut().for_each(|team| team.engine = "other".into());
    assert!(said(&run).2.ends_with("the busiest was full, the least used at 0.00."), "{}", said(&run).2);
}

#[test]
fn flows_have_buckets_of_their_own() {
    let sentence = said(&by_buckets("ovs-balance-tcp", "eth2")).2;
    let buckets = sentence.matches("to bucket").count();
    assert!(sentence.starts_with("Sending side: a sends") && buckets > 1 || sentence.contains("buckets"), "{sentence}");
}

#[test]
fn balance_tcp_without_lacp_carries_nothing() {
    let mut run = by_buckets("ovs-balance-tcp", "eth2");
    scale(&mut run, 0.0);
    let (side, policy, sentence) = said(&run);
    assert_eq!((side, policy.as_deref()), (Side::Sending, Some("ovs-balance-tcp")));
    let begins = "Sending side: mode ovs-balance-tcp of a needs LACP, and its option lacp is off. So a sends nothing";
    assert!(sentence.starts_with(begins) && sentence.contains("lacp_fallback_ab=1"), "{sentence}");
    // With LACP it is something else.
    let own = run.topology.teams.iter_mut().find(|team| team.node == "a").unwrap();
    own.options.insert("lacp".into(), "active".into());
    assert!(!said(&run).2.contains("needs LACP"), "{}", said(&run).2);
}
