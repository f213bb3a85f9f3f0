//! stripe under virtual time: who finds whom, and where frames go.

mod auth;
mod crowd;
mod discovery;
mod hostile;
pub mod lan;
mod liveness;
mod lost;
mod many;
mod one_sided;
mod order;
mod plain;
mod redundant;
mod retransmissions;
mod schedule;
mod segments;
