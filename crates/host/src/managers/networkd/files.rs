//! Which `.network` files there are, in the order in which they are tried.

use std::collections::BTreeMap;

use nicteam_formats::settings::{self, Setting};

use super::super::Host;

/// A file with its drop-ins.
pub(super) struct File {
    pub(super) path: String,
    /// Its own settings, then those of its drop-ins.
    pub(super) settings: Vec<Setting>,
}

/// From the most important to the least.
const FOLDERS: [&str; 4] =
    ["/etc/systemd/network", "/run/systemd/network", "/usr/local/lib/systemd/network", "/usr/lib/systemd/network"];
/// Debian's `/usr/lib` before the merge of `/` and `/usr`.
const OLD_FOLDER: &str = "/lib/systemd/network";

impl File {
    pub(super) fn settings_of<'a>(&'a self, section: &'a str) -> impl Iterator<Item = &'a Setting> {
        self.settings.iter().filter(move |of| of.section == section)
    }

    /// True if netplan made it.
    pub(super) fn is_of_netplan(&self) -> bool {
        self.path.starts_with("/run/systemd/network/") && self.path.contains("-netplan-")
    }
}

/// Every file that is not masked.
pub(super) fn read(host: &Host) -> Vec<File> {
    let by_name = most_important(host, "", ".network");
    let read = |(name, path): (String, String)| {
        // A file that is empty, or a link to /dev/null, masks those of its name.
        let source = host.read(&path).filter(|source| !source.text.is_empty())?;
        let mut settings = settings::systemd(&source);
        let drop_ins = most_important(host, &format!("/{name}.d"), ".conf");
        for source in drop_ins.into_values().filter_map(|path| host.read(&path)) {
            settings.extend(settings::systemd(&source));
        }
        Some(File { path, settings })
    };
    by_name.into_iter().filter_map(read).collect()
}

/// By name the path in the folder that is the most important.
fn most_important(host: &Host, below: &str, ending: &str) -> BTreeMap<String, String> {
    let mut by_name = BTreeMap::new();
    for folder in FOLDERS.into_iter().chain([OLD_FOLDER]) {
        for path in host.files(&format!("{folder}{below}"), ending) {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            by_name.entry(name).or_insert(path);
        }
    }
    by_name
}
