//! The engines that can run a team, as a file names them: one file each, and one line in [`ENGINES`].
//!
//! What runs it is the lab's; here stands what the engine can do, so that what it cannot is an error at its line.

mod able;
mod existing;
mod kernel;
mod nicteam;
mod ovs;

pub use able::{Engine, Group, Unsupported};
pub use existing::NAME as EXISTING;
pub use kernel::OPTIONS as KERNEL_OPTIONS;
pub use ovs::settings as openvswitch_settings;

/// All engines, the one that is meant where none is named first.
const ENGINES: [&dyn Engine; 4] = [&nicteam::Nicteam, &ovs::OpenVSwitch, &kernel::Kernel, &existing::Existing];

/// Their names.
pub const NAMES: [&str; ENGINES.len()] = [nicteam::NAME, ovs::NAME, kernel::NAME, existing::NAME];

/// What they are, for the reference.
pub const DOC: &str = "The program that runs the team. `nicteam`: a team of this program. `ovs`: a \
    bond of Open vSwitch with its userspace datapath. Open vSwitch has to be installed (package openvswitch-switch). \
    `kernel`: a bond of Linux's bonding driver. A run is skipped if the kernel has no such driver. \
    `existing`: the bond or team that the real machine has, by `bundle` of the host; the other options are what it has.";

/// The engine of this name.
pub fn find(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.name() == name)
}

/// The engine where none is named.
pub fn default() -> &'static dyn Engine {
    ENGINES[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_has_the_names_that_the_file_takes() {
        assert_eq!(ENGINES.map(Engine::name), NAMES);
        assert!(find("nicteam").is_some() && find("other").is_none());
    }
}
