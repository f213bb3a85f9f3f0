//! The kernel's packet generator in a guest that counts: what a packet takes, and
//! by which cable it leaves.
//!
//! It sends by a device as a stack does (through `dev_queue_xmit`, where traffic
//! control stands), and each packet ends at the far end of a cable, where IP drops
//! what is for another host.

use crate::{Guest, Refusal};

/// Packets that were sent and have arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Instructions for each packet, with everything that happened meanwhile.
    pub instructions: f64,
    /// Packets that arrived at each far end.
    pub arrived: Vec<u64>,
}

/// Packets that tell whether a device sends, and how often they are sent.
const FIRST_PACKETS: u64 = 100;
const LOOKS: usize = 1000;

impl Generated {
    /// Sends packets by a device and waits for them at the far ends of its cables.
    ///
    /// Every packet is made anew, 60 bytes with UDP ports that change from one to
    /// the next, so that a hash of layer 4 spreads them.
    ///
    /// # Errors
    /// If the device sends nothing, or not every packet arrives.
    pub fn by(guest: &mut Guest, device: &str, packets: u64, far_ends: &[String]) -> Result<Generated, Refusal> {
        // Until a carrier has been noticed everywhere, packets are swallowed.
        let mut looks = 0..LOOKS;
        while Generated::once(guest, device, FIRST_PACKETS, far_ends)?.total() < FIRST_PACKETS {
            if looks.next().is_none() {
                return refuse(format!("{device} sends nothing"));
            }
        }
        let generated = Generated::once(guest, device, packets, far_ends)?;
        // A stray packet more is none of ours; one less was lost.
        let arrived = generated.total();
        if arrived < packets {
            return refuse(format!("{arrived} of {packets} packets sent by {device} arrived"));
        }
        Ok(generated)
    }

    /// The smallest part of all packets that arrived at one far end, and the largest.
    pub fn shares(&self) -> (f64, f64) {
        let share = |packets: Option<&u64>| packets.map_or(0.0, |&packets| packets as f64 / self.total() as f64);
        (share(self.arrived.iter().min()), share(self.arrived.iter().max()))
    }

    fn total(&self) -> u64 {
        self.arrived.iter().sum()
    }

    fn once(guest: &mut Guest, device: &str, count: u64, far_ends: &[String]) -> Result<Generated, Refusal> {
        // pktgen reads on to the end of the line.
        let write = |guest: &mut Guest, file: &str, text: &str| {
            guest.write(&format!("/proc/net/pktgen/{file}"), &format!("{text}\n"))
        };
        write(guest, "kpktgend_0", "rem_device_all")?;
        write(guest, "kpktgend_0", &format!("add_device {device}"))?;
        let counted = format!("count {count}");
        let settings = [&counted, "clone_skb 0", "pkt_size 60", "delay 0", "xmit_mode queue_xmit"];
        let addresses = ["dst_mac 02:00:00:00:00:01", "src_min 10.0.0.1", "src_max 10.0.0.1", "dst 10.0.0.2"];
        let ports = ["udp_src_min 1000", "udp_src_max 2000", "udp_dst_min 9", "udp_dst_max 9"];
        for setting in settings.into_iter().chain(addresses).chain(ports) {
            write(guest, device, setting)?;
        }
        let before = received(guest, far_ends)?;
        write(guest, "pgctrl", "start")?;
        let after = received(guest, far_ends)?;
        let said = guest.read(&format!("/proc/net/pktgen/{device}"))?;
        let Some(elapsed_us) = elapsed_us(&said) else {
            return refuse(format!("pktgen says nothing of the time that {device} took: {said}"));
        };
        let arrived = after.iter().zip(before).map(|(after, before)| after - before).collect();
        Ok(Generated { instructions: elapsed_us as f64 * 1000.0 / count as f64, arrived })
    }
}

/// Microseconds that pktgen says it took: `Result: OK: 97532(c97532+d0) usec, ...`.
fn elapsed_us(said: &str) -> Option<u64> {
    let (_, result) = said.split_once("Result: OK: ")?;
    result.split('(').next()?.parse().ok()
}

/// Packets that each far end has received so far.
fn received(guest: &mut Guest, far_ends: &[String]) -> Result<Vec<u64>, Refusal> {
    let mut count = |name: &String| {
        let text = guest.read(&format!("/sys/class/net/{name}/statistics/rx_packets"))?;
        Ok(text.parse().unwrap_or(0))
    };
    far_ends.iter().map(&mut count).collect()
}

fn refuse<T>(what: String) -> Result<T, Refusal> {
    Err(Refusal { errno: None, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_pktgen_took_is_read() {
        let said = "Current:\n  seq_num: 20001\nResult: OK: 97532(c97532+d0) usec, 20000 (60byte,0frags)\n  205061pps";
        assert_eq!(elapsed_us(said), Some(97_532));
        assert_eq!(elapsed_us("Result: Idle"), None);
    }

    #[test]
    fn shares_are_of_all_that_arrived() {
        let generated = Generated { instructions: 0.0, arrived: vec![10, 30, 40, 20] };
        assert_eq!(generated.shares(), (0.1, 0.4));
    }
}
