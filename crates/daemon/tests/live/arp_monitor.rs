//! The ARP monitor, live: a member that loses every frame without losing its carrier.

use crate::common::{on_each_dataplane, spec, start};
use nicteam_daemon::RunningTeam;
use nicteam_team::LinkState;
use nicteam_testnet::{Host, Switch, eventually};

fn states(team: &RunningTeam) -> Vec<LinkState> {
    team.report().unwrap().members.iter().map(|member| member.status.state).collect()
}

/// A host with two cables to a switch, and the target at its third port.
fn network() -> (Host, Switch, Host) {
    let (mut a, mut switch, mut target) = (Host::new(), Switch::new(), Host::new());
    switch.join_all(&mut a, "eth", "p", 2);
    switch.join(&mut target, "eth0", "p2");
    target.address("eth0", &[("10.2.0.2", 24), ("fd00::2", 64)]);
    (a, switch, target)
}

#[test]
fn a_silent_link_is_found_and_comes_back() {
    on_each_dataplane(|kind| {
        for (target, address, prefix) in [("arp_ip_target", "10.2.0.2", 24), ("ns_ip6_target", "fd00::2", 64)] {
            let (mut a, mut switch, _target) = network();
            let options = [
                ("mode", "active-backup"),
                ("primary", "eth0"),
                ("arp_interval", "50"),
                (target, address),
                ("arp_validate", "all"),
            ];
            let own = if prefix == 24 { "10.2.0.1" } else { "fd00::1" };
            let team = start(&a, spec(&options, kind)).unwrap();
            a.address("team0", &[(own, prefix)]);
            let active = |place: usize| {
                let members = team.report().unwrap().members;
                members[place].status.active && members[place].status.state == LinkState::Up
            };
            eventually("both members to be up", || states(&team) == [LinkState::Up; 2] && active(0));
            switch.set_passing("p0", false);
            eventually("the other member", || active(1) && states(&team)[0] == LinkState::Down);
            assert!(a.link("eth0").carrier, "{kind}: the link is silent, not down");
            switch.set_passing("p0", true);
            eventually("the primary's return", || active(0));
            team.remove().unwrap();
        }
    });
}
