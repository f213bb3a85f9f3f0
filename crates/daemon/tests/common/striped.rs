//! Two hosts with a striping team each, and a switch between them.

use std::net::UdpSocket;

use nicteam_daemon::{PeerState, RunningTeam, TeamSpec};
use nicteam_testnet::{Host, Switch};

use super::{start, switched, team_sockets};

/// The hosts have their links at the ports a0 and on, b0 and on.
pub struct Striped {
    pub a: Host,
    pub b: Host,
    pub switch: Switch,
    pub teams: Vec<RunningTeam>,
}

impl Striped {
    /// With so many links each, and teams of this kind on both.
    pub fn new(links: usize, spec: TeamSpec) -> Striped {
        let (mut a, mut b, switch) = switched(links);
        let spec = TeamSpec { members: (0..links).map(|n| format!("eth{n}")).collect(), ..spec };
        let teams = vec![start(&a, spec.clone()).unwrap(), start(&b, spec).unwrap()];
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        Striped { a, b, switch, teams }
    }

    pub fn sockets(&self, port: u16) -> (UdpSocket, UdpSocket) {
        team_sockets(&self.a, &self.b, port)
    }

    /// Every team knows one peer, over so many paths that work.
    pub fn has_paths(&self, paths: usize) -> bool {
        self.teams.iter().all(|team| matches!(&peers(team)[..], [peer] if peer.working() == paths))
    }
}

pub fn peers(team: &RunningTeam) -> Vec<PeerState> {
    team.handle().status().unwrap().peers
}
