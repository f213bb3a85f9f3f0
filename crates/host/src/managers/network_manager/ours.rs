//! NetworkManager is told that members are unmanaged while they are ours.
//!
//! What it does with which setting was looked at with the real one (1.42.4): `unmanaged-devices` of `[keyfile]` is followed when
//! it reads its configuration again, both ways; `managed=0` of `[device]` only when it meets a device, and a device that it met
//! so stays unmanaged. A device that it lets go of is set down and loses its addresses.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nicteam_formats::quoted;
use nicteam_netlink::Link;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::super::{Device, Host};
use super::config::Config;
use super::state::State;
use super::{NAME, UNIT, spec};

/// A reboot ends it, as it ends the team.
const FOLDER: &str = "run/NetworkManager/conf.d";
/// It lets go of a device within milliseconds; a host that takes longer goes on without waiting.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes that the devices of a team are unmanaged, its own among them, has NetworkManager read it, if it runs, and waits until
/// it has let go; one that is to start later finds it. False: it was so already. Each team has a file of its own, so that none
/// has to know of the others.
///
/// NetworkManager sets a device that it lets go of down, and takes its addresses off: they have to be known before this is
/// called, and members are set up after it.
///
/// # Errors
/// The file cannot be written; or the administrator's own configuration replaces the list that this adds to, which the error
/// says with what to do. Without NetworkManager nothing is written, and that is no error.
pub fn set_unmanaged(root: &Path, team: &str, devices: &[&str]) -> io::Result<bool> {
    let host = look(root);
    let manager = host.running(NAME).map(|process| process.pid);
    // Teams boot before it does.
    if manager.is_none() && !(host.is_configured_by_files() && host.is_enabled(UNIT)) {
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
        reload(manager);
    }
    let list = Config::read(&host).value("keyfile", "unmanaged-devices").unwrap_or_default();
    let by_name = |name: &&str| Device { name: (*name).to_owned(), ..Device::default() };
    if let Some(device) = devices.iter().map(by_name).find(|device| !spec::fits(&list, device)) {
        return Err(io::Error::other(format!(
            "a file of /etc/NetworkManager replaces the list of unmanaged devices, so NetworkManager goes on with {0}; hint: \
             write `unmanaged-devices+=` there, or: nmcli device set {1} managed no",
            device.name,
            quoted(&device.name)
        )));
    }
    wait_until_let_go(&host, devices);
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
            if let Some(manager) = look(root).running(NAME) {
                reload(manager.pid);
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

fn text(team: &str, devices: &[&str]) -> String {
    let list: Vec<String> = devices.iter().map(|device| format!("interface-name:={device}")).collect();
    format!(
        "# Written by nicteam: these are the team {team}'s for as long as it runs.\n\
         [keyfile]\nunmanaged-devices+={}\n",
        list.join(";")
    )
}

fn look(root: &Path) -> Host {
    const NO_LINKS: &[Link] = &[];
    Host::look(root, NO_LINKS)
}

/// It reads its configuration again (NetworkManager(8), SIGHUP).
fn reload(manager: u32) {
    if let Ok(pid) = i32::try_from(manager) {
        // It may have ended since; then the next one reads the file when it starts.
        let _ = kill(Pid::from_raw(pid), Signal::SIGHUP);
    }
}

/// Until it notes of no device that it manages it.
fn wait_until_let_go(host: &Host, devices: &[&str]) {
    let index = |device: &&str| host.read(&format!("/sys/class/net/{device}/ifindex"))?.text.trim().parse::<u32>().ok();
    let indexes: Vec<u32> = devices.iter().filter_map(index).collect();
    let begun = Instant::now();
    let is_held = || indexes.iter().any(|index| State::at(host, *index).managed == Some(true));
    while is_held() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(20));
    }
}
