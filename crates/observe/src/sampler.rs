//! Counters of all devices.

use std::time::{Duration, Instant};

use nicteam_bundles::{Counters, Sample};
use nicteam_netlink::{Link, LinkStats, Netlink};
use nicteam_sys::Result;

/// Reads counters by one netlink socket.
#[derive(Debug)]
pub struct Sampler {
    netlink: Netlink,
    begun: Instant,
}

impl Sampler {
    /// In the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel gives no netlink socket.
    pub fn open() -> Result<Sampler> {
        Ok(Sampler { netlink: Netlink::open()?, begun: Instant::now() })
    }

    /// The counters of every device now: one request. Its time counts from when the sampler was opened.
    ///
    /// # Errors
    /// The kernel does not list its devices.
    pub fn sample(&mut self) -> Result<Sample> {
        let links = self.netlink.links()?;
        Ok(sample(self.begun.elapsed(), links))
    }
}

/// The counters of these devices.
pub(crate) fn sample(at: Duration, links: Vec<Link>) -> Sample {
    let devices = links.into_iter().map(|Link { name, index, stats, .. }| (name, (index, counters(stats))));
    Sample { at, devices: devices.collect() }
}

fn counters(stats: LinkStats) -> Counters {
    Counters {
        rx_bytes: stats.rx_bytes,
        rx_packets: stats.rx_frames,
        rx_errors: stats.rx_errors,
        rx_drops: stats.rx_drops,
        rx_missed: stats.rx_missed,
        tx_bytes: stats.tx_bytes,
        tx_packets: stats.tx_frames,
        tx_errors: stats.tx_errors,
        tx_drops: stats.tx_drops,
        late_collisions: stats.late_collisions,
    }
}
