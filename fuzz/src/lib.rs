//! What must hold for any bytes: a module for each place that decodes them. The
//! fuzz targets call these, and the `corpus.rs` of each crate's tests replays
//! the corpus through its own.

pub mod agents;
pub mod bundles;
pub mod captures;
pub mod control;
pub mod experiments;
pub mod exports;
pub mod formats;
pub mod frames;
pub mod kernel;
pub mod processors;
pub mod records;
