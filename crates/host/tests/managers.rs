//! Who manages a device, by what stands in files.

use nicteam_host::managers::{Claim, Severity, claims, network_manager};
use nicteam_netlink::Link;

use crate::common::{Root, link};

fn claims_on_eth1(root: &Root) -> Vec<Claim> {
    claims(root.path(), &[link(1, "eth1"), link(2, "eth2")], "eth1")
}

/// The one claim.
#[track_caller]
fn one(root: &Root) -> Claim {
    let claims = claims_on_eth1(root);
    let [claim] = claims.as_slice() else { panic!("{claims:#?}") };
    claim.clone()
}

#[test]
fn nobody_manages_a_device_of_an_empty_host() {
    assert_eq!(claims_on_eth1(&Root::new()), []);
}

#[test]
fn a_catch_all_of_networkd_is_named_at_its_line() {
    let root =
        Root::with(&[("/etc/systemd/network/20-wired.network", "[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n")]);
    assert_eq!(claims_on_eth1(&root), [], "it neither runs nor starts");
    root.run(7, "systemd-network", &["/usr/lib/systemd/systemd-networkd"]);
    let claim = one(&root);
    assert_eq!((claim.manager, claim.severity), ("systemd-networkd", Severity::Refuse));
    assert_eq!(claim.place.unwrap().to_string(), "/etc/systemd/network/20-wired.network:2:1");
    assert!(claim.why.contains("`Name=en* eth*`") && claim.why.contains("DHCP=yes"), "{}", claim.why);
    // The cure is one.
    let (file, text) =
        ("/etc/systemd/network/00-nicteam-eth1.network", "[Match]\nName=eth1\n\n[Link]\nUnmanaged=yes\n");
    assert!(claim.cure.contains(file) && claim.cure.contains(&text.replace('\n', "\\n")), "{}", claim.cure);
    root.write(file, text);
    assert_eq!(claims_on_eth1(&root), []);
}

#[test]
fn networkd_that_starts_at_boot_is_a_warning() {
    let root = Root::with(&[("/run/systemd/network/20-wired.network", "[Match]\nName=eth1\n[Network]\nBond=bond0\n")]);
    root.write("/etc/systemd/system/multi-user.target.wants/systemd-networkd.service", "");
    let claim = one(&root);
    assert_eq!(claim.severity, Severity::Warn);
    assert!(claim.why.contains("bond bond0") && claim.why.contains("next boot"), "{}", claim.why);
}

#[test]
fn each_way_into_a_bond_of_ifupdown_is_seen() {
    for line in [
        "bond-members eth1 eth2",
        "bond_members eth1",
        "bond_ports eth1",
        "Bond-Slaves eth1",
        "up /sbin/ifenslave bond0 eth1",
        "pre-up ip link set eth1 master bond0",
    ] {
        let root =
            Root::with(&[("/etc/network/interfaces", &*format!("auto bond0\niface bond0 inet manual\n  {line}\n"))]);
        let claim = one(&root);
        assert_eq!((claim.manager, claim.severity), ("ifupdown", Severity::Refuse), "{line}");
        assert!(claim.why.contains("a member of its bond"), "{line}: {}", claim.why);
    }
    let text = "auto bond0\niface bond0 inet manual\n  down ifenslave -d bond0 eth1\n";
    assert_eq!(claims_on_eth1(&Root::with(&[("/etc/network/interfaces", text)])), []);
}

#[test]
fn a_bond_of_ifupdown_is_still_active() {
    let root = Root::with(&[
        ("/etc/network/interfaces", "auto lo\niface lo inet loopback\nsource interfaces.d/*\n"),
        (
            "/etc/network/interfaces.d/bond",
            "# the bond\nauto bond0 eth1\niface eth1 inet manual\n    bond-master bond0\n\niface bond0 inet static\n  address 10.0.0.1/24\n  bond-slaves eth1 \\\n    eth2\n",
        ),
    ]);
    let claims = claims_on_eth1(&root);
    assert_eq!(claims.len(), 2, "{claims:#?}");
    assert_eq!(claims[0].place.clone().unwrap().to_string(), "/etc/network/interfaces.d/bond:3:1");
    assert!(claims[0].why.contains("bond bond0") && claims[0].cure.contains("lines 3 to 4"), "{claims:#?}");
    assert_eq!(claims[1].place.clone().unwrap().to_string(), "/etc/network/interfaces.d/bond:8:3");
    assert!(claims.iter().all(|claim| claim.manager == "ifupdown" && claim.severity == Severity::Refuse));
}

