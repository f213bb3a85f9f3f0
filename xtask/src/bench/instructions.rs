//! Instructions per packet: our eBPF beside the kernel's bonding driver, in a
//! guest whose clock counts instructions.
//!
//! The kernel's packet generator sends by the device as a stack does (through
//! `dev_queue_xmit`, where traffic control stands), and each packet ends at the far
//! end of a member's cable, where IP drops what is for another host.

use std::thread;

use nicteam_oracle::protocol::Request;
use nicteam_oracle::{CountedImage, Guest, Missing, Refusal};

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::product::Product;
use crate::stats::Estimate;
use crate::tools::Tool;

pub(crate) const TOOLS: [Tool; 1] = [("qemu-system-x86_64", "qemu-system-x86")];

/// Packets of one measurement.
const PACKETS: u64 = 50_000;
/// How often each is measured, in turn with the others.
const REPEATS: u32 = 5;
const MEMBERS: usize = 4;
const BOND: &str = "bond0";
const TEAM: &str = "team0";
/// The product, in the guest.
const NICTEAM: &str = "/bin/nicteam";
/// Packets that tell whether a device sends, and how often they are sent.
const FIRST_PACKETS: u64 = 100;
const LOOKS: usize = 1000;

/// What a bond and a team are set to.
type Options = &'static [(&'static str, &'static str)];

/// Both look at their members' carrier as often, and so seldom that it is not
/// counted with the packets.
const MIIMON: (&str, &str) = ("miimon", "1000");

const SETTINGS: [(&str, Options); 3] = [
    ("active-backup", &[("mode", "active-backup"), MIIMON]),
    ("balance-xor layer2", &[("mode", "balance-xor"), MIIMON, ("xmit_hash_policy", "layer2")]),
    ("balance-xor layer3+4", &[("mode", "balance-xor"), MIIMON, ("xmit_hash_policy", "layer3+4")]),
];

/// Instructions per packet, one figure a repeat.
#[derive(Debug, Default)]
struct Counts {
    raw: Vec<f64>,
    /// Of each setting.
    kernel: [Vec<f64>; SETTINGS.len()],
    ours: [Vec<f64>; SETTINGS.len()],
}

/// Measures all in one guest.
pub(crate) fn measure(product: &Product) -> Result<Vec<Figure>, Failure> {
    let product = product.clone();
    // A guest that is lost is a panic, which has said why.
    let measured = thread::spawn(move || measure_in_guest(&product)).join();
    measured.unwrap_or_else(|_| Err(Failure::failed("the guest is lost")))
}

fn measure_in_guest(product: &Product) -> Result<Vec<Figure>, Failure> {
    let agent = product.binary.with_file_name("nicteam-oracle-agent");
    if !agent.is_file() {
        let hint = "hint: cargo build --release -p nicteam-oracle";
        return Err(Failure::Missing(format!("no agent at {}; {hint}", agent.display())));
    }
    let image = CountedImage::obtain().map_err(|missing: Missing| Failure::Missing(missing.to_string()))?;
    let mut guest = Guest::boot_counted(&image, &agent, &[&product.binary]).map_err(Failure::failed)?;
    let kernel = guest.kernel().to_owned();
    let counts = count(&mut guest).map_err(|refusal| Failure::failed(format!("the guest ({kernel}): {refusal}")))?;
    Ok(counts.figures(&kernel))
}

/// The raw veth is the first cable, as long as it belongs to nobody.
fn count(guest: &mut Guest) -> Result<Counts, Refusal> {
    for member in 0..MEMBERS {
        guest.ask(&Request::AddVeth { name: near(member), peer: far(member) })?;
        set_up(guest, &far(member))?;
    }
    let mut counts = Counts::default();
    for repeat in 1..=REPEATS {
        eprintln!("instructions per packet: {repeat} of {REPEATS}");
        set_up(guest, &near(0))?;
        counts.raw.push(per_packet(guest, &near(0))?);
        for (setting, (_, options)) in SETTINGS.into_iter().enumerate() {
            add_bond(guest, options)?;
            counts.kernel[setting].push(per_packet(guest, BOND)?);
            guest.ask(&Request::Delete { name: BOND.to_owned() })?;
            add_team(guest, options)?;
            counts.ours[setting].push(per_packet(guest, TEAM)?);
            guest.run(NICTEAM, &["team", "del", TEAM])?;
        }
    }
    Ok(counts)
}

fn add_bond(guest: &mut Guest, options: Options) -> Result<(), Refusal> {
    guest.write("/sys/class/net/bonding_masters", &format!("+{BOND}"))?;
    for (name, value) in options {
        guest.set_option(BOND, name, value)?;
    }
    for member in 0..MEMBERS {
        guest.ask(&Request::SetUp { name: near(member), up: false })?;
        guest.ask(&Request::SetMaster { name: near(member), master: Some(BOND.to_owned()) })?;
    }
    set_up(guest, BOND)
}

fn add_team(guest: &mut Guest, options: Options) -> Result<(), Refusal> {
    let members = (0..MEMBERS).map(near).collect::<Vec<_>>().join(",");
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut arguments = vec!["team", "add", TEAM, "--dataplane", "bpf", "--members", &members];
    arguments.extend(options.iter().flat_map(|option| ["-o", option]));
    guest.run(NICTEAM, &arguments)?;
    set_up(guest, TEAM)
}

fn set_up(guest: &mut Guest, name: &str) -> Result<(), Refusal> {
    guest.ask(&Request::SetUp { name: name.to_owned(), up: true }).map(drop)
}

