//! The course of the service through a Debian guest with systemd: installed, killed, hung, upgraded, rebooted, removed, with
//! traffic from outside; and what figures are measured with: the product as a process, other programs, noise, bounds.
//!
//! `xtask accept --only service` runs it. It is no experiment: an experiment builds namespaces, and this one boots a kernel
//! with an init system and installs a package.
#![forbid(unsafe_code)]

mod agent;
mod course;
pub mod failure;
pub mod figure;
mod goods;
mod guest;
mod image;
pub mod noise;
mod outside;
mod probe;
pub mod product;
mod recipe;
mod snapshot;
mod stacks;
pub mod tools;

use std::path::Path;

use failure::Failure;
use figure::Figure;
use product::Product;

pub use course::names as steps;
pub use image::TOOLS;

/// Makes the image of a release of Debian, if the cache has none.
///
/// # Errors
/// What could not be made.
pub fn prepare(release: u8) -> Result<(), Failure> {
    image::prepare(recipe::suite(release))
}

/// Goes through the course on a release of Debian: all steps, or those of these names and those without which there is no team.
///
/// # Errors
/// A guest that does not boot, and a signal. A step that fails is a missed figure, and the last.
pub fn measure(product: &Product, scratch: &Path, release: u8, steps: &[String]) -> Result<Vec<Figure>, Failure> {
    course::measure(product, scratch, recipe::suite(release), steps)
}

/// Debian 13 of the same image without the service, in a guest that counts instructions.
pub mod counting_guest {
    use super::failure::Failure;
    use super::{image, recipe};

    pub use super::guest::Guest;

    /// Boots it.
    ///
    /// # Errors
    /// A guest that does not boot.
    pub fn boot() -> Result<Guest, Failure> {
        Guest::boot_counting(&image::Image::obtain(recipe::suite(13))?)
    }
}