#[test]
fn netplan_names_or_matches_a_device() {
    let yaml = "network:\n  version: 2\n  ethernets:\n    all:\n      match:\n        name: en*\n      dhcp4: true\n    lan:\n      match:\n        macaddress: 02:00:00:00:00:01\n      dhcp4: true\n  bonds:\n    bond0:\n      interfaces: [lan, eth2]\n";
    let root = Root::with(&[("/etc/netplan/50-cloud.yaml", yaml)]);
    let claims = claims_on_eth1(&root);
    assert_eq!(claims.len(), 2, "{claims:#?}");
    assert!(claims.iter().all(|claim| (claim.manager, claim.severity) == ("netplan", Severity::Refuse)));
    assert_eq!(claims[0].place.clone().unwrap().to_string(), "/etc/netplan/50-cloud.yaml:8:5");
    assert_eq!(claims[1].place.clone().unwrap().to_string(), "/etc/netplan/50-cloud.yaml:14:20");
    assert!(claims[0].why.contains("DHCP") && claims[1].why.contains("bond0"), "{claims:#?}");
    // What it wrote is told with it, and its file of networkd has netplan's cure.
    root.write(
        "/run/systemd/network/10-netplan-lan.network",
        "[Match]\nMACAddress=02:00:00:00:00:01\n[Network]\nBond=bond0\n",
    );
    root.run(7, "systemd-network", &["systemd-networkd"]);
    let claims = claims_on_eth1(&root);
    assert!(
        claims.iter().any(|claim| claim.why.contains("10-netplan-lan.network") && claim.manager == "netplan"),
        "{claims:#?}"
    );
    assert!(claims.iter().any(|claim| claim.manager == "systemd-networkd" && claim.cure.contains("netplan apply")));
    // A file masks one of its name.
    root.write("/run/netplan/50-cloud.yaml", "network: {version: 2}\n");
    assert!(claims_on_eth1(&root).iter().all(|claim| claim.manager != "netplan"));
}

#[test]
fn a_stanza_matters_when_it_is_automatic_or_up() {
    let stanza = "iface eth1 inet dhcp\n";
    let root = Root::with(&[("/etc/network/interfaces", stanza)]);
    assert_eq!(claims_on_eth1(&root), []);
    root.write("/run/network/ifstate", "lo=lo\neth1=eth1\n");
    let claim = one(&root);
    assert!(claim.why.ends_with("now") && claim.cure.starts_with("ifdown --force eth1\n"), "{claim:#?}");
    root.write("/run/network/ifstate", "");
    root.write("/etc/network/interfaces", &format!("allow-hotplug eth*\n{stanza}"));
    assert!(one(&root).why.ends_with("at boot"));
}

#[test]
fn network_manager_takes_what_nothing_keeps_it_from() {
    let root = Root::new();
    root.run(8, "NetworkManager", &["/usr/sbin/NetworkManager", "--no-daemon"]);
    let claim = one(&root);
    assert!(claim.why.contains("Wired connection 1"), "{}", claim.why);
    assert!(claim.cure.starts_with("nmcli device set eth1 managed no\n"), "{}", claim.cure);
    // By the cure's file, by each other way, and by what it noted itself.
    let ways = [
        (
            "/etc/NetworkManager/conf.d/90-unmanaged-eth1.conf",
            "[device-unmanaged-eth1]\nmatch-device=interface-name:=eth1\nmanaged=0\n",
        ),
        ("/usr/lib/NetworkManager/conf.d/10.conf", "[keyfile]\nunmanaged-devices=*,except:type:wifi\n"),
        ("/run/udev/data/n1", "E:NM_UNMANAGED=1\n"),
        ("/etc/network/interfaces", "iface eth1 inet manual\n"),
        ("/run/NetworkManager/devices/1", "[device]\nmanaged=false\n"),
    ];
    for (path, text) in ways {
        let root = Root::with(&[(path, text)]);
        root.run(8, "NetworkManager", &["NetworkManager"]);
        assert_eq!(claims_on_eth1(&root), [], "{path}");
    }
}

