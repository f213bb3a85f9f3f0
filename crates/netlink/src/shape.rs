//! Links of a given rate: HTB with a short byte queue on a device's way out.
//!
//! One HTB class whose `rate` is its `ceil`, and below it a `bfifo`: what a
//! port of a switch does with a small buffer. `burst` and the queue's limit
//! follow the rate (see `Sizes`).

use std::io;

use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_ECHO, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption, TcStats2};

use crate::Netlink;
use nicteam_sys::{Error, Result};

/// Whether the link carries MTU-sized packets or the GSO frames of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// Every frame is one packet: each is charged its own preamble, check
    /// sequence and gap (24 bytes, at least 84 in all).
    Packets,
    /// Several packets go through at once, 64 KB at most: the rate is lowered
    /// to what full 1514-byte frames would leave (1514/1538).
    SuperFrames {
        /// The most packets in a frame, 2 to [`Granularity::UNBOUNDED`].
        max_packets: u32,
    },
}

impl Granularity {
    /// As many packets as the kernel joins (`GSO_MAX_SEGS`): 64 KB is the bound.
    pub const UNBOUNDED: u32 = 65_535;
    /// The GSO frames of the stack as they are.
    pub const WHOLE: Granularity = Granularity::SuperFrames { max_packets: Granularity::UNBOUNDED };

    /// Where a frame joins so many packets at most.
    pub fn of(max_packets: u32) -> Granularity {
        if max_packets <= 1 { Granularity::Packets } else { Granularity::SuperFrames { max_packets } }
    }

    /// The most packets that one frame joins; on the devices it is `gso_max_segs`.
    pub fn max_packets(self) -> u32 {
        match self {
            Granularity::Packets => 1,
            Granularity::SuperFrames { max_packets } => max_packets,
        }
    }
}

/// Limits what `ifindex` sends to `rate_bps` of the wire. A device has one shape; a second call replaces it.
///
/// The queue that was there is emptied. Cheapest while the device is down: a
/// queue is taken from a running device only after a grace period of the kernel.
///
/// # Errors
/// Besides what the kernel refuses, `EINVAL` for a rate below one byte a second.
pub fn shape(netlink: &mut Netlink, ifindex: u32, rate_bps: u64, granularity: Granularity) -> Result<()> {
    shape_with(netlink, ifindex, rate_bps, granularity, Sizes::of_rate(rate_bps))
}

/// The same with a burst and a queue of other sizes than the rate's own.
///
/// # Errors
/// As [`shape`].
pub fn shape_with(
    netlink: &mut Netlink,
    ifindex: u32,
    rate_bps: u64,
    granularity: Granularity,
    sizes: Sizes,
) -> Result<()> {
    let operation = || format!("limit device {ifindex} to {rate_bps} bit/s");
    let class = HtbClass::new(rate_bps, granularity, sizes)
        .ok_or_else(|| Error::new(operation(), io::Error::from_raw_os_error(libc::EINVAL)))?;
    // `tc qdisc replace` refuses another HTB in the place of one; so the old one goes first.
    unshape(netlink, ifindex)?;
    let create = NLM_F_CREATE | NLM_F_EXCL;

    let mut root = message(ifindex, ROOT, TcHandle::ROOT);
    root.attributes = vec![TcAttribute::Kind("htb".to_owned()), options(TCA_HTB_INIT, htb_init())];
    netlink.done(RouteNetlinkMessage::NewQueueDiscipline(root), create, operation)?;

    let mut leaf = message(ifindex, CLASS, ROOT);
    leaf.attributes = vec![TcAttribute::Kind("htb".to_owned()), TcAttribute::Options(class.options())];
    netlink.done(RouteNetlinkMessage::NewTrafficClass(leaf), create, operation)?;

    let mut queue = message(ifindex, QUEUE, CLASS);
    let limit = DefaultNla::new(TCA_OPTIONS, class.sizes.queue_bytes.to_ne_bytes().to_vec());
    queue.attributes = vec![TcAttribute::Kind("bfifo".to_owned()), TcAttribute::Other(limit)];
    netlink.done(RouteNetlinkMessage::NewQueueDiscipline(queue), create, operation)
}

