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

use super::arguments::Arguments;
use crate::part::Part;

pub(super) use course::names as steps;

/// A package installed, two teams, killed, hung, upgraded, rebooted, addressed by others, removed.
pub(super) const DEBIAN_12: Part<Arguments> =
    on::<12>("service", "the service on Debian 12 with systemd, in an emulated guest (bpf dataplane)");
/// The same on the next release, with its own kernel.
pub(super) const DEBIAN_13: Part<Arguments> =
    on::<13>("service-13", "the service on Debian 13 with systemd, in an emulated guest (bpf dataplane)");

/// Debian 13 of the same image without the service, in a guest that counts instructions.
pub(crate) mod counting_guest {
    pub(crate) use super::guest::Guest;
    pub(crate) use super::image::TOOLS;
    use super::image::{self, Image};
    use super::recipe;
    use crate::failure::Failure;

    const SUITE: &str = recipe::suite(13);

    /// Makes its image, if the cache has none.
    pub(crate) fn prepare() -> Result<(), Failure> {
        image::prepare(SUITE)
    }

    /// Its image.
    pub(crate) fn image() -> Result<Image, Failure> {
        Image::obtain(SUITE)
    }
}

const fn on<const RELEASE: u8>(name: &'static str, title: &'static str) -> Part<Arguments> {
    Part {
        tools: &image::TOOLS,
        prepare: || image::prepare(const { recipe::suite(RELEASE) }),
        ..Part::new(name, title, |context| course::measure(context, const { recipe::suite(RELEASE) }))
    }
}
