//! A live view of the bundles of a host, for a terminal.
//!
//! [`rows`] makes what is shown from two snapshots. [`Model`] is what the user has chosen, and [`Model::draw`] makes the
//! frame: all pure. [`run`] is the terminal.

mod draw;
mod model;
mod plain;
mod rows;
mod run;
mod units;

pub use nicteam_bundles::Rate;

pub use model::{Key, Model, Sort};
pub use plain::table;
pub use rows::{BundleRow, MemberRow, View, rows};
pub use run::{Ended, Error, Seen, follow, run};
pub use units::Unit;
pub(crate) use units::fit;
