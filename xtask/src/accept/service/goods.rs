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

/// Packs them beside the product; the disk.
pub(super) fn pack(product: &Product, scratch: &Path) -> Result<PathBuf, Failure> {
    let folder = scratch.join("goods");
    fs::create_dir_all(&folder).map_err(|error| at("make", &folder, error))?;
    let package = newest(&packages(product))?;
    let copy = folder.join("nicteam.deb");
    fs::copy(&package, &copy).map_err(|error| at("copy", &package, error))?;
    raise(&copy, &scratch.join("unpacked"), &folder.join("nicteam-next.deb"))?;
    let disk = scratch.join("goods.disk");
    disk_of(&folder, &disk, SIZE)?;
    Ok(disk)
}

/// The folder that `make deb` writes to.
fn packages(product: &Product) -> PathBuf {
    product.binary.with_file_name("").join("../debian")
}

/// The package that was made last.
fn newest(folder: &Path) -> Result<PathBuf, Failure> {
    let is_package = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("nicteam_") && name.ends_with(".deb")
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = entries.filter(is_package).max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    newest.ok_or_else(|| Failure::Missing(format!("no package in {}; hint: make deb", folder.display())))
}

/// Packs what is in a package once more, with a higher version.
fn raise(package: &Path, unpacked: &Path, raised: &Path) -> Result<(), Failure> {
    tools::output(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(unpacked))?;
    let control = unpacked.join("DEBIAN/control");
    let text = fs::read_to_string(&control).map_err(|error| at("read", &control, error))?;
    fs::write(&control, with_higher_version(&text)?).map_err(|error| at("write", &control, error))?;
    tools::output(
        Command::new("dpkg-deb").args(["--root-owner-group", "-Zgzip", "--build"]).arg(unpacked).arg(raised),
    )?;
    Ok(())
}

fn with_higher_version(control: &str) -> Result<String, Failure> {
    let line = control.lines().find(|line| line.starts_with("Version: "));
    let line = line.ok_or_else(|| Failure::failed("the package has no version"))?;
    Ok(control.replacen(line, &format!("{}+next", line.trim_end()), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_raised() {
        let control = "Package: nicteam\nVersion: 0.1.0\nArchitecture: amd64\n";
        assert_eq!(with_higher_version(control).unwrap(), control.replace("0.1.0", "0.1.0+next"));
        assert!(with_higher_version("Package: nicteam\n").is_err());
    }
}
