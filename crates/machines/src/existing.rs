//! Bundles that are on a machine already, of any program. They are read and measured, and nothing of them is changed.

use nicteam_bundles::Bundle;
use nicteam_experiment::{Cable, Host, Topology};
use nicteam_options::Config;
use nicteam_remote::look::Seen;
use nicteam_remote::once;
use nicteam_remote::shell::Program;
use serde::Deserialize;

/// What `nicteam explain --json` prints, as far as it is read here.
#[derive(Deserialize)]
struct Explained {
    bundles: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    bundle: Bundle,
}

/// Reads the bundle of this name, by a copy of the program that leaves nothing.
///
/// # Errors
/// In words: the machine cannot be reached, or has no such bundle.
pub(crate) fn read(destination: &str, bundle: &str, program: &Program) -> Result<Bundle, String> {
    let words = ["explain", "--json", "--passive", "--for", "100ms", "--", bundle].map(str::to_owned);
    let ended = once::run(destination, program, &words)?;
    let explained = serde_json::from_str::<Explained>(&ended.output).ok();
    let found = explained.and_then(|explained| explained.bundles.into_iter().next());
    found.map(|found| found.bundle).ok_or_else(|| match ended.said.as_str() {
        "" => format!("there is no bundle `{bundle}`; hint: `nicteam explain` on that machine names its bundles"),
        said => said.trim_start_matches("nicteam: ").to_owned(),
    })
}

/// What the links of a host, and its team, are in truth. Where no driver says a link's rate, that of the file stays.
pub(crate) fn adapt(topology: &mut Topology, host: &str, bundle: &Bundle, seen: &Seen) {
    let device = bundle.device.clone().unwrap_or_else(|| bundle.name.clone());
    let mut members = bundle.members.iter();
    for Cable { a, b, mtus, rate_bps, .. } in &mut topology.cables {
        for (end, mtu) in [a, b].into_iter().zip(mtus).filter(|(end, _)| end.node == host) {
            let Some(member) = members.next() else { return };
            end.device.clone_from(&member.name);
            let speed_mbps = seen.links.get(&member.name).and_then(|link| link.speed_mbps);
            *rate_bps = speed_mbps.map_or(*rate_bps, |mbps| mbps.saturating_mul(1_000_000));
            *mtu = member.mtu.unwrap_or(*mtu);
        }
    }
    for team in topology.teams.iter_mut().filter(|team| team.node == host) {
        team.device.clone_from(&device);
        team.members = bundle.members.iter().map(|member| member.name.clone()).collect();
        team.config = config(bundle);
        team.mtu = bundle.mtu.unwrap_or(team.mtu);
    }
    for own in topology.hosts.iter_mut().filter(|own| own.name == host) {
        own.device.clone_from(&device);
    }
}

/// Its options, as far as they are ours, too.
fn config(bundle: &Bundle) -> Config {
    let mode = ("mode", bundle.mode.as_str());
    let policy = bundle.hash_policy.iter().map(|policy| ("xmit_hash_policy", policy.as_str()));
    let options = bundle.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut config = Config::default();
    for (name, value) in [mode].into_iter().chain(policy).chain(options.filter(|(name, _)| *name != "mode")) {
        let mut with = config.clone();
        if with.set(name, value).is_ok() && with.check().is_ok() {
            config = with;
        }
    }
    config
}

/// The bundle in words: `bond0 (the kernel's bonding driver, mode 802.3ad)`.
pub(crate) fn words(bundle: &Bundle) -> String {
    let mode = if bundle.mode.is_empty() { "unknown" } else { &bundle.mode };
    format!("{} ({}, mode {mode})", bundle.name, bundle.kind.title())
}

/// What of the file does not fit the bundle.
pub(crate) fn objections(host: &Host, links: usize, bundle: &Bundle, seen: &Seen) -> Vec<String> {
    let (name, found) = (&host.name, bundle.members.len());
    let mut objections = Vec::new();
    if links != found {
        let what = format!("{name}: `{}` has {found} members, and the file gives the host {links} links", bundle.name);
        objections.push(format!("{what}; hint: write `count = {found}` for its links"));
    }
    let address = format!("{}/{}", host.address, host.prefix);
    if !seen.holds.contains(&address) {
        let has = if seen.holds.is_empty() { "none".to_owned() } else { seen.holds.join(", ") };
        let what = format!("{name}: no device there has the address {address}");
        objections.push(format!("{what}; hint: write `address` of the host as it is; the machine has {has}"));
    }
    objections
}

