//! Mode stripe, live: two teams and one plain learning bridge between them.

mod common;

use common::{assert_reach, on_each_dataplane, spec, start};
use nicteam_daemon::{PeerState, RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, cable, eventually};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Two hosts with two links each into one switch.
struct Net {
    a: Host,
    b: Host,
    switch: Host,
    teams: Vec<RunningTeam>,
}

const MEMBERS: u32 = 2;

impl Net {
    fn new(kind: Kind) -> Net {
        let (mut a, mut b, mut switch) = (Host::new(), Host::new(), Host::new());
        switch.netlink.add_bridge("br").unwrap();
        let bridge = switch.index("br");
        for (host, name, first) in [(&mut a, "a", 1000), (&mut b, "b", 1100)] {
            for n in 0..MEMBERS {
                cable(host, &format!("eth{n}"), &mut switch, &format!("{name}{n}"), first + 2 * n);
                switch.netlink.set_master(first + 2 * n + 1, Some(bridge)).unwrap();
            }
        }
        switch.set_up("br", true);
        let teams = vec![start(&a, striping(kind)).unwrap(), start(&b, striping(kind)).unwrap()];
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        Net { a, b, switch, teams }
    }

    fn sockets(&self) -> (UdpSocket, UdpSocket) {
        let address = |n: u8| SocketAddr::from(([10, 2, 0, n], 7000));
        let (a, b) = (self.a.udp(address(1)), self.b.udp(address(2)));
        a.connect(address(2)).unwrap();
        b.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        (a, b)
    }

    /// Frames that each member of the first team sent.
    fn sent(&self) -> Vec<u64> {
        self.teams[0].handle().status().unwrap().members.iter().map(|member| member.tx_frames).collect()
    }
}

fn striping(kind: Kind) -> TeamSpec {
    spec(&[("mode", "stripe"), ("miimon", "10")], kind)
}

fn peers(team: &RunningTeam) -> Vec<PeerState> {
    team.handle().status().unwrap().peers
}

/// Every team knows one peer, over so many paths that work.
fn know_each_other(net: &Net, paths: usize) -> bool {
    let knows = |team| matches!(&peers(team)[..], [peer] if peer.working() == paths);
    net.teams.iter().all(knows)
}

#[test]
fn two_teams_use_all_links_and_leave_a_lost_one() {
    on_each_dataplane(|kind| {
        let mut net = Net::new(kind);
        eventually("two paths", || know_each_other(&net, 2));
        let sockets = net.sockets();
        assert_reach(&sockets, "a datagram");
        let before = net.sent();
        let mut buffer = [0; 8];
        // On a busy machine one that is late is not lost.
        sockets.1.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        for number in 0..200_u32 {
            sockets.0.send(&number.to_be_bytes()).unwrap();
            assert!(sockets.1.recv(&mut buffer).is_ok(), "{kind}: datagram {number} is lost");
        }
        sockets.1.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        // One flow, and all members carry it; their probes are counted with it.
        let carried: Vec<u64> = net.sent().iter().zip(&before).map(|(after, before)| after - before).collect();
        assert!(carried.iter().all(|frames| *frames >= 80), "{kind}: {carried:?}");

        let shown = show::text(&net.teams[0].handle().status().unwrap());
        let mac = &net.teams[1].handle().status().unwrap().mac;
        assert!(shown.contains(&format!("peer       {mac}: 2 of 2 paths work")), "{kind}: {shown}");
        assert!(shown.contains("hellos are not authenticated"), "{kind}: {shown}");

        // The far end's cable: nobody at the near end sees its carrier go.
        net.switch.set_up("b1", false);
        eventually("the rest carries", || !peers(&net.teams[0]).iter().any(|peer| peer.paths.is_empty()));
        assert_reach(&sockets, "a datagram over what is left");
        net.switch.set_up("b1", true);
        eventually("two paths again", || know_each_other(&net, 2));
        assert_reach(&sockets, "a datagram over both");
    });
}

#[test]
fn who_does_not_stripe_is_reached_and_a_team_that_ends_is_forgotten() {
    on_each_dataplane(|kind| {
        let mut net = Net::new(kind);
        let mut plain = Host::new();
        cable(&mut plain, "eth0", &mut net.switch, "plain", 1200);
        let bridge = net.switch.index("br");
        net.switch.netlink.set_master(1201, Some(bridge)).unwrap();
        plain.address("eth0", &[("10.2.0.3", 24)]);
        let (near, far) = (SocketAddr::from(([10, 2, 0, 1], 7100)), SocketAddr::from(([10, 2, 0, 3], 7100)));
        let sockets = (net.a.udp(near), plain.udp(far));
        sockets.0.connect(far).unwrap();
        sockets.1.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        assert_reach(&sockets, "a datagram to a plain host");
        eventually("two paths", || know_each_other(&net, 2));
        net.teams.pop().unwrap().remove().unwrap();
        eventually("no paths", || peers(&net.teams[0]).iter().all(|peer| peer.working() == 0));
        eventually("no peers", || peers(&net.teams[0]).is_empty());
        let shown = show::text(&net.teams[0].handle().status().unwrap());
        assert!(shown.contains("peers      none: nobody else here stripes"), "{kind}: {shown}");
        assert_reach(&sockets, "a datagram to a plain host, as before");
    });
}
