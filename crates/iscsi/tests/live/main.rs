//! Sessions with a real target (tgt) over the loopback of a namespace of the test's own.

mod broken;
mod common;
mod fence;
mod impatient;
mod transfer;
