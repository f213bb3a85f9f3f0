//! Profiles written by hand, in all the forms that NetworkManager reads: nmcli reads one and writes it in its own form.

use nicteam_formats::{Address, Network, Team};
use nicteam_testnet::is_soak;

use super::{Nmcli, import};
use crate::mutation::Random;

/// Profiles of a soak: each takes nmcli 20 ms.
const SOAK: u64 = 4000;

const BOND: &[&str] = &[
    "mode=1",
    "mode=active-backup",
    "mode=802.3ad",
    "mode=balance-xor",
    "miimon=100",
    "arp_interval=200",
    "arp_ip_target=10.0.0.8, 10.0.0.9",
    "arp_ip_target=10.0.0.9",
    "xmit_hash_policy=layer3+4",
    "lacp_rate=1",
    "min_links=2",
    "updelay=200",
    "primary=eth1",
    "num_grat_arp=3",
    "num_unsol_na=3",
    "fail_over_mac=2",
    "packets_per_slave=3",
    "no_such_option=1",
    "miimon=100",
];
const ETHERNET: &[&str] = &[
    "mtu=9000",
    "mtu=0",
    "cloned-mac-address=02:00:00:00:00:01",
    "cloned-mac-address=02-00-00-00-00-02",
    "cloned-mac-address=2;0;0;0;0;3;",
    "cloned-mac-address=stable",
];
const IPV4: &[&str] = &[
    "address1=10.0.0.1/24",
    "address1=10.0.0.1",
    "address1=10.0.0.1/24,10.0.0.254",
    "address2=10.1.0.1/16;10.1.0.254",
    "address10=10.2.0.1/16",
    "address3=10.3.0.1/16",
    "address=10.4.0.1/24",
    "addresses1=10.5.0.2;24;10.5.0.1;",
    "addresses7=10.6.0.2;16;0.0.0.0;",
    "gateway=10.0.0.253",
    "gateway=0.0.0.0",
    "route1=10.9.0.0/16,10.0.0.9",
    "route1=10.9.8.7,10.0.0.9",
    "route2=10.8.0.0/16,10.0.0.9,100",
    "route2=10.8.0.0/16",
    "route2_options=table=5",
    "route1_options=onlink=true,table=6",
    "route1_options=onlink=false",
    "route3=10.7.0.0/16,,7",
    "route4=10.6.0.0/16,10.0.0.9,0",
    "routes1=10.5.0.0;16;10.0.0.9;1;",
    "route5=0.0.0.0/0,10.0.0.9,8",
    "route-metric=5",
    "route-metric=-1",
    "route-metric=0",
    "route-table=9",
    "never-default=true",
    "never-default=0",
    "may-fail=false",
];
const IPV6: &[&str] = &[
    "address1=2001:db8::1/64",
    "address1=2001:db8::1",
    "address1=2001:db8::1/64,fe80::9",
    "address2=2001:db8:2::1/48,2001:db8:2::9",
    "gateway=2001:db8::9",
    "gateway=::",
    "route1=2001:db8:1::/48,2001:db8::9,5",
    "route1=2001:db8:1::7,2001:db8::9",
    "route2=::/0,fe80::9,6",
    "route-metric=5",
    "never-default=yes",
    "ip6-privacy=0",
];

fn profile(random: &mut Random) -> String {
    let mut text =
        "[connection]\nid=b\nuuid=00000000-0000-4000-8000-000000000001\ntype=bond\ninterface-name=bond0\n".to_owned();
    for (section, lines, most, methods) in [
        ("bond", BOND, 5, &[][..]),
        (if random.below(2) == 0 { "ethernet" } else { "802-3-ethernet" }, ETHERNET, 2, &[]),
        ("ipv4", IPV4, 9, &["manual", "manual", "manual", "auto", "disabled", "link-local"]),
        ("ipv6", IPV6, 5, &["manual", "manual", "auto", "ignore", "disabled", "link-local", "dhcp"]),
    ] {
        if random.below(8) == 0 {
            continue;
        }
        text.push_str(&format!("\n[{section}]\n"));
        for _ in 0..random.below(most + 1) {
            text.push_str(&format!("{}\n", random.one(lines)));
        }
        if !methods.is_empty() && random.below(20) != 0 {
            text.push_str(&format!("method={}\n", random.one(methods)));
        }
    }
    text
}

/// What the teams are, however it is written.
fn meaning(network: &Network) -> Vec<(String, Team)> {
    let whole = |team: &Team| {
        let mut bare = Team { options: Vec::new(), ..team.clone() };
        bare.addresses.dedup_by_key(|address: &mut Address| *address);
        let config = team.config().map(|mut config| {
            // Targets that nobody asks: nmcli drops them where the mode has no such monitor.
            if !config.arp.is_on() {
                config.arp.ip_targets.clear();
            }
            config
        });
        (format!("{config:?}"), bare)
    };
    network.teams.iter().map(whole).collect()
}

#[test]
fn a_profile_means_the_same_when_nmcli_wrote_it_again() {
    if !is_soak() {
        return;
    }
    let Some(nmcli) = Nmcli::obtain_or_skip() else { return };
    let port = "[connection]\nid=p\ntype=ethernet\ninterface-name=eth1\nmaster=bond0\nslave-type=bond\n".to_owned();
    let mut taken = 0;
    for seed in 0..SOAK {
        let profile = profile(&mut Random(seed * 0x79b9));
        let Ok(rewritten) = nmcli.rewrite(&profile) else { continue };
        taken += 1;
        let read = |profile: &str| import(&[profile.to_owned(), port.clone()]).map(|read| meaning(&read.network));
        let (ours, theirs) = (read(&profile), read(&rewritten));
        assert_eq!(ours, theirs, "seed {seed}\n{profile}\n=== nmcli:\n{rewritten}");
        assert!(ours.is_ok(), "{}", ours.unwrap_err());
    }
    println!("{taken} of {SOAK} profiles are such that NetworkManager takes them");
    assert!(taken > SOAK / 5, "{taken}");
}
