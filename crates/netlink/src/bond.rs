//! Bonds of the kernel's own driver (drivers/net/bonding).

use std::fmt::Display;
use std::io;
use std::str::FromStr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BondAdInfo, InfoBond, InfoBondPort, InfoData, InfoKind, InfoPortData, LacpState, LinkAttribute, LinkInfo,
    LinkMessage, MiiStatus,
};

use super::Netlink;
use nicteam_sys::{Context, Error, Result};

/// An option of a bond and its value, by the kernel's names.
pub type BondOption<'a> = (&'a str, &'a str);

/// A member of a bond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BondMember {
    /// Its link is up, delays included.
    pub up: bool,
    /// 802.3ad: the aggregate that it is in.
    pub aggregate: Option<u16>,
    /// 802.3ad: frames are sent by it (Distributing of the actor's port state).
    pub distributes: bool,
}

/// What 802.3ad says of a bond: the aggregate that carries its traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BondAggregate {
    /// Its number.
    pub number: u16,
    /// The partner's system; none where nobody speaks LACP.
    pub partner: Option<[u8; 6]>,
}

impl Netlink {
    /// Makes a bond with these options; its address is `mac`, or becomes the first member's.
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the kernel has no driver for it; `EINVAL` for an option or a value that it does not take.
    pub fn add_bond(&mut self, name: &str, mac: Option<[u8; 6]>, options: &[BondOption<'_>]) -> Result<()> {
        let mut link = LinkMessage::default();
        let info = self.bond_info(options).context(|| format!("make the bond {name}"))?;
        link.attributes = vec![LinkAttribute::IfName(name.to_owned()), info];
        link.attributes.extend(mac.map(|mac| LinkAttribute::Address(mac.to_vec())));
        self.create(link, || format!("make the bond {name}"))
    }

    /// Sets options of a bond.
    ///
    /// # Errors
    /// As [`Netlink::add_bond`].
    pub fn set_bond(&mut self, index: u32, options: &[BondOption<'_>]) -> Result<()> {
        let what = || format!("set options of bond {index}");
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes = vec![self.bond_info(options).context(what)?];
        self.done(RouteNetlinkMessage::NewLink(link), 0, what)
    }

    /// How a device is as a member of a bond; none if it is in none.
    ///
    /// # Errors
    /// There is no such device.
    pub fn bond_member(&mut self, index: u32) -> Result<Option<BondMember>> {
        let infos = self.link_infos(index)?;
        Ok(infos.iter().find_map(|info| match info {
            LinkInfo::PortData(InfoPortData::BondPort(data)) => Some(member_of(data)),
            _ => None,
        }))
    }

    /// The aggregate that carries a bond's traffic; none outside mode 802.3ad, and while it is down.
    ///
    /// # Errors
    /// There is no such device.
    pub fn bond_aggregate(&mut self, index: u32) -> Result<Option<BondAggregate>> {
        let infos = self.link_infos(index)?;
        let data = infos.iter().find_map(|info| match info {
            LinkInfo::Data(InfoData::Bond(data)) => Some(data),
            _ => None,
        });
        Ok(data.into_iter().flatten().find_map(|info| match info {
            InfoBond::AdInfo(found) => Some(aggregate_of(found)),
            _ => None,
        }))
    }

    fn link_infos(&mut self, index: u32) -> Result<Vec<LinkInfo>> {
        let mut request = LinkMessage::default();
        request.header.index = index;
        let answers = self.request(RouteNetlinkMessage::GetLink(request), 0, || format!("read device {index}"))?;
        let infos = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) => Some(link.attributes),
            _ => None,
        });
        let infos = infos.flatten().filter_map(|attribute| match attribute {
            LinkAttribute::LinkInfo(infos) => Some(infos),
            _ => None,
        });
        Ok(infos.flatten().collect())
    }

    fn bond_info(&mut self, options: &[BondOption<'_>]) -> io::Result<LinkAttribute> {
        let data = options.iter().map(|(name, value)| self.bond_option(name, value)).collect::<io::Result<Vec<_>>>()?;
        Ok(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bond), LinkInfo::Data(InfoData::Bond(data))]))
    }

    /// An option as the kernel's message has it. Those that name a device have its index, so it has to be there.
    fn bond_option(&mut self, name: &str, value: &str) -> io::Result<InfoBond> {
        match name {
            "primary" => self.index_of(value).map(InfoBond::Primary),
            "active_slave" => self.index_of(value).map(InfoBond::ActivePort),
            _ => bond_option(name, value),
        }
    }

    fn index_of(&mut self, device: &str) -> io::Result<u32> {
        let link = self.link(device).map_err(|error: Error| io::Error::other(error.to_string()))?;
        link.map(|link| link.index).ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
    }
}