#[test]
fn a_profile_is_named_at_its_line() {
    let profile = "[connection]\nid=office\nuuid=u1\ntype=ethernet\ninterface-name=eth1\n";
    let root = Root::with(&[("/etc/NetworkManager/system-connections/office.nmconnection", profile)]);
    root.run(8, "NetworkManager", &["NetworkManager"]);
    let claim = one(&root);
    assert_eq!(claim.place.unwrap().to_string(), "/etc/NetworkManager/system-connections/office.nmconnection:5:1");
    assert!(claim.why.contains("`office`"), "{}", claim.why);
}

#[test]
fn later_files_and_named_sections_have_more_weight() {
    let root = Root::with(&[
        ("/etc/NetworkManager/NetworkManager.conf", "[main]\nno-auto-default=*\n[device]\nmanaged=0\n"),
        ("/etc/NetworkManager/conf.d/10.conf", "[device-eth]\nmatch-device=interface-name:eth*\nmanaged=1\n"),
    ]);
    root.run(8, "NetworkManager", &["NetworkManager"]);
    // Managed, but neither a profile nor one made by itself: worth a word.
    assert_eq!(one(&root).severity, Severity::Warn);
    // A file masks one of its name.
    root.write("/usr/lib/NetworkManager/conf.d/10.conf", "[device-eth]\nmatch-device=*\nmanaged=0\n");
    assert_eq!(one(&root).severity, Severity::Warn);
    // Lists are added to.
    root.write("/etc/NetworkManager/conf.d/10.conf", "[device]\nmanaged=\n[keyfile]\nunmanaged-devices=eth9\n");
    root.write("/etc/NetworkManager/NetworkManager.conf", "");
    root.write("/etc/NetworkManager/conf.d/11.conf", "[keyfile]\nunmanaged-devices+=interface-name:eth1\n");
    root.write("/etc/NetworkManager/conf.d/10.conf", "[keyfile]\nunmanaged-devices=interface-name:eth9\n");
    assert_eq!(claims_on_eth1(&root), []);
}

#[test]
fn members_are_unmanaged_while_they_are_ours() {
    let root = Root::new();
    assert!(!network_manager::set_unmanaged(root.path(), "team0", &["eth1"]).unwrap(), "there is no NetworkManager");
    // A process that is none: nobody is told.
    root.run(u32::MAX, "NetworkManager", &["NetworkManager"]);
    assert_eq!(one(&root).severity, Severity::Refuse);
    assert!(network_manager::set_unmanaged(root.path(), "team0", &["team0", "eth1"]).unwrap());
    assert!(!network_manager::set_unmanaged(root.path(), "team0", &["team0", "eth1"]).unwrap(), "twice");
    assert_eq!(claims_on_eth1(&root), []);
    assert!(network_manager::set_unmanaged(root.path(), "team1", &["eth9"]).unwrap());
    assert_eq!(claims_on_eth1(&root), [], "another team does not matter");
    // A list of the administrator's own that replaces what was added to it.
    root.write("/etc/NetworkManager/conf.d/10.conf", "[keyfile]\nunmanaged-devices=interface-name:wl*\n");
    let error = network_manager::set_unmanaged(root.path(), "team2", &["eth1"]).unwrap_err().to_string();
    assert!(error.contains("hint: write `unmanaged-devices+=` there, or: nmcli device set eth1 managed no"), "{error}");
    root.write("/etc/NetworkManager/conf.d/10.conf", "[keyfile]\nunmanaged-devices+=interface-name:wl*\n");
    network_manager::set_managed(root.path(), "team2").unwrap();
    assert_eq!(claims_on_eth1(&root), []);
    assert!(network_manager::set_managed(root.path(), "team0").unwrap());
    assert!(!network_manager::set_managed(root.path(), "team0").unwrap());
    assert_eq!(one(&root).severity, Severity::Refuse);
}

