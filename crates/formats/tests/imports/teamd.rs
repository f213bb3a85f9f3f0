//! teamd's JSON: the examples of teamd.conf(5), and what is beside them.

use super::{left, read, read_all, shown};

#[test]
fn a_turn_in_order_and_in_none() {
    let text = |runner: &str| {
        format!(
            "{{\"device\": \"team0\", \"runner\": {{\"name\": \"{runner}\"}}, \"ports\": {{\"eth1\": {{}}, \"eth2\": {{}}}}}}"
        )
    };
    let expected = "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"balance-rr\"\n";
    assert_eq!(shown("teamd", &text("roundrobin")), expected);
    assert_eq!(shown("teamd", &text("random")), format!("{expected}packets_per_slave = 0\n"));
    assert!(shown("teamd", &text("broadcast")).contains("mode = \"broadcast\""));
}

#[test]
fn a_sticky_port() {
    let text = r#"{
      "device": "team0",
      "hwaddr": "02:00:00:00:00:01",
      "runner": {"name": "activebackup", "hwaddr_policy": "by_active"},
      "notify_peers": {"count": 3},
      "link_watch": {"name": "ethtool", "delay_up": 2500, "delay_down": 1000},
      "ports": {"eth1": {"prio": -10, "sticky": true}, "eth2": {"prio": 100}}
    }"#;
    assert_eq!(
        shown("teamd", text),
        "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"active-backup\"\nfail_over_mac = \"active\"\n\
         num_grat_arp = 3\nupdelay = 2500\ndowndelay = 1000\nprimary = \"eth2\"\nprimary_reselect = \"failure\"\n\
         prio = \"eth1:-10,eth2:100\"\nmac = \"02:00:00:00:00:01\"\n"
    );
    assert_eq!(left(&read("teamd", text)), [""; 0]);
}

#[test]
fn links_watched_by_arp() {
    let text = r#"{"device": "team0", "runner": {"name": "activebackup"},
      "link_watch": [
        {"name": "arp_ping", "interval": 100, "missed_max": 30, "target_host": "192.168.23.1", "init_wait": 5},
        {"name": "arp_ping", "interval": 50, "missed_max": 20, "target_host": "192.168.24.1"},
        {"name": "ethtool"}
      ],
      "ports": {"eth1": {}, "eth2": {}}}"#;
    assert_eq!(
        shown("teamd", text),
        "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"active-backup\"\narp_interval = 100\n\
         arp_missed_max = 30\narp_ip_target = \"192.168.23.1,192.168.24.1\"\n"
    );
    let left = left(&read("teamd", text)).join("\n");
    for words in ["3 \"init_wait\": 5 | ", "4 {\"name\": \"arp_ping\"", "5 {\"name\": \"ethtool\"} | "] {
        assert!(left.contains(words), "{words}: {left}");
    }
}

#[test]
fn lacp_with_a_hash() {
    let text = r#"{"device": "team0", "debug_level": 1,
      "runner": {"name": "lacp", "active": false, "fast_rate": true, "tx_hash": ["ip", "l4"], "sys_prio": 100, "min_ports": 2,
                 "agg_select_policy": "bandwidth", "tx_balancer": {"name": "basic"}},
      "ports": {"eth1": {"lacp_prio": 10, "lacp_key": 3}, "eth2": {}}}"#;
    assert_eq!(
        shown("teamd", text),
        "[teams.team0]\nmembers = [\"eth1\", \"eth2\"]\nmode = \"802.3ad\"\nlacp_active = \"off\"\nlacp_rate = \"fast\"\n\
         xmit_hash_policy = \"layer3+4\"\nad_actor_sys_prio = 100\nmin_links = 2\nad_select = \"bandwidth\"\n\
         actor_port_prio = \"eth1:10\"\n"
    );
    assert_eq!(read("teamd", text).left.len(), 3, "{:?}", left(&read("teamd", text)));
}

#[test]
fn hashes_of_their_layers() {
    for (hash, policy) in [
        ("", "layer2+3"),
        (", \"tx_hash\": [\"eth\"]", "layer2"),
        (", \"tx_hash\": [\"eth\", \"ipv4\", \"ipv6\"]", "layer2+3"),
        (", \"tx_hash\": [\"l3\"]", "L3"),
        (", \"tx_hash\": [\"eth\", \"l3\", \"l4\"]", "L2,L3,L4"),
        (", \"tx_hash\": [\"eth\", \"l4\"]", "L2,L4"),
    ] {
        let text = format!(
            "{{\"device\": \"t\", \"runner\": {{\"name\": \"loadbalance\"{hash}}}, \"ports\": {{\"e\": {{}}}}}}"
        );
        assert!(shown("teamd", &text).contains(&format!("xmit_hash_policy = \"{policy}\"")), "{hash}");
    }
}

#[test]
fn several_ports_of_the_highest_priority_are_told() {
    let text = r#"{"device": "team0", "runner": {"name": "activebackup"},
      "ports": {"eth1": {"prio": 9}, "eth2": {"prio": 9}, "eth3": {"prio": 1, "sticky": true}}}"#;
    let import = left(&read("teamd", text));
    assert!(import.len() == 1 && import[0].starts_with("2 \"eth3\" | several ports have the highest"), "{import:?}");
}

#[test]
fn a_team_is_named_for_its_file() {
    let text = r#"{"runner": {"name": "lacp"}, "ports": {"eth1": {}}}"#;
    let import = read_all("teamd", &[("/etc/teamd/team7.conf", text)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(import.network.teams[0].name, "team7");
    assert_eq!(import.disable[0].command.as_deref(), Some("systemctl disable --now teamd@team7.service"));
    assert!(read_all("teamd", &[("/etc/teamd/teamd.conf", text)]).is_err());
}

#[test]
fn ports_that_join_later_are_told() {
    let text = r#"{"device": "team0", "runner": {"name": "lacp"}}"#;
    let import = read("teamd", text);
    assert!(import.network.teams.is_empty());
    assert!(left(&import)[0].contains("`teamdctl team0 config dump actual` has them"), "{:?}", left(&import));
}

#[test]
fn lacp_is_watched_by_carrier_and_unknown_keys_are_ignored() {
    let text = r#"{"device": "team0", "runner": {"name": "lacp"}, "tx_balancer": {"name": "basic"},
      "link_watch": [
        {"name": "ethtool", "delay_up": 2500, "delay_down": 1000},
        {"name": "arp_ping", "target_host": "192.0.2.1"}
      ],
      "ports": {"eth1": {}, "eth2": {}}}"#;
    let expected = "mode = \"802.3ad\"\nxmit_hash_policy = \"layer2+3\"\nupdelay = 2500\ndowndelay = 1000\n";
    assert!(shown("teamd", text).ends_with(expected), "{}", shown("teamd", text));
    let left = left(&read("teamd", text)).join("\n");
    for words in ["1 \"tx_balancer\"", "teamd ignores it", "4 {\"name\": \"arp_ping\"", "by their carrier alone"] {
        assert!(left.contains(words), "{words}: {left}");
    }
}