/// The instructions that each packet takes that is sent by a device.
fn per_packet(guest: &mut Guest, device: &str) -> Result<f64, Refusal> {
    // Until a carrier has been noticed everywhere, packets are swallowed.
    let mut looks = 0..LOOKS;
    while send(guest, device, FIRST_PACKETS)?.1 < FIRST_PACKETS {
        if looks.next().is_none() {
            return refuse(format!("{device} sends nothing"));
        }
    }
    let (time_ns, arrived) = send(guest, device, PACKETS)?;
    // A stray packet more is none of ours; one less was lost.
    if arrived < PACKETS {
        return refuse(format!("{arrived} of {PACKETS} packets sent by {device} arrived"));
    }
    Ok(time_ns / PACKETS as f64)
}

/// Sends packets by a device; how long it took, nanoseconds, and how many arrived.
fn send(guest: &mut Guest, device: &str, count: u64) -> Result<(f64, u64), Refusal> {
    // pktgen reads on to the end of the line.
    let write = |guest: &mut Guest, file: &str, text: &str| {
        guest.write(&format!("/proc/net/pktgen/{file}"), &format!("{text}\n"))
    };
    write(guest, "kpktgend_0", "rem_device_all")?;
    write(guest, "kpktgend_0", &format!("add_device {device}"))?;
    // Every packet is made anew; its ports change from one to the next, so that
    // a hash of layer 4 spreads them.
    let count = format!("count {count}");
    let settings = [&count, "clone_skb 0", "pkt_size 60", "delay 0", "xmit_mode queue_xmit"];
    let addresses = ["dst_mac 02:00:00:00:00:01", "src_min 10.0.0.1", "src_max 10.0.0.1", "dst 10.0.0.2"];
    let ports = ["udp_src_min 1000", "udp_src_max 2000", "udp_dst_min 9", "udp_dst_max 9"];
    for setting in settings.into_iter().chain(addresses).chain(ports) {
        write(guest, device, setting)?;
    }
    let before = received(guest)?;
    write(guest, "pgctrl", "start")?;
    let arrived = received(guest)? - before;
    let said = guest.read(&format!("/proc/net/pktgen/{device}"))?;
    match elapsed_us(&said) {
        Some(elapsed_us) => Ok((elapsed_us as f64 * 1000.0, arrived)),
        None => refuse(format!("pktgen says nothing of the time that {device} took: {said}")),
    }
}

/// Microseconds that pktgen says it took: `Result: OK: 97532(c97532+d0) usec, ...`.
fn elapsed_us(said: &str) -> Option<u64> {
    let (_, result) = said.split_once("Result: OK: ")?;
    result.split('(').next()?.parse().ok()
}

/// Packets that arrived at all far ends.
fn received(guest: &mut Guest) -> Result<u64, Refusal> {
    (0..MEMBERS).try_fold(0, |sum, member| {
        let text = guest.read(&format!("/sys/class/net/{}/statistics/rx_packets", far(member)))?;
        Ok(sum + text.parse::<u64>().unwrap_or(0))
    })
}

fn refuse<T>(what: String) -> Result<T, Refusal> {
    Err(Refusal { errno: None, what })
}

fn near(member: usize) -> String {
    format!("a{member}")
}

fn far(member: usize) -> String {
    format!("b{member}")
}

impl Counts {
    fn figures(&self, kernel: &str) -> Vec<Figure> {
        let words = |samples: &[f64]| {
            let words = |Estimate { median, low, high, .. }| format!("{median:.0} [{low:.0}, {high:.0}]");
            Estimate::of(samples).map_or_else(String::new, words)
        };
        let raw = Figure::text("raw veth", words(&self.raw), "-", None).peer(format!("Linux {kernel}"));
        let added = SETTINGS.iter().zip(&self.kernel).zip(&self.ours).map(|(((name, _), kernel), ours)| {
            let [kernel_added, ours_added] = [kernel, ours].map(|samples| added(samples, &self.raw));
            let bound = median(&kernel_added);
            let holds = Bound::Below(bound).holds(median(&ours_added));
            let peer = format!(
                "kernel's bond adds {}; in all ours {}, kernel's {}",
                words(&kernel_added),
                words(ours),
                words(kernel)
            );
            let name = format!("{name}: added to the raw veth");
            Figure::text(name, words(&ours_added), &format!("< {bound:.0}, the kernel's"), Some(holds)).peer(peer)
        });
        std::iter::once(raw).chain(added).collect()
    }
}

/// What each repeat has more than the raw veth of the same repeat.
fn added(samples: &[f64], raw: &[f64]) -> Vec<f64> {
    samples.iter().zip(raw).map(|(sample, raw)| sample - raw).collect()
}

/// Not a number if there are no samples.
fn median(samples: &[f64]) -> f64 {
    Estimate::of(samples).map_or(f64::NAN, |estimate| estimate.median)
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
    fn a_team_that_adds_less_than_the_kernel_holds_the_bound() {
        let counts = |ours: f64| Counts {
            raw: vec![4000.0, 4002.0],
            kernel: std::array::from_fn(|_| vec![4500.0, 4502.0]),
            ours: std::array::from_fn(|_| vec![ours, ours]),
        };
        let count = |ours| crate::figure::Section::new("", Ok(counts(ours).figures("6.1"))).count();
        assert_eq!(count(4490.0), (3, 0));
        assert_eq!(count(4510.0), (0, 3));
    }
}
