//! The guest's kernel: fetched once, kept in the user's cache.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};

/// What it takes to boot a guest.
#[derive(Clone, Debug)]
pub struct Image {
    /// User-mode Linux, a program of the host.
    pub kernel: PathBuf,
    /// Where its modules lie.
    pub modules: PathBuf,
    /// What has to be preloaded into it (`preload/guest.c`).
    pub preload: PathBuf,
}

/// Why there is no guest.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// There is no such kernel for this processor.
    #[error("user-mode Linux runs on x86-64 alone")]
    Architecture,
    /// Nowhere to keep it.
    #[error("no place for a cache; hint: set XDG_CACHE_HOME or HOME")]
    NoCache,
    /// The file system said no.
    #[error("cannot {what}: {source}")]
    File {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program that fetches, unpacks or compiles failed or is not there.
    #[error("`{command}` failed: {output}")]
    Command {
        /// The program and its arguments.
        command: String,
        /// The last line it said.
        output: String,
    },
}

/// What it takes to boot a guest on an emulated processor.
#[derive(Clone, Debug)]
pub struct EmulatedImage {
    /// Debian's kernel for virtual machines, which QEMU loads.
    pub kernel: PathBuf,
    /// Where its modules lie.
    pub modules: PathBuf,
}

/// The Debian package with kernel and modules, one fetch for both.
const PACKAGE: &str = "user-mode-linux";
/// Depends on the package with the current kernel and its modules.
const CLOUD_PACKAGE: &str = "linux-image-cloud-amd64";
const PRELOAD: &str = include_str!("../preload/guest.c");

impl Image {
    /// The image in `$XDG_CACHE_HOME/nicteam/oracle` (or `~/.cache/...`), fetched
    /// with `apt-get` and unpacked with `dpkg-deb` if it is not there. Nothing is installed. A caller waits while
    /// another one fetches it.
    pub fn obtain() -> Result<Image, Missing> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Missing::Architecture);
        }
        let cache = Cache::lock()?;
        let root = cache.unpacked(PACKAGE, || Ok(PACKAGE.to_owned()))?;
        Ok(Image {
            kernel: root.join("usr/bin/linux.uml"),
            modules: root.join("usr/lib/uml/modules"),
            preload: compile(&cache.folder)?,
        })
    }
}

impl EmulatedImage {
    /// The image from the same cache as [`Image::obtain`]'s. QEMU is not part of it.
    pub fn obtain() -> Result<EmulatedImage, Missing> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Missing::Architecture);
        }
        let root = Cache::lock()?.unpacked(CLOUD_PACKAGE, || dependency(CLOUD_PACKAGE))?;
        let kernel = the_file(&root.join("boot"), |name| name.starts_with("vmlinuz"))?;
        Ok(EmulatedImage { kernel, modules: the_file(&root.join("lib/modules"), |_| true)? })
    }
}

/// Where a package of Debian's lies unpacked, in the same cache: a program that is the reference for ours, and not installed.
///
/// # Errors
/// It cannot be fetched.
pub fn debian_package(name: &str) -> Result<PathBuf, Missing> {
    Cache::lock()?.unpacked(name, || Ok(name.to_owned()))
}

/// The folder where packages are kept; this process alone works in it.
struct Cache {
    folder: PathBuf,
    _lock: Flock<File>,
}

impl Cache {
    /// Waits while another process fetches.
    fn lock() -> Result<Cache, Missing> {
        let folder = cache_folder("oracle")?;
        make_folder(&folder)?;
        let lock = File::create(folder.join("lock")).map_err(|source| file_error("lock", &folder, source))?;
        let lock = Flock::lock(lock, FlockArg::LockExclusive)
            .map_err(|(_, errno)| file_error("lock", &folder, errno.into()))?;
        Ok(Cache { folder, _lock: lock })
    }

    /// Where `name` lies unpacked; if it is not there, the package that `package` tells is fetched.
    fn unpacked(&self, name: &str, package: impl Fn() -> Result<String, Missing>) -> Result<PathBuf, Missing> {
        let root = self.folder.join(name);
        if !root.exists() {
            fetch(&self.folder, package, &root)?;
        }
        Ok(root)
    }
}

/// A folder of the user's cache (`$XDG_CACHE_HOME/nicteam/NAME`, or in `~/.cache`), which need not be there.
///
/// # Errors
/// [`Missing::NoCache`] where neither variable is set.
pub fn cache_folder(name: &str) -> Result<PathBuf, Missing> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    Ok(base.ok_or(Missing::NoCache)?.join("nicteam").join(name))
}

/// Fetches a package and unpacks it to `root`, which is there when it is whole.
fn fetch(cache: &Path, package: impl Fn() -> Result<String, Missing>, root: &Path) -> Result<(), Missing> {
    let partial = cache.join("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(|source| file_error("remove", &partial, source))?;
    }
    make_folder(&partial)?;
    let download =
        || run(Command::new("apt-get").args(["download", "-qq", &package()?]).current_dir(&partial)).map(drop);
    // The first try fails where the list of packages is missing or old.
    if download().is_err() {
        run(Command::new("apt-get").args(["update", "-qq"]))?;
        download()?;
    }
    let package = the_file(&partial, |name| name.ends_with(".deb"))?;
    let unpacked = partial.join("root");
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked))?;
    fs::rename(&unpacked, root).map_err(|source| file_error("rename", &unpacked, source))?;
    fs::remove_dir_all(&partial).map_err(|source| file_error("remove", &partial, source))
}

/// The first package that a meta-package depends on.
fn dependency(package: &str) -> Result<String, Missing> {
    let command = &mut Command::new("apt-cache");
    let said = run(command.args(["depends", "--important", package]))?;
    let first = said.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    first.map(str::to_owned).ok_or_else(|| Missing::Command { command: words(command), output: said.clone() })
}

/// The one entry of a folder whose name is wanted.
fn the_file(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<PathBuf, Missing> {
    let entries = fs::read_dir(folder).map_err(|source| file_error("read", folder, source))?;
    let mut wanted = entries.flatten().filter(|entry| wanted(&entry.file_name().to_string_lossy()));
    let found = wanted.next().map(|entry| entry.path());
    found.ok_or_else(|| file_error("find what belongs in", folder, io::ErrorKind::NotFound.into()))
}

/// Compiles the preload, if the cache has none of this source.
fn compile(cache: &Path) -> Result<PathBuf, Missing> {
    let (source, library) = (cache.join("guest.c"), cache.join("guest.so"));
    if library.exists() && fs::read_to_string(&source).is_ok_and(|text| text == PRELOAD) {
        return Ok(library);
    }
    let _ = fs::remove_file(&library);
    fs::write(&source, PRELOAD).map_err(|error| file_error("write", &source, error))?;
    let partial = cache.join("guest.partial");
    run(Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&partial).arg(&source))?;
    fs::rename(&partial, &library).map_err(|error| file_error("rename", &partial, error))?;
    Ok(library)
}

fn make_folder(path: &Path) -> Result<(), Missing> {
    fs::create_dir_all(path).map_err(|source| file_error("make", path, source))
}

pub(crate) fn file_error(verb: &str, path: &Path, source: io::Error) -> Missing {
    Missing::File { what: format!("{verb} {}", path.display()), source }
}

/// Runs a program to its end; what it printed.
pub(crate) fn run(command: &mut Command) -> Result<String, Missing> {
    let failed = |command: &Command, output: String| Missing::Command { command: words(command), output };
    match command.output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(command, said.lines().last().unwrap_or("it said nothing").to_owned()))
        }
        Err(error) => Err(failed(command, error.to_string())),
    }
}

/// A command as one would type it.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