/// An option that names no device.
fn bond_option(name: &str, value: &str) -> io::Result<InfoBond> {
    let flag = |value: &str| match value {
        "0" | "off" => Ok(false),
        "1" | "on" => Ok(true),
        _ => Err(refused(name, value)),
    };
    Ok(match name {
        "mode" => InfoBond::Mode(read(name, value)?),
        "miimon" => InfoBond::MiiMon(read(name, value)?),
        "updelay" => InfoBond::UpDelay(read(name, value)?),
        "downdelay" => InfoBond::DownDelay(read(name, value)?),
        "use_carrier" => InfoBond::UseCarrier(flag(value)?),
        "arp_interval" => InfoBond::ArpInterval(read(name, value)?),
        "arp_ip_target" => InfoBond::ArpIpTarget(list(name, value)?),
        "ns_ip6_target" => InfoBond::NsIp6Target(list(name, value)?),
        "arp_validate" => InfoBond::ArpValidate(read(name, value)?),
        "arp_all_targets" => InfoBond::ArpAllTargets(read(name, value)?),
        "arp_missed_max" => InfoBond::MissedMax(read(name, value)?),
        "primary_reselect" => InfoBond::PrimaryReselect(read(name, value)?),
        "fail_over_mac" => InfoBond::FailOverMac(read(name, value)?),
        "xmit_hash_policy" => InfoBond::XmitHashPolicy(read(name, value)?),
        "resend_igmp" => InfoBond::ResendIgmp(read(name, value)?),
        "num_grat_arp" | "num_unsol_na" => InfoBond::NumPeerNotif(read(name, value)?),
        "peer_notif_delay" => InfoBond::PeerNotifDelay(read(name, value)?),
        "all_slaves_active" => InfoBond::AllPortsActive(read(name, value)?),
        "min_links" => InfoBond::MinLinks(read(name, value)?),
        "lp_interval" => InfoBond::LpInterval(read(name, value)?),
        "packets_per_slave" => InfoBond::PacketsPerPort(read(name, value)?),
        "lacp_active" => InfoBond::AdLacpActive(flag(value)?),
        "lacp_rate" => InfoBond::AdLacpRate(read(name, value)?),
        "ad_select" => InfoBond::AdSelect(read(name, value)?),
        "ad_actor_sys_prio" => InfoBond::AdActorSysPrio(read(name, value)?),
        "ad_user_port_key" => InfoBond::AdUserPortKey(read(name, value)?),
        "ad_actor_system" => InfoBond::AdActorSystem(mac(value).ok_or_else(|| refused(name, value))?),
        "tlb_dynamic_lb" => InfoBond::TlbDynamicLb(flag(value)?),
        _ => return Err(refused(name, value)),
    })
}

fn read<T: FromStr>(name: &str, value: &str) -> io::Result<T> {
    value.parse().map_err(|_| refused(name, value))
}

/// Values between commas; none of an empty text.
fn list<T: FromStr>(name: &str, value: &str) -> io::Result<Vec<T>> {
    value.split(',').filter(|one| !one.is_empty()).map(|one| read(name, one.trim())).collect()
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect::<std::result::Result<Vec<_>, _>>();
    bytes.ok()?.try_into().ok()
}

fn refused(name: impl Display, value: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{value}` is no value for `{name}` of a bond"))
}

fn member_of(data: &[InfoBondPort]) -> BondMember {
    let mut member = BondMember::default();
    for info in data {
        match info {
            InfoBondPort::MiiStatus(status) => member.up = *status == MiiStatus::Up,
            InfoBondPort::AdAggregatorId(number) => member.aggregate = Some(*number),
            InfoBondPort::AdActorOperPortState(state) => member.distributes = state.contains(LacpState::DISTRIBUTING),
            _ => {}
        }
    }
    member
}

fn aggregate_of(data: &[BondAdInfo]) -> BondAggregate {
    let mut aggregate = BondAggregate::default();
    for info in data {
        match info {
            BondAdInfo::Aggregator(number) => aggregate.number = *number,
            BondAdInfo::PartnerMac(partner) => aggregate.partner = Some(*partner).filter(|mac| *mac != [0; 6]),
            _ => {}
        }
    }
    aggregate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_by_the_kernels_words() {
        let read = |name, value| format!("{:?}", bond_option(name, value).unwrap());
        assert_eq!(read("mode", "802.3ad"), "Mode(Ieee8023Ad)");
        assert_eq!(read("xmit_hash_policy", "layer3+4"), "XmitHashPolicy(Layer34)");
        assert_eq!(read("arp_ip_target", "10.0.0.1,10.0.0.2"), "ArpIpTarget([10.0.0.1, 10.0.0.2])");
        assert_eq!(read("lacp_active", "off"), "AdLacpActive(false)");
        assert_eq!(read("ad_actor_system", "02:00:00:00:00:07"), "AdActorSystem([2, 0, 0, 0, 0, 7])");
        for (name, value) in [("mode", "stripe"), ("stripe_rate", "1"), ("miimon", "often"), ("ad_actor_system", "2")] {
            assert!(bond_option(name, value).is_err(), "{name} {value}");
        }
    }
}
