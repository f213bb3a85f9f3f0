//! The keys of `[defaults]`.

use nicteam_diagnostics::units::RUN_DURATION;
use nicteam_elements::keys::{Key, Kind, Need, Section};

/// Bytes of an IP packet: from the least every IPv4 host takes to the largest jumbo frames of real switches.
pub(super) const MTU_BYTES: std::ops::RangeInclusive<u64> = 576..=9216;
const MTU: Kind = Kind::Integer(MTU_BYTES);
pub(super) const DAY_MS: u64 = 86_400_000;

pub(crate) const DEFAULTS: Section = Section {
    header: "[defaults]",
    doc: "Values for all places that give no value of their own.",
    keys: &[
        Key {
            name: "rate",
            kind: Kind::Rate,
            need: Need::Default("100mbit"),
            doc: "Rate of each link that gives no rate.",
        },
        Key {
            name: "mtu",
            kind: MTU,
            need: Need::Default("1500"),
            doc: "Largest IP packet of each link that gives no MTU, bytes.",
        },
        Key {
            name: "duration",
            kind: Kind::Time(RUN_DURATION),
            need: Need::Default("8s"),
            doc: "Time for which each run is measured.",
        },
        Key {
            name: "warmup",
            kind: Kind::time(0, DAY_MS),
            need: Need::Default("1s"),
            doc: "Time before each measurement. It does not count.",
        },
        Key {
            name: "congestion",
            kind: Kind::Word,
            need: Need::Default("cubic"),
            doc: "TCP congestion control of each workload that gives none.",
        },
        Key {
            name: "interval",
            kind: Kind::time(10, 60_000),
            need: Need::Default("100ms"),
            doc: "Time between two samples.",
        },
        Key {
            name: "seed",
            kind: Kind::Integer(0..=i64::MAX as u64),
            need: Need::Default("1"),
            doc: "Seed of all random numbers.",
        },
        Key {
            name: "granularity",
            kind: Kind::Choice(&["auto", "packets", "super-frames"]),
            need: Need::Default("auto"),
            doc: "Size of frames. `packets`: a frame is one packet of at most the MTU. `super-frames`: GSO frames of \
                up to 64 KB. `auto`: packets if the machine can carry them at these rates, else GSO frames of as few \
                packets as possible.",
        },
    ],
    of_kinds: &[],
};
