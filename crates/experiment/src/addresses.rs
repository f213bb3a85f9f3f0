//! Addresses and MAC addresses of hosts: given, or by their place in the file.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use nicteam_wire::Mac;

use crate::guests::Guest;
use crate::units::nth_host;
use nicteam_diagnostics::Problem;
use nicteam_elements::record::{At, Record};

/// A host's address, prefix length and MAC address.
pub(crate) type Addressed = (IpAddr, u8, Mac);

/// A device that gets an address.
#[derive(Clone, Debug)]
pub(crate) struct Slot<'a> {
    /// Its host.
    pub name: &'a At<String>,
    /// Address with prefix length, if it is given.
    pub ip: Option<At<(IpAddr, u8)>>,
    /// MAC address, if it is given.
    pub mac: Option<At<Mac>>,
    /// An address of its subnet, with prefix length.
    pub home: (IpAddr, u8),
    /// The host's place in the file, from 1, guests behind all hosts.
    pub number: u128,
    /// Which of the host's links it is; 0: its first, or its team.
    pub link: u8,
}

/// The first device of each host, and behind them of each guest, all in one subnet.
pub(crate) fn slots<'a>(hosts: &[(&'a At<String>, Record)], guests: &'a [Guest]) -> Vec<Slot<'a>> {
    let home = home(hosts, guests);
    let own = hosts.iter().map(|(name, record)| (*name, record));
    let all = own.chain(guests.iter().map(|guest| (&guest.name, &guest.record)));
    let slot = |(number, (name, record)): (u128, (&'a At<String>, &Record))| Slot {
        name,
        ip: given(record).next(),
        mac: record.get("mac"),
        home,
        number,
        link: 0,
    };
    (1..).zip(all).map(slot).collect()
}

/// The addresses that a host is given, link by link.
pub(crate) fn given(record: &Record) -> impl Iterator<Item = At<(IpAddr, u8)>> + use<> {
    let several = record.get::<&[At<(IpAddr, u8)>]>("addresses").map(|at| at.value.to_vec());
    several.unwrap_or_else(|| record.get("address").into_iter().collect()).into_iter()
}

/// The first address of the file. Hosts without an address get one in its subnet.
pub(crate) fn home(hosts: &[(&At<String>, Record)], guests: &[Guest]) -> (IpAddr, u8) {
    let all = hosts.iter().map(|(_, record)| record).chain(guests.iter().map(|guest| &guest.record));
    let first = all.flat_map(given).next();
    first.map_or((IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 24), |at| at.value)
}

/// The addresses of every slot, in order; two hosts with the same go to `problems`.
///
/// A default counts on from the host's place in the file (1, 2, ...) to the next
/// that no host was given, so that it does not change when other hosts get theirs.
pub(crate) fn assign(slots: &[Slot<'_>], problems: &mut Vec<Problem>) -> Vec<Addressed> {
    let mut ips = unique("address", slots, |slot| slot.ip.clone(), |(ip, _)| *ip, problems);
    let mut macs = unique("MAC address", slots, |slot| slot.mac.clone(), |mac| *mac, problems);
    let mut assigned = Vec::new();
    for (place, slot) in slots.iter().enumerate() {
        let (home, home_prefix) = slot.home;
        let numbers = || slot.number..slot.number + 1024;
        let free_ip = || numbers().map_while(|n| nth_host(home, home_prefix, n)).find(|ip| !ips.contains_key(ip));
        let given = slot.ip.as_ref().map(|at| at.value);
        let (ip, prefix) = given.or_else(|| Some((free_ip()?, home_prefix))).unwrap_or_else(|| {
            let message = format!("no address left for host `{}` in the subnet of the other hosts", slot.name.value);
            let problem = Problem::at(&slot.name.span, message);
            problems.push(problem.hint("give it an `address`, or the hosts a larger subnet"));
            slot.home
        });
        ips.insert(ip, place);
        let default_mac = |n: u128| Mac([2, 0, 0, slot.link, (n >> 8) as u8, n as u8]);
        let free_mac = || numbers().map(default_mac).find(|mac| !macs.contains_key(mac));
        let given = slot.mac.as_ref().map(|at| at.value);
        let mac = given.or_else(free_mac).unwrap_or_else(|| default_mac(slot.number));
        macs.insert(mac, place);
        assigned.push((ip, prefix, mac));
    }
    assigned
}

/// The owners of addresses; a second owner of the same address goes to `problems`.
fn unique<T, K: Ord + std::fmt::Display>(
    what: &str,
    slots: &[Slot<'_>],
    given: impl Fn(&Slot<'_>) -> Option<At<T>>,
    key: impl Fn(&T) -> K,
    problems: &mut Vec<Problem>,
) -> BTreeMap<K, usize> {
    let mut owners: BTreeMap<K, usize> = BTreeMap::new();
    for (place, slot) in slots.iter().enumerate() {
        let Some(at) = given(slot) else { continue };
        let key = key(&at.value);
        let Some(&owner) = owners.get(&key) else {
            owners.insert(key, place);
            continue;
        };
        let (owner_name, name) = (&slots[owner].name.value, &slot.name.value);
        let problem = Problem::at(&at.span, format!("hosts `{owner_name}` and `{name}` have the same {what}, {key}"));
        let problem = match given(&slots[owner]) {
            Some(first) => problem.also(&first.span, format!("`{owner_name}` has it")),
            None => problem,
        };
        problems.push(problem.hint(format!("each host needs its own {what}; left out, one is chosen")));
    }
    owners
}
