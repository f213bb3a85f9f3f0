//! `nicteam explain` beside the kernel's own bonding driver and teamd, in a guest that has both: faults that are planted one after another.

use std::path::Path;

use serde_json::Value;

/// A bond of two links, and a bond at their other ends, in a namespace of its own. In the guest's own memory, for the host's
/// files are not its to write.
const BUILD: &str = "mount -t tmpfs none /run && cd /run && export PATH=/usr/sbin:/sbin:/usr/bin:/bin && \
    ip netns add far && \
    for n in 0 1; do ip link add name m$n type veth peer name p$n && ip link set p$n netns far; done && \
    O='type bond mode 802.3ad lacp_rate fast miimon 50' && \
    ip link add bond0 $O xmit_hash_policy layer3+4 && \
    ip netns exec far ip link add bond0 $O xmit_hash_policy layer2 && \
    for n in 0 1; do ip link set m$n master bond0 && ip netns exec far ip link set p$n master bond0; done && \
    ip link set bond0 up && ip netns exec far ip link set bond0 up && \
    ip address add 10.0.0.1/24 dev bond0 && ip netns exec far ip address add 10.0.0.2/24 dev bond0";
/// A second bond, of two TAP devices that are set to 10 Mbit/s: Linux 6.1 gives them this speed, 6.12 gives them 10 Gbit/s.
/// Their other ends are a program: it reads what comes unless there is `/run/stalled`, and answers ARP, for the bond's own
/// address if there is `/run/claims`.
const TAPS: &str = r#"mknod /run/tun c 10 200
cat > /run/taps.pl <<'END'
my @taps = map { sysopen(my $tap, "/run/tun", 2050) or die; my $name = pack("a16 s x22", "t$_", 0x1002);
    ioctl($tap, 0x400454ca, $name) or die; $tap } 0, 1;
