//! Profiles that nmcli makes of what is asked for.

use nicteam_formats::{Address, Team};
use nicteam_testnet::is_soak;

use super::{Nmcli, import};
use crate::mutation::Random;

/// Profiles of a soak: each takes nmcli 20 ms.
const SOAK: u64 = 3000;

/// Options that NetworkManager takes in a mode, with values of them.
type Options = &'static [(&'static str, &'static [&'static str])];

const PRIMARY: Options = &[("primary", &["eth1", "eth2"]), ("primary_reselect", &["always", "better", "failure"])];
const MODES: &[(&str, Options)] = &[
    ("balance-rr", &[("packets_per_slave", &["0", "7", "65535"]), ("resend_igmp", &["0", "255"])]),
    ("0", &[]),
    (
        "active-backup",
        &[
            ("fail_over_mac", &["none", "active", "follow", "1"]),
            ("num_grat_arp", &["0", "3"]),
            ("all_slaves_active", &["0", "1"]),
            ("resend_igmp", &["2"]),
        ],
    ),
    ("1", PRIMARY),
    ("balance-xor", &[("xmit_hash_policy", &["layer2", "layer2+3", "layer3+4", "encap2+3", "vlan+srcmac"])]),
    ("broadcast", &[]),
    (
        "802.3ad",
        &[
            ("lacp_rate", &["slow", "fast", "0", "1"]),
            ("ad_select", &["stable", "bandwidth", "count"]),
            ("min_links", &["0", "2"]),
            ("xmit_hash_policy", &["layer3+4", "encap3+4"]),
            ("ad_actor_sys_prio", &["1", "65535"]),
            ("ad_user_port_key", &["0", "1023"]),
            ("ad_actor_system", &["02:00:00:00:00:07"]),
        ],
    ),
    ("4", &[]),
    ("balance-tlb", &[("tlb_dynamic_lb", &["0", "1"]), ("lp_interval", &["1", "30"])]),
    ("balance-alb", PRIMARY),
];
/// Modes in which NetworkManager takes the ARP monitor.
const ARP: &[&str] = &["balance-rr", "0", "active-backup", "1", "balance-xor", "broadcast"];

/// What is asked for: nmcli's words, and the team that they mean.
fn asked(random: &mut Random) -> (Vec<String>, Team) {
    let (mode, options) = random.one(MODES);
    let mut team = Team {
        name: "bond0".to_owned(),
        members: vec!["eth1".to_owned(), "eth2".to_owned()],
        options: vec![("mode".to_owned(), mode.to_owned())],
        ..Team::default()
    };
    let mut set = |name: &str, value: &str| team.options.push((name.to_owned(), value.to_owned()));
    for (name, values) in options {
        let value = random.one(values);
        if random.below(2) == 0 {
            set(name, value);
        }
    }
    match random.below(3) {
        0 => {}
        1 if ARP.contains(&mode) => {
            set("arp_interval", random.one(&["100", "2500"]));
            set("arp_ip_target", random.one(&["10.0.0.9", "10.0.0.8,10.0.0.9"]));
            if matches!(mode, "active-backup" | "1") {
                set("arp_validate", random.one(&["none", "active", "backup", "all", "filter", "3"]));
                set("arp_all_targets", random.one(&["any", "all"]));
            }
        }
        _ => {
            set("miimon", random.one(&["100", "250"]));
            set("updelay", random.one(&["0", "500"]));
            set("downdelay", random.one(&["0", "1000"]));
        }
    }
    let list = team.options.iter().map(|(name, value)| format!("{name}={}", value.replace(',', " ")));
    let mut words = text("type bond ifname bond0 con-name bond0 bond.options");
    words.push(list.collect::<Vec<_>>().join(","));
    if random.below(3) == 0 {
        words.extend(text("802-3-ethernet.mtu 9000 802-3-ethernet.cloned-mac-address 02:00:00:00:00:01"));
        (team.mtu, team.mac) = (Some(9000), "02:00:00:00:00:01".parse().ok());
    }
    ask_v4(random, &mut words, &mut team);
    ask_v6(random, &mut words, &mut team);
    (words, team)
}

