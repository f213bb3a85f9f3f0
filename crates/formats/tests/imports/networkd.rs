//! systemd-networkd's files.

use nicteam_formats::{Import, toml};

use super::{left, read, read_all};

const NETDEV: &str = "\
[NetDev]
Name=bond1
Kind=bond
MTUBytes=9K

[Bond]
Mode=802.3ad
TransmitHashPolicy=layer3+4
MIIMonitorSec=1s
LACPTransmitRate=fast
UpDelaySec=2s
DownDelaySec=8s
ARPIPTargets=10.0.0.1 10.0.0.2
# A comment; then one more line
AllSlavesActive=yes
LearnPacketIntervalSec=1min
AdUserPortKey=811
MinLnks=2
";

const NETWORK: &str = "\
[Match]
Name=bond1

[Network]
Description=the team
Address=10.0.0.5/24
Gateway=10.0.0.254
DHCP=ipv6
VLAN=vlan5
DNS=10.0.0.53

[Address]
Address=2001:db8::5/64
PreferredLifetime=0

[Route]
Destination=10.9.1.0/16
Gateway=10.0.0.9
GatewayOnLink=yes
Metric=100
Table=5
PreferredSource=10.0.0.5

[Route]
Gateway=_dhcp4

[DHCPv6]
UseDNS=no
";

const MEMBERS: &str = "[Match]\nName=eth1 \"eth2\"\n\n[Network]\nBond=bond1\n";
const PRIMARY: &str = "[Match]\nName=eth3\n[Network]\nBond=bond1\nPrimarySlave=true\nLLDP=no\n";

fn sources() -> [(&'static str, &'static str); 4] {
    [
        ("/etc/systemd/network/10-bond1.netdev", NETDEV),
        ("/etc/systemd/network/10-bond1.network", NETWORK),
        ("/etc/systemd/network/20-members.network", MEMBERS),
        ("/etc/systemd/network/21-eth3.network", PRIMARY),
    ]
}

