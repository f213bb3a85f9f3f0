//! A Debian with systemd: made once of a recipe, kept in the user's cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nicteam_oracle::{Archive, Missing, cache_folder};
use nicteam_sys::process;
use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest, Sha256};

use super::recipe;
use crate::failure::Failure;
use crate::tools::{self, Tool};

/// What makes an image, and what runs it.
pub const TOOLS: [Tool; 4] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("mmdebstrap", "mmdebstrap"),
    ("mke2fs", "e2fsprogs"),
    ("dpkg-deb", "dpkg"),
];

/// What it takes to boot the guest. Nobody writes to it.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// The kernel, for QEMU to load.
    pub(super) kernel: PathBuf,
    /// Its first file system: it mounts the disk.
    pub(super) initrd: PathBuf,
    /// The disk.
    pub(super) disk: PathBuf,
    /// Busybox, for the host outside: it needs no library.
    pub(super) busybox: PathBuf,
}

/// The files of an image, as in [`Image`].
const FILES: [&str; 4] = ["kernel", "initrd", "disk", "busybox"];
/// Size of the disk; what is empty takes no room.
const DISK: &str = "1200M";
/// What the disk may be made of in the end: an image of another recipe is thrown away.
const PARTIAL: &str = "partial";

/// Makes the image of this release of Debian, if the cache has none of this recipe.
pub(super) fn prepare(suite: &str) -> Result<(), Failure> {
    Image::obtain(suite).map(drop)
}

impl Image {
    /// The image of this recipe in `$XDG_CACHE_HOME/nicteam/service/SUITE`. A caller waits while another one makes it.
    pub(super) fn obtain(suite: &str) -> Result<Image, Failure> {
        let missing = |missing: Missing| Failure::Missing(missing.to_string());
        let cache = cache_folder("service").map_err(missing)?.join(suite);
        fs::create_dir_all(&cache).map_err(|error| at("make", &cache, error))?;
        let lock = File::create(cache.join("lock")).map_err(|error| at("lock", &cache, error))?;
        let _lock =
            Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, errno)| at("lock", &cache, errno.into()))?;
        let folder = cache.join(key(suite));
        if !folder.is_dir() {
            eprintln!("service: making a Debian ({suite}) for the guest, once (a minute)");
            remove_all_but(&cache, "lock")?;
            let partial = cache.join(PARTIAL);
            make(suite, &partial)?;
            fs::rename(&partial, &folder).map_err(|error| at("rename", &partial, error))?;
        }
        let [kernel, initrd, disk, busybox] = FILES.map(|file| folder.join(file));
        Ok(Image { kernel, initrd, disk, busybox })
    }
}

/// A name for what an image is made of.
fn key(suite: &str) -> String {
    let mut hash = Sha256::new();
    let files = recipe::FILES.iter().flat_map(|(name, text)| [*name, *text]);
    let lists = recipe::PACKAGES.iter().chain(&recipe::LEFT_OUT).chain(&recipe::MODULES).copied().chain(files);
    for part in lists.chain([suite, recipe::SCRIPT, recipe::INIT, DISK]) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Makes the files of an image in a new folder.
fn make(suite: &str, folder: &Path) -> Result<(), Failure> {
    let root = folder.join("root");
    fs::create_dir_all(folder).map_err(|error| at("make", folder, error))?;
    bootstrap(suite, &root)?;
    for (name, text) in recipe::FILES {
        let path = root.join(name);
        fs::write(&path, text).map_err(|error| at("write", &path, error))?;
    }
    run(Command::new("chroot").arg(&root).args(["/bin/sh", "-c", recipe::SCRIPT]))?;
    let [kernel, initrd, disk, busybox] = FILES.map(|file| folder.join(file));
    for (from, to) in [(root.join("vmlinuz"), &kernel), (root.join("usr/bin/busybox"), &busybox)] {
        fs::copy(&from, to).map_err(|error| at("copy", &from, error))?;
    }
    fs::write(&initrd, first_files(&busybox, &modules(&root)?)?).map_err(|error| at("write", &initrd, error))?;
    disk_of(&root, &disk, DISK)?;
    fs::remove_dir_all(&root).map_err(|error| at("remove", &root, error))
}

/// Where the modules of a root's only kernel lie.
fn modules(root: &Path) -> Result<PathBuf, Failure> {
    let folder = root.join("usr/lib/modules");
    let mut entries = fs::read_dir(&folder).map_err(|error| at("read", &folder, error))?;
    let first = entries.next().ok_or_else(|| Failure::failed(format!("no kernel in {}", folder.display())))?;
    first.map(|entry| entry.path()).map_err(|error| at("read", &folder, error))
}

/// An ext4 file system with what a folder has.
pub(super) fn disk_of(folder: &Path, disk: &Path, size: &str) -> Result<(), Failure> {
    run(Command::new("mke2fs")
        .args(["-q", "-F", "-t", "ext4", "-O", "^has_journal", "-d"])
        .arg(folder)
        .arg(disk)
        .arg(size))
}

/// Installs Debian into a folder. What it mounts on the way goes with it, even if it is killed.
fn bootstrap(suite: &str, root: &Path) -> Result<(), Failure> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "mmdebstrap", "--quiet"]);
    command.args(["--mode=root", "--variant=minbase", "--format=directory", "--aptopt=Acquire::Languages \"none\""]);
    command.args(recipe::LEFT_OUT.map(|path| format!("--dpkgopt=path-exclude={path}")));
    command.arg(format!("--include={}", recipe::PACKAGES.join(","))).arg(suite).arg(root);
    run(&mut command)
}

