//! The service on a Debian with systemd, from its installation to its removal, with traffic from outside.

use super::arguments::Arguments;
use crate::part::Part;

/// A package installed, two teams, killed, hung, upgraded, rebooted, addressed by others, removed.
pub(super) const DEBIAN_12: Part<Arguments> =
    on::<12>("service", "the service on Debian 12 with systemd, in an emulated guest (bpf dataplane)");
/// The same on the next release, with its own kernel.
pub(super) const DEBIAN_13: Part<Arguments> =
    on::<13>("service-13", "the service on Debian 13 with systemd, in an emulated guest (bpf dataplane)");

const fn on<const RELEASE: u8>(name: &'static str, title: &'static str) -> Part<Arguments> {
    Part {
        tools: &nicteam_course::TOOLS,
        prepare: || nicteam_course::prepare(RELEASE),
        ..Part::new(name, title, |context| {
            nicteam_course::measure(context.product, context.scratch.path(), RELEASE, &context.arguments.step)
        })
    }
}