#[test]
fn files_of_rhel_name_their_bond() {
    let ifcfg = "DEVICE=eth1\nBOOTPROTO=none\nONBOOT=yes\nMASTER=\"bond0\"\nSLAVE=yes\n";
    let root = Root::with(&[("/etc/sysconfig/network-scripts/ifcfg-eth1", ifcfg)]);
    let claim = one(&root);
    assert!(claim.why.contains("into the bond bond0"), "{}", claim.why);
    root.write("/etc/sysconfig/network-scripts/ifcfg-eth1", &ifcfg.replace("ONBOOT=yes", "ONBOOT=no"));
    assert_eq!(claims_on_eth1(&root), []);
    root.write("/etc/sysconfig/network-scripts/ifcfg-a", "HWADDR=02:00:00:00:00:01\nBOOTPROTO=dhcp\n");
    assert!(one(&root).why.contains("by DHCP"));
}

#[test]
fn clients_of_dhcp_and_supplicants_hold_what_they_name() {
    let cases: [(&str, &[&str], bool); 6] = [
        ("dhclient", &["dhclient", "-pf", "/run/dhclient.eth1.pid", "eth1"], true),
        ("dhclient", &["dhclient", "eth10"], false),
        ("wpa_supplicant", &["wpa_supplicant", "-B", "-ieth1"], true),
        ("dhcpcd", &["dhcpcd", "-B"], true),
        ("dhcpcd", &["dhcpcd", "eth2"], false),
        ("sshd", &["sshd", "eth1"], false),
    ];
    for (name, arguments, expected) in cases {
        let root = Root::new();
        root.run(99, name, arguments);
        let claims = claims_on_eth1(&root);
        assert_eq!(claims.iter().any(|claim| claim.manager == name), expected, "{arguments:?}: {claims:#?}");
    }
}

#[test]
fn what_the_kernel_has_a_device_under_comes_first() {
    let kinds =
        [("bond", "bond"), ("bridge", "bridge"), ("openvswitch", "Open vSwitch"), ("team", "teamd"), ("", "device")];
    for (kind, word) in kinds {
        let master = Link { kind: kind.to_owned(), ..link(9, "master0") };
        let links = [Link { master: Some(9), ..link(1, "eth1") }, master];
        let root = Root::new();
        let claims = claims(root.path(), &links, "eth1");
        assert_eq!((claims.len(), claims[0].severity), (1, Severity::Refuse));
        assert!(claims[0].why.contains(word), "{}", claims[0].why);
    }
}

#[test]
fn a_shell_takes_the_names_in_a_cure_as_they_are() {
    for kind in ["bond", "bridge", "openvswitch", "team", "vrf", ""] {
        let master = Link { kind: kind.to_owned(), ..link(9, "m;9") };
        let links = [Link { master: Some(9), ..link(1, "e$1") }, master];
        let claims = claims(Root::new().path(), &links, "e$1");
        let commands = claims[0].cure.lines().map(|line| line.split_once(": ").map_or(line, |(_, command)| command));
        for command in commands {
            let plain = command.replace("'e$1'", "").replace("'m;9'", "");
            assert!(!plain.contains(['$', ';']), "{kind}: {command}");
        }
        assert!(claims[0].cure.contains("'e$1'"), "{kind}: {}", claims[0].cure);
    }
}

#[test]
fn any_text_in_any_file_is_survived() {
    let texts = [
        "",
        "[",
        "[Match]\nName=",
        "[Match\nName=*",
        "\\\n\\\n",
        "=\n==\n[=]\n",
        "iface\nauto\niface eth1\n\\",
        "\u{0}\u{1b}",
    ];
    let paths = [
        "/etc/systemd/network/a.network",
        "/etc/network/interfaces",
        "/etc/NetworkManager/NetworkManager.conf",
        "/etc/NetworkManager/system-connections/a",
        "/etc/sysconfig/network-scripts/ifcfg-eth1",
        "/etc/netplan/a.yaml",
        "/run/NetworkManager/devices/1",
        "/run/udev/data/n1",
    ];
    for text in texts {
        let root = Root::new();
        root.run(7, "systemd-network", &[]);
        root.run(8, "NetworkManager", &[]);
        paths.iter().for_each(|path| root.write(path, text));
        let _ = claims_on_eth1(&root);
    }
}
