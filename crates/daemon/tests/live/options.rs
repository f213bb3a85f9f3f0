//! Options that speak of members, live: who is active, which queue leaves by whom.

use crate::common::{Pair, assert_reach, cabled, identities, on_each_dataplane, spec, start};
use nicteam_daemon::control::{Refusal, RefusalKind};
use nicteam_daemon::{Error, OptionChange, RunningTeam, TeamStatus};
use nicteam_dataplane::Kind;
use nicteam_testnet::eventually;

fn set(team: &RunningTeam, option: &str, value: &str) -> Result<Vec<OptionChange>, Error> {
    team.handle().set(vec![(option.to_owned(), value.to_owned())])
}

fn status(team: &RunningTeam) -> TeamStatus {
    team.handle().status().unwrap()
}

#[test]
fn active_slave_is_set_shown_and_cleared() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "active-backup"), ("miimon", "10")], kind);
        let team = &pair.teams[0];
        let sockets = pair.sockets();
        assert_eq!(status(team).option("active_slave"), "eth0", "{kind}");
        let changed = set(team, "active_slave", "eth1").unwrap();
        let expected =
            OptionChange { option: "active_slave".to_owned(), from: "eth0".to_owned(), to: "eth1".to_owned() };
        assert_eq!(changed, [expected], "{kind}");
        assert_eq!((status(team).active.as_deref(), status(team).option("active_slave")), (Some("eth1"), "eth1"));
        assert_eq!(set(team, "active_slave", "eth1").unwrap(), [], "{kind}: it is active already");
        // The other end has to listen there, too.
        set(&pair.teams[1], "active_slave", "eth1").unwrap();
        assert_reach(&sockets, "a datagram by the other member");
        assert_eq!(set(team, "primary", "eth0").unwrap().len(), 1, "{kind}: who is active follows, and is no change");
        assert_eq!(status(team).option("active_slave"), "eth0", "{kind}");
        set(team, "active_slave", "eth1").unwrap();
        set(team, "active_slave", "").unwrap();
        assert_eq!(status(team).option("active_slave"), "eth0", "{kind}: the primary is the best");
        pair.b.set_up("eth1", false);
        eventually("a member that is down", || status(&pair.teams[0]).members[1].state == "down");
        let refused = |value| Refusal::from(&set(&pair.teams[0], "active_slave", value).unwrap_err());
        let (down, stranger) = (refused("eth1"), refused("eth9"));
        assert_eq!((down.kind, down.errno), (RefusalKind::NotNow, Some(libc_errno::EINVAL)), "{down}");
        assert_eq!((stranger.kind, stranger.errno), (RefusalKind::NoDevice, Some(libc_errno::ENODEV)), "{stranger}");
        assert_eq!(status(&pair.teams[0]).option("active_slave"), "eth0", "{kind}");
    });
}

/// Error numbers of the kernel.
mod libc_errno {
    pub const EINVAL: i32 = 22;
    pub const ENODEV: i32 = 19;
}

#[test]
fn a_team_starts_with_the_active_slave_that_was_asked_for() {
    on_each_dataplane(|kind| {
        let (mut a, mut b) = cabled();
        let before = identities(&mut a, &["eth0", "eth1"]);
        let options = [("mode", "active-backup"), ("active_slave", "eth1"), ("miimon", "10")];
        let team = start(&a, spec(&options, kind)).unwrap();
        assert_eq!(status(&team).option("active_slave"), "eth1", "{kind}");
        team.remove().unwrap();
        b.set_up("eth1", false);
        let refused = start(&a, spec(&options, kind)).map(drop).unwrap_err().to_string();
        assert!(refused.contains("`eth1` cannot become active: it is down"), "{kind}: {refused}");
        let stranger = [("mode", "active-backup"), ("active_slave", "eth9")];
        let refused = start(&a, spec(&stranger, kind)).map(drop).unwrap_err().to_string();
        assert!(refused.contains("`eth9` is no member of team team0"), "{kind}: {refused}");
        assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind}");
        assert_eq!(a.netlink.link("team0").unwrap(), None, "{kind}");
    });
}

#[test]
fn queue_id_is_for_ebpf_alone_and_says_so() {
    on_each_dataplane(|kind| {
        let (a, _b) = cabled();
        let with_queues = [("mode", "active-backup"), ("queue_id", "eth0:1,eth1:16")];
        let started = start(&a, spec(&with_queues, kind));
        if kind == Kind::Packet {
            let refused = Refusal::from(&started.map(drop).unwrap_err());
            assert_eq!(refused.kind, RefusalKind::Missing, "{refused}");
            let team = start(&a, spec(&[("mode", "active-backup")], kind)).unwrap();
            let refused = set(&team, "queue_id", "eth0:1").unwrap_err().to_string();
            assert!(refused.contains("needs the eBPF dataplane") && refused.contains("hint"), "{refused}");
            assert_eq!(set(&team, "queue_id", "eth0:0").unwrap(), []);
            return;
        }
        let team = started.unwrap();
        assert_eq!((status(&team).queue_id("eth1"), status(&team).queue_id("eth9")), (16, 0));
        assert!(nicteam_daemon::show::proc(&status(&team)).contains("Slave queue ID: 16\n"));
        let twice = Refusal::from(&set(&team, "queue_id", "eth0:16").unwrap_err());
        assert_eq!(twice.kind, RefusalKind::BadOption, "{twice}");
        set(&team, "queue_id", "eth0:2").unwrap();
        assert_eq!(status(&team).option("queue_id"), "eth0:2,eth1:16");
    });
}
