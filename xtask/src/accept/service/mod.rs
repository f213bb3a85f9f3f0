//! The service on a Debian with systemd, from its installation to its removal, with traffic from outside.

mod agent;
mod course;
mod goods;
mod guest;
mod image;
mod outside;
mod probe;
mod recipe;
mod snapshot;
mod stacks;

use super::Arguments;
use crate::part::Part;

/// A package installed, two teams, killed, upgraded, rebooted, addressed by others, removed.
pub(super) const PART: Part<Arguments> = Part {
    tools: &image::TOOLS,
    prepare: image::prepare,
    ..Part::new(
        "service",
        "the service on Debian 12 with systemd, in an emulated guest (bpf dataplane)",
        course::measure,
    )
};
