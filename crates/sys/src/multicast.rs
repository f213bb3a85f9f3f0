//! The multicast groups that a device's stack has joined, from `/proc/net/igmp`
//! and `/proc/net/igmp6` of the caller's network namespace.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{Context, Result};

/// A group of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Its address.
    pub group: IpAddr,
    /// IPv4: the device has heard an older querier, of IGMPv1 or IGMPv2.
    pub old_querier: bool,
}

/// The groups of the device with this index. Those that nobody reports are left
/// out: all hosts (224.0.0.1), all nodes (`ff02::1`) and the device's own (`ff01::`).
pub fn groups(ifindex: u32) -> Result<Vec<Membership>> {
    let mut groups = igmp(&read("igmp")?, ifindex);
    groups.extend(igmp6(&read("igmp6")?, ifindex));
    Ok(groups)
}

/// A file of the thread's namespace; empty for a protocol the kernel lacks.
fn read(name: &str) -> Result<String> {
    let path = format!("/proc/thread-self/net/{name}");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read.context(|| format!("read {path}")),
    }
}

/// A line a device (index, name, count, querier), then one a group, further in:
/// the address as a number of this machine, in hexadecimal.
fn igmp(text: &str, ifindex: u32) -> Vec<Membership> {
    let (mut of_device, mut old_querier, mut groups) = (false, false, Vec::new());
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if !line.starts_with(char::is_whitespace) {
            of_device = first.parse() == Ok(ifindex);
            old_querier = matches!(words.next_back(), Some("V1" | "V2"));
        } else if let Ok(number) = u32::from_str_radix(first, 16)
            && of_device
        {
            let group = Ipv4Addr::from(number.to_ne_bytes());
            if group != Ipv4Addr::new(224, 0, 0, 1) {
                groups.push(Membership { group: group.into(), old_querier });
            }
        }
    }
    groups
}

/// A line a group: index, name, address in hexadecimal, users, flags, timer.
fn igmp6(text: &str, ifindex: u32) -> Vec<Membership> {
    let group = |line: &str| {
        let mut words = line.split_whitespace();
        let of_device = words.next()?.parse() == Ok(ifindex);
        let address = words.nth(1).filter(|word| word.len() == 32)?;
        let address = Ipv6Addr::from(u128::from_str_radix(address, 16).ok()?);
        let scope = address.segments()[0] & 0xf;
        let all_nodes = address == Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
        (of_device && scope > 1 && !all_nodes).then_some(Membership { group: address.into(), old_querier: false })
    };
    text.lines().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_device_are_read() {
        let number = |address: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(address));
        let text = format!(
            "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n\
             1\tlo        :     1      V3\n\t\t\t\t{all}     1 0:00000000\t\t0\n\
             12\tteam0     :     2      V2\n\t\t\t\t{one}     1 0:00000000\t\t1\n\t\t\t\t{all}     1 0:00000000\t\t0\n\
             13\tteam1     :     1      V3\n\t\t\t\t{one}     1 0:00000000\t\t1\n",
            all = number([224, 0, 0, 1]),
            one = number([239, 1, 2, 3]),
        );
        let group = IpAddr::from([239, 1, 2, 3]);
        assert_eq!(igmp(&text, 12), [Membership { group, old_querier: true }]);
        assert_eq!(igmp(&text, 13), [Membership { group, old_querier: false }]);
        assert_eq!(igmp(&text, 1), []);
        assert_eq!(igmp("", 1), []);
    }

    #[test]
    fn groups_of_ipv6_are_read() {
        let text = "12   team0           ff0200000000000000000001ff000001     1 00000004 0\n\
                    12   team0           ff020000000000000000000000000001     1 0000000C 0\n\
                    12   team0           ff010000000000000000000000000001     1 00000008 0\n\
                    13   team1           ff050000000000000000000000000002     1 00000004 0\n\
                    12   team0           nonsense\n12\n";
        let group = "ff02::1:ff00:1".parse().unwrap();
        assert_eq!(igmp6(text, 12), [Membership { group, old_querier: false }]);
    }
}
