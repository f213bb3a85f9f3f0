//! Path policies: by which path a request is sent.
//!
//! One file each, and a line in [`POLICIES`].

mod best;
mod entry;
mod fixed;
mod queue_length;
mod round_robin;
mod service_time;

use std::fmt;
use std::str::FromStr;

pub(crate) use entry::{Choose, Load};
pub use entry::{Entry, Policy};
pub use round_robin::DEFAULT_IOPS;

/// Every kind of policy.
pub const POLICIES: &[Entry] =
    &[fixed::ENTRY, round_robin::ENTRY, queue_length::ENTRY, service_time::ENTRY, best::ENTRY];

impl Policy {
    /// Its entry.
    pub fn entry(self) -> &'static Entry {
        POLICIES.iter().find(|entry| (entry.is)(self)).unwrap_or(&POLICIES[0])
    }

    pub(crate) fn build(self) -> Box<dyn Choose> {
        (self.entry().build)(self)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}

/// No policy has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no path policy `{0}`; hint: {names}", names = names())]
pub struct UnknownPolicy(String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    /// With its defaults.
    fn from_str(name: &str) -> Result<Policy, UnknownPolicy> {
        let entry = POLICIES.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.policy).ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}

fn names() -> String {
    let names: Vec<String> = POLICIES.iter().map(|entry| format!("`{}`", entry.name)).collect();
    names.join(", ")
}
