//! Processors that are full: offloads that are off are the first reason.

use super::kind::Trap;
use crate::finding::{Cure, Finding};
use crate::seen::Seen;

/// Offloads of the network cards.
#[derive(Debug)]
pub(super) struct Offloads;

/// From here on processors may be what limits, part of all.
const FULL: f64 = 0.9;

impl Trap for Offloads {
    fn name(&self) -> &'static str {
        "offloads"
    }

    fn title(&self) -> &'static str {
        "Offloads and processors"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let devices = seen.cables().into_iter().flat_map(|(_, cable)| [&cable.a, &cable.b]);
        let most = devices.filter_map(|end| seen.device(end)).map(|device| device.max_packets).max().unwrap_or(0);
        let frames = if most == 1 {
            "frames are MTU-sized packets, by the lab's choice (as with TSO off)".to_owned()
        } else {
            format!("a frame joins up to {most} packets (TSO)")
        };
        let busy =
            seen.measured.map_or_else(String::new, |run| format!("; processors {:.0} % busy", run.cpu.busy * 100.0));
        frames + &busy
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let Some(run) = seen.measured.filter(|run| run.cpu.busy >= FULL) else { return Vec::new() };
        vec![Finding {
            trap: self.name(),
            place: "the machine".to_owned(),
            wrong: format!(
                "Processors were {:.0} % busy: they may be the limit, not the network.",
                run.cpu.busy * 100.0
            ),
            cures: vec![
                Cure::new("Linux", "ethtool -K DEVICE tso on gso on gro on rx on tx on; ethtool -k DEVICE shows them"),
                Cure::new("ESXi", "esxcli system settings advanced set --option /Net/UseHwTSO --int-value 1"),
                Cure::new("the lab", "--rate with a lower rate: all links fit into this machine's processors then"),
            ],
            edits: Vec::new(),
            must: false,
        }]
    }
}
