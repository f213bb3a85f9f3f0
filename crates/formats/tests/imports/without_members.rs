//! A bond without members: it is listed, the others are taken, and its members may be named.

use super::{format, left, read, read_all};
use nicteam_formats::Source;

/// A bond that names no members, in each format that can say it.
const ALONE: [(&str, &str, &str); 6] = [
    ("ifupdown", "interfaces", "iface bond0 inet manual\n bond-slaves none\n bond-mode 1\n"),
    ("keyfile", "bond0.nmconnection", "[connection]\ntype=bond\ninterface-name=bond0\n[bond]\nmode=1\n"),
    ("networkd", "a.netdev", "[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=active-backup\n"),
    ("netplan", "a.yaml", "network: {bonds: {bond0: {parameters: {mode: active-backup}}}}\n"),
    ("iproute2", "a", "ip link add bond0 type bond mode 1\n"),
    ("ifcfg", "ifcfg-bond0", "DEVICE=bond0\nTYPE=Bond\nBONDING_OPTS=mode=1\n"),
];

#[test]
fn it_is_listed() {
    for (name, path, text) in ALONE {
        let import = read_all(name, &[(path, text)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(import.network.teams, [], "{name}");
        assert!(left(&import).iter().any(|left| left.contains("and none is named")), "{name}: {:?}", left(&import));
    }
    let both = format!("{}iface bond1 inet manual\n bond-slaves eth1\n", ALONE[0].2);
    assert_eq!(read("ifupdown", &both).network.teams[0].name, "bond1");
    let profile = read_all("keyfile", &[(ALONE[1].1, ALONE[1].2)]).unwrap();
    assert!(
        left(&profile).iter().any(|left| left.contains("profiles of their own: name the folder")),
        "{:?}",
        left(&profile)
    );
}

#[test]
fn its_members_may_be_named() {
    let members = ["eth1".to_owned(), "eth2".to_owned()];
    for (name, path, text) in ALONE {
        let import = format(name)
            .read_with(&[Source::new(path, text)], &members)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let team = &import.network.teams[0];
        assert_eq!((team.members.as_slice(), team.options[0].1.as_str()), (&members[..], "active-backup"), "{name}");
        assert!(!left(&import).iter().any(|left| left.contains("none is named")), "{name}");
    }
    let error = |text: &str| format("ifupdown").read_with(&[Source::new("a", text)], &members).unwrap_err().to_string();
    let full = "iface bond1 inet manual\n bond-slaves eth3\n";
    assert!(error(full).contains("no bond without members is in there"));
    let two = format!("{}{}", ALONE[0].2, ALONE[0].2.replace("bond0", "bond2"));
    assert!(error(&two).contains("several bonds name no members: bond0, bond2"));
}

#[test]
fn a_script_beside_its_file_may_join_them() {
    for command in [
        "ifenslave bond0 eth1",
        "ip link set eth1 master bond0",
        "ip link set eth1 down\nip link set eth1 master bond0",
    ] {
        let text = format!("# ifcfg-bond0\n{}# rc.local\n{command}\n", ALONE[5].2);
        let import = read("ifcfg", &text);
        assert_eq!(import.network.teams[0].members, ["eth1"], "{command}: {:?}", left(&import));
        assert!(!left(&import).iter().any(|left| left.contains("none is named")), "{command}");
    }
}