#[cfg(test)]
mod tests {
    use nicteam_bundles::{Kind, Member};
    use nicteam_experiment::{Experiment, Overrides, limit, parse};
    use nicteam_remote::look;

    use super::*;

    const FILE: &str = r#"
title = "Machines"
testbed = { kind = "ssh" }
links = [{ between = [["a", "b"], "sw"], count = 2, rate = "1gbit" }]
teams = { there = { engine = "existing" }, ours = { mode = "stripe" } }
hosts.a = { team = "there", ssh = "root@node1", bundle = "bond0", address = "10.3.0.1/24" }
hosts.b = { team = "ours", ssh = "node2", links = ["ens3f0", "ens3f1"] }
switches.sw = {}
workloads.w = { kind = "tcp", from = "a", to = "b" }
[[runs]]
name = "one"
workloads = "w"
"#;

    fn experiment() -> Experiment {
        parse("machines", "machines.toml", FILE, &Overrides::default()).map_err(|error| error.to_string()).unwrap()
    }

    fn bond() -> Bundle {
        let member = |name: &str| Member { name: name.to_owned(), mtu: Some(9000), ..Member::default() };
        Bundle {
            name: "bond0".to_owned(),
            kind: Kind::Kernel,
            device: Some("bond0".to_owned()),
            mode: "balance-xor".to_owned(),
            hash_policy: Some("layer3+4".to_owned()),
            options: [("miimon", "50"), ("mystery", "1")].map(|(name, value)| (name.into(), value.into())).into(),
            members: vec![member("eno1"), member("eno2")],
            ..Bundle::default()
        }
    }

    const SEEN: &str = "link eno1 100\nlink eno2 -1\nholds 10.3.0.1/24\n";

    #[test]
    fn the_experiment_gets_what_the_machine_has() {
        let mut experiment = experiment();
        let before = limit(&experiment.runs[0]);
        let topology = &mut experiment.runs[0].topology;
        adapt(topology, "a", &bond(), &look::read(SEEN));
        let ends: Vec<_> =
            topology.cables.iter().map(|cable| (&*cable.a.device, cable.rate_bps, cable.mtus[0])).collect();
        let there = [("eno1", 100_000_000, 9000), ("eno2", 1_000_000_000, 9000)];
        assert_eq!(ends, [there[0], there[1], ("ens3f0", 1_000_000_000, 1500), ("ens3f1", 1_000_000_000, 1500)]);
        let team = topology.teams.iter().find(|team| team.node == "a").unwrap();
        assert_eq!((&*team.device, team.config.mode.name(), team.config.miimon_ms), ("bond0", "balance-xor", 50));
        assert_eq!(
            (team.config.xmit_hash_policy.name(), &team.members[..]),
            ("layer3+4", &["eno1".into(), "eno2".into()][..])
        );
        assert_eq!(topology.hosts[0].device, "bond0");
        // The limit follows: 1.1 Gbit/s instead of 2.
        let share = limit(&experiment.runs[0]).bps / before.bps;
        assert!((share - 0.55).abs() < 0.001, "{share}");
        assert_eq!(words(&bond()), "bond0 (the kernel's bonding driver, mode balance-xor)");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let host = experiment().runs[0].topology.hosts[0].clone();
        assert_eq!(objections(&host, 2, &bond(), &look::read(SEEN)), Vec::<String>::new());
        let found = objections(&host, 3, &bond(), &look::read("holds 10.0.0.9/8\n"));
        assert!(
            found[0].contains("`bond0` has 2 members, and the file gives the host 3 links; hint: write `count = 2`")
        );
        assert!(
            found[1].contains("no device there has the address 10.3.0.1/24; hint: ")
                && found[1].ends_with("10.0.0.9/8")
        );
    }
}