#[test]
fn units_become_the_kernels() {
    let import = read_all("networkd", &sources()).unwrap_or_else(|error| panic!("{error}"));
    let expected = "\
[teams.bond1]
members = [\"eth1\", \"eth2\", \"eth3\"]
mode = \"802.3ad\"
xmit_hash_policy = \"layer3+4\"
miimon = 1000
lacp_rate = \"fast\"
updelay = 2000
downdelay = 8000
arp_ip_target = \"10.0.0.1,10.0.0.2\"
all_slaves_active = 1
lp_interval = 60
ad_user_port_key = 811
mtu = 9216
addresses = [\"10.0.0.5/24\", \"2001:db8::5/64\"]
routes = [\"default via 10.0.0.254\", \"10.0.0.9/32 metric 100 table 5\", \
\"10.9.0.0/16 via 10.0.0.9 metric 100 table 5\"]
";
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), expected);
    let stays = "it stays in the old place: its file works on the team's device as on a bond's";
    let expected = [
        "18 MinLnks=2 | no key of [Bond] in systemd 256; did you mean `MinLinks=`?".to_owned(),
        format!("8 DHCP=ipv6 | DHCP: {stays}"),
        format!("9 VLAN=vlan5 | a device on the team: {stays}"),
        format!("10 DNS=10.0.0.53 | {stays}"),
        "14 PreferredLifetime=0 | the address is taken over without it".to_owned(),
        "22 PreferredSource=10.0.0.5 | the route is taken over without it".to_owned(),
        format!("25 Gateway=_dhcp4 | a gateway that DHCP or a router tells: {stays}"),
        format!("27 [DHCPv6] | {stays}"),
        "5 PrimarySlave=true | `primary eth3` works in modes active-backup, balance-tlb, balance-alb, stripe, ovs-active-backup, \
         ovs-balance-slb and ovs-balance-tcp alone; the mode is 802.3ad; the kernel refuses it, too"
            .to_owned(),
    ];
    assert_eq!(left(&import), expected);
}

#[test]
fn what_to_put_aside_is_told() {
    let import = read_all("networkd", &sources()).unwrap();
    let told: Vec<String> = import
        .disable
        .iter()
        .map(|of| format!("{} {} {}", of.place.line, of.what, of.command.as_deref().unwrap_or("")))
        .collect();
    let unmanaged = "write `Unmanaged=yes` into a section [Link], so that networkd leaves the members alone ";
    let expected = [
        "2 put the file aside (it makes bond1), then `networkctl reload` mv /etc/systemd/network/10-bond1.netdev \
         /etc/systemd/network/10-bond1.netdev.off"
            .to_owned(),
        "1 take out lines 5, 6, 7, 13, 16, which the team has now; the rest stays; write `KeepConfiguration=yes` into \
         [Network], or networkd removes the addresses that bond1 has of its own file "
            .to_owned(),
        format!("5 in place of line 5 {unmanaged}"),
        format!("4 in place of line 4 {unmanaged}"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_line_may_be_continued() {
    let text =
        "[NetDev]\nName=b\nKind=bond\n[Bond]\nARPIPTargets=10.0.0.1 \\\n; not this\n  10.0.0.2\nARPIntervalSec=0.5\n";
    let member = ("b", "[Match]\nName=e0\n[Network]\nBond=b\n");
    let import = read_all("networkd", &[("a", text), member]).unwrap_or_else(|error| panic!("{error}"));
    let options: Vec<String> =
        import.network.teams[0].options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(options, ["arp_ip_target=10.0.0.1,10.0.0.2", "arp_interval=500"]);
}

#[test]
fn other_devices_are_nobodys_business() {
    assert_eq!(read("networkd", "[NetDev]\nName=v\nKind=vlan\n[VLAN]\nId=5\n"), Import::default());
    assert_eq!(read("networkd", "[Match]\nName=en*\n[Network]\nDHCP=yes\n"), Import::default());
}

/// A bond and its members.
const BOND: [(&str, &str); 2] = [
    ("n/10-bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=802.3ad\n"),
    ("n/20-m.network", "[Match]\nName=eth0\n[Network]\nBond=bond0\n"),
];

#[test]
fn drop_ins_add_to_their_files() {
    let drop_ins = [
        ("n/10-bond0.netdev.d/mode.conf", "[Bond]\nMode=active-backup\n"),
        ("n/20-m.network.d/more.conf", "[Match]\nName=eth1\n"),
        ("n/30-bond0.network", "[Match]\nName=bond0\n[Network]\nAddress=10.0.0.2/24\nDNS=10.0.0.53\n"),
        ("n/30-bond0.network.d/a.conf", "[Network]\nAddress=\nAddress=10.0.0.9/24\n"),
        ("n/99-x.network.d/a.conf", "[Network]\nAddress=10.0.0.10/24\n"),
    ];
    let import = read_all("networkd", &[BOND.as_slice(), &drop_ins].concat()).unwrap_or_else(|error| panic!("{error}"));
    let team = &import.network.teams[0];
    assert_eq!(team.members, ["eth0", "eth1"]);
    assert_eq!(team.options, [("mode".to_owned(), "active-backup".to_owned())]);
    assert_eq!(team.addresses, ["10.0.0.9/24".parse().unwrap()]);
    let expected = [
        "5 Mode=802.3ad | `mode` is given again at n/10-bond0.netdev.d/mode.conf:2:1",
        "5 DNS=10.0.0.53 | it stays in the old place: its file works on the team's device as on a bond's",
        "1 [Network] | a drop-in of 99-x.network, which is not among these: name that, too",
    ];
    assert_eq!(left(&import), expected);
    let last = &import.disable.iter().find(|of| of.what.starts_with("take out")).unwrap().what;
    assert!(last.starts_with("take out lines 4, n/30-bond0.network.d/a.conf:2:1, n/30-"), "{last}");
}

#[test]
fn a_file_that_fits_by_a_pattern_is_the_bonds() {
    for of_match in ["Name=bond*", "Name=!eth*", "Kind=bond"] {
        let text = format!("[Match]\n{of_match}\n[Network]\nDHCP=ipv4\n[DHCPv4]\nUseDNS=no\n");
        let import = read_all("networkd", &[BOND.as_slice(), &[("n/30.network", &text)]].concat()).unwrap();
        let lines: Vec<usize> = import.left.iter().map(|left| left.place.line).collect();
        assert_eq!(lines, [4, 5], "{of_match}: {import:#?}");
    }
    // The first one that fits is taken.
    let files = [
        ("n/30.network", "[Match]\nName=bond0\n[Network]\nAddress=10.0.0.1/24\n"),
        ("n/40.network", "[Match]\nName=bond0\n[Network]\nAddress=10.0.0.2/24\n"),
        ("n/50.network", "[Match]\nName=*\n[Network]\nDHCP=yes\n"),
    ];
    let import = read_all("networkd", &[BOND.as_slice(), &files].concat()).unwrap();
    assert_eq!(import.network.teams[0].addresses, ["10.0.0.1/24".parse().unwrap()]);
    assert_eq!(left(&import), ["2 bond0 | networkd takes 30.network for bond0, and not this file"]);
}

#[test]
fn router_advertisements_are_refused_as_before() {
    let own = ("n/30.network", "[Match]\nName=bond0\n[Network]\nIPv6AcceptRA=no\nDNS=10.0.0.53\n");
    let import = read_all("networkd", &[BOND.as_slice(), &[own]].concat()).unwrap();
    assert_eq!(import.network.teams[0].accept_ra, Some(0));
    // What stays needs the line.
    assert!(!import.disable.iter().any(|of| of.what.contains("take out")), "{import:#?}");
    let written = super::write("networkd", &import.network);
    assert!(written.files.iter().any(|file| file.text.contains("[Network]\nIPv6AcceptRA=no\n")), "{written:#?}");
}

#[test]
fn what_members_have_not_anyway_is_not_told() {
    let member = "[Match]\nName=eth1\n[Network]\nBond=bond0\nDHCP=no\nLinkLocalAddressing=no\n[Link]\nMTUBytes=9K\n";
    let own = "[Match]\nName=bond0\n[Link]\nMTUBytes=9216\n";
    let files = [("n/21.network", member), ("n/30.network", own)];
    let import = read_all("networkd", &[BOND.as_slice(), &files].concat()).unwrap();
    assert_eq!(left(&import), [""; 0]);
    let other = [("n/21.network", member), ("n/30.network", "[Match]\nName=bond0\n[Link]\nMTUBytes=1500\n")];
    let import = read_all("networkd", &[BOND.as_slice(), &other].concat()).unwrap();
    assert_eq!(left(&import), ["8 MTUBytes=9K | members have the MTU of their team"]);
}
