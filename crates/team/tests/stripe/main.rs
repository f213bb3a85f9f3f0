//! stripe under virtual time: who finds whom, and where frames go.

mod discovery;
mod lan;
mod liveness;
mod order;
mod redundant;
mod schedule;
