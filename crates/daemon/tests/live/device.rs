//! A team's device is a network device like any other: what docs/device.md says of it, row by row.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{io, thread};

use nicteam_daemon::RunningTeam;
use nicteam_dataplane::{Kind, MEMBER_PREF};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_testnet::{Host, Switch, assert_reach, eventually, is_soak};
use nix::sys::socket::{
    AddressFamily, LinkAddr, SockFlag, SockProtocol, SockType, recvfrom, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::common::{cabled, on_each_dataplane, spec, start, switched, team_sockets};

/// Two teams, and sockets of both hosts that reach each other.
struct Bench {
    a: Host,
    b: Host,
    teams: Vec<RunningTeam>,
    sockets: (UdpSocket, UdpSocket),
    _switch: Option<Switch>,
}

impl Bench {
    /// With a switch where the mode needs one between both for addresses that are no member's, else with two cables.
    fn new(mode: &str, kind: Kind) -> Bench {
        let (mut a, mut b, switch) = match mode {
            "stripe" => {
                let (a, b, switch) = switched(2);
                (a, b, Some(switch))
            }
            _ => {
                let (a, b) = cabled();
                (a, b, None)
            }
        };
        let team = |host: &Host| start(host, spec(&[("mode", mode), ("miimon", "100")], kind)).unwrap();
        let teams = vec![team(&a), team(&b)];
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        Bench { sockets: team_sockets(&a, &b, 7000), a, b, teams, _switch: switch }
    }
}

type Check = fn(&mut Bench);

/// What people put on a bond, by the name of its row in docs/device.md.
const ROWS: [(&str, Check); 12] = [
    ("counters", counters),
    ("capture", capture),
    ("`tbf`", tbf),
    ("`htb`", htb),
    ("filters of others", filters),
    ("nftables", nftables),
    ("macvlan", macvlan),
    ("several addresses", addresses),
    ("MTU", mtu),
    ("packet sockets of programs", programs),
    ("sysfs", sysfs),
    ("`ethtool`", ethtool),
];

/// The other rows, with the test of each: its file below `crates`, and its name.
const ELSEWHERE: [(&str, &str, &str); 10] = [
    ("`fq`, `fq_codel`, `prio`", GUEST, "queueing_disciplines_work"),
    ("VLAN devices", GUEST, "members_are_found"),
    ("VXLAN", GUEST, "a_tunnel_passes"),
    ("priorities", GUEST, "a_member_sees_priorities"),
    ("XDP", OTHERS, "xdp_programs_see_what_the_team_and_its_members_receive"),
    ("TCX", OTHERS, "tcx_links_see_what_the_team_and_its_members_receive"),
    ("sent past the queueing discipline", OTHERS, "frames_past_the_queueing_discipline_are_sent"),
    ("bridge port", "cli/tests/live/guests.rs", "guests_send_and_receive_by_their_hosts_team"),
    ("renaming", RENAMED, "a_renamed_team_is_known_by_both_names"),
    ("another namespace", RENAMED, "a_team_whose_device_is_moved_away_ends_says_so_and_gives_its_members_back"),
];
const GUEST: &str = "cli/tests/guest/vlan.rs";
const OTHERS: &str = "dataplane/tests/live/others.rs";
const RENAMED: &str = "cli/tests/live/team/renamed.rs";

const MODES: [&str; 7] =
    ["active-backup", "stripe", "balance-rr", "balance-xor", "802.3ad", "balance-alb", "ovs-balance-slb"];

#[test]
fn what_people_put_on_a_bond_works_on_a_team() {
    let modes = if is_soak() { MODES.len() } else { 2 };
    on_each_dataplane(|kind| {
        for mode in &MODES[..modes] {
            let mut bench = Bench::new(mode, kind);
            for (row, check) in ROWS {
                eprintln!("{mode}, {kind}: {row}");
                assert_reach(&bench.sockets, row);
                check(&mut bench);
            }
            assert_reach(&bench.sockets, "and all goes on as before");
        }
    });
}

/// Each row of the document has a test here, or names one, and the other way round.
#[test]
fn the_document_has_a_row_for_each_test() {
    let read = |path: &str| std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let document = read("../docs/device.md");
    let table =
        document.split("## What people put on a bond").nth(1).and_then(|rest| rest.split("## ").next()).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let rows: BTreeSet<&str> = rows.filter(|row| *row != "what").collect();
    for (row, file, test) in ELSEWHERE {
        assert!(read(file).contains(&format!("fn {test}(")), "{row}: {file} has no {test}");
    }
    let deleted = "`ip link del`";
    let tests = ROWS.iter().map(|(row, _)| *row).chain(ELSEWHERE.iter().map(|(row, ..)| *row)).chain([deleted]);
    assert_eq!(rows, tests.collect());
}

fn said(host: &Host, command: &str) -> String {
    let output = host.netns.run(|| Command::new("sh").args(["-ec", command]).output().unwrap()).unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Packets received and sent, as `/proc/net/dev` has them.
fn counted(host: &Host, device: &str) -> [u64; 2] {
    let lines = said(host, "cat /proc/net/dev");
    let line = lines.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':')).unwrap();
    let numbers: Vec<u64> = line.split_whitespace().map(|number| number.parse().unwrap()).collect();
    [numbers[1], numbers[9]]
}

