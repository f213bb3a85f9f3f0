//! NetworkManager is told that members are unmanaged while they are ours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nicteam_sys::netlink::Link;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::super::Host;
use super::{NAME, UNIT};

/// A reboot ends it, as it ends the team.
const FOLDER: &str = "run/NetworkManager/conf.d";

/// Writes that the devices of a team are unmanaged, its own among them, and has NetworkManager read it, if it runs; one that is to
/// start later finds it. False: it was so already. Each team has a file of its own, so that none has to know of the others.
///
/// NetworkManager takes the addresses off a device that it lets go of: they have to be known before this is called.
///
/// # Errors
/// The file cannot be written. Without NetworkManager nothing is written, and that is no error.
pub fn set_unmanaged(root: &Path, team: &str, devices: &[&str]) -> io::Result<bool> {
    let manager = Running::find(root);
    if manager.is_none() && !starts_later(root) {
        return Ok(false);
    }
    let (path, text) = (file(root, team), text(team, devices));
    if fs::read_to_string(&path).is_ok_and(|before| before == text) {
        return Ok(false);
    }
    fs::create_dir_all(root.join(FOLDER))?;
    // Never half a file: it is read at any moment.
    let draft = path.with_extension("draft");
    fs::write(&draft, text)?;
    fs::rename(&draft, &path)?;
    if let Some(manager) = manager {
        manager.reload();
    }
    Ok(true)
}

/// Takes that back: from now on the devices of a team are NetworkManager's again, if its configuration says so. False: there
/// was nothing to take back.
///
/// # Errors
/// The file cannot be removed.
pub fn set_managed(root: &Path, team: &str) -> io::Result<bool> {
    match fs::remove_file(file(root, team)) {
        Ok(()) => {
            if let Some(manager) = Running::find(root) {
                manager.reload();
            }
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn file(root: &Path, team: &str) -> PathBuf {
    root.join(FOLDER).join(format!("90-nicteam-{team}.conf"))
}

/// A section, not `unmanaged-devices`: of that one file replaces what another said.
fn text(team: &str, devices: &[&str]) -> String {
    let list: Vec<String> = devices.iter().map(|device| format!("interface-name:={device}")).collect();
    format!(
        "# Written by nicteam: these are the team {team}'s for as long as it runs.\n\
         [device-nicteam-{team}]\nmatch-device={}\nmanaged=0\n",
        list.join(";")
    )
}

/// True if it does not run yet, and is to: teams boot before it does.
fn starts_later(root: &Path) -> bool {
    const NO_LINKS: &[Link] = &[];
    let host = Host::look(root, NO_LINKS);
    host.is_configured_by_files() && host.is_enabled(UNIT)
}

/// The process in this network namespace.
struct Running(u32);

impl Running {
    fn find(root: &Path) -> Option<Running> {
        const NO_LINKS: &[Link] = &[];
        Host::look(root, NO_LINKS).running(NAME).map(|process| Running(process.pid))
    }

    /// It reads its configuration again (NetworkManager(8), SIGHUP).
    fn reload(&self) {
        if let Ok(pid) = i32::try_from(self.0) {
            // It may have ended since; then the next one reads the file when it starts.
            let _ = kill(Pid::from_raw(pid), Signal::SIGHUP);
        }
    }
}
