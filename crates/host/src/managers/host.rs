//! What managers are recognised by: files, processes, devices.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nicteam_formats::Source;
use nicteam_netlink::Link;

/// A host, as far as it is needed to know who manages its devices.
#[derive(Debug)]
pub struct Host {
    root: PathBuf,
    pub(crate) links: Vec<Link>,
    processes: Vec<Process>,
    /// False in a network namespace other than the first process's: what stands in files is meant for that one.
    first_namespace: bool,
    unread: RefCell<BTreeSet<String>>,
}

/// A process of this network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes (`/proc/PID/comm`).
    pub name: String,
    /// Its command line.
    pub arguments: Vec<String>,
}

/// More of a configuration file is not read: nobody writes one by hand.
const LONGEST_FILE: u64 = 1 << 20;

impl Host {
    /// Looks at the processes of the host; `root` is `/`, or a folder that stands for it.
    pub fn look(root: &Path, links: &[Link]) -> Host {
        let (own, first) = (namespace(root, "self"), namespace(root, "1"));
        let mut host = Host {
            root: root.to_owned(),
            links: links.to_vec(),
            processes: Vec::new(),
            first_namespace: own.is_none() || first.is_none() || own == first,
            unread: RefCell::default(),
        };
        let pids = host.names("/proc").into_iter().filter_map(|name| name.parse().ok());
        host.processes = pids.filter_map(|pid| host.process(pid, own.as_deref())).collect();
        host
    }

    /// Files that would have been read, but may not be by this user.
    pub fn unread(&self) -> Vec<String> {
        self.unread.borrow().iter().cloned().collect()
    }

    /// The first process of this name.
    pub(crate) fn running(&self, name: &str) -> Option<&Process> {
        self.processes.iter().find(|process| process.name == name)
    }

    /// The processes of these names.
    pub(crate) fn all_running<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Process> {
        self.processes.iter().filter(|process| names.contains(&process.name.as_str()))
    }

    /// True if systemd starts this unit by itself.
    pub(crate) fn is_enabled(&self, unit: &str) -> bool {
        let wants = |folder: &str| {
            let folder = format!("/{folder}/systemd/system");
            let targets = self.names(&folder).into_iter().filter(|name| name.ends_with(".wants"));
            targets.map(|target| format!("{folder}/{target}/{unit}")).any(|path| self.is_there(&path))
        };
        self.first_namespace && (wants("etc") || wants("run"))
    }

    /// True if files that say what the host's network is to be are meant for this network namespace.
    pub(crate) fn is_configured_by_files(&self) -> bool {
        self.first_namespace
    }

    /// The text of a file; `None` if there is none that may be read.
    pub(crate) fn read(&self, path: &str) -> Option<Source> {
        let place = self.at(path);
        let read = fs::metadata(&place).and_then(|of| match of.is_file() && of.len() <= LONGEST_FILE {
            true => fs::read(&place),
            // A folder, or the device that masks a file.
            false => Err(ErrorKind::NotFound.into()),
        });
        match read {
            Ok(bytes) => Some(Source::new(path, String::from_utf8_lossy(&bytes))),
            Err(error) => {
                if error.kind() == ErrorKind::PermissionDenied {
                    self.unread.borrow_mut().insert(path.to_owned());
                }
                None
            }
        }
    }

    /// The names in a folder, sorted by bytes.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = match fs::read_dir(self.at(folder)) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() == ErrorKind::PermissionDenied {
                    self.unread.borrow_mut().insert(folder.to_owned());
                }
                return Vec::new();
            }
        };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// The same, of names that end so; each as a path.
    pub(crate) fn files(&self, folder: &str, ending: &str) -> Vec<String> {
        let names = self.names(folder).into_iter().filter(|name| name.ending_is(ending));
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    /// True if there is something of this path, be it a link that leads nowhere.
    pub(crate) fn is_there(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }

    /// Where a link leads, as its last part.
    pub(crate) fn last_of_link(&self, path: &str) -> Option<String> {
        Some(fs::read_link(self.at(path)).ok()?.file_name()?.to_str()?.to_owned())
    }

    /// A path below the root.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn process(&self, pid: u32, own_namespace: Option<&Path>) -> Option<Process> {
        let of = |file: &str| fs::read(self.at(&format!("/proc/{pid}/{file}"))).ok();
        let name = String::from_utf8_lossy(&of("comm")?).trim_end().to_owned();
        // Whose namespace nobody may read, may well be in this one.
        let namespace = namespace(&self.root, &pid.to_string());
        if own_namespace.is_some() && namespace.is_some() && namespace.as_deref() != own_namespace {
            return None;
        }
        let line = of("cmdline")?;
        let arguments = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
        Some(Process { pid, name, arguments: arguments.map(|word| String::from_utf8_lossy(word).into()).collect() })
    }
}

/// The network namespace of a process, as the kernel names it.
fn namespace(root: &Path, pid: &str) -> Option<PathBuf> {
    fs::read_link(root.join("proc").join(pid).join("ns/net")).ok()
}

/// `ends_with`, but for names that are nothing else.
trait EndingIs {
    fn ending_is(&self, ending: &str) -> bool;
}

impl EndingIs for String {
    fn ending_is(&self, ending: &str) -> bool {
        self.len() > ending.len() && self.ends_with(ending) && !self.starts_with('.')
    }
}