/// Datagrams, one at a time: no queue is full.
fn pass(from: &UdpSocket, to: &UdpSocket, count: usize) {
    for number in 0..count {
        from.send(&[number as u8; 100]).unwrap();
        eventually("a datagram", || to.recv(&mut [0; 200]).is_ok());
    }
}

fn counters(bench: &mut Bench) {
    const COUNT: usize = 50;
    let (a, b) = &bench.sockets;
    let before = [&bench.a, &bench.b].map(|host| counted(host, "team0"));
    pass(a, b, COUNT);
    let after = [&bench.a, &bench.b].map(|host| counted(host, "team0"));
    let (sent, received) = (after[0][1] - before[0][1], after[1][0] - before[1][0]);
    // A few more: what the stacks say to each other beside.
    for (what, count) in [("sent", sent), ("received", received)] {
        assert!((COUNT as u64..COUNT as u64 + 20).contains(&count), "{what}: {count} of {COUNT}");
    }
}

/// Frames that a socket for all of them sees at the team device within a moment, by whether they leave.
fn captured(host: &Host, during: impl FnOnce()) -> [usize; 2] {
    let index = said(host, "ip -o link show team0");
    let index: usize = index.split(':').next().unwrap().parse().unwrap();
    let open = || socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll).unwrap();
    let tap = host.netns.run(open).unwrap();
    setsockopt(&tap, sockopt::ReceiveTimeout, &TimeVal::milliseconds(100)).unwrap();
    during();
    let mut seen = [0, 0];
    let mut bytes = [0; 2048];
    // What teams say to each other on members goes on.
    let end = Instant::now() + Duration::from_millis(200);
    while let Ok((length, Some(from))) = recvfrom::<LinkAddr>(tap.as_raw_fd(), &mut bytes)
        && Instant::now() < end
    {
        let is_ours = from.ifindex() == index && bytes[..length].windows(8).any(|part| part == b"captured");
        // PACKET_OUTGOING is 4 (linux/if_packet.h).
        seen[usize::from(from.pkttype() == 4)] += usize::from(is_ours);
    }
    seen
}

fn capture(bench: &mut Bench) {
    let (a, b) = &bench.sockets;
    let host = &bench.a;
    let seen = captured(host, || {
        for _ in 0..3 {
            a.send(b"captured").unwrap();
            eventually("a question", || b.recv(&mut [0; 200]).is_ok());
            b.send(b"captured").unwrap();
            eventually("an answer", || a.recv(&mut [0; 200]).is_ok());
        }
    });
    assert_eq!(seen, [3, 3], "received and sent");
}

/// Mbit/s of one TCP connection from the first host to this port of the second.
fn tcp_rate(bench: &Bench, port: u16, lasting: Duration) -> f64 {
    let address = SocketAddr::from(([10, 2, 0, 2], port));
    let listener = bench.b.netns.run(|| TcpListener::bind(address).unwrap()).unwrap();
    let connect = || TcpStream::connect(address).unwrap();
    let sender = bench.a.netns.run(connect).unwrap();
    let (receiver, _) = listener.accept().unwrap();
    setsockopt(&sender, sockopt::TcpCongestion, &"cubic".into()).unwrap();
    thread::scope(|scope| {
        let counting = scope.spawn(|| io::copy(&mut &receiver, &mut io::sink()).unwrap());
        let start = Instant::now();
        sender.set_nonblocking(true).unwrap();
        while start.elapsed() < lasting {
            if io::Write::write(&mut &sender, &[0; 16384]).is_err() {
                thread::sleep(Duration::from_millis(1));
            }
        }
        drop(sender);
        let received = counting.join().unwrap();
        received as f64 * 8.0 / start.elapsed().as_secs_f64() / 1e6
    })
}

