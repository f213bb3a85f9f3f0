//! Mode stripe: what it delivers, beside what else can be had, and what it loses
//! when links fail.

pub(crate) mod bundles;
pub(crate) mod faults;
pub(crate) mod hosts;
pub(crate) mod peers;
pub(crate) mod throughput;
