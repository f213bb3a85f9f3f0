//! Who runs teams on a node. One file an engine, and one line in [`ENGINES`].

mod existing;
mod kernel;
mod nicteam;
mod ovs;
mod process;
mod terms;

pub use terms::{Absent, Engine, Running};

/// All engines, the one that is meant where none is named first.
pub(crate) static ENGINES: [&dyn Engine; 4] =
    [&nicteam::Nicteam, &ovs::OpenVSwitch, &kernel::Kernel, &existing::Existing];

/// The engine of this name.
pub(crate) fn find(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.name() == name)
}
