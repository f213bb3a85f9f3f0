//! A veth pair beside a netkit pair as the team's device: instructions a frame on Debian 13's kernel, in a guest whose
//! clock counts instructions. `netkit.py` makes the devices.
//!
//! Nothing is judged: the product has chosen veth, for reasons that docs/design/netkit.md names.

use std::collections::BTreeMap;
use std::thread;

use nicteam_course::counting_guest;
use nicteam_statistics::median;

use crate::bench::instructions::words;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::{Context, Part};
use crate::tools::Tool;

/// Veth beside netkit as the team's device.
pub(super) const PART: Part<()> = Part {
    tools: &TOOLS,
    prepare: || nicteam_course::prepare(13),
    ..Part::new(
        "netkit",
        "the team's device: veth beside netkit, instructions a frame on Debian 13's kernel, one member, programs that only redirect",
        measure,
    )
};

const TOOLS: [Tool; 5] = {
    let [qemu, bootstrap, disk, package] = nicteam_course::TOOLS;
    [qemu, bootstrap, disk, package, ("python3", "python3")]
};

/// How often each is counted, in turn with the others: counts scatter so little that a few are enough.
const REPEATS: usize = 3;
const SCRIPT: &str = include_str!("netkit.py");
/// What all others are compared with: the program on the team device's own egress, ahead of the device.
const DIRECT: &str = "direct";

/// The ways in the order of the table, in words.
const WAYS: [(&str, &str); 6] = [
    ("cable", "no team, the cable alone"),
    (DIRECT, "veth, tc filters ahead of the device (the direct way)"),
    ("veth", "veth, tc filter at the end behind (the product)"),
    ("veth-tcx", "veth, TCX program at the end behind"),
    ("netkit", "netkit, program in its transmit"),
    ("netkit-queues", "netkit of 17 queues, for queue_id"),
];
const LOADS: [(&str, &str, &str); 6] = [
    ("send", "60", "send, 60 bytes"),
    ("send", "1514", "send, 1514 bytes"),
    ("send", "gso", "send, GSO frames of 65,000 bytes"),
    ("receive", "60", "receive, 60 bytes"),
    ("receive", "1514", "receive, 1514 bytes"),
    ("receive", "gso", "receive, GSO frames of 65,000 bytes"),
];

/// What the guest has printed.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Instructions a frame, one a repeat: of a way, a direction, a size.
    counts: BTreeMap<[String; 3], Vec<f64>>,
    /// What a kind of device does and does not: kind, whether, what. In the order in which they came.
    checks: Vec<[String; 3]>,
}

fn measure(_: &Context<'_, ()>) -> Result<Vec<Figure>, Failure> {
    // The guest ends with the thread that boots it.
    thread::spawn(count).join().unwrap_or_else(|_| Err(Failure::failed("the guest is lost")))
}

fn count() -> Result<Vec<Figure>, Failure> {
    let mut guest = counting_guest::boot()?;
    guest.must("systemctl is-system-running --wait || true")?;
    let kernel = guest.must("uname -r")?;
    guest.write("/root/netkit.py", SCRIPT)?;
    let mut seen = Seen::default();
    for repeat in 1..=REPEATS {
        eprintln!("veth, netkit: {repeat} of {REPEATS}");
        seen.read(&guest.must("python3 /root/netkit.py")?)?;
    }
    Ok(seen.figures(kernel.trim()))
}

impl Seen {
    /// Reads what one run has printed.
    fn read(&mut self, text: &str) -> Result<(), Failure> {
        self.checks.clear();
        for line in text.lines() {
            let unread = || Failure::failed(format!("the guest printed `{line}`"));
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            match words[..] {
                ["count", way, direction, rest] => {
                    let (size, count) = rest.split_once(' ').ok_or_else(unread)?;
                    let count = count.parse().map_err(|_| unread())?;
                    let of = [way, direction, size].map(str::to_owned);
                    self.counts.entry(of).or_default().push(count);
                }
                ["check", kind, is, what] => self.checks.push([kind, is, what].map(str::to_owned)),
                _ => return Err(unread()),
            }
        }
        Ok(())
    }

    fn of(&self, way: &str, direction: &str, size: &str) -> &[f64] {
        self.counts.get(&[way, direction, size].map(str::to_owned)).map_or(&[], Vec::as_slice)
    }

    fn figures(&self, kernel: &str) -> Vec<Figure> {
        let mut figures = vec![Figure::text("the guest's kernel", kernel.to_owned(), "-", None)];
        for (direction, size, load) in LOADS {
            let direct = median(self.of(DIRECT, direction, size));
            figures.extend(WAYS.iter().map(|(way, name)| {
                let counts = self.of(way, direction, size);
                let more = format!("direct way {:+.0}", median(counts) - direct);
                Figure::text(format!("{load}: {name}"), words(counts), "-", None).peer(more)
            }));
        }
        figures.extend(
            self.checks.iter().map(|[kind, is, what]| Figure::text(format!("{kind}: {what}"), is.clone(), "-", None)),
        );
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_compared_with_the_direct_one() {
        let mut seen = Seen::default();
        for netkit in ["3700", "3710"] {
            seen.read(&format!("count direct send 60 3500\ncount netkit send 60 {netkit}\ncheck netkit no a speed"))
                .unwrap();
        }
        let figures = seen.figures("6.12");
        let row = figures.iter().find(|figure| figure.name.starts_with("send, 60 bytes: netkit, ")).unwrap();
        assert_eq!((row.measured.as_str(), row.peer.as_str()), ("3705 [3700, 3710]", "direct way +205"));
        let check = figures.last().unwrap();
        assert_eq!((check.name.as_str(), check.measured.as_str()), ("netkit: a speed", "no"));
        assert!(seen.read("Traceback").is_err() && seen.read("count direct send 60").is_err());
    }
}
