//! What is written is read back as it was; no text makes a reader panic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nicteam_formats::{Address, FORMATS, Network, Route, Source, Team};
use proptest::prelude::*;

use super::{format, write};

fn mode_options() -> impl Strategy<Value = Vec<(String, String)>> {
    let any = |options: &'static [(&'static str, &'static [&'static str])]| {
        let one = |(name, values): &(&'static str, &'static [&'static str])| {
            let name = (*name).to_owned();
            prop::option::of(prop::sample::select(*values))
                .prop_map(move |value| value.map(|value| (name.clone(), value.to_owned())))
        };
        options
            .iter()
            .map(one)
            .collect::<Vec<_>>()
            .prop_map(|options| options.into_iter().flatten().collect::<Vec<_>>())
    };
    let with_mode = |mode: &'static str, options: BoxedStrategy<Vec<(String, String)>>| {
        options.prop_map(move |mut options| {
            options.insert(0, ("mode".to_owned(), mode.to_owned()));
            options
        })
    };
    prop_oneof![
        with_mode(
            "balance-rr",
            any(&[("packets_per_slave", &["0", "1", "7"]), ("miimon", &["50", "1000"]), ("updelay", &["0", "200"])])
                .boxed()
        ),
        with_mode(
            "active-backup",
            any(&[
                ("primary", &["eth0"]),
                ("primary_reselect", &["always", "better", "failure"]),
                ("fail_over_mac", &["none", "active", "follow"]),
                ("num_grat_arp", &["0", "3"]),
                ("arp_interval", &["100", "2000"]),
                ("arp_ip_target", &["10.0.0.9", "10.0.0.9,10.0.0.8"]),
                ("arp_validate", &["none", "all"]),
                ("all_slaves_active", &["0", "1"]),
                ("resend_igmp", &["0", "255"]),
            ])
            .boxed()
        ),
        with_mode(
            "802.3ad",
            any(&[
                ("lacp_rate", &["slow", "fast"]),
                ("xmit_hash_policy", &["layer2", "layer2+3", "layer3+4", "encap3+4", "vlan+srcmac"]),
                ("ad_select", &["stable", "bandwidth", "count"]),
                ("min_links", &["0", "2"]),
                ("miimon", &["10"]),
                ("downdelay", &["40"]),
            ])
            .boxed()
        ),
        with_mode("balance-alb", any(&[("lp_interval", &["1", "30"]), ("primary", &["eth0"])]).boxed()),
    ]
}

fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        (any::<u32>(), 0..=32_u8).prop_map(|(bits, prefix)| Address { address: Ipv4Addr::from(bits).into(), prefix }),
        (any::<u128>(), 0..=128_u8).prop_map(|(bits, prefix)| Address { address: Ipv6Addr::from(bits).into(), prefix }),
    ]
}

fn route() -> impl Strategy<Value = Route> {
    let number = || prop::option::of(prop_oneof![Just(0), 1..5000_u32, Just(u32::MAX - 1)]);
    let table = prop::option::of(prop_oneof![1..250_u32, 256..9000_u32]);
    (address(), any::<bool>(), any::<u64>(), number(), table).prop_map(|(to, has_hop, hop, metric, table)| {
        let to = to.network();
        let via = has_hop.then(|| match to.address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(hop as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(u128::from(hop) << 32)),
        });
        Route { to, via, metric, table }
    })
}

prop_compose! {
    /// A team that every writer has words for, but for a few of its options.
    pub fn team()(
        name in "[a-z][a-z0-9_.-]{0,11}",
        mut members in prop::collection::btree_set("[a-z][a-z0-9_.-]{3,14}", 0..4),
        options in mode_options(),
        mac in prop::option::of(any::<[u8; 5]>()),
        mtu in prop::option::of(68..=65_535_u32),
        mut addresses in prop::collection::vec(address(), 0..3),
        mut routes in prop::collection::vec(route(), 0..3),
    ) -> Team {
        members.remove(&name);
        members.insert("eth0".to_owned());
        addresses.sort();
        addresses.dedup();
        routes.sort();
        routes.dedup();
        Team {
            name,
            members: members.into_iter().collect(),
            options,
            mac: mac.map(|[a, b, c, d, e]| nicteam_wire::Mac([2, a, b, c, d, e])),
            mtu,
            accept_ra: None,
            dataplane: None,
            addresses,
            routes,
        }
    }
}

/// Everything of a team but how its options are written.
fn whole(team: &Team) -> (Team, String) {
    let config = format!("{:?}", team.config());
    (Team { options: Vec::new(), ..team.clone() }, config)
}

/// Formats that are written, and the options that they have no word for.
const WITHOUT: &[(&str, &[&str])] = &[
    ("ifupdown", &["all_slaves_active", "resend_igmp", "min_links", "lp_interval"]),
    ("networkd", &["xmit_hash_policy=vlan+srcmac"]),
    ("netplan", &["num_grat_arp=0", "packets_per_slave=0", "resend_igmp=0"]),
];

