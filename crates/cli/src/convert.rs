//! `nicteam import` and `nicteam export`: other people's configuration, read and written.

mod export;
mod find;
mod import;

pub(crate) use export::{Export, run as export};
pub(crate) use find::FORMAT;
pub(crate) use import::{Import, read, run as import};
