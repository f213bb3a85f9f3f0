//! Kernel modules, with what they depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nicteam_oracle::Refusal;
use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};

use crate::refused;

/// Loads modules by name; one that is loaded or built in is as good.
pub(crate) fn load(folder: &Path, names: &[String]) -> Result<(), Refusal> {
    let mut files = BTreeMap::new();
    find(folder, &mut files);
    let mut loaded = BTreeSet::new();
    names.iter().try_for_each(|name| {
        let (name, parameters) = name.split_once(' ').unwrap_or((name, ""));
        load_one(name, parameters, &files, &mut loaded)
    })
}

fn load_one(
    name: &str,
    parameters: &str,
    files: &BTreeMap<String, PathBuf>,
    loaded: &mut BTreeSet<String>,
) -> Result<(), Refusal> {
    let name = name.replace('-', "_");
    let Some(path) = files.get(&name) else {
        return Err(Refusal { errno: None, what: format!("the guest has no module {name}") });
    };
    if !loaded.insert(name) {
        return Ok(());
    }
    let refused = |error| refused(format!("load {}", path.display()), &error);
    for dependency in dependencies(&fs::read(path).map_err(refused)?) {
        load_one(&dependency, "", files, loaded)?;
    }
    let file = File::open(path).map_err(refused)?;
    let parameters = CString::new(parameters).map_err(|error| refused(error.into()))?;
    match finit_module(&file, &parameters, ModuleInitFlags::empty()) {
        Ok(()) | Err(Errno::EEXIST) => Ok(()),
        Err(errno) => Err(refused(errno.into())),
    }
}

/// Every `NAME.ko` below a folder, by its name with underscores.
fn find(folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ko")
            && let Some(stem) = path.file_stem()
        {
            files.insert(stem.to_string_lossy().replace('-', "_"), path);
        }
    }
}

/// What a module's `.modinfo` says: zero-terminated `depends=A,B`.
fn dependencies(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(start) = module.windows(KEY.len()).position(|window| window == KEY) else {
        return Vec::new();
    };
    let value = module[start + KEY.len()..].split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(value).split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