/// Gives the shape of a device another rate. What waits in its queue stays, and so does the queue's size.
///
/// # Errors
/// As [`shape`]; `ENOENT` or `EINVAL` if the device has no shape.
pub fn change_rate(netlink: &mut Netlink, ifindex: u32, rate_bps: u64, granularity: Granularity) -> Result<()> {
    let operation = || format!("limit device {ifindex} to {rate_bps} bit/s");
    let class = HtbClass::new(rate_bps, granularity, Sizes::of_rate(rate_bps))
        .ok_or_else(|| Error::new(operation(), io::Error::from_raw_os_error(libc::EINVAL)))?;
    let mut leaf = message(ifindex, CLASS, ROOT);
    leaf.attributes = vec![TcAttribute::Kind("htb".to_owned()), TcAttribute::Options(class.options())];
    netlink.done(RouteNetlinkMessage::NewTrafficClass(leaf), 0, operation)
}

/// Whether a device has a shape.
///
/// # Errors
/// What the kernel refuses; no shape is none.
pub fn is_shaped(netlink: &mut Netlink, ifindex: u32) -> Result<bool> {
    let request = RouteNetlinkMessage::GetQueueDiscipline(message(ifindex, ROOT, TcHandle::ROOT));
    match netlink.request(request, NLM_F_ECHO, || format!("read the queue of device {ifindex}")) {
        Ok(answers) => Ok(answers.iter().any(is_htb_root)),
        Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::EINVAL)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// True of a queue that [`shape`] made.
fn is_htb_root(answer: &RouteNetlinkMessage) -> bool {
    let RouteNetlinkMessage::NewQueueDiscipline(queue) = answer else { return false };
    queue.header.handle == ROOT && queue.attributes.contains(&TcAttribute::Kind("htb".to_owned()))
}

/// Frames (or GSO frames) that the shape's queue has dropped so far; the
/// kernel's counter starts again after 2^32.
///
/// # Errors
/// `EINVAL` or `ENOENT` if the device has no shape.
pub fn drops(netlink: &mut Netlink, ifindex: u32) -> Result<u64> {
    let request = RouteNetlinkMessage::GetQueueDiscipline(message(ifindex, ROOT, TcHandle::ROOT));
    // Older kernels answer the asker only if told to echo.
    let answers = netlink.request(request, NLM_F_ECHO, || format!("read the queue of device {ifindex}"))?;
    let dropped = answers.iter().find_map(|answer| match answer {
        RouteNetlinkMessage::NewQueueDiscipline(queue) => dropped_frames(queue),
        _ => None,
    });
    dropped.ok_or_else(|| {
        Error::new(format!("read the queue of device {ifindex}"), io::Error::from_raw_os_error(libc::ENODATA))
    })
}

/// Handle of the root queue, `1:`.
const ROOT: TcHandle = TcHandle { major: 1, minor: 0 };
/// The one class, `1:1`.
const CLASS: TcHandle = TcHandle { major: 1, minor: 1 };
/// Handle of the byte queue below it, `10:`.
const QUEUE: TcHandle = TcHandle { major: 0x10, minor: 0 };

// Attribute numbers: Linux 6.1 include/uapi/linux/rtnetlink.h and pkt_sched.h.
const TCA_OPTIONS: u16 = 2;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;

/// What a frame takes on the wire beyond what the device sees of it: check
/// sequence 4, preamble 8, gap 12 bytes; the shortest frame is 64 + 20 bytes.
const OVERHEAD_BYTES: u16 = 24;
const SHORTEST_FRAME_BYTES: u16 = 84;

/// Bytes the class may send in a turn; one class has nobody to share with, but HTB warns about its own guess.
const QUANTUM_BYTES: u32 = 60_000;

/// How much may go at once and how much may wait, by rate.
///
/// The sizes of three rates were found by measurement (a TCP stream reaches
/// its limit, and no more); between them they are interpolated. Above,
/// nothing grows. Below, the burst shrinks with the rate down to two full
/// frames, so that the link stays smooth, and the queue stays, as the buffer
/// of a real port does.
///
/// A burst also makes up for a timer that comes late, as it does on a busy machine: what
/// it does not make up for, the wire loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes that may go at once; of one full frame at least, or the rate is not reached.
    pub burst_bytes: u32,
    /// Bytes that may wait.
    pub queue_bytes: u32,
}