fn text(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

/// A route with the metric that NetworkManager gives it.
fn add(team: &mut Team, route: &str) {
    team.routes.push(route.parse().unwrap_or_else(|error| panic!("{route}: {error}")));
}

fn ask_v4(random: &mut Random, words: &mut Vec<String>, team: &mut Team) {
    if random.below(4) == 0 {
        return words.extend(text("ipv4.method disabled"));
    }
    words.extend(text("ipv4.method manual ipv4.addresses"));
    let lists: [&[&str]; 3] = [&["10.0.0.1/24"], &["10.0.0.1/24", "10.1.0.1/16"], &["10.0.0.7/32"]];
    let addresses = random.one(&lists);
    words.push(addresses.join(","));
    team.addresses.extend(addresses.iter().map(|address| address.parse::<Address>().unwrap()));
    let metric = random.one(&[None, Some("0"), Some("50")]);
    let table = random.one(&["", " table 7"]);
    words.extend(metric.iter().flat_map(|metric| text(&format!("ipv4.route-metric {metric}"))));
    words.extend((!table.is_empty()).then(|| text("ipv4.route-table 7")).into_iter().flatten());
    let own = match metric {
        None => " metric 300".to_owned(),
        Some("0") => String::new(),
        Some(metric) => format!(" metric {metric}"),
    };
    if random.below(2) == 0 {
        words.extend(text("ipv4.gateway 10.0.0.254"));
        match random.below(4) {
            0 => words.extend(text("ipv4.never-default yes")),
            _ => add(team, &format!("default via 10.0.0.254{own}{table}")),
        }
    }
    if random.below(2) == 0 {
        words.push("ipv4.routes".to_owned());
        words.push(
            "10.9.0.0/16 10.0.0.9, 10.8.0.0/16 10.0.0.9 100 table=5, 10.7.0.0/16, 10.6.0.0/16 10.5.0.9 onlink=true"
                .to_owned(),
        );
        add(team, &format!("10.9.0.0/16 via 10.0.0.9{own}{table}"));
        add(team, "10.8.0.0/16 via 10.0.0.9 metric 100 table 5");
        add(team, &format!("10.7.0.0/16{own}{table}"));
        // The next hop is on the link.
        add(team, &format!("10.5.0.9/32{own}{table}"));
        add(team, &format!("10.6.0.0/16 via 10.5.0.9{own}{table}"));
    }
}

fn ask_v6(random: &mut Random, words: &mut Vec<String>, team: &mut Team) {
    match random.below(4) {
        0 => words.extend(text("ipv6.method ignore")),
        1 => words.extend(text("ipv6.method disabled")),
        2 => {
            words.extend(text("ipv6.method link-local"));
            team.accept_ra = Some(0);
        }
        _ => {
            words.extend(text("ipv6.method manual ipv6.addresses 2001:db8::1/64 ipv6.gateway fe80::9 ipv6.routes"));
            words.push("2001:db8:1::/48 2001:db8::9 5".to_owned());
            team.accept_ra = Some(0);
            team.addresses.push("2001:db8::1/64".parse().unwrap());
            add(team, "default via fe80::9 metric 300");
            add(team, "2001:db8:1::/48 via 2001:db8::9 metric 5");
        }
    }
}

#[test]
fn what_was_asked_for_is_read() {
    if !is_soak() {
        return;
    }
    let Some(nmcli) = Nmcli::obtain_or_skip() else { return };
    let port = |device: &str| {
        let words = text(&format!("type ethernet ifname {device} con-name {device} master bond0 slave-type bond"));
        nmcli.add(&words.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
    };
    let ports = [port("eth1"), port("eth2")];
    for seed in 0..SOAK {
        let (words, expected) = asked(&mut Random(seed * 0x9e37));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let bond = nmcli.add(&words).unwrap_or_else(|said| panic!("{words:?}: {said}"));
        let read = import(&[vec![bond.clone()], ports.to_vec()].concat()).unwrap_or_else(|error| panic!("{error}"));
        let [team] = read.network.teams.as_slice() else { panic!("{words:?}\n{bond}") };
        let whole = |team: &Team| (format!("{:?}", team.config()), Team { options: Vec::new(), ..team.clone() });
        assert_eq!(whole(team), whole(&expected), "{words:?}\n{bond}");
        let disables = words.ends_with(&["disabled"]);
        assert_eq!(read.left.len(), usize::from(disables), "{words:?}\n{:#?}", read.left);
    }
}
