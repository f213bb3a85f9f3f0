//! Random faults, what must hold in spite of them, and the fewest that break it.
//!
//! - [`draw()`] makes the faults of a run from a seed: the same seed gives the same faults on every machine.
//! - [`effects()`] measures what each fault did to the traffic, from a run's samples.
//! - [`broken()`] reads a run's record and names what the faults broke, and should not have.
//! - [`shrink()`] finds the fewest faults with which a run still fails.
//! - [`replay()`] writes an experiment file in which these faults stand one by one.
//!
//! Pure: it reads no clock, and carries nothing out.
#![forbid(unsafe_code)]

mod draw;
mod effects;
mod judge;
mod promise;
mod replay;
mod shrink;

pub use draw::{Cable, Chance, Fault, Field, Plan, Switch, draw};
pub use effects::{add_probes, effects};
pub use judge::{Broken, broken};
pub use promise::promised_ms;
pub use replay::replay;
pub use shrink::shrink;
