//! What the devices of a bundle say of themselves.

use nicteam_bundles::{Bundle, Member};
use nicteam_netlink::Link;
use nicteam_sys::ethtool::Ethtool;

use crate::host::{Named, mac};

/// What the devices say, where the bundle's own program did not.
pub(crate) fn complete(bundle: &mut Bundle, links: &Named<'_>, ethtool: Option<&Ethtool>) {
    if let Some(link) = bundle.device.as_ref().and_then(|device| links.get(device.as_str())) {
        bundle.index = Some(link.index);
        bundle.mtu = Some(link.mtu);
        bundle.admin_up = link.up;
        bundle.mac.get_or_insert_with(|| mac(link.mac));
    }
    for member in &mut bundle.members {
        match links.get(member.name.as_str()) {
            Some(link) => complete_member(member, link, ethtool),
            None => bundle.unseen.push(format!("{} is not in this network namespace", member.name)),
        }
    }
}

fn complete_member(member: &mut Member, link: &Link, ethtool: Option<&Ethtool>) {
    member.index = Some(link.index);
    member.mtu = Some(link.mtu);
    member.admin_up = link.up;
    member.carrier = link.carrier;
    member.mac = Some(mac(link.mac));
    if member.permanent_mac.is_none() {
        member.permanent_mac = link.permanent_mac.map(mac);
    }
    if member.speed_mbps.is_none() || member.full_duplex.is_none() {
        // A driver that does not say, or a device that is gone meanwhile: unknown.
        let settings = ethtool.and_then(|ethtool| ethtool.settings(&member.name).ok()).unwrap_or_default();
        member.speed_mbps = member.speed_mbps.or(settings.speed_mbps);
        member.full_duplex = member.full_duplex.or(settings.full_duplex);
    }
}
