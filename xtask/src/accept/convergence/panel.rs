//! A patch panel: cables whose ends lose and get their carrier together, without
//! either end being set down.

use std::process::Command;

use nicteam_sys::process;
use nicteam_testnet::{Host, loose_cable};

use super::end::{PORTS, device};
use crate::failure::Failure;
use crate::tools;

/// Each cable is cut in the middle: what arrives at one half leaves by the other.
pub(crate) struct Panel {
    host: Host,
    /// Interface indexes of both halves of each cable.
    halves: Vec<[u32; 2]>,
}

impl Panel {
    /// A panel with two hosts at it. All cables are pulled.
    pub(crate) fn new() -> Result<(Panel, [Host; 2]), Failure> {
        let mut host = Host::quiet();
        let mut ends = [Host::quiet(), Host::quiet()];
        let mut halves = Vec::new();
        for port in 0..PORTS {
            let names = ["left", "right"].map(|side| format!("{side}{port}"));
            let mut indexes = [0; 2];
            for ((end, name), index) in ends.iter_mut().zip(&names).zip(&mut indexes) {
                [*index, _] = loose_cable(&mut host, name, end, &device(port), None);
                end.set_up(&device(port), true);
            }
            join(&host, &names[0], &names[1])?;
            join(&host, &names[1], &names[0])?;
            halves.push(indexes);
        }
        Ok((Panel { host, halves }, ends))
    }

    /// Plugs a cable in, or pulls it.
    pub(crate) fn plug(&mut self, port: usize, carrier: bool) -> Result<(), Failure> {
        let halves = self.halves[port];
        Ok(halves.into_iter().try_for_each(|index| self.host.netlink.set_up(index, carrier))?)
    }
}

/// What arrives at `from` leaves by `to`. A bridge would keep LACPDUs.
fn join(host: &Host, from: &str, to: &str) -> Result<(), Failure> {
    let filter =
        format!("filter add dev {from} ingress protocol all u32 match u32 0 0 action mirred egress redirect dev {to}");
    for words in [format!("qdisc add dev {from} clsact"), filter] {
        let mut command = Command::new("tc");
        command.args(words.split(' '));
        process::in_netns(&mut command, &host.netns);
        tools::output(&mut command)?;
    }
    Ok(())
}
