//! Configurations of the published tests, word by word; the tests of other crates have them from here, too.

/// `interfaces` of T1 (000_6b080ec8dbb0d21e).
pub const INTERFACES: &str = "\
auto bond0
iface bond0 inet static
 address 10.10.250.2
 netmask 255.255.255.0
 network 10.10.250.0
 bond_mode balance-rr
 bond_miimon 100
 bond_downdelay 200
 bond_updelay 200
 slaves eth1 eth2 eth3 eth4
";

/// T1's line for illumos.
pub const DLADM: &str = "dladm create-aggr -l igb0 -l igb1 -l igb2 -l igb3 aggr01\n";

/// The files of T3 (002_52ae6b3d3563e079) as they stand in the article, below each other.
pub const ARTICLE: &str = "\
# ifcfg-eth0 (ifcfg-eth1 alike with DEVICE=eth1)
DEVICE=eth0
BOOTPROTO=none
ONBOOT=yes
TYPE=Ethernet
MASTER=bond0
SLAVE=yes
# ifcfg-bond0
DEVICE=bond0
BOOTPROTO=none
BROADCAST=10.0.0.255
IPADDR=10.0.0.1
NETMASK=255.255.255.0
NETWORK=10.0.0.0
ONBOOT=yes
GATEWAY=10.0.0.254
TYPE=Ethernet
# /etc/modprobe.conf
alias bond0 bonding
options bond0 miimon=100 mode=0
# rc.local
ifenslave bond0 eth0 eth1
";

/// The article as files, each by its name.
pub fn article_files() -> [(&'static str, String); 5] {
    let mut parts = ARTICLE.split_inclusive('\n').fold(Vec::new(), |mut parts: Vec<String>, line| {
        match line.starts_with('#') {
            true => parts.push(String::new()),
            false => parts.last_mut().unwrap().push_str(line),
        }
        parts
    });
    let mut part = |at: usize| std::mem::take(&mut parts[at]);
    let [eth0, bond0, modprobe, script] = [part(0), part(1), part(2), part(3)];
    let eth1 = eth0.replace("eth0", "eth1");
    [
        ("ifcfg-bond0", bond0),
        ("ifcfg-eth0", eth0),
        ("ifcfg-eth1", eth1),
        ("modprobe.conf", modprobe),
        ("rc.local", script),
    ]
}
