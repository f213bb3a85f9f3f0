//! What is in the way is named with its cure, and nothing is changed.

use nicteam_testnet::{assert_same_network, may_make_networks};
use serde_json::Value;

use super::{Network, TEAM};

#[test]
fn what_is_in_the_way_is_named_with_its_cure() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new();
    network.ip("link add name br0 type bridge");
    network.ip("link add name dm0 type veth peer name dm1");
    network.ip("link set dm0 master br0");
    network.ip("address add 10.8.0.1/24 dev dm1");
    network.ip("link add link eth1 name mt0 type macvtap mode bridge");
    network.ip("nexthop add id 7 via 10.3.0.9 dev eth0");
    network.near.run(&["add", "other", "--members", "dm1"]);
    let before = network.snapshot();
    let team =
        |members: &str, more: &str| format!("[teams.team0]\nmembers = [{members}]\nmode = \"active-backup\"\n{more}");
    for (file, what, cure) in [
        (team("\"eth7\"", ""), "no device `eth7`", "did you mean `eth"),
        (team("\"eth0\", \"eth7\"", ""), "no device `eth7`", "did you mean `eth1`?"),
        // The nearest one is a bridge.
        (team("\"br7\"", ""), "no device `br7`", "`ip link` lists the devices"),
        (team("\"dm0\"", ""), "`dm0` is a part of the bridge br0", "ip link set dm0 nomaster"),
        (team("\"dm0\"", ""), "`dm0` is a part of the bridge br0", "ip link set team0 master br0"),
        (team("\"eth0\", \"eth2\"", ""), "no device `eth2`", "did you mean `eth1`?"),
        (team("\"dm1\"", ""), "`dm1` is a member of team other", "nicteam down other"),
        (team("\"lo\"", ""), "`lo` has no Ethernet address", "ip link"),
        (team("\"eth1\"", ""), "macvtap mt0 stands on eth1", "ip link del mt0"),
        (team("\"eth0\"", ""), "nexthop object 7 leads over eth0", "ip nexthop del id 7"),
        (
            team("\"eth1\"", "addresses = [\"10.3.0.1/24\"]"),
            "10.3.0.1 is an address of eth0",
            "ip address del 10.3.0.1/24 dev eth0",
        ),
        (team("\"eth1\"", "routes = [\"default via 10.9.9.9\"]"), "gateway 10.9.9.9", "an address of that network"),
        (team("\"eth1\"", "").replace("team0", "br0"), "there is bridge `br0` already", "ip link del br0"),
    ] {
        let path = network.file("teams.toml", &file);
        let (code, said) = network.nicteam(&["up", &path]);
        assert!(code == 1 && said.contains(what) && said.contains(cure), "{file}: {said}");
        assert!(said.contains("\nhint: "), "{said}");
        let (code, said) = network.nicteam(&["check", &path, "--json"]);
        let plans: Value = serde_json::from_str(said.split("\nnicteam:").next().unwrap()).unwrap();
        let refusals = plans[0]["refusals"].as_array().unwrap();
        let named = |refusal: &Value| refusal["what"].as_str().unwrap().contains(what);
        assert!(code == 1 && refusals.iter().any(named), "{file}: {plans}");
        let (_, said) = network.nicteam(&["check", &path]);
        assert!(said.contains("cannot come up\n  in the way: ") && !said.contains("\n   1  "), "{said}");
    }
    assert_same_network(&network.snapshot(), &before, "refused");
}

