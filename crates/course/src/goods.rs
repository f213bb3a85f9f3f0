//! The package, and the same with a higher version, on a disk for the guest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::image::{at, disk_of};
use crate::failure::Failure;
use crate::product::Product;
use crate::tools;

/// Where the guest mounts it.
pub(super) const FOLDER: &str = "/mnt";
/// The package.
pub(super) const PACKAGE: &str = "/mnt/nicteam.deb";
/// The same with a higher version.
pub(super) const UPGRADE: &str = "/mnt/nicteam-next.deb";

const SIZE: &str = "300M";

/// Packs the product as `make deb` does; the disk.
pub(super) fn pack(product: &Product, scratch: &Path) -> Result<PathBuf, Failure> {
    let folder = scratch.join("goods");
    fs::create_dir_all(&folder).map_err(|error| at("make", &folder, error))?;
    let package = folder.join("nicteam.deb");
    deb(product, scratch, None, &package)?;
    let version = tools::output(Command::new("dpkg-deb").arg("--field").arg(&package).arg("Version"))?;
    let next = format!("{}+next", String::from_utf8_lossy(&version.stdout).trim());
    deb(product, scratch, Some(&next), &folder.join("nicteam-next.deb"))?;
    let disk = scratch.join("goods.disk");
    disk_of(&folder, &disk, SIZE)?;
    Ok(disk)
}

/// A package of the product, of this version or the workspace's.
fn deb(product: &Product, scratch: &Path, version: Option<&str>, to: &Path) -> Result<(), Failure> {
    let mut command = Command::new(tools::repository().join("scripts/deb.sh"));
    command.arg("--binary").arg(&product.binary).arg("--output").arg(scratch);
    if let Some(version) = version {
        command.args(["--version", version]);
    }
    let said = tools::output(&mut command)?;
    let path = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    fs::rename(&path, to).map_err(|error| at("rename", &path, error))
}
