//! What a bond of the kernel's driver is set to, as the kernel tells it (include/uapi/linux/if_link.h, `IFLA_BOND_*`).

use std::net::IpAddr;

use super::Device;

/// An option's number, the kernel's name, and what its value is.
const OPTIONS: &[(u16, &str, Kind)] = &[
    (1, "mode", Kind::Byte),
    (2, "active_slave", Kind::Device),
    (3, "miimon", Kind::Number),
    (4, "updelay", Kind::Number),
    (5, "downdelay", Kind::Number),
    (6, "use_carrier", Kind::Byte),
    (7, "arp_interval", Kind::Number),
    (8, "arp_ip_target", Kind::Addresses),
    (9, "arp_validate", Kind::Number),
    (10, "arp_all_targets", Kind::Number),
    (11, "primary", Kind::Device),
    (12, "primary_reselect", Kind::Byte),
    (13, "fail_over_mac", Kind::Byte),
    (14, "xmit_hash_policy", Kind::Byte),
    (15, "resend_igmp", Kind::Number),
    (16, "num_grat_arp", Kind::Byte),
    (17, "all_slaves_active", Kind::Byte),
    (18, "min_links", Kind::Number),
    (19, "lp_interval", Kind::Number),
    (20, "packets_per_slave", Kind::Number),
    (21, "lacp_rate", Kind::Byte),
    (22, "ad_select", Kind::Byte),
    (24, "ad_actor_sys_prio", Kind::Short),
    (25, "ad_user_port_key", Kind::Short),
    (26, "ad_actor_system", Kind::Mac),
    (27, "tlb_dynamic_lb", Kind::Byte),
    (28, "peer_notif_delay", Kind::Number),
    (29, "lacp_active", Kind::Byte),
    (30, "arp_missed_max", Kind::Byte),
    (31, "ns_ip6_target", Kind::Addresses),
    (32, "coupled_control", Kind::Byte),
    (33, "broadcast_neighbor", Kind::Byte),
    (34, "lacp_strict", Kind::Byte),
];

/// The same of a member (`IFLA_BOND_SLAVE_*`).
const MEMBER_OPTIONS: &[(u16, &str, Kind)] =
    &[(5, "queue_id", Kind::Short), (9, "prio", Kind::Signed), (10, "actor_port_prio", Kind::Short)];
/// The address that a member had before (`IFLA_BOND_SLAVE_PERM_HWADDR`).
const PERMANENT: u16 = 4;

#[derive(Clone, Copy)]
enum Kind {
    Byte,
    Short,
    Number,
    Signed,
    Mac,
    /// An interface index.
    Device,
    /// Attributes with an address each.
    Addresses,
}

impl Device {
    /// A bond's options by the kernel's names; what is a choice has its number. A device's name is asked for by its index.
    pub fn bond_options(&self, name_of: &dyn Fn(u32) -> Option<String>) -> Vec<(&'static str, String)> {
        read(OPTIONS, &self.settings(), name_of)
    }

    /// The same of a member.
    pub fn bond_member_options(&self) -> Vec<(&'static str, String)> {
        read(MEMBER_OPTIONS, &self.member_settings(), &|_| None)
    }

    /// The address that a member of a bond had before it joined.
    pub fn bond_permanent_mac(&self) -> Option<[u8; 6]> {
        let settings = self.member_settings();
        let (_, value) = settings.iter().find(|(number, _)| number & super::NUMBER == PERMANENT)?;
        value.as_slice().try_into().ok()
    }
}

fn read(
    known: &[(u16, &'static str, Kind)],
    settings: &[(u16, Vec<u8>)],
    name_of: &dyn Fn(u32) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let option = |(number, name, kind): &(u16, &'static str, Kind)| {
        let (_, value) = settings.iter().find(|(of, _)| of & super::NUMBER == *number)?;
        Some((*name, text(*kind, value, name_of)?))
    };
    known.iter().filter_map(option).collect()
}

fn text(kind: Kind, value: &[u8], name_of: &dyn Fn(u32) -> Option<String>) -> Option<String> {
    Some(match kind {
        Kind::Byte => value.first()?.to_string(),
        Kind::Short => u16::from_ne_bytes(*value.first_chunk()?).to_string(),
        Kind::Number => u32::from_ne_bytes(*value.first_chunk()?).to_string(),
        Kind::Signed => i32::from_ne_bytes(*value.first_chunk()?).to_string(),
        Kind::Mac => {
            let mac: [u8; 6] = *value.first_chunk()?;
            mac.map(|byte| format!("{byte:02x}")).join(":")
        }
        Kind::Device => name_of(u32::from_ne_bytes(*value.first_chunk()?))?,
        Kind::Addresses => {
            let targets = super::attributes(value)?;
            let addresses = targets.iter().filter_map(|(_, value)| super::address(value));
            // The kernel ends a list at the first that is none.
            let addresses: Vec<String> =
                addresses.take_while(|address| !is_none(*address)).map(|address| address.to_string()).collect();
            addresses.join(",")
        }
    })
}

fn is_none(address: IpAddr) -> bool {
    address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_kernels_names() {
        let nested = super::super::nest(&[(0, vec![10, 0, 0, 1]), (1, vec![10, 0, 0, 2])]);
        let settings = [
            (1, vec![4]),
            (3, 100_u32.to_ne_bytes().to_vec()),
            (8, nested),
            (11, 7_u32.to_ne_bytes().to_vec()),
            (24, 9_u16.to_ne_bytes().to_vec()),
            (26, vec![2, 0, 0, 0, 0, 7]),
            // Cut off, and of a newer kernel.
            (5, vec![1]),
            (99, vec![1]),
        ];
        let options = read(OPTIONS, &settings, &|index| (index == 7).then(|| "eth0".to_owned()));
        let shown: Vec<String> = options.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let expected = [
            "mode 4",
            "miimon 100",
            "arp_ip_target 10.0.0.1,10.0.0.2",
            "primary eth0",
            "ad_actor_sys_prio 9",
            "ad_actor_system 02:00:00:00:00:07",
        ];
        assert_eq!(shown, expected);
        let member = read(MEMBER_OPTIONS, &[(9, (-5_i32).to_ne_bytes().to_vec())], &|_| None);
        assert_eq!(member, [("prio", "-5".to_owned())]);
    }
}