/// A text of each format.
const SEEDS: &[&str] = &[
    "network:\n  version: 2\n  bonds:\n    b:\n      interfaces: [e0, e1]\n      addresses: [\"10.0.0.1/24\"]\n      routes:\n        - to: default\n          via: 10.0.0.9\n      parameters: {mode: 802.3ad, lacp-rate: fast}\n",
    "ip link add b type bond mode 4 miimon 100\nip link set e0 master b\nip addr add 10.0.0.1/24 dev b\nip route add default via 10.0.0.9\nmodprobe bonding mode=1\necho +e1 > /sys/class/net/b/bonding/slaves\n",
    "dladm create-aggr -P L2,L3 -L active -T short -u 2:0:0:0:0:1 -l e0 -l e1 a0\nipadm create-addr -T static -a local=10.0.0.1/24 a0/v4\nifconfig a0 10.0.0.2 netmask 255.255.255.0 up\n",
    "{\"device\": \"t\", \"runner\": {\"name\": \"lacp\", \"tx_hash\": [\"eth\", \"l4\"]}, \"link_watch\": {\"name\": \"arp_ping\", \"target_host\": \"10.0.0.1\"}, \"ports\": {\"e0\": {\"prio\": 1}}}",
    "ovs-vsctl add-br b -- add-bond b bond0 e0 e1 bond_mode=balance-slb tag=5\novs-vsctl set port bond0 lacp=active other_config:lacp-time=fast\n",
];

/// The text with characters taken out, put in and doubled.
fn edited(seed: &str, edits: &[(prop::sample::Index, u8, char)]) -> String {
    let mut text: Vec<char> = seed.chars().collect();
    for (index, kind, character) in edits {
        let at = index.index(text.len() + 1);
        match kind {
            0 => text.truncate(at),
            1 => text.insert(at, *character),
            2 => drop((at < text.len()).then(|| text.remove(at))),
            3 => text.insert(at, ['\n', ' ', '"', ':', '-', '{', '[', '$', '='][*character as usize % 9]),
            _ => {
                let piece: Vec<char> = text[at..].iter().take(20).copied().collect();
                text.splice(at..at, piece);
            }
        }
        if text.is_empty() {
            text.push(' ');
        }
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if nicteam_testnet::is_soak() { 20_000 } else { 200 }, ..ProptestConfig::default() })]

    #[test]
    fn written_teams_are_read_back(team in team()) {
        prop_assume!(team.config().is_ok());
        {
            let name = "iproute2";
            let written = write(name, &Network { teams: vec![team.clone()] });
            prop_assert_eq!(&written.left, &[""; 0]);
            let import = format(name).read(&written.files).unwrap_or_else(|error| panic!("{name}: {error}\n{}", written.files[0].text));
            prop_assert_eq!(import.left.as_slice(), &[]);
            let [back] = import.network.teams.as_slice() else { panic!("{name}: {import:?}") };
            prop_assert_eq!(whole(back), whole(&team), "{}\n{}", name, written.files[0].text);
            prop_assert!(format(name).recognises(&written.files[0]));
        }
    }

    #[test]
    fn our_own_file_is_read_back(mut team in team(), dataplane in prop::option::of(prop::sample::select(&["bpf", "packet"]))) {
        prop_assume!(team.config().is_ok());
        team.dataplane = dataplane.map(str::to_owned);
        let network = Network { teams: vec![team] };
        let text = nicteam_formats::toml::write(&nicteam_formats::Import { network: network.clone(), ..Default::default() });
        let source = Source::new("a.toml", text);
        let back = nicteam_formats::toml::read(std::slice::from_ref(&source));
        prop_assert_eq!(back.unwrap_or_else(|error| panic!("{error}\n{}", source.text)), network);
        prop_assert_eq!(write("toml", &Network::default()).files, vec![]);
    }

    #[test]
    fn what_has_a_word_is_read_back(mut team in team()) {
        prop_assume!(team.config().is_ok());
        for (name, without) in WITHOUT {
            let written = write(name, &Network { teams: vec![team.clone()] });
            let import = format(name).read(&written.files).unwrap_or_else(|error| panic!("{name}: {error}\n{}", written.files[0].text));
            prop_assert_eq!(import.left.as_slice(), &[], "{}", written.files[0].text);
            let [back] = import.network.teams.as_slice() else { panic!("{name}: {import:?}") };
            let mut expected = team.clone();
            // A name, or a name with a value.
            expected.options.retain(|(option, value)| !without.iter().any(|of| *of == option || *of == format!("{option}={value}")));
            prop_assert_eq!(written.left.len(), team.options.len() - expected.options.len(), "{:?}", written.left);
            prop_assert_eq!(whole(back), whole(&expected), "{}\n{}", name, written.files[0].text);
            prop_assert!(written.files.iter().all(|file| format(name).recognises(file)));
        }
        team.options = vec![("mode".to_owned(), "stripe".to_owned())];
        for name in ["ifupdown", "networkd"] {
            let written = write(name, &Network { teams: vec![team.clone()] });
            prop_assert_eq!((written.files.len(), written.left.len()), (0, 1));
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(seed in prop::sample::select(SEEDS), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8, any::<char>()), 0..6)) {
        let text = edited(seed, &edits);
        for format in FORMATS {
            let source = Source::new("a", text.clone());
            let _ = format.recognises(&source);
            match format.read(std::slice::from_ref(&source)) {
                Ok(import) => {
                    for team in &import.network.teams {
                        prop_assert!(team.config().is_ok(), "{team:?}");
                    }
                }
                Err(diagnostics) => prop_assert!(!diagnostics.to_string().is_empty()),
            }
        }
    }
}
