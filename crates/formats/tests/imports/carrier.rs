//! `use_carrier 0`, the way of asking drivers that nicteam has not: in each format that can say it.

use super::{left, read_all};

#[test]
fn the_old_ways_of_asking_drivers_are_left() {
    let bond = "iface bond0 inet manual\n bond-slaves eth1\n bond-mode 1\n";
    let by_key = format!("{bond} bond-use-carrier 0\n");
    let by_command = format!("{bond} up echo 0 > /sys/class/net/bond0/bonding/use_carrier\n");
    let iproute2 = "ip link add bond0 type bond mode 1 use_carrier 0\nip link set eth1 master bond0\n";
    let sysfs = "ip link add bond0 type bond mode 1\necho 0 > /sys/class/net/bond0/bonding/use_carrier\n\
                 ip link set eth1 master bond0\n";
    let keyfile = "[connection]\nid=bond0\ntype=bond\ninterface-name=bond0\n[bond]\nmode=1\nuse_carrier=0\n";
    let port = "[connection]\nid=a\ntype=ethernet\ninterface-name=eth1\nmaster=bond0\nslave-type=bond\n";
    let cases: [(&str, Vec<(&str, &str)>); 6] = [
        ("ifupdown", vec![("a", &by_key)]),
        ("ifupdown", vec![("a", &by_command)]),
        ("ifcfg", vec![("ifcfg-bond0", "BONDING_OPTS='mode=1 use_carrier=0'\n"), ("ifcfg-eth1", "MASTER=bond0\n")]),
        ("iproute2", vec![("a", iproute2)]),
        ("iproute2", vec![("a", sysfs)]),
        ("keyfile", vec![("b.nmconnection", keyfile), ("p.nmconnection", port)]),
    ];
    for (format, sources) in cases {
        let import = read_all(format, &sources).unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(import.network.teams[0].options, [("mode".to_owned(), "active-backup".to_owned())], "{format}");
        let left = left(&import);
        assert!(left.iter().any(|left| left.contains("carrier is what drivers say")), "{format}: {left:?}");
    }
    let own = "[teams.t]\nmembers = [\"eth1\"]\nuse_carrier = 0\n";
    assert!(read_all("toml", &[("a", own)]).is_err(), "a file of ours says what it means");
}
