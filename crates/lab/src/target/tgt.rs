//! Stub.

use crate::engine::Absent;
use crate::error::Failure;
use crate::protocol::ServeTarget;
use crate::say::Output;

use super::terms::{Kind, Served};

/// The kind.
#[derive(Debug)]
pub(super) struct Tgt;

impl Kind for Tgt {
    fn name(&self) -> &'static str {
        "iscsi"
    }

    fn is_there(&self) -> Result<(), Absent> {
        Ok(())
    }

    fn serve(&self, _target: &ServeTarget, _output: &Output) -> Result<Box<dyn Served>, Failure> {
        Err("not yet".into())
    }
}
