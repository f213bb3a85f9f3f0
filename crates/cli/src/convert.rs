//! `nicteam import` and `nicteam export`: other people's configuration, read and written.

mod export;
mod find;
mod import;

pub(crate) use export::{Export, run as export};
pub(crate) use find::FORMAT;
pub(crate) use import::{Import, read, run as import};

/// What to do where there is no file of ours.
pub(crate) const MAKES_ONE: &str = "`nicteam import` makes one from the configuration that you have";