impl Sizes {
    /// Those of a link of this rate.
    pub fn of_rate(rate_bps: u64) -> Sizes {
        const MEASURED: [(u64, Sizes); 3] = [
            (100_000_000, Sizes { burst_bytes: 32 << 10, queue_bytes: 200_000 }),
            (1_000_000_000, Sizes { burst_bytes: 64 << 10, queue_bytes: 1_000_000 }),
            (2_500_000_000, Sizes { burst_bytes: 256 << 10, queue_bytes: 4_000_000 }),
        ];
        const TWO_FRAMES_BYTES: u32 = 3200;
        let (lowest_bps, lowest) = MEASURED[0];
        if rate_bps <= lowest_bps {
            let burst_bytes = scale(lowest.burst_bytes, rate_bps, lowest_bps).max(TWO_FRAMES_BYTES);
            return Sizes { burst_bytes, ..lowest };
        }
        for pair in MEASURED.windows(2) {
            let ((from_bps, from), (to_bps, to)) = (pair[0], pair[1]);
            if rate_bps <= to_bps {
                let (part, whole) = (rate_bps - from_bps, to_bps - from_bps);
                return Sizes {
                    burst_bytes: from.burst_bytes + scale(to.burst_bytes - from.burst_bytes, part, whole),
                    queue_bytes: from.queue_bytes + scale(to.queue_bytes - from.queue_bytes, part, whole),
                };
            }
        }
        MEASURED[2].1
    }
}

/// `value * part / whole`, where `part` is at most `whole`.
fn scale(value: u32, part: u64, whole: u64) -> u32 {
    (u128::from(value) * u128::from(part) / u128::from(whole)) as u32
}

/// The parameters of the one class.
#[derive(Clone, Copy, Debug)]
struct HtbClass {
    rate_bytes_per_s: u64,
    overhead_bytes: u16,
    shortest_bytes: u16,
    sizes: Sizes,
}

impl HtbClass {
    /// `None` for a rate below one byte a second.
    fn new(rate_bps: u64, granularity: Granularity, sizes: Sizes) -> Option<HtbClass> {
        let (charged_bps, overhead_bytes, shortest_bytes) = match granularity {
            Granularity::Packets => (rate_bps, OVERHEAD_BYTES, SHORTEST_FRAME_BYTES),
            Granularity::SuperFrames { .. } => ((u128::from(rate_bps) * 1514 / 1538) as u64, 0, 0),
        };
        let rate_bytes_per_s = charged_bps / 8;
        let class = HtbClass { rate_bytes_per_s, overhead_bytes, shortest_bytes, sizes };
        (rate_bytes_per_s > 0).then_some(class)
    }

    /// `struct tc_htb_opt`, and the 64-bit rates where 32 bits are too few.
    fn options(&self) -> Vec<TcOption> {
        let burst_ticks = self.burst_ticks();
        let mut parameters = Vec::with_capacity(44);
        for _rate_then_ceil in 0..2 {
            parameters.extend(self.rate_specification());
        }
        let (level, priority) = (0, 0);
        for field in [burst_ticks, burst_ticks, QUANTUM_BYTES, level, priority] {
            parameters.extend(field.to_ne_bytes());
        }
        let mut options = vec![attribute(TCA_HTB_PARMS, parameters)];
        if u32::try_from(self.rate_bytes_per_s).is_err() {
            let rate = self.rate_bytes_per_s.to_ne_bytes().to_vec();
            options.push(attribute(TCA_HTB_RATE64, rate.clone()));
            options.push(attribute(TCA_HTB_CEIL64, rate));
        }
        options
    }

    /// `struct tc_ratespec`. With a link layer named, the kernel needs no rate tables.
    fn rate_specification(&self) -> [u8; 12] {
        const TC_LINKLAYER_ETHERNET: u8 = 1;
        let mut bytes = [0; 12];
        bytes[1] = TC_LINKLAYER_ETHERNET;
        bytes[2..4].copy_from_slice(&self.overhead_bytes.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.shortest_bytes.to_ne_bytes());
        let rate = u32::try_from(self.rate_bytes_per_s).unwrap_or(u32::MAX);
        bytes[8..12].copy_from_slice(&rate.to_ne_bytes());
        bytes
    }

