//! A guest that has moved tells the switches, so that they send to where it is.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use nicteam_netlink::Netlink;
use nicteam_node::Failure;
use nicteam_sys::packet::PacketSocket;
use nicteam_wire::{Arp, Mac, rarp_packet};

/// When RARP goes out after the first time, as QEMU's `announce-initial`, `announce-max`, `announce-rounds` and
/// `announce-step` are by default: five times, 50, 150, 250 and 350 ms apart.
const RARP_GAPS_MS: [u64; 4] = [50, 150, 250, 350];

/// So long a device that was moved may take until it sends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Announces the addresses of a device. What is sent again is sent by a thread.
pub(super) fn announce(netlink: &mut Netlink, device: &str, arp: bool, rarp: bool) -> Result<(), Failure> {
    let gone = || format!("no device {device}");
    let index = netlink.link(device)?.ok_or_else(gone)?.index;
    // What is sent ahead of that is lost.
    let link = netlink.link_once(index, PATIENCE, |link| link.running)?.ok_or_else(gone)?;
    let mac = Mac(link.mac);
    let socket = PacketSocket::open(link.index)?;
    let addresses = netlink.addresses(link.index)?.into_iter();
    let ips: Vec<Ipv4Addr> =
        addresses.filter_map(|(ip, _)| if let IpAddr::V4(ip) = ip { Some(ip) } else { None }).collect();
    if arp {
        for ip in ips {
            socket.send_frame(&Arp::gratuitous(mac, ip).frame(Mac::BROADCAST, mac, None));
        }
    }
    if rarp {
        let frame = rarp_packet(mac, None);
        socket.send_frame(&frame);
        std::thread::Builder::new().name(format!("announce {device}")).spawn(move || {
            for gap_ms in RARP_GAPS_MS {
                std::thread::sleep(Duration::from_millis(gap_ms));
                socket.send_frame(&frame);
            }
        })?;
    }
    Ok(())
}
