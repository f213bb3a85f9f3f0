//! The ways in which a stanza gives devices to a bond, or to a bridge.

use nicteam_scripts::commands::Command;
use nicteam_syntax::At;

use super::lines::Line;
use super::stanza::Stanza;

/// ifenslave's name, its older one, those of ifupdown2 and ifupdown-ng, and that of Open vSwitch's scripts.
const OF_BOND: [&str; 5] = ["bond_slaves", "slaves", "bond_members", "bond_ports", "ovs_bonds"];
/// That of bridge-utils, which the others have, too.
const OF_BRIDGE: &str = "bridge_ports";

/// How a line gives devices to a master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The list of a bond: `bond-slaves eth0 eth1`.
    Bond,
    /// The list of a bridge: `bridge-ports eth0`.
    Bridge,
    /// A member names its bond: `bond-master bond0`.
    Master,
    /// A command for bonds: `up ifenslave bond0 eth0 eth1`, as it was written before the hooks.
    Enslave,
    /// `up ip link set eth0 master bond0`: the master may be a bridge.
    Join,
}

/// A line that gives devices to a master.
pub(super) struct Joining<'s> {
    pub(super) line: &'s Line,
    pub(super) way: Way,
    pub(super) master: String,
    /// Devices, or patterns of devices, as they stand there.
    pub(super) members: Vec<(String, At)>,
    /// True if it does so whatever a condition says.
    pub(super) is_certain: bool,
}

/// The lines of a stanza that give devices to a master.
pub(super) fn joinings(stanza: &Stanza) -> impl Iterator<Item = Joining<'_>> {
    stanza.options.iter().flat_map(|line| match line.key().as_str() {
        "bond_master" if !line.value.is_empty() => {
            let member = (stanza.device.clone(), stanza.head.name_at.clone());
            let (master, members) = (line.value.clone(), vec![member]);
            vec![Joining { line, way: Way::Master, master, members, is_certain: true }]
        }
        key if OF_BOND.contains(&key) || key == OF_BRIDGE => {
            let way = if key == OF_BRIDGE { Way::Bridge } else { Way::Bond };
            vec![Joining { line, way, master: stanza.device.clone(), members: line.words(), is_certain: true }]
        }
        _ if line.runs() => by_commands(line, &stanza.device),
        _ => Vec::new(),
    })
}

fn by_commands<'s>(line: &'s Line, device: &str) -> Vec<Joining<'s>> {
    let joining = |command: &Command, is_certain| {
        let (way, master, members) = match command {
            Command::Enslave { bond, members } => (Way::Enslave, bond, members.clone()),
            Command::Join { master, device } => (Way::Join, master, vec![device.clone()]),
            _ => return None,
        };
        let members = members.into_iter().map(|member| (member, line.value_at.clone())).collect();
        Some(Joining { line, way, master: master.clone(), members, is_certain })
    };
    let read = line.does(device);
    let certain = read.sound().filter_map(|command| joining(command, true));
    certain.chain(read.conditional.iter().filter_map(|command| joining(command, false))).collect()
}

/// True for the list of a bond's members.
pub(super) fn is_list(line: &Line) -> bool {
    OF_BOND.contains(&line.key().as_str())
}

/// The line that puts a device into a bond.
pub(super) fn master(stanza: &Stanza) -> Option<&Line> {
    stanza.options.iter().find(|line| line.key() == "bond_master" && !line.value.is_empty())
}
