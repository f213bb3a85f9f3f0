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

/// The Debian package with kernel and modules, one fetch for both.
const PACKAGE: &str = "user-mode-linux";
const PRELOAD: &str = include_str!("../preload/guest.c");

impl Image {
    /// The image in `$XDG_CACHE_HOME/nicteam/oracle` (or `~/.cache/...`), fetched
    /// with `apt-get` and unpacked with `dpkg-deb` if it is not there. Nothing is
    /// installed. Whoever asks while another fetches waits.
    pub fn obtain() -> Result<Image, Missing> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Missing::Architecture);
        }
        let cache = cache()?;
        make_folder(&cache)?;
        let lock = File::create(cache.join("lock")).map_err(|source| file_error("lock", &cache, source))?;
        let _lock = Flock::lock(lock, FlockArg::LockExclusive)
            .map_err(|(_, errno)| file_error("lock", &cache, errno.into()))?;
        let root = cache.join(PACKAGE);
        if !root.exists() {
            fetch(&cache, &root)?;
        }
        Ok(Image {
            kernel: root.join("usr/bin/linux.uml"),
            modules: root.join("usr/lib/uml/modules"),
            preload: compile(&cache)?,
        })
    }
}

fn cache() -> Result<PathBuf, Missing> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    Ok(base.ok_or(Missing::NoCache)?.join("nicteam/oracle"))
}

/// Fetches the package and unpacks it to `root`, which is there when it is whole.
fn fetch(cache: &Path, root: &Path) -> Result<(), Missing> {
    let partial = cache.join("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(|source| file_error("remove", &partial, source))?;
    }
    make_folder(&partial)?;
    let download = || run(Command::new("apt-get").args(["download", "-qq", PACKAGE]).current_dir(&partial));
    // The first try fails where the list of packages is missing or old.
    if download().is_err() {
        run(Command::new("apt-get").args(["update", "-qq"]))?;
        download()?;
    }
    let package = the_package(&partial)?;
    let unpacked = partial.join("root");
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked))?;
    fs::rename(&unpacked, root).map_err(|source| file_error("rename", &unpacked, source))?;
    fs::remove_dir_all(&partial).map_err(|source| file_error("remove", &partial, source))
}

fn the_package(folder: &Path) -> Result<PathBuf, Missing> {
    let entries = fs::read_dir(folder).map_err(|source| file_error("read", folder, source))?;
    let mut packages = entries.flatten().map(|entry| entry.path());
    packages
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| file_error("find the package in", folder, io::ErrorKind::NotFound.into()))
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

fn file_error(verb: &str, path: &Path, source: io::Error) -> Missing {
    Missing::File { what: format!("{verb} {}", path.display()), source }
}

fn run(command: &mut Command) -> Result<(), Missing> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let failed = |output: String| Missing::Command { command: line, output };
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(said.lines().last().unwrap_or("it said nothing").to_owned()))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}
