//! What drivers, and hypervisors behind them, do not let a member do.

use nicteam_team::mode::Addresses;

use super::super::facts::{Bundle, Device, HostFacts};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding, list};

pub(super) struct Drivers;

const NAME: &str = "drivers";

/// A driver, what it, or who is behind it, does, and the cure. All of them concern addresses that are not the device's own.
const LIMITS: &[(&str, &str, &str)] = &[
    (
        "vmxnet3",
        "VMware's virtual switch delivers and takes frames of the device's own address alone, unless told otherwise",
        "at the port group: Promiscuous mode, MAC address changes and Forged transmits: Accept",
    ),
    (
        "hv_netvsc",
        "Hyper-V drops frames whose source is not the device's own address",
        "on the host: Set-VMNetworkAdapter -VMName NAME -MacAddressSpoofing On -AllowTeaming On",
    ),
    (
        "virtio_net",
        "the hypervisor may filter by address: libvirt's macvtap does, a bridge does not",
        "with libvirt: a bridge, or `trustGuestRxFilters='yes'` at a macvtap interface",
    ),
    (
        "ena",
        "the cloud's network takes frames of the instance's own addresses alone, and no LACP",
        "more speed is a larger instance there; a team does not help",
    ),
    (
        "gve",
        "the cloud's network takes frames of the instance's own addresses alone, and no LACP",
        "more speed is a larger instance there; a team does not help",
    ),
    (
        "mana",
        "the cloud's network takes frames of the instance's own addresses alone, and no LACP",
        "more speed is a larger instance there; a team does not help",
    ),
    (
        "ipvlan",
        "it shares the address of the device below: no team can tell its members apart",
        "a macvlan in mode passthru, or the device below itself",
    ),
    (
        "iavf",
        "a virtual function takes another address only if the host trusts it",
        "on the host: ip link set PF vf N trust on spoofchk off",
    ),
    (
        "ixgbevf",
        "a virtual function takes another address only if the host trusts it",
        "on the host: ip link set PF vf N trust on spoofchk off",
    ),
];

impl Rule for Drivers {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let mut findings: Vec<Finding> = facts.devices.iter().flat_map(|device| of_device(facts, device)).collect();
        findings.extend(facts.bundles.iter().filter_map(|bundle| mixed(facts, bundle)));
        findings
    }
}

fn of_device(facts: &HostFacts, device: &Device) -> Vec<Finding> {
    let name = device.link.name.as_str();
    let bundle = facts.bundle_of(device);
    // A member that keeps its own address asks for nothing more.
    let is_foreign = bundle.and_then(Bundle::traits).is_none_or(|(traits, _)| traits.addresses == Addresses::Team);
    let weight = if bundle.is_some() && is_foreign { Weight::Disappoints } else { Weight::Note };
    let found = |weight, text: &str, cure: &str| finding(NAME, name, weight, text.to_owned(), cure.to_owned());
    let mut findings = Vec::new();
    if let Some((_, text, cure)) = LIMITS.iter().find(|(driver, ..)| *driver == device.driver) {
        // What may be so is no more than worth a word.
        let weight = if device.driver == "virtio_net" { Weight::Note } else { weight };
        findings.push(found(weight, text, cure));
    }
    if device.is_wireless {
        let text = "an access point takes frames of the station's own address alone";
        findings.push(found(weight, text, "mode active-backup with `fail_over_mac=active`, or a cable"));
    }
    // Seen with the real driver: as a port of a bridge nothing comes through but in mode passthru, promiscuous or not.
    let is_bridged = bundle.is_some_and(|bundle| bundle.is_bridged);
    match device.macvlan_mode.as_deref() {
        Some("passthru") | None => {}
        Some(_) if is_bridged => findings.push(found(
            Weight::Disappoints,
            "a macvlan delivers frames for its own address alone, promiscuous or not: what is behind the bridge gets no answer",
            "a macvlan in mode passthru, or the device below itself",
        )),
        Some("private") => findings.push(found(
            Weight::Note,
            "a macvlan in mode private does not hear the others on its device",
            "ip link set DEVICE type macvlan mode bridge",
        )),
        Some("source") => findings.push(found(
            weight,
            "a macvlan in mode source takes frames of listed senders alone",
            "a macvlan in mode passthru, or the device below itself",
        )),
        Some(_) => findings.push(found(
            Weight::Note,
            "a macvlan delivers frames for its own address alone, promiscuous or not: such a team cannot be a port of a bridge",
            "a macvlan in mode passthru, or the device below itself",
        )),
    }
    findings
}

/// Members of different drivers.
fn mixed(facts: &HostFacts, bundle: &Bundle) -> Option<Finding> {
    let mut drivers: Vec<&str> = facts.members(bundle).map(|device| device.driver.as_str()).collect();
    drivers.sort_unstable();
    drivers.dedup();
    drivers.retain(|driver| !driver.is_empty());
    let (traits, _) = bundle.traits()?;
    if drivers.len() < 2 || traits.hashes || traits.sends == nicteam_team::mode::Sends::ByActive {
        return None;
    }
    let text = format!(
        "its members have different drivers ({}): they differ in delay and offloads, and frames of one connection overtake each other",
        list(&drivers)
    );
    Some(finding(
        NAME,
        &bundle.name,
        Weight::Note,
        text,
        "members of one kind, if a connection uses several".to_owned(),
    ))
}
