//! What of the traffic is lost while a team comes up and goes down: by mode, dataplane, direction and family, each beside
//! active-backup in the same run.
//!
//! `NICTEAM_SOAK=1 cargo test -p nicteam --test tests host::lost -- --nocapture --test-threads 1` prints the lines of the table in docs/up.md.

use std::net::Ipv6Addr;
use std::time::Duration;

use nicteam_testnet::{Switch, eventually, is_soak};
use serde_json::Value;

use super::{FAR, FAR_V6, NEAR, NEAR_V6, Network};
use crate::common::teams::{Probes, TeamHost, may_test_bpf};

/// Datagrams that each stream lost: out by IPv4 and IPv6, in by IPv4 and IPv6. There is one each millisecond.
type Lost = [usize; 4];

/// Four streams between the hosts of a network.
struct Streams([Probes; 4]);

impl Streams {
    fn of(network: &Network) -> Streams {
        let [near_v6, far_v6] = [NEAR_V6, FAR_V6].map(|address| address.parse::<Ipv6Addr>().unwrap());
        let (near, far) = (&network.near.host, &network.far);
        Streams([
            Probes::new(near, NEAR, far, FAR),
            Probes::new(near, near_v6, far, far_v6),
            Probes::new(far, FAR, near, NEAR),
            Probes::new(far, far_v6, near, near_v6),
        ])
    }

    fn lost_during(&self, change: impl FnOnce()) -> Lost {
        let lost = Probes::all_lost_during(&self.0.each_ref(), change);
        std::array::from_fn(|at| lost[at].0.len())
    }
}

/// What is lost when a team with these lines comes up, and when it goes down; `settle`: nothing of it is still to come then.
fn lost(
    network: &Network,
    streams: &Streams,
    (name, lines): (&str, &str),
    settle: impl Fn(&Network, bool),
) -> [Lost; 2] {
    let text = format!("[teams.team0]\nmembers = [\"eth0\", \"eth1\"]\nmiimon = 10\n{lines}");
    let file = network.file("teams.toml", &text);
    [("up", file.as_str()), ("down", "team0")].map(|(command, what)| {
        let lost = streams.lost_during(|| {
            network.done(&[command, what]);
            settle(network, command == "up");
        });
        let [out_v4, out_v6, in_v4, in_v6] = lost;
        eprintln!("| {name} | {command} | {out_v4} | {out_v6} | {in_v4} | {in_v6} |");
        lost
    })
}

/// Not much more than active-backup loses on this machine at this time.
#[track_caller]
fn assert_like(peer: &[Lost; 2], lost: &[Lost; 2], name: &str) {
    for ((peer, lost), command) in peer.iter().zip(lost).zip(["up", "down"]) {
        let most = 4 * peer.iter().max().unwrap() + if command == "up" { 100 } else { 20 };
        assert!(lost.iter().all(|lost| *lost <= most), "{name}, {command}: {lost:?}, and active-backup {peer:?}");
    }
}

/// How many members of a team frames are sent by.
fn aggregating(host: &TeamHost, team: &str) -> usize {
    let status = host.status(team);
    status["members"].as_array().unwrap().iter().filter(|member| member["active"] == Value::Bool(true)).count()
}

/// A network whose switch aggregates the ports, with members that wait for each other so long.
fn aggregated(wait_ms: u32) -> Network {
    Network::at(Switch::new(), |switch| {
        for port in ["a0", "a1"] {
            let index = switch.host.index(port);
            switch.host.netlink.set_master(index, None).unwrap();
        }
        let wait = format!("aggregate_wait={wait_ms}");
        switch.run(&["add", "lag", "--mode", "802.3ad", "--members", "a0,a1", "-o", "miimon=10", "-o", &wait]);
        let (bridge, lag) = (switch.host.index("br0"), switch.host.index("lag"));
        switch.host.netlink.set_master(lag, Some(bridge)).unwrap();
    })
}

mod quiet {
    use super::*;

    fn compare(dataplane: &str, called: &str) {
        let network = Network::new();
        let streams = Streams::of(&network);
        let of = |mode: &str| {
            let lines = format!("mode = \"{mode}\"\ndataplane = \"{dataplane}\"\n");
            lost(&network, &streams, (&format!("{mode}, {called}"), &lines), |_, _| ())
        };
        let peer = of("active-backup");
        for mode in ["balance-xor", "802.3ad", "stripe"] {
            assert_like(&peer, &of(mode), mode);
        }
    }

    #[test]
    fn every_mode_loses_about_what_active_backup_does() {
        if may_test_bpf() {
            compare("bpf", "eBPF");
        }
    }

    #[test]
    fn so_it_is_on_packet_sockets() {
        if may_test_bpf() {
            compare("packet", "packet sockets");
        }
    }

    #[test]
    fn lacp_at_the_switch_costs_the_wait_of_both_ends_alone() {
        if !may_test_bpf() {
            return;
        }
        let network = Network::new();
        let peer =
            lost(&network, &Streams::of(&network), ("active-backup, eBPF", "mode = \"active-backup\"\n"), |_, _| ());
        let waits: &[u32] = if is_soak() { &[0, 2000] } else { &[0] };
        for wait_ms in waits {
            let network = aggregated(*wait_ms);
            let lines = format!("mode = \"802.3ad\"\naggregate_wait = {wait_ms}\n");
            let name = format!("802.3ad, eBPF, a switch with LACP, aggregate_wait {wait_ms}");
            let mut of = lost(&network, &Streams::of(&network), (&name, &lines), |network, up| match up {
                true => eventually("both members", || {
                    aggregating(&network.near, "team0") == 2 && aggregating(&network.switch, "lag") == 2
                }),
                // The partner's time is 90 s: it sends on by what it has not been told to leave.
                false => std::thread::sleep(Duration::from_secs(1)),
            });
            of[0].iter_mut().for_each(|lost| *lost = lost.saturating_sub(*wait_ms as usize));
            assert_like(&peer, &of, &name);
        }
    }
}