    /// The time the burst takes at this rate, in the scheduler's ticks.
    fn burst_ticks(&self) -> u32 {
        /// `PSCHED_SHIFT` 6 (Linux 6.1 include/net/pkt_sched.h).
        const TICK_NS: u64 = 64;
        let ns = u64::from(self.sizes.burst_bytes) * 1_000_000_000 / self.rate_bytes_per_s;
        u32::try_from(ns / TICK_NS).unwrap_or(u32::MAX)
    }
}

/// `struct tc_htb_glob`: version 3, frames of no class go to class 1.
fn htb_init() -> Vec<u8> {
    let (version, rate_to_quantum, default_class, debug, direct_packets) = (3u32, 10, CLASS.minor.into(), 0, 0);
    [version, rate_to_quantum, default_class, debug, direct_packets].map(u32::to_ne_bytes).concat()
}

/// Takes the shape from a device, which gets the kernel's own queue. Not an error if it has none.
///
/// # Errors
/// What the kernel refuses.
pub fn unshape(netlink: &mut Netlink, ifindex: u32) -> Result<()> {
    let request = RouteNetlinkMessage::DelQueueDiscipline(message(ifindex, TcHandle::UNSPEC, TcHandle::ROOT));
    match netlink.done(request, 0, || format!("remove the queue of device {ifindex}")) {
        // The kernel's own default queue, which cannot be removed.
        Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::EINVAL)) => Ok(()),
        result => result,
    }
}

fn message(ifindex: u32, handle: TcHandle, parent: TcHandle) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = ifindex as i32;
    message.header.handle = handle;
    message.header.parent = parent;
    message
}

fn options(kind: u16, value: Vec<u8>) -> TcAttribute {
    TcAttribute::Options(vec![attribute(kind, value)])
}

fn attribute(kind: u16, value: Vec<u8>) -> TcOption {
    TcOption::Other(DefaultNla::new(kind, value))
}

fn dropped_frames(queue: &TcMessage) -> Option<u64> {
    let stats = queue.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Stats2(stats) => Some(stats),
        _ => None,
    })?;
    stats.iter().find_map(|stats| match stats {
        TcStats2::Queue(queue) => Some(queue.drops.into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_rate() {
        let of = |rate_bps| {
            let sizes = Sizes::of_rate(rate_bps);
            (sizes.burst_bytes, sizes.queue_bytes)
        };
        assert_eq!(of(1), (3200, 200_000));
        assert_eq!(of(50_000_000), (16 << 10, 200_000));
        assert_eq!(of(100_000_000), (32 << 10, 200_000));
        assert_eq!(of(550_000_000), (48 << 10, 600_000));
        assert_eq!(of(1_000_000_000), (64 << 10, 1_000_000));
        assert_eq!(of(2_500_000_000), (256 << 10, 4_000_000));
        assert_eq!(of(u64::MAX), (256 << 10, 4_000_000));
    }

    #[test]
    fn a_gigabit_is_charged_by_frame_or_lowered_to_the_share_of_full_frames() {
        let class = |rate_bps, granularity| HtbClass::new(rate_bps, granularity, Sizes::of_rate(rate_bps));
        let packets = class(1_000_000_000, Granularity::Packets).unwrap();
        assert_eq!((packets.rate_bytes_per_s, packets.overhead_bytes, packets.shortest_bytes), (125_000_000, 24, 84));
        let super_frames = class(1_000_000_000, Granularity::WHOLE).unwrap();
        assert_eq!(super_frames.rate_bytes_per_s, 123_049_414);
        assert_eq!((super_frames.overhead_bytes, super_frames.shortest_bytes), (0, 0));
        assert_eq!(super_frames.sizes, packets.sizes, "both follow the rate of the wire");
        assert!(class(7, Granularity::Packets).is_none());
    }

    #[test]
    fn rates_beyond_32_bits_are_told_in_64() {
        let sizes = Sizes::of_rate(u64::MAX);
        let options = |rate_bps| HtbClass::new(rate_bps, Granularity::Packets, sizes).unwrap().options().len();
        assert_eq!(options(34_000_000_000), 1);
        assert_eq!(options(35_000_000_000), 3);
    }
}
