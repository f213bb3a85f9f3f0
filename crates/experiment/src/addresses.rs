//! Addresses and MAC addresses of hosts: given, or by their place in the file.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use nicteam_wire::Mac;

use crate::record::{At, Record};
use crate::units::nth_host;
use nicteam_diagnostics::Problem;

/// A host's address, prefix length and MAC address.
pub(crate) type Addresses = (IpAddr, u8, Mac);

/// The addresses of every host, in order; two hosts with the same go to `problems`.
///
/// A default counts on from the host's place in the file (1, 2, ...) to the next
/// that nobody was given, so that it does not change when other hosts get theirs.
pub(crate) fn assign(hosts: &[(&At<String>, Record)], problems: &mut Vec<Problem>) -> Vec<Addresses> {
    let given_ips: Vec<Option<At<(IpAddr, u8)>>> = hosts.iter().map(|(_, host)| host.get("address")).collect();
    let given_macs: Vec<Option<At<Mac>>> = hosts.iter().map(|(_, host)| host.get("mac")).collect();
    let mut ips = unique("address", hosts, &given_ips, |(ip, _)| *ip, problems);
    let mut macs = unique("MAC address", hosts, &given_macs, |mac| *mac, problems);
    let (home, home_prefix) =
        given_ips.iter().flatten().next().map_or((IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 24), |at| at.value);

    let mut assigned = Vec::new();
    for (place, (name, _)) in hosts.iter().enumerate() {
        let number = place as u128 + 1;
        let free_ip =
            || (number..number + 1024).map_while(|n| nth_host(home, home_prefix, n)).find(|ip| !ips.contains_key(ip));
        let (ip, prefix) =
            match given_ips[place].as_ref().map(|at| at.value).or_else(|| Some((free_ip()?, home_prefix))) {
                Some(address) => address,
                None => {
                    let message = format!("no address left for host `{}` in the subnet of the other hosts", name.value);
                    problems.push(
                        Problem::at(&name.span, message).hint("give it an `address`, or the hosts a larger subnet"),
                    );
                    (home, home_prefix)
                }
            };
        ips.insert(ip, place);
        let default_mac = |n: u128| Mac([2, 0, 0, 0, (n >> 8) as u8, n as u8]);
        let free_mac = || (number..number + 1024).map(default_mac).find(|mac| !macs.contains_key(mac));
        let mac = given_macs[place].as_ref().map(|at| at.value).or_else(free_mac).unwrap_or(default_mac(number));
        macs.insert(mac, place);
        assigned.push((ip, prefix, mac));
    }
    assigned
}

/// Who has what; the second with the same goes to `problems`.
fn unique<T, K: Ord + std::fmt::Display>(
    what: &str,
    hosts: &[(&At<String>, Record)],
    given: &[Option<At<T>>],
    key: impl Fn(&T) -> K,
    problems: &mut Vec<Problem>,
) -> BTreeMap<K, usize> {
    let mut owners: BTreeMap<K, usize> = BTreeMap::new();
    for (place, at) in given.iter().enumerate() {
        let Some(at) = at else { continue };
        let key = key(&at.value);
        let Some(&owner) = owners.get(&key) else {
            owners.insert(key, place);
            continue;
        };
        let (owner_name, name) = (&hosts[owner].0.value, &hosts[place].0.value);
        let problem = Problem::at(&at.span, format!("hosts `{owner_name}` and `{name}` have the same {what}, {key}"));
        let problem = match &given[owner] {
            Some(first) => problem.also(&first.span, format!("`{owner_name}` has it")),
            None => problem,
        };
        problems.push(problem.hint(format!("each host needs its own {what}; left out, one is chosen")));
    }
    owners
}
