//! Whose a team is, whose a device is, and what cannot be a team.

use crate::common::{cabled, identities, on_each_dataplane, spec, start};
use nicteam_daemon::{Error, TeamSpec};

#[test]
fn a_team_has_one_owner() {
    on_each_dataplane(|kind| {
        let (mut a, b) = cabled();
        let team = start(&a, spec(&[], kind)).unwrap();
        let during = identities(&mut a, &["team0", "eth0", "eth1"]);
        let error = start(&a, spec(&[], kind)).unwrap_err();
        assert!(matches!(error, Error::Running { .. }), "{kind}: {error}");
        assert!(error.to_string().contains("/team0.lock"), "{error}");
        assert_eq!(identities(&mut a, &["team0", "eth0", "eth1"]), during, "{kind}");
        let elsewhere = start(&b, spec(&[], kind)).expect("another namespace, another team");
        assert_eq!(team.report().unwrap().members.len(), 2);
        elsewhere.remove().unwrap();
        team.remove().unwrap();
        start(&a, spec(&[], kind)).expect("the name is free again").remove().unwrap();
    });
}

#[test]
fn a_member_has_one_team() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = identities(&mut a, &["eth0"]);
        let only = |name: &str, member: &str| TeamSpec {
            name: name.to_owned(),
            members: vec![member.to_owned()],
            ..spec(&[], kind)
        };
        let first = start(&a, only("team0", "eth0")).unwrap();
        let during = identities(&mut a, &["eth0"]);
        let error = start(&a, only("team1", "eth0")).unwrap_err().to_string();
        assert!(error.contains("`eth0` is a member of team team0"), "{kind}: {error}");
        assert_eq!(identities(&mut a, &["eth0"]), during, "{kind}");
        assert!(a.netlink.link("team1").unwrap().is_none(), "{kind}: a device is left");
        start(&a, only("team1", "eth1")).expect("a device that nobody has").remove().unwrap();
        // What nobody runs any more has no claim.
        drop(first);
        start(&a, only("team1", "eth0")).unwrap().remove().unwrap();
        assert_eq!(identities(&mut a, &["eth0"]), before, "{kind}");
    });
}

#[test]
fn what_cannot_be_a_team_is_refused_and_nothing_is_left() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let mut refuse = |spec: TeamSpec, words: &str| {
            let error = start(&a, spec).unwrap_err().to_string();
            assert!(error.contains(words), "{kind}: {error}");
            assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: a device is left");
        };
        let good = || spec(&[], kind);
        refuse(TeamSpec { members: vec!["nope".to_owned()], ..good() }, "no device `nope`");
        refuse(TeamSpec { members: vec!["eth0".to_owned(), "lo".to_owned()], ..good() }, "no Ethernet address");
        refuse(TeamSpec { members: Vec::new(), ..good() }, "no members");
        refuse(TeamSpec { members: vec!["eth0".to_owned(), "eth0".to_owned()], ..good() }, "member already");
        refuse(TeamSpec { name: "far-too-long-a-name".to_owned(), ..good() }, "cannot be a team's name");
        refuse(TeamSpec { name: "eth1".to_owned(), ..good() }, "exists and is no team");
    });
}
