//! What the kernel's files say of processors, processes and memory (crate `load`).

use nicteam_load::cpu;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("processors", processors)];

/// Files of `/proc` are understood or passed over.
pub fn processors(bytes: &[u8]) -> bool {
    cpu::reads(&String::from_utf8_lossy(bytes))
}