/// The kernel's first file system: busybox, the modules that it needs, what it does with them.
fn first_files(busybox: &Path, modules: &Path) -> Result<Vec<u8>, Failure> {
    let read = |path: &Path| fs::read(path).map_err(|error| at("read", path, error));
    let dependencies = String::from_utf8_lossy(&read(&modules.join("modules.dep"))?).into_owned();
    let mut archive = Archive::default();
    ["/dev", "/root"].iter().for_each(|folder| archive.add_folder(Path::new(folder)));
    archive.add_file(Path::new("/bin/busybox"), &read(busybox)?);
    archive.add_file(Path::new("/init"), recipe::INIT.as_bytes());
    let mut list = String::new();
    for path in needed(&dependencies) {
        archive.add_file(&Path::new("/").join(path), &read(&modules.join(path))?);
        list.push_str(&format!("/{path}\n"));
    }
    archive.add_file(Path::new("/modules"), list.as_bytes());
    Ok(archive.finish())
}

/// The modules of the recipe and those they depend on, in the order in which they are loaded, of `modules.dep`.
fn needed(dependencies: &str) -> Vec<&str> {
    let mut order: Vec<&str> = Vec::new();
    for module in recipe::MODULES {
        // Some kernels have them compressed.
        let files = [format!("/{module}.ko"), format!("/{module}.ko.xz")];
        let mut lines = dependencies.lines().filter_map(|line| line.split_once(':'));
        let line = lines.find(|(path, _)| files.iter().any(|file| path.ends_with(file)));
        // What the kernel has built in has no line.
        let Some((path, before)) = line else { continue };
        // The last one named needs no other.
        for path in before.split_whitespace().rev().chain([path]) {
            if !order.contains(&path) {
                order.push(path);
            }
        }
    }
    order
}

fn remove_all_but(folder: &Path, kept: &str) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| at("read", folder, error))?;
    for path in
        entries.flatten().map(|entry| entry.path()).filter(|path| path.file_name().is_none_or(|name| name != kept))
    {
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|error| at("remove", &path, error))?;
    }
    Ok(())
}

/// Runs a program that ends with this thread.
fn run(command: &mut Command) -> Result<(), Failure> {
    process::die_with_parent(command);
    let done = tools::output(command.stdin(Stdio::null())).map(drop);
    if process::termination().is_some() { Err(Failure::Interrupted) } else { done }
}

pub(super) fn at(verb: &str, path: &Path, error: std::io::Error) -> Failure {
    Failure::failed(format!("cannot {verb} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_those_they_need() {
        let dependencies = "k/virtio.ko: k/ring.ko\nk/virtio_blk.ko: k/virtio.ko k/ring.ko\n\
                            k/virtio_pci.ko: k/legacy.ko k/virtio.ko k/ring.ko\nk/ring.ko:\n";
        let order = ["k/ring.ko", "k/virtio.ko", "k/legacy.ko", "k/virtio_pci.ko", "k/virtio_blk.ko"];
        assert_eq!(needed(dependencies), order);
        assert_eq!(needed("k/virtio_blk.ko:\n"), ["k/virtio_blk.ko"]);
        assert_eq!(needed("k/virtio_blk.ko.xz: k/ring.ko.xz\nk/ring.ko.xz:\n"), ["k/ring.ko.xz", "k/virtio_blk.ko.xz"]);
    }
}