#[test]
fn files_are_refused_before_anything_is_touched() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let both = format!("{TEAM}\n[teams.team1]\nmembers = [\"eth1\"]\n");
    let path = network.file("teams.toml", &both);
    let (code, said) = network.nicteam(&["up", &path]);
    assert!(code == 2 && said.contains("eth1"), "{said}");
    // What is in the way of the second team is looked for before the first one comes up.
    let second = TEAM.replace(", \"eth1\"", "") + "[teams.team1]\nmembers = [\"nowhere0\"]\n";
    let (code, said) = network.nicteam(&["up", &network.file("second.toml", &second)]);
    assert!(code == 1 && said.starts_with("nicteam: no device `nowhere0` for team team1\nhint: "), "{said}");
    let (code, said) = network.nicteam(&["up", &network.file("teams.toml", TEAM), "team7"]);
    assert!(code == 2 && said.contains("team7"), "{said}");
    let (code, said) = network.nicteam(&["up", &network.file("teams.txt", "what is this?\n")]);
    assert!(code == 2 && said.contains("hint:"), "{said}");
    let (code, said) = network.nicteam(&["up", "/nowhere/teams.toml"]);
    assert!(code == 2 && said.contains("cannot read /nowhere/teams.toml"), "{said}");
    assert_same_network(&network.snapshot(), &before, "refused");
}

#[test]
fn files_are_read_as_an_import_reads_them() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new();
    let one =
        |team: &str, member: &str| format!("[teams.{team}]\nmembers = [\"{member}\"]\nmode = \"active-backup\"\n");
    let first = network.file("set/a.toml", &one("team0", "eth0"));
    let second = network.file("set/b.toml", &one("team1", "eth1"));
    for unread in ["set/.a.toml.swp", "set/b.toml.bak", "set/b.toml~"] {
        network.file(unread, "[teams.team0]\nnothing that can be read\n");
    }
    let folder = first.strip_suffix("/a.toml").unwrap().to_owned();
    let teams = |arguments: &[&str]| {
        let said = network.done(&[&["check"], arguments].concat());
        let of = said.lines().filter_map(|line| line.split_once(": would come up")).map(|(team, _)| team.to_owned());
        of.collect::<Vec<_>>()
    };
    assert_eq!(teams(&[&folder]), ["team0", "team1"]);
    assert_eq!(teams(&[&first, &second]), ["team0", "team1"]);
    assert_eq!(teams(&[&first, &second, "team1"]), ["team1"]);
    assert_eq!(teams(&[&folder, "--from", "toml", "team0"]), ["team0"]);
    let (code, said) = network.nicteam(&["check", &first, "nowhere.toml"]);
    assert!(code == 2 && said.contains("there is no file nowhere.toml, and no team of this name"), "{said}");

    let netplan = network.file("set/c.yaml", "network:\n  bonds:\n    bond0:\n      interfaces: [eth0]\n");
    for command in ["check", "up", "down"] {
        let (code, said) = network.nicteam(&[command, &first, &netplan]);
        assert!(code == 2 && said.contains("not of one format") && said.contains("--from"), "{command}: {said}");
    }
    assert_eq!(teams(&[&folder]), ["team0", "team1"]);
    assert_eq!(teams(&[&folder, "--from", "netplan"]), ["bond0"]);
    assert_eq!(teams(&[&netplan]), ["bond0"]);
    let (code, said) = network.nicteam(&["up", &folder, "--from", "tomml"]);
    assert!(code == 2 && said.contains("did you mean `toml`?"), "{said}");
}

#[test]
fn a_folder_is_read_as_import_reads_it() {
    if !may_make_networks() {
        return;
    }
    let network = Network::new();
    let stanza = "auto bond0\niface bond0 inet manual\n    bond-slaves eth0 eth1\n";
    let folder = network.near.state.join("network");
    std::fs::create_dir_all(folder.join("interfaces.d")).unwrap();
    std::fs::write(folder.join("interfaces"), "source interfaces.d/*\n").unwrap();
    for name in ["bond0", "bond0.bak", ".bond0.swp"] {
        std::fs::write(folder.join("interfaces.d").join(name), stanza).unwrap();
    }
    let folder = folder.display().to_string();
    let (code, said) = network.nicteam(&["check", &folder, "--from", "ifupdown"]);
    assert!(code == 0 && said.contains("bond0: would come up"), "{said}");
    std::fs::write(format!("{folder}/01-lan.yaml"), "network:\n  version: 2\n").unwrap();
    let (code, said) = network.nicteam(&["check", &folder]);
    assert!(code == 2 && said.contains("not of one format") && said.contains("--from"), "{said}");
}
