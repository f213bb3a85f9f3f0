//! No port sends more than three LACPDUs in any second.

use std::collections::BTreeMap;

use nicteam_team::Time;

use super::Observation;
use crate::lacp::net::{End, Net, ms};

#[derive(Clone, Debug, Default)]
pub struct Checker(BTreeMap<End, Vec<Time>>);

impl Checker {
    pub fn see(&mut self, net: &Net, seen: &Observation) {
        match seen {
            // What is said for a frozen system is no more often than each 300 ms.
            Observation::Sent { end, .. } if !net.system(end.0).frozen => {
                let times = self.0.entry(*end).or_default();
                times.retain(|at| net.now() - *at < ms(1000));
                times.push(net.now());
                assert!(times.len() <= 3, "{end:?} sends too often: {times:?}");
            }
            // A new system cannot know what the old one sent, nor one that went on what was said for it.
            Observation::Restarted { system } | Observation::Thawed { system } => {
                self.0.retain(|end, _| end.0 != *system)
            }
            _ => {}
        }
    }
}
