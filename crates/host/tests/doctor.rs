//! What will disappoint on a host, by what was seen of it.

use std::time::Duration;

use nicteam_dataplane::MEMBER_PREF;
use nicteam_host::doctor::facts::{Bundle, Device, Heard, HostFacts, Kernel, Owner};
use nicteam_host::doctor::{Finding, Weight, findings};
use nicteam_host::managers::{Claim, Severity};
use nicteam_netlink::IngressFilter;
use nicteam_sys::ethtool::{Feature, Room};
use nicteam_wire::{Lacpdu, Lldp, LldpAggregation, Mac, PortInfo};
use proptest::prelude::*;

use crate::common::link;

/// A device with which nothing is wrong.
fn device(index: u32, name: &str) -> Device {
    let features = ["rx-gro", "tx-tcp-segmentation", "tx-generic-segmentation", "tx-scatter-gather"];
    let feature = |name: &str| (name.to_owned(), Feature { on: true, can_change: true });
    let mut link = link(index, name);
    link.carrier = true;
    Device {
        link,
        driver: "e1000e".to_owned(),
        speed_mbps: Some(1000),
        full_duplex: Some(true),
        negotiates: Some(true),
        features: features.into_iter().map(feature).collect(),
        ..Device::default()
    }
}

/// A host with which nothing is wrong: two devices in a team of this mode.
fn host(mode: &str) -> HostFacts {
    let options = [("mode", mode), ("miimon", "100")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    HostFacts {
        kernel: Kernel { release: "6.12.3".to_owned(), has_btf: true, processors: 4, ..Kernel::default() },
        devices: vec![device(1, "eth1"), device(2, "eth2")],
        bundles: vec![Bundle {
            name: "team0".to_owned(),
            owner: Owner::Team,
            mode: mode.to_owned(),
            options: options.into(),
            members: vec!["eth1".to_owned(), "eth2".to_owned()],
            mtu: 1500,
            ..Bundle::default()
        }],
        ..HostFacts::default()
    }
}

/// What is found once this was changed.
fn after(mode: &str, change: impl FnOnce(&mut HostFacts)) -> Vec<Finding> {
    let mut facts = host(mode);
    change(&mut facts);
    findings(&facts)
}

/// The one finding.
#[track_caller]
fn one(findings: &[Finding]) -> &Finding {
    let [finding] = findings else { panic!("{findings:#?}") };
    finding
}

fn lldp(port: &str) -> Lldp {
    let aggregation = Some(LldpAggregation { capable: true, aggregated: false, port: 0 });
    Lldp { chassis: "c".to_owned(), port: port.to_owned(), ttl_s: 120, aggregation, ..Lldp::default() }
}

fn lacpdu(system: u8, key: u16) -> Lacpdu {
    let actor = PortInfo { system: Mac([2, 0, 0, 0, 0, system]), key, ..PortInfo::default() };
    Lacpdu::new(actor, PortInfo::default())
}

#[test]
fn a_sound_host_has_no_finding() {
    for mode in ["balance-rr", "active-backup", "802.3ad", "balance-alb", "stripe"] {
        assert_eq!(after(mode, |_| {}), [], "{mode}");
    }
}

#[test]
fn each_thing_that_is_wrong_is_found_alone() {
    type Change = fn(&mut HostFacts);
    let disappointing: [(&str, &str, Change); 18] = [
        ("802.3ad", "bundles", |facts| facts.bundles[0].owner = Owner::TeamAlone),
        ("802.3ad", "bundles", |facts| facts.half_way = vec!["team1".into()]),
        ("802.3ad", "bundles", |facts| facts.bundles[0].problems = vec![("eth1: no".into(), "do".into())]),
        ("balance-rr", "bundles", |facts| {
            facts.bundles[0].owner = Owner::Kernel;
            facts.bundles[0].options.extend([("miimon".into(), "0".into()), ("arp_interval".into(), "0".into())]);
        }),
        ("802.3ad", "carrier", |facts| {
            facts.bundles[0].owner = Owner::Kernel;
            facts.devices[0].link.carrier = false;
        }),
        ("802.3ad", "carrier", |facts| {
            facts.bundles[0].owner = Owner::Kernel;
            facts.devices[0].link.up = false;
        }),
        ("balance-xor", "negotiation", |facts| {
            facts.bundles[0].owner = Owner::Kernel;
            facts.devices[0].full_duplex = Some(false);
        }),
        ("stripe", "negotiation", |facts| facts.devices[0].negotiates = Some(false)),
        ("stripe", "mtu", |facts| facts.devices[0].link.mtu = 1400),
        ("stripe", "mtu", |facts| {
            facts.devices[0].link.mtu = 9000;
            facts.devices[0].heard.lldp = Some(Lldp { max_frame_bytes: Some(1522), ..lldp("1") });
        }),
        ("balance-xor", "switch-group", |facts| facts.devices[0].heard.lldp = Some(lldp("1"))),
        ("balance-alb", "switch-group", |facts| facts.devices[0].heard.lacp = Some(lacpdu(1, 1))),
        ("stripe", "switch-port", |facts| {
            facts.devices[0].heard.lldp = Some(Lldp { port_vlan: Some(1), ..lldp("1") });
            facts.devices[1].heard.lldp = Some(Lldp { port_vlan: Some(2), chassis: "d".into(), ..lldp("2") });
        }),
        ("802.3ad", "drivers", |facts| facts.devices[0].driver = "vmxnet3".into()),
        ("stripe", "offloads", |facts| {
            facts.devices.iter_mut().for_each(|device| device.speed_mbps = Some(10_000));
            facts.devices[0].features.insert("rx-gro".into(), Feature { on: false, can_change: true });
        }),
        ("stripe", "queues", |facts| facts.devices[0].rx_missed = 7),
        ("stripe", "sysctls", |facts| {
            facts.shared_networks = vec![("10.0.0.0/24".into(), vec!["eth1".into(), "eth2".into()])];
        }),
        ("stripe", "kernel", |facts| facts.kernel.release = "5.10.0-1".into()),
    ];
    for (mode, rule, change) in disappointing {
        let found = after(mode, change);
        let worst: Vec<&Finding> = found.iter().filter(|finding| finding.weight == Weight::Disappoints).collect();
        assert_eq!(worst.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [rule], "{mode}: {found:#?}");
        assert!(!worst[0].cure.is_empty() && !worst[0].text.ends_with('.'), "{found:#?}");
    }
}

/// It is not told twice: `team show` has it, too.
#[test]
fn what_a_team_says_of_its_members_itself_is_left_to_it() {
    let wrong = |facts: &mut HostFacts| {
        facts.devices[0].link.up = false;
        facts.devices[1].full_duplex = Some(false);
        facts.devices[1].speed_mbps = Some(100);
        facts.bundles[0].problems = vec![("member eth1 is set down".into(), "ip link set eth1 up".into())];
    };
    let found = after("balance-rr", wrong);
    assert_eq!((one(&found).rule, one(&found).text.as_str()), ("bundles", "member eth1 is set down"));
}

#[test]
fn what_speeds_cost_depends_on_the_mode() {
    let unlike = |facts: &mut HostFacts| facts.devices[1].speed_mbps = Some(100);
    assert_eq!(after("stripe", unlike), []);
    let slow = |facts: &mut HostFacts| {
        facts.bundles[0].owner = Owner::Kernel;
        unlike(facts);
    };
    let words = [
        ("balance-rr", "200 Mbit/s in all"),
        ("broadcast", "100 Mbit/s in all"),
        ("802.3ad", "stand idle"),
        ("active-backup", "slow one"),
        ("balance-xor", "by a hash"),
    ];
    for (mode, word) in words {
        let found = after(mode, slow);
        assert!(one(&found).text.contains(word), "{mode}: {found:#?}");
    }
    let with_primary = |facts: &mut HostFacts| {
        slow(facts);
        facts.bundles[0].options.insert("primary".into(), "eth1".into());
    };
    assert_eq!(after("active-backup", with_primary), []);
}

#[test]
fn the_switchs_group_is_compared_with_what_the_mode_needs() {
    let grouped = |facts: &mut HostFacts| {
        let aggregation = Some(LldpAggregation { capable: true, aggregated: true, port: 5 });
        facts.devices[0].heard.lldp = Some(Lldp { aggregation, system_name: Some("sw1".into()), ..lldp("Gi0/7") });
    };
    assert_eq!(after("802.3ad", grouped), []);
    let found = after("stripe", grouped);
    assert!(one(&found).text.contains("Gi0/7 of sw1 is in an aggregation (number 5)"), "{found:#?}");
    // LACPDUs of two systems.
    let two = |facts: &mut HostFacts| {
        facts.devices[0].heard.lacp = Some(lacpdu(1, 1));
        facts.devices[1].heard.lacp = Some(lacpdu(2, 1));
    };
    assert!(one(&after("802.3ad", two)).text.contains("different groups"));
    // Nothing at all, once one has listened for long enough; to a bond of the kernel, for a team says so itself.
    let kernels = |listened| {
        move |facts: &mut HostFacts| {
            facts.bundles[0].owner = Owner::Kernel;
            facts.listened = Duration::from_secs(listened);
        }
    };
    assert_eq!(after("802.3ad", kernels(5)), []);
    assert!(one(&after("802.3ad", kernels(35))).text.contains("eth1 and eth2"));
    // A device that is in nothing.
    let alone = |facts: &mut HostFacts| {
        facts.bundles.clear();
        facts.devices[0].heard = Heard { lacp: Some(lacpdu(1, 1)), ..Heard::default() };
    };
    assert_eq!(one(&after("802.3ad", alone)).weight, Weight::Note);
}

#[test]
fn managers_matter_to_members_of_ours() {
    let claim =
        Claim { manager: "m", place: None, why: "it does".into(), cure: "stop".into(), severity: Severity::Refuse };
    let claimed = |facts: &mut HostFacts| facts.devices[0].claims = vec![claim.clone()];
    assert_eq!(one(&after("stripe", claimed)).weight, Weight::Disappoints);
    let of_the_kernel = |facts: &mut HostFacts| {
        claimed(facts);
        facts.bundles[0].owner = Owner::Kernel;
    };
    assert_eq!(after("balance-xor", of_the_kernel), []);
    let alone = |facts: &mut HostFacts| {
        claimed(facts);
        facts.bundles.clear();
    };
    assert_eq!(one(&after("stripe", alone)).weight, Weight::Note);
}

#[test]
fn a_filter_ahead_of_the_teams_is_named() {
    let filter = |priority| IngressFilter { priority, kind: "u32".into() };
    let with = |on_bpf: bool, priority: u16| {
        move |facts: &mut HostFacts| {
            facts.bundles[0].is_on_bpf = on_bpf;
            facts.devices[1].filters = vec![filter(priority), filter(MEMBER_PREF), filter(MEMBER_PREF + 1)];
        }
    };
    let found = after("stripe", with(true, 10));
    let told = (one(&found).about.as_str(), one(&found).weight);
    assert_eq!(told, ("eth2", Weight::Note));
    assert!(one(&found).text.starts_with("a u32 filter of another program (pref 10) "), "{found:?}");
    assert_eq!(after("stripe", with(true, MEMBER_PREF)), [], "behind");
    assert_eq!(after("stripe", with(false, 10)), [], "packet sockets");
}

#[test]
fn what_a_kernel_lacks_has_its_consequence() {
    let older = |facts: &mut HostFacts| facts.kernel.release = "6.1.0-18-amd64".into();
    assert!(one(&after("stripe", older)).text.contains("6.2"));
    let no_types = |facts: &mut HostFacts| facts.kernel.has_btf = false;
    assert!(one(&after("stripe", no_types)).text.contains("types"));
    let no_bpf = |facts: &mut HostFacts| facts.kernel.no_bpf = Some("EPERM".into());
    assert!(one(&after("stripe", no_bpf)).text.contains("packet sockets"));
    let no_right = |facts: &mut HostFacts| {
        facts.kernel.no_bpf = Some("EPERM".into());
        facts.kernel.lacks = vec!["CAP_NET_ADMIN"];
    };
    assert_eq!(one(&after("stripe", no_right)).weight, Weight::Note);
}

#[test]
fn a_full_ring_names_the_command_that_widens_it() {
    let full = |facts: &mut HostFacts| {
        facts.devices[0].rx_missed = 7;
        facts.devices[0].rx_ring = Some(Room { is: 256, most: 4096 });
    };
    assert!(one(&after("stripe", full)).cure.starts_with("ethtool -G eth1 rx 4096"));
}

proptest! {
    #[test]
    fn every_finding_is_a_sentence_with_a_subject(
        mode in "(balance-rr|active-backup|balance-xor|broadcast|802.3ad|balance-tlb|balance-alb|stripe|balance-slb|none)",
        owner in 0..3_usize, speeds: [Option<u16>; 2], half: [bool; 2], mtus: [u16; 2], carriers: [bool; 2], drivers in 0..6_usize,
        listened in 0..40_u64, lldps: [Option<(bool, u16, u16)>; 2], forward: bool
    ) {
        let facts = after_all(&mode, owner, |facts| {
            facts.listened = Duration::from_secs(listened);
            facts.sysctls.insert("ipv4/ip_forward".into(), u8::from(forward).to_string());
            let names = ["e1000e", "virtio_net", "vmxnet3", "ipvlan", "macvlan", ""];
            for (at, device) in facts.devices.iter_mut().enumerate() {
                device.speed_mbps = speeds[at].map(u32::from);
                device.full_duplex = Some(!half[at]);
                device.link.mtu = mtus[at].into();
                device.link.carrier = carriers[at];
                device.driver = names[(drivers + at) % names.len()].into();
                device.heard.lldp = lldps[at].map(|(aggregated, vlan, bytes)| Lldp {
                    port_vlan: Some(vlan),
                    max_frame_bytes: Some(bytes),
                    aggregation: Some(LldpAggregation { capable: true, aggregated, port: 1 }),
                    ..lldp("1")
                });
            }
        });
        for finding in findings(&facts) {
            prop_assert!(!finding.about.is_empty() && !finding.text.is_empty() && !finding.text.ends_with('.'), "{finding:?}");
        }
        prop_assert_eq!(findings(&facts), findings(&facts));
    }
}

fn after_all(mode: &str, owner: usize, change: impl FnOnce(&mut HostFacts)) -> HostFacts {
    let mut facts = host(mode);
    facts.bundles[0].owner = [Owner::Kernel, Owner::Team, Owner::TeamAlone][owner];
    change(&mut facts);
    facts
}
