//! What systemd is to start at boot: an instance of `nicteam@.service` for each team, as systemd.generator(7) wants it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::files::{Texts, names_in, texts};

/// The unit of which each team is an instance.
const UNIT: &str = "/usr/lib/systemd/system/nicteam@.service";
/// What pulls the instances in: a boot, and whatever waits for the network.
const WANTED_BY: [&str; 2] = ["multi-user.target", "network-online.target"];

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Teams with an instance.
    pub teams: Vec<String>,
    /// What has none, and why; each as a sentence.
    pub complaints: Vec<String>,
}

/// Makes the links in `units` (a generator's first folder) for the teams of the files in `folder`. It does what it can: a file that
/// cannot be read keeps no other team from booting. A section that is wrong has its instance, which then says what is wrong.
pub fn generate(folder: &Path, units: &Path) -> Generated {
    let mut made = Generated::default();
    let Texts { files, unreadable } = texts(folder);
    made.complaints.extend(unreadable.iter().map(ToString::to_string));
    for (path, text) in files {
        let names = names_in(&text);
        if names.is_empty() && text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
            made.complaints.push(format!(
                "{0} has no section [teams.NAME]; hint: `nicteam check {0}` says what is wrong",
                path.display()
            ));
        }
        for name in names.into_iter().filter(|name| !made.teams.contains(name)).collect::<Vec<_>>() {
            match is_instance(&name).then(|| link(units, &name)) {
                Some(Ok(())) => made.teams.push(name),
                Some(Err(error)) => made.complaints.push(format!("team {name} will not start at boot: {error}")),
                None => made.complaints.push(format!(
                    "team `{}` in {} will not start at boot; hint: systemd allows letters, digits and any of `:-_.` in such a name",
                    name.escape_default(),
                    path.display()
                )),
            }
        }
    }
    made.teams.sort();
    made
}

/// True if systemd takes a name as that of an instance, as it is (unit_name_is_valid; an escape would have another name in
/// `systemctl status`).
fn is_instance(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b":-_.".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_valid)
}

fn link(units: &Path, name: &str) -> io::Result<()> {
    for target in WANTED_BY {
        let wants = units.join(format!("{target}.wants"));
        fs::create_dir_all(&wants)?;
        match symlink(UNIT, wants.join(format!("nicteam@{name}.service"))) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