my ($own, $mac) = (pack("C4", 10, 0, 1, 1), pack("C6", 2, 0, 0, 0, 0, 119));
while (1) {
    for my $tap (@taps) {
        while (!-e "/run/stalled" && sysread($tap, my $f, 2048)) {
            next unless length $f >= 42 && unpack("n", substr($f, 12, 2)) == 0x0806 && unpack("n", substr($f, 20, 2)) == 1;
            my $asked = substr($f, 38, 4);
            next if $asked eq $own && !-e "/run/claims";
            syswrite($tap, substr($f, 6, 6) . $mac . pack("nnnCCn", 0x0806, 1, 0x0800, 6, 4, 2) . $mac . $asked . substr($f, 22, 10));
        }
    }
    select(undef, undef, undef, 0.002);
}
END
cat > /run/speed.pl <<'END'
socket(my $any, 2, 2, 0) or die;
my $set = pack("LLLSCCCCCCLLSCCLLL", 2, 0, 0, $ARGV[1], 1, (0) x 12);
ioctl($any, 0x8946, my $ask = pack("a16Px16", $ARGV[0], $set)) or die;
END
cat > /run/send.pl <<'END'
use IO::Socket::INET;
my @to = map { IO::Socket::INET->new(Proto => "udp", PeerAddr => $ARGV[0], PeerPort => 5000, LocalPort => 40000 + $_) } 1 .. $ARGV[1];
while (1) { $_->send("x" x $ARGV[2]) for @to; select(undef, undef, undef, $ARGV[3] // 0.001) }
END
cat > /run/echo.pl <<'END'
use IO::Socket::INET;
my $here = IO::Socket::INET->new(Proto => "udp", LocalAddr => "10.0.0.2", LocalPort => 5000) or die;
while (1) { my $from = recv($here, my $bytes, 2048, 0); send($here, $bytes, 0, $from) }
END
perl /run/taps.pl & TAPS=$!
until ip link show t1 > /run/shown 2>&1; do sleep 0.05; done
ip link add bond1 type bond mode balance-xor xmit_hash_policy layer3+4 miimon 50
for n in 0 1; do perl /run/speed.pl t$n 10 && ip link set t$n txqueuelen 500 && ip link set t$n master bond1; done
ip link set bond1 up && ip address add 10.0.1.1/24 dev bond1"#;
/// Two teams of teamd: one that waits, and one whose hash looks at addresses alone.
const TEAMD: &str = r#"for n in 2 3 4 5; do ip link add name m$n type veth peer name p$n && ip link set p$n up; done
team() { teamd -d -t $1 -c "{\"runner\": $2, \"link_watch\": {\"name\": \"ethtool\"}, \"ports\": {\"$3\": {}, \"$4\": {}}}"; }
team team0 '{"name": "activebackup"}' m2 m3 && team team1 '{"name": "loadbalance", "tx_hash": ["ipv4"]}' m4 m5
ip link set team0 up && ip link set team1 up && ip address add 10.0.3.1/24 dev team1
ip neighbour add 10.0.3.2 lladdr 02:00:00:00:00:02 dev team1
until teamdctl team0 state | grep -q 'active port: m'; do sleep 0.05; done"#;
/// What its kernel side needs, which guests do not load by themselves.
const TEAMD_MODULES: [&str; 3] = ["team", "team_mode_activebackup", "team_mode_loadbalance"];
/// Datagrams by so many flows, while a bond is explained; from a moment on, or from when a command has ended.
const LOADED: &str = "loaded() { perl /run/send.pl $3 $4 $5 $6 & SEND=$!; ${7:-sleep 0.2}; explain $1 $2; kill $SEND; wait $SEND || true; }";
/// The bond reads a member's speed when it comes up.
const SET_SPEED: &str =
    "set_speed() { perl /run/speed.pl t1 $1 && ip link set t1 down && ip link set t1 up && sleep 0.3; }";
/// Both members' queues are full and lose what comes, however slow the sender is.
const LOSSY: &str = r#"dropped() { cat /sys/class/net/$1/statistics/tx_dropped; }
both_drop() { until [ $(dropped t0) -gt $D0 -a $(dropped t1) -gt $D1 ]; do sleep 0.05; done; }
D0=$(dropped t0) D1=$(dropped t1)
touch /run/stalled && loaded lossy bond1 10.0.1.2 16 100 0.001 both_drop && rm /run/stalled"#;
/// Waits until so many ports distribute.
const WAIT: &str = "wait_for() { for try in $(seq 300); do \
    [ $(grep -c 'port state: 63' /proc/net/bonding/bond0) -ge $1 ] && return; sleep 0.1; done; cat /proc/net/bonding/bond0; exit 1; }";
/// A part of the output, with its name ahead.
const EXPLAIN: &str = "explain() { echo \"=== $1\"; $NICTEAM explain ${2:-bond0} --json --for 1s || [ $? = 1 ]; }";

#[test]
fn faults_of_the_kernel_s_bonds_and_of_teamd_s_are_named() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    for module in TEAMD_MODULES {
        guest.load_module(module).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    let steps = [
        BUILD,
        WAIT,
        EXPLAIN,
        TAPS,
        LOADED,
        SET_SPEED,
        // Both ends of both ports.
        "wait_for 4",
        "explain idle",
        "ip netns exec far perl /run/echo.pl & ECHO=$!; sleep 0.2; loaded hash bond0 10.0.0.2 12 100 0.005; kill $ECHO",
        "ip netns exec far ip address add 10.0.0.1/24 dev bond0",
        "explain duplicate",
        "ip netns exec far ip address del 10.0.0.1/24 dev bond0",
        "ip netns exec far ip link set p1 down && sleep 0.5",
        "explain cut",
        "ip netns exec far ip link set p1 up",
        "ip netns exec far ip link set p1 nomaster && ip netns exec far ip link set p1 up && BEGUN=$(date +%s)",
        // LACP needs six seconds to miss its partner. Meanwhile the others.
        // So slow that the reader keeps up, however busy the machine is: what its queue drops is a fault.
        "loaded good bond1 10.0.1.2 16 100 0.005",
        "loaded one-flow bond1 10.0.1.2 1 1000",
        "set_speed 100 && explain speed bond1 && set_speed 10",
        LOSSY,
        "ip link set t1 mtu 1400 && explain mtu bond1; kill $TAPS",
        TEAMD,
        "explain teamd-good team0 && loaded teamd-hash team1 10.0.3.2 12 100 0.005",
        "ip link set p3 down && sleep 0.3 && explain teamd-cut team0",
        "until [ $(($(date +%s) - BEGUN)) -gt 6 ]; do sleep 0.1; done",
        "explain individual",
        "ip netns exec far ip link set p0 nomaster && ip netns exec far ip link set p0 up && sleep 6",
        "explain missing",
    ];
    let script = steps.join("\n").replace("$NICTEAM", nicteam.to_str().unwrap());
    let printed = guest.run("/bin/sh", &["-ec", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let parts = printed.split("=== ").skip(1).map(|part| part.split_once('\n').unwrap());
    let expected: [(&str, &[(&str, &str)]); 14] = [
        ("idle", &[]),
        ("hash", &[("hash", "switch")]),
        ("duplicate", &[("duplicate-address", "other_host")]),
        ("cut", &[("down", "link")]),
        ("good", &[]),
        ("one-flow", &[("one-flow", "host")]),
        ("speed", &[("speed", "link")]),
        ("lossy", &[("lossy", "host"), ("lossy", "host")]),
        ("mtu", &[("mtu", "host")]),
        ("teamd-good", &[]),
        ("teamd-hash", &[("hash", "host")]),
        ("teamd-cut", &[("down", "link")]),
        ("individual", &[("not-aggregating", "switch")]),
        ("missing", &[("lacp-missing", "switch")]),
    ];
    let parts: Vec<(&str, &str)> = parts.collect();
    assert_eq!(parts.len(), expected.len(), "{printed}");
    for ((name, json), (expected_name, expected)) in parts.into_iter().zip(expected) {
        let found = faults(json, if name.starts_with("teamd") { "teamd" } else { "kernel" });
        let found: Vec<(&str, &str)> = found.iter().map(|(cause, side)| (cause.as_str(), side.as_str())).collect();
        assert!(name == expected_name && found == expected, "{name}: {found:?} instead of {expected:?}\n{json}");
    }
}

/// The causes that are no notices, with their sides; one heavy flow is one while its link has room.
fn faults(json: &str, kind: &str) -> Vec<(String, String)> {
    let explained: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(explained["bundles"][0]["bundle"]["kind"], kind);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = explained["bundles"][0]["explanation"]["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|of| of["weight"] != "notice" || of["cause"] == "one-flow");
    wrong.map(|of| (text(&of["cause"]), text(&of["side"]))).collect()
}
