//! NetworkManager's configuration: which files, in which order, and what a section `[device...]` says of a device.

use std::collections::BTreeMap;

use nicteam_formats::settings::{self, Setting};

use super::super::{Device, Host};
use super::spec;

/// All settings; what is read later has more weight.
pub(super) struct Config {
    files: Vec<Vec<Setting>>,
}

/// From the least important to the most; the main file stands between the last two.
const FOLDERS: [&str; 3] =
    ["/usr/lib/NetworkManager/conf.d", "/run/NetworkManager/conf.d", "/etc/NetworkManager/conf.d"];
const MAIN: &str = "/etc/NetworkManager/NetworkManager.conf";

impl Config {
    pub(super) fn read(host: &Host) -> Config {
        // A file masks those of its name in folders of less importance.
        let mut last: BTreeMap<String, &str> = BTreeMap::new();
        for folder in FOLDERS {
            for path in host.files(folder, ".conf") {
                last.insert(path.rsplit('/').next().unwrap_or_default().to_owned(), folder);
            }
        }
        let of_folder = |folder: &str| {
            let names = last.iter().filter(|(_, of)| **of == folder).map(|(name, _)| format!("{folder}/{name}"));
            names.collect::<Vec<_>>()
        };
        let [system, run, etc] = FOLDERS.map(of_folder);
        let paths = [system, run, vec![MAIN.to_owned()], etc].concat();
        Config {
            files: paths.iter().filter_map(|path| host.read(path)).map(|source| settings::key_file(&source)).collect(),
        }
    }

    /// A setting of a section that there is once.
    pub(super) fn value(&self, section: &str, key: &str) -> Option<String> {
        joined(&self.files.concat(), section, key)
    }

    /// A setting of the first section `[device...]` that fits the device and has it: those of later files come first, within
    /// a file they keep their order, and a plain `[device]` is the last.
    pub(super) fn of_device(&self, device: &Device, key: &str) -> Option<String> {
        let mut sections: Vec<Vec<&Setting>> = Vec::new();
        for file in self.files.iter().rev() {
            let of_device = file.iter().filter(|of| of.section.starts_with("device"));
            for setting in of_device {
                match sections.last_mut().filter(|of| of.last().is_some_and(|last| is_same(last, setting))) {
                    Some(section) => section.push(setting),
                    None => sections.push(vec![setting]),
                }
            }
        }
        // Stable: named ones first.
        sections.sort_by_key(|of| of.first().is_some_and(|of| of.section == "device"));
        let fits = |section: &&Vec<&Setting>| {
            let list = section.iter().rev().find(|of| of.key == "match-device");
            list.is_none_or(|list| spec::fits(&list.value, device))
        };
        let value = |section: &Vec<&Setting>| section.iter().rev().find(|of| of.key == key).map(|of| of.value.clone());
        sections.iter().filter(fits).find_map(value)
    }
}

fn is_same(a: &Setting, b: &Setting) -> bool {
    (&a.place.path, &a.section) == (&b.place.path, &b.section)
}

/// A setting as it stands after all files: values of lists may be added to.
fn joined(lines: &[Setting], section: &str, key: &str) -> Option<String> {
    let mut value: Option<String> = None;
    for of in lines.iter().filter(|of| of.section == section) {
        match of.key.strip_prefix(key) {
            Some("") => value = Some(of.value.clone()),
            Some("+") => value = Some(format!("{},{}", value.unwrap_or_default(), of.value)),
            Some("-") => {
                let taken: Vec<&str> = of.value.split([',', ';']).map(str::trim).collect();
                value = value.map(|of| {
                    of.split([',', ';']).filter(|one| !taken.contains(&one.trim())).collect::<Vec<_>>().join(",")
                });
            }
            _ => {}
        }
    }
    value
}
