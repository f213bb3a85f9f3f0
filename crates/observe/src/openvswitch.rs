//! Bonds of Open vSwitch, by the control socket of its daemon.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nicteam_bundles::{Bundle, read};
use nicteam_sys::Error;
use nicteam_unixctl::Unixctl;

use crate::host::Host;

/// Names Open vSwitch's folder, as for its own commands (ovs-appctl(8)).
const FOLDER_VARIABLE: &str = "OVS_RUNDIR";
const FOLDERS: [&str; 2] = ["/run/openvswitch", "/var/run/openvswitch"];
const DAEMON: &str = "ovs-vswitchd";

pub(super) fn read(host: &mut Host) {
    let Some(socket) = socket() else { return };
    match bonds_at(&socket) {
        Ok(bonds) => host.bundles.extend(bonds),
        // It has ended and left its files.
        Err(error) if error.source.kind() == ErrorKind::ConnectionRefused => {}
        Err(error) => host.unseen.push(format!("the bonds of Open vSwitch: {error}")),
    }
}

/// The bonds of the `ovs-vswitchd` that has this control socket, by what it says of them.
///
/// # Errors
/// Nobody listens there, or does not answer.
pub(super) fn bonds_at(socket: &Path) -> Result<Vec<Bundle>, Error> {
    let mut daemon = Unixctl::connect(socket)?;
    let bonds = daemon.call("bond/show", &[])?.unwrap_or_default();
    let lacp = daemon.call("lacp/show", &[])?.unwrap_or_default();
    Ok(read::openvswitch(&bonds, &lacp))
}

/// The control socket, if the daemon has been started here.
fn socket() -> Option<PathBuf> {
    let named = env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
    let folders = named.map_or_else(|| FOLDERS.map(PathBuf::from).to_vec(), |folder| vec![folder]);
    folders.iter().find_map(|folder| {
        let pid = fs::read_to_string(folder.join(format!("{DAEMON}.pid"))).ok()?;
        if is_elsewhere(pid.trim()) {
            return None;
        }
        let socket = folder.join(format!("{DAEMON}.{}.ctl", pid.trim()));
        socket.exists().then_some(socket)
    })
}

/// True for a daemon in another network namespace: its bonds have other devices, whose names may be the same.
fn is_elsewhere(pid: &str) -> bool {
    let [own, its] = ["thread-self", pid].map(|process| fs::read_link(format!("/proc/{process}/ns/net")).ok());
    own.zip(its).is_some_and(|(own, its)| own != its)
}
