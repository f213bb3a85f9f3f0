//! A guest that has moved tells the switches, so that they send to where it is.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use nicteam_netlink::{Link, Netlink};
use nicteam_node::Failure;
use nicteam_sys::packet::PacketSocket;
use nicteam_wire::{Arp, Mac, rarp_packet};

/// When RARP goes out after the first time, as QEMU's `announce-initial`, `announce-max`, `announce-rounds` and
/// `announce-step` are by default: five times, 50, 150, 250 and 350 ms apart.
const RARP_GAPS_MS: [u64; 4] = [50, 150, 250, 350];

/// So long a device that was moved may take until it sends.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(1);

/// The device once the kernel sends by it: what is sent ahead of that is lost without a word.
fn running(netlink: &mut Netlink, device: &str) -> Result<Link, Failure> {
    let start = Instant::now();
    loop {
        let link = netlink.link(device)?.ok_or_else(|| format!("no device {device}"))?;
        if link.running || start.elapsed() >= PATIENCE {
            return Ok(link);
        }
        std::thread::sleep(LOOK);
    }
}

/// Announces the addresses of a device. What is sent again is sent by a thread.
pub(super) fn announce(netlink: &mut Netlink, device: &str, arp: bool, rarp: bool) -> Result<(), Failure> {
    let link = running(netlink, device)?;
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
