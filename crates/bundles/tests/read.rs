//! Texts of other programs become bundles.

use nicteam_bundles::{Bundle, Member, read, state};
use proptest::prelude::*;

/// What Linux 6.1 printed (crate `oracle` records it).
fn proc(name: &str) -> Bundle {
    let path = format!("{}/../daemon/tests/data/proc-6.1/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    read::proc("team0", &std::fs::read_to_string(path).unwrap())
}

const BOND_SHOW: &str = include_str!("data/bond-show.txt");
const LACP_SHOW: &str = include_str!("data/lacp-show.txt");
const TEAMD: &str = include_str!("data/teamd.json");

fn senders(bundle: &Bundle) -> Vec<(&str, bool)> {
    bundle.members.iter().map(|member| (member.name.as_str(), member.active)).collect()
}

#[test]
fn the_kernels_aggregate_is_read() {
    let bond = proc("802.3ad-one-down");
    assert_eq!((bond.mode.as_str(), bond.hash_policy.as_deref()), ("802.3ad", Some("layer2")));
    assert_eq!(bond.options["lacp_rate"], "slow");
    let lacp = bond.lacp.clone().unwrap();
    assert_eq!((lacp.aggregator, lacp.ports, lacp.partner_key), (Some(1), Some(1), Some(15)));
    assert_eq!((lacp.partner.as_deref(), lacp.negotiated), (Some("02:00:00:00:00:99"), Some(true)));
    assert_eq!(senders(&bond), [("eth0", true), ("eth1", false)]);
    let [one, other] = &bond.members[..] else { panic!("{bond:?}") };
    assert_eq!((one.speed_mbps, one.full_duplex, one.link_failures), (Some(10_000), Some(true), Some(0)));
    assert_eq!((other.up, other.link_failures), (false, Some(1)));
    let port = other.lacp.as_ref().unwrap();
    assert_eq!((port.actor.as_ref().unwrap().key, port.partner.as_ref().unwrap().port), (0, 2));
    assert_eq!(port.actor_churn, "monitoring");
}

#[test]
fn an_aggregate_without_partner_is_told_from_one_that_has_keys_that_differ() {
    let alone = proc("802.3ad-no-partner");
    let lacp = alone.lacp.clone().unwrap();
    assert_eq!((lacp.partner, lacp.negotiated), (None, Some(false)));
    assert!(alone.members.iter().all(|of| of.lacp.as_ref().unwrap().partner.as_ref().unwrap().is_unknown()));
    let differ = proc("802.3ad-keys-differ");
    let aggregators: Vec<_> = differ.members.iter().map(|of| of.lacp.as_ref().unwrap().aggregator).collect();
    assert_ne!(aggregators[0], aggregators[1]);
    assert_eq!(differ.members.iter().filter(|of| of.active).count(), 1, "{:?}", senders(&differ));
    let down = proc("802.3ad-all-down");
    assert_eq!((down.carrier, down.lacp.unwrap().aggregator), (false, None));
}

#[test]
fn other_modes_of_the_kernel_are_read() {
    let failed_over = proc("active-backup-failed-over");
    assert_eq!((failed_over.mode.as_str(), failed_over.active.as_deref()), ("active-backup", Some("eth1")));
    assert_eq!(senders(&failed_over), [("eth0", false), ("eth1", true)]);
    assert_eq!(proc("active-backup-primary").options["primary"], "eth1");
    let going = |name: &str| -> Member { proc(name).members.into_iter().find(|of| of.up != of.carrier).unwrap() };
    assert!(going("active-backup-going-down").up, "it still serves");
    assert!(!going("active-backup-going-back").up, "it does not serve yet");
    let modes: Vec<(String, Option<String>)> =
        ["balance-rr", "broadcast", "balance-xor-encap3+4", "balance-xor-vlan+srcmac"]
            .iter()
            .map(|name| proc(name))
            .map(|bond| (bond.mode, bond.hash_policy))
            .collect();
    let expected = [
        ("balance-rr", None),
        ("broadcast", None),
        ("balance-xor", Some("encap3+4")),
        ("balance-xor", Some("vlan+srcmac")),
    ];
    assert_eq!(modes, expected.map(|(mode, policy)| (mode.to_owned(), policy.map(ToOwned::to_owned))));
}

#[test]
fn bonds_of_open_vswitch_are_read() {
    let bonds = read::openvswitch(BOND_SHOW, LACP_SHOW);
    let [tcp, slb] = &bonds[..] else { panic!("{bonds:?}") };
    assert_eq!((tcp.name.as_str(), tcp.mode.as_str(), tcp.active.as_deref()), ("bond0", "balance-tcp", Some("eth1")));
    assert_eq!(senders(tcp), [("eth0", false), ("eth1", true)]);
    let lacp = tcp.lacp.as_ref().unwrap();
    assert_eq!((lacp.partner.as_deref(), lacp.negotiated), (Some("12:f1:5d:96:44:00"), Some(true)));
    assert_eq!((lacp.ports, lacp.actor_key, lacp.partner_key), (Some(1), Some(1), Some(15)));
    let [detached, attached] = [0, 1].map(|at| tcp.members[at].lacp.as_ref().unwrap());
    assert!(!detached.attached && detached.actor.as_ref().unwrap().has(state::DEFAULTED));
    assert!(attached.attached && attached.partner.as_ref().unwrap().has(state::COLLECTING | state::DISTRIBUTING));
    assert_eq!((slb.mode.as_str(), &slb.lacp, slb.active.as_deref()), ("balance-slb", &None, Some("eth2")));
    assert_eq!(read::openvswitch("nonsense", "---- x ----\nmember: a: b"), []);
}

#[test]
fn teams_of_teamd_are_read() {
    let team = read::teamdctl("team0", TEAMD).unwrap();
    assert_eq!((team.mode.as_str(), team.index, team.carrier), ("lacp", Some(7), true));
    assert_eq!(senders(&team), [("eth0", true), ("eth1", false)]);
    let lacp = team.lacp.as_ref().unwrap();
    assert_eq!(
        (lacp.partner.as_deref(), lacp.aggregator, lacp.partner_key),
        (Some("02:00:00:00:00:99"), Some(3), Some(15))
    );
    assert_eq!((team.members[0].link_failures, team.members[0].speed_mbps), (Some(2), Some(1000)));
    for text in ["", "[]", "{}", r#"{"setup": 3}"#, r#"{"setup": {"runner_name": 7}}"#] {
        assert_eq!(read::teamdctl("team0", text), None, "{text}");
    }
    let odd =
        r#"{"setup": {"runner_name": "lacp"}, "ports": {"eth0": [], "eth1": {"runner": {"actor_lacpdu_info": 5}}}}"#;
    assert_eq!(read::teamdctl("team0", odd).unwrap().members.len(), 2);
}

/// Texts of lines that the parsers know, in any order, with values that they do not expect.
fn lines() -> impl Strategy<Value = String> {
    let known: Vec<&'static str> = [include_str!("../../daemon/tests/data/proc-6.1/802.3ad.txt"), BOND_SHOW, LACP_SHOW]
        .iter()
        .flat_map(|text| text.lines())
        .collect();
    let line = (proptest::sample::select(known), any::<bool>(), "\\PC{0,8}");
    let line = line.prop_map(|(line, keeps, value)| match line.split_once(": ") {
        Some((key, _)) if !keeps => format!("{key}: {value}"),
        _ => line.to_owned(),
    });
    proptest::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(text in prop_oneof![lines(), "\\PC{0,200}"], other in lines()) {
        let bond = read::proc("x", &text);
        prop_assert!(bond.members.iter().filter(|of| of.active).all(|of| of.up));
        read::openvswitch(&text, &other);
        read::teamdctl("x", &text);
    }
}
