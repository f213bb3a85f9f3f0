//! What a device counted, for those whose frames nobody else counts.

use nicteam_netlink::Netlink;
use nicteam_netlink::shape;
use nicteam_node::Failure;
use nicteam_record::MemberSample;
use nix::libc;

/// What a device carried so far, as a member of a team; of none if `team` is empty.
pub(crate) fn of_device(netlink: &mut Netlink, team: &str, device: &str) -> Result<MemberSample, Failure> {
    let link = netlink.link(device)?.ok_or_else(|| format!("{device} is gone"))?;
    Ok(MemberSample {
        team: team.to_owned(),
        member: device.to_owned(),
        tx_frames: link.stats.tx_frames,
        tx_bytes: link.stats.tx_bytes,
        tx_drops: link.stats.tx_drops + shape_drops(netlink, link.index)?,
        rx_frames: link.stats.rx_frames,
        rx_bytes: link.stats.rx_bytes,
        rx_drops: link.stats.rx_drops,
    })
}

/// Frames that the limit of a device's rate dropped; a link of a real machine has none.
pub(crate) fn shape_drops(netlink: &mut Netlink, index: u32) -> Result<u64, Failure> {
    match shape::drops(netlink, index) {
        Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::EINVAL)) => Ok(0),
        drops => Ok(drops?),
    }
}

/// The same of each member of a team.
pub(crate) fn of_members(netlink: &mut Netlink, team: &str, members: &[String]) -> Result<Vec<MemberSample>, Failure> {
    members.iter().map(|member| of_device(netlink, team, member)).collect()
}