fn tbf(bench: &mut Bench) {
    said(&bench.a, "tc qdisc add dev team0 root tbf rate 10mbit burst 16k limit 30k");
    let rate = tcp_rate(bench, 7100, Duration::from_millis(1200));
    let shown = said(&bench.a, "tc -s qdisc show dev team0; tc qdisc del dev team0 root");
    // A busy machine may send less; past the queueing discipline it would be a thousand times more.
    assert!((2.0..=10.8).contains(&rate), "{rate} Mbit/s through 10");
    let bytes = shown.split("Sent ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(bytes.parse::<u64>().unwrap() > 500_000, "{shown}");
}

fn htb(bench: &mut Bench) {
    said(
        &bench.a,
        "tc qdisc add dev team0 root handle 1: htb default 20
         tc class add dev team0 parent 1: classid 1:10 htb rate 4mbit ceil 4mbit burst 4k cburst 4k
         tc class add dev team0 parent 1: classid 1:20 htb rate 20mbit ceil 20mbit burst 16k cburst 16k
         tc filter add dev team0 parent 1: protocol ip u32 match ip dport 7101 0xffff flowid 1:10",
    );
    let [narrow, wide] = [7101, 7102].map(|port| tcp_rate(bench, port, Duration::from_millis(1200)));
    said(&bench.a, "tc qdisc del dev team0 root");
    assert!(narrow < 4.4 && wide > 2.5 * narrow && wide < 22.0, "{narrow} and {wide} Mbit/s through 4 and 20");
}

/// A filter on what members receive, before ours, which copies it: it sees all, and what it lets go on is the team's.
fn filters(bench: &mut Bench) {
    const COUNT: u64 = 10;
    said(&bench.b, "ip link add name seen type veth peer name seen-end; ip link set seen up; ip link set seen-end up");
    // The kernel drops what is mirrored to it before.
    let seen = bench.b.index("seen");
    let netlink = &mut bench.b.netlink;
    eventually("the kernel sends by it", || netlink.link_at(seen).unwrap().is_some_and(|link| link.running));
    let host = &bench.b;
    for device in ["eth0", "eth1"] {
        let add = "tc qdisc add dev DEV clsact 2>/dev/null || :
            tc filter add dev DEV ingress pref 100 protocol ip u32 match ip dport 7000 0xffff \
                action mirred egress mirror dev seen continue";
        said(host, &add.replace("DEV", device));
    }
    // `doctor` reports these filters.
    let index = bench.b.index("eth0");
    let filters = bench.b.netlink.ingress_filters(index).unwrap();
    let filters: Vec<_> = filters.iter().map(|filter| (filter.priority, filter.kind.as_str())).collect();
    let ours = bench.teams[1].handle().status().unwrap().dataplane == "bpf";
    let expected = [(100, "u32"), (MEMBER_PREF, "bpf")];
    assert_eq!(filters, expected[..1 + usize::from(ours)]);
    let host = &bench.b;
    let before = counted(host, "seen")[1];
    pass(&bench.sockets.0, &bench.sockets.1, COUNT as usize);
    // A switch that forgot an address sends to all.
    let copied = counted(host, "seen")[1] - before;
    assert!((COUNT..=2 * COUNT).contains(&copied), "{copied} of {COUNT}");
    for device in ["eth0", "eth1"] {
        said(host, &format!("tc filter del dev {device} ingress pref 100"));
    }
    said(host, "ip link del seen");
}

fn nftables(bench: &mut Bench) {
    let (a, b) = &bench.sockets;
    let chain = "add table netdev t; add chain netdev t c { type filter hook ingress device team0 priority 0; }; \
        add rule netdev t c udp dport 7000 drop";
    said(&bench.b, &format!("nft '{chain}'"));
    a.send(b"dropped").unwrap();
    let mut bytes = [0; 200];
    while let Ok(length) = b.recv(&mut bytes) {
        assert_ne!(&bytes[..length], b"dropped", "the rule at the team's ingress holds");
    }
    said(&bench.b, "nft delete table netdev t");
    assert_reach(&bench.sockets, "without the rule");
}

fn macvlan(bench: &mut Bench) {
    for (host, last) in [(&bench.a, 1), (&bench.b, 2)] {
        said(
            host,
            &format!(
                "ip link add link team0 name vrrp type macvlan mode private
                 ip address add 10.3.0.{last}/24 dev vrrp && ip link set vrrp up"
            ),
        );
    }
    let address = |last: u8| SocketAddr::from(([10, 3, 0, last], 7003));
    let own = nicteam_testnet::datagrams((&bench.a, address(1)), (&bench.b, address(2)));
    assert_reach(&own, "devices with addresses of their own on both teams");
    for host in [&bench.a, &bench.b] {
        said(host, "ip link del vrrp");
    }
}

/// A client of DHCP has a socket for frames on the team, a daemon of LLDP one on each member.
fn programs(bench: &mut Bench) {
    const OWN: [u8; 6] = [2, 0, 0, 0, 0xd, 1];
    let mut dhcp = [&[0xff; 6][..], &OWN, &[8, 0, 0x45, 0, 0, 200, 0, 1, 0, 0, 64, 17]].concat();
    // A right sum: a bridge that watches groups drops others.
    dhcp.extend([0x7a, 0x25, 0, 0, 0, 0, 255, 255, 255, 255, 0, 68, 0, 67, 0, 180, 0, 0]);
    dhcp.resize(214, 7);
    let heard = |socket: &PacketSocket, wanted: &[u8]| {
        let mut batch = Batch::new();
        let end = Instant::now() + Duration::from_millis(150);
        let mut count = 0;
        while Instant::now() < end {
            socket.receive(&mut batch).unwrap();
            count += batch.frames().filter(|frame| frame.bytes == wanted).count();
            batch.clear();
            thread::sleep(Duration::from_millis(2));
        }
        count
    };
    let (sender, receiver) = (bench.a.packet_socket("team0"), bench.b.packet_socket("team0"));
    assert!(sender.send_frame(&dhcp));
    assert_eq!(heard(&receiver, &dhcp), 1, "a broadcast arrives, and once");
    if bench._switch.is_some() {
        // It keeps LLDP from the other end.
        return;
    }
    let lldp = [&[1, 0x80, 0xc2, 0, 0, 0x0e][..], &OWN, &[0x88, 0xcc], &[7; 60]].concat();
    for member in ["eth0", "eth1"] {
        let (sender, receiver) = (bench.a.packet_socket(member), bench.b.packet_socket(member));
        assert!(sender.send_frame(&lldp));
        assert_eq!(heard(&receiver, &lldp), 1, "{member}");
    }
}

/// What programs read there of any device.
fn sysfs(bench: &mut Bench) {
    let read = "unshare --mount sh -ec 'mount -t sysfs none /sys; cd /sys/class/net/team0; \
        cat operstate carrier mtu address; cat statistics/tx_packets'";
    let said = said(&bench.a, read);
    let lines: Vec<&str> = said.lines().collect();
    let mac = bench.teams[0].handle().status().unwrap().mac;
    assert_eq!(lines[..4], ["up", "1", "1500", mac.as_str()]);
    let sent: u64 = lines[4].parse().unwrap();
    assert!((1..=counted(&bench.a, "team0")[1]).contains(&sent), "{said}");
}

/// Link, speed and features, and a feature that is switched while frames pass.
fn ethtool(bench: &mut Bench) {
    let ethtool = bench.a.netns.run(|| Ethtool::open().unwrap()).unwrap();
    assert!(ethtool.carrier("team0").unwrap());
    let settings = ethtool.settings("team0").unwrap();
    assert_eq!((settings.speed_mbps, settings.full_duplex), (Some(10_000), Some(true)));
    let segments = || ethtool.features("team0").unwrap()["tx-tcp-segmentation"];
    assert!(segments().on && segments().can_change);
    for on in [false, true] {
        ethtool.set_segmentation("team0", on).unwrap();
        assert_eq!(segments().on, on);
        assert!(tcp_rate(bench, 7200 + u16::from(on), Duration::from_millis(50)) > 0.0);
    }
}

fn addresses(bench: &mut Bench) {
    said(&bench.a, "ip address add 10.4.0.1/24 dev team0");
    said(&bench.b, "ip address add 10.4.0.2/24 dev team0");
    let address = |last: u8| SocketAddr::from(([10, 4, 0, last], 7004));
    assert_reach(&nicteam_testnet::datagrams((&bench.a, address(1)), (&bench.b, address(2))), "10.4.0.0");
    said(&bench.a, "ip address del 10.4.0.1/24 dev team0");
    said(&bench.b, "ip address del 10.4.0.2/24 dev team0");
}

fn mtu(bench: &mut Bench) {
    for mtu in ["1400", "1500"] {
        for host in [&bench.a, &bench.b] {
            said(host, &format!("ip link set team0 mtu {mtu}"));
            eventually("members follow", || {
                ["team0-dp", "eth0", "eth1"]
                    .iter()
                    .all(|device| said(host, &format!("ip -o link show {device}")).contains(&format!("mtu {mtu} ")))
            });
        }
        assert_reach(&bench.sockets, mtu);
    }
    let repairs = bench.teams.iter().flat_map(|team: &RunningTeam| team.handle().status().unwrap().repairs);
    assert_eq!(repairs.collect::<Vec<_>>(), [], "nobody took anything away");
}
