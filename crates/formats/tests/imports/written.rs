//! What is written for ifupdown and networkd, word by word.

use nicteam_formats::{Network, Source, Written, toml};

use super::{read, write};

const TEAM: &str = "\
[teams.bond0]
members = [\"eth1\", \"eth2\"]
mode = \"active-backup\"
primary = \"eth2\"
arp_interval = 500
arp_ip_target = \"10.0.0.8,10.0.0.9\"
resend_igmp = 3
carrier_failover = 0
mac = \"02:00:00:00:00:01\"
mtu = 9000
addresses = [\"10.0.0.1/24\", \"2001:db8::1/64\"]
routes = [\"default via 10.0.0.254\", \"::/0 metric 5\", \"10.9.0.0/16 via 10.0.0.9 table 7\"]

[teams.fast]
members = [\"eth3\", \"eth4\"]
mode = \"stripe\"
";

fn network() -> Network {
    toml::read(&[Source::new("a.toml", TEAM)]).unwrap_or_else(|error| panic!("{error}"))
}

fn files(written: &Written) -> String {
    written.files.iter().map(|file| format!("=== {}\n{}", file.path, file.text)).collect()
}

#[test]
fn for_ifupdown() {
    let written = write("ifupdown", &network());
    let expected = "\
=== /etc/network/interfaces.d/bond0
auto bond0
iface bond0 inet static
    address 10.0.0.1/24
    bond-slaves eth1 eth2
    bond-mode active-backup
    bond-primary eth2
    bond-arp-interval 500
    bond-arp-ip-target 10.0.0.8 10.0.0.9
    hwaddress 02:00:00:00:00:01
    mtu 9000
    up ip route add default via 10.0.0.254 dev bond0
    down ip route del default via 10.0.0.254 dev bond0
    up ip -6 route add ::/0 metric 5 dev bond0
    down ip -6 route del ::/0 metric 5 dev bond0
    up ip route add 10.9.0.0/16 via 10.0.0.9 table 7 dev bond0
    down ip route del 10.9.0.0/16 via 10.0.0.9 table 7 dev bond0

iface bond0 inet6 static
    address 2001:db8::1/64
";
    assert_eq!(files(&written), expected);
    let expected = [
        "bond0: the kernel's driver has no `carrier_failover`",
        "bond0: the hooks of ifenslave have no option for `resend_igmp = 3`",
        "fast is not written: mode stripe is not the kernel's, which has balance-rr, active-backup, balance-xor, broadcast, \
         802.3ad, balance-tlb, balance-alb",
    ];
    assert_eq!(written.left, expected);
}

#[test]
fn for_networkd() {
    let written = write("networkd", &network());
    let expected = "\
=== /etc/systemd/network/30-bond0.netdev
[NetDev]
Name=bond0
Kind=bond
MTUBytes=9000
MACAddress=02:00:00:00:00:01

[Bond]
Mode=active-backup
ARPIntervalSec=500ms
ARPIPTargets=10.0.0.8 10.0.0.9
ResendIGMP=3
=== /etc/systemd/network/30-bond0.network
[Match]
Name=bond0

[Network]
Address=10.0.0.1/24
Address=2001:db8::1/64

[Route]
Destination=0.0.0.0/0
Gateway=10.0.0.254

[Route]
Destination=::/0
Metric=5

[Route]
Destination=10.9.0.0/16
Gateway=10.0.0.9
Table=7
=== /etc/systemd/network/30-bond0-01-eth1.network
[Match]
Name=eth1

[Network]
Bond=bond0
=== /etc/systemd/network/30-bond0-02-eth2.network
[Match]
Name=eth2

[Network]
Bond=bond0
PrimarySlave=yes
";
    assert_eq!(files(&written), expected);
    assert_eq!(written.left[0], "bond0: the kernel's driver has no `carrier_failover`");
    assert_eq!(written.left.len(), 2);
}

#[test]
fn bonds_of_bonds_stand_behind_their_members() {
    let own = "[teams.top]\nmembers = [\"low\", \"e3\"]\nmode = \"active-backup\"\nprimary = \"low\"\nactive_slave = \"e3\"\n\
               [teams.low]\nmembers = [\"e1\", \"e2\"]\nmode = \"balance-xor\"\n";
    let network = read("toml", own).network;
    for name in ["ifupdown", "iproute2", "networkd", "netplan"] {
        let written = write(name, &network);
        let all: String = written.files.iter().map(|file| format!("# {}\n{}", file.path, file.text)).collect();
        let of = |word: &str| all.find(word).unwrap_or_else(|| panic!("{name}: {word}: {all}"));
        let (low, top) = match name {
            "ifupdown" => ("auto low", "auto top"),
            "iproute2" => ("name low type bond", "name top type bond"),
            "networkd" => ("30-low.netdev", "30-top.netdev"),
            _ => ("    low:", "    top:"),
        };
        assert!(of(low) < of(top), "{name}: {all}");
        // The one that is active now, where the format has a word for it; else it is said.
        let active = ["bond-active-slave e3", "type bond active_slave e3", "ActiveSlave=yes"];
        let is_told = written.left.iter().any(|left| left.contains("active_slave"));
        assert!(active.iter().any(|words| all.contains(words)) != is_told, "{name}: {all} {:?}", written.left);
    }
    let files = write("networkd", &network).files;
    let own = files.iter().find(|file| file.path.ends_with("30-low.network")).unwrap();
    assert!(own.text.contains("[Network]\nBond=top\nPrimarySlave=yes\n"), "{}", own.text);
    assert!(!files.iter().any(|file| file.path.contains("30-top-01-low")));
    assert!(!write("netplan", &network).files[0].text.contains("low: {}"));
}
