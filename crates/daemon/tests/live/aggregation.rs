//! 802.3ad on live links: two teams agree, and say why where they do not.

use crate::common::{Pair, assert_reach, cabled, on_each_dataplane, spec, start};
use nicteam_daemon::{RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_sys::packet::Batch;
use nicteam_testnet::eventually;
use nicteam_wire::{Frame, ethertype};

/// Fast in everything, so that a test is short.
const FAST: &[(&str, &str)] = &[("mode", "802.3ad"), ("lacp_rate", "fast"), ("aggregate_wait", "0"), ("miimon", "20")];

fn aggregating(team: &RunningTeam) -> Vec<bool> {
    team.report().unwrap().members.iter().map(|member| member.status.active).collect()
}

/// Everything that the team says is wrong.
fn problems(team: &RunningTeam) -> String {
    let problems = team.handle().status().unwrap().problems;
    problems.into_iter().map(|problem| problem.text + "\n").collect()
}

#[track_caller]
fn settled(pair: &Pair) {
    eventually("both members of both teams", || pair.teams.iter().all(|team| aggregating(team) == [true, true]));
}

#[test]
fn two_teams_agree_and_survive_a_cut() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(FAST, kind);
        settled(&pair);
        let sockets = pair.sockets();
        assert_reach(&sockets, "the first datagram");
        let status = pair.teams[0].handle().status().unwrap();
        assert_eq!(status.problems, [], "{kind}");
        assert_eq!(status.lacp.as_ref().unwrap().active.as_ref().unwrap().ports, 2, "{kind}");
        let partner = &status.members[0].lacp.as_ref().unwrap().partner;
        assert_eq!(partner.system, nicteam_wire::Mac(pair.b.link("team0").mac).to_string(), "{kind}");
        assert!(
            show::text(&status).contains(&format!("2 aggregate with {}", partner.system)),
            "{}",
            show::text(&status)
        );
        let proc = show::proc(&status);
        assert!(
            proc.contains("IEEE 802.3ad Dynamic link aggregation") && proc.contains("    port state: 63\n"),
            "{proc}"
        );

        pair.b.set_up("eth0", false);
        eventually("one member at both ends", || pair.teams.iter().all(|team| aggregating(team) == [false, true]));
        assert_reach(&sockets, "a datagram after the cut");
        pair.b.set_up("eth0", true);
        settled(&pair);
        assert_reach(&sockets, "a datagram after the return");
    });
}

#[test]
fn what_members_say_before_the_first_plan_is_sent_behind_it() {
    on_each_dataplane(|kind| {
        let (a, mut b) = cabled();
        let (tap, mut batch, mut heard) = (b.packet_socket("eth0"), Batch::new(), 0);
        let team = start(&a, spec(FAST, kind)).unwrap();
        let sent = || team.handle().status().unwrap().members[0].lacp.as_ref().unwrap().lacpdus_sent;
        eventually("every LACPDU that was sent", || {
            let sent = sent();
            tap.receive(&mut batch).unwrap();
            let is_slow = |frame: &[u8]| Frame::parse(frame).unwrap().ethertype() == ethertype::SLOW;
            heard += batch.frames().filter(|received| is_slow(received.bytes)).count() as u64;
            sent > 0 && heard >= sent
        });
    });
}

#[test]
fn a_partner_that_falls_silent_leaves_one_member() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(FAST, kind);
        settled(&pair);
        pair.teams.pop().unwrap().remove().unwrap();
        let team = &pair.teams[0];
        eventually("one member that serves", || aggregating(team).iter().filter(|active| **active).count() == 1);
        eventually("the reason", || problems(team).contains("does not aggregate: partner silent: no LACPDU comes"));
        assert!(pair.a.link("team0").carrier, "{kind}");
    });
}

#[test]
fn a_strict_team_without_a_partner_has_no_carrier() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let team = start(&a, spec(&[FAST, &[("lacp_strict", "on")]].concat(), kind)).unwrap();
        eventually("the reason", || problems(&team).contains("eth1 does not aggregate: partner silent"));
        assert_eq!(aggregating(&team), [false, false], "{kind}");
        assert!(!a.link("team0").carrier, "{kind}");
    });
}

#[test]
fn ports_of_another_key_or_system_stand_by() {
    let case = |options: [&[(&str, &str)]; 2], reason: &str, kind: Kind| {
        let (a, b) = cabled();
        let one = |name: &str, device: &str, more: &[(&str, &str)]| TeamSpec {
            name: name.to_owned(),
            members: vec![device.to_owned()],
            ..spec(&[FAST, more].concat(), kind)
        };
        let _far = [start(&b, one("t0", "eth0", options[0])), start(&b, one("t1", "eth1", options[1]))];
        let team = start(&a, spec(FAST, kind)).unwrap();
        eventually(reason, || problems(&team).contains(reason));
        assert_eq!(aggregating(&team).iter().filter(|active| **active).count(), 1, "{kind}");
    };
    on_each_dataplane(|kind| {
        let same = ("ad_actor_system", "02:00:00:00:00:77");
        case([&[same, ("ad_user_port_key", "1")], &[same, ("ad_user_port_key", "2")]], "keys differ", kind);
        case([&[], &[]], "partner in another system", kind);
    });
}
