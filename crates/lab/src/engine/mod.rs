//! Who runs teams on a node. One file an engine, and one line in [`ENGINES`].

mod nicteam;
mod terms;

pub use terms::{Engine, Running};

/// All engines, the one that is meant where none is named first.
pub(crate) static ENGINES: [&dyn Engine; 1] = [&nicteam::Nicteam];
