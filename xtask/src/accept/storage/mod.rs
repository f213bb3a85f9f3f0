//! Storage over many links: the figures of T1 and T4.

pub(super) mod copies;
pub(super) mod faults;
pub(super) mod fio;
mod killed;
pub(super) mod mtu;
pub(super) mod paths;
mod records;
pub(super) mod steady;
pub(super) mod t1;

use crate::tools::Tool;

/// What the experiments need, beside libiscsi.
const TOOLS: &[Tool] = &[("tgtd", "tgt"), ("tgtadm", "tgt")];
