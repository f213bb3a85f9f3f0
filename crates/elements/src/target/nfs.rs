//! `nfs`: a file of an export of NFS 3, by nfs-ganesha.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::access::{Access, Medium};
use super::kind::{Kind, Said, Service};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind { name: NAME, keys: &[], resolve };

const NAME: &str = "nfs";
/// Registered for NFS.
const PORT: u16 = 2049;
/// By custom of the Linux server.
const MOUNT_PORT: u16 = 20_048;
/// What the export holds.
const FILE: &str = "data";

/// Settings of an export of NFS 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nfs {
    /// TCP port of NFS.
    pub port: u16,
    /// TCP port of MOUNT.
    pub mount_port: u16,
    /// What is mounted.
    pub export: String,
    /// The file in it.
    pub file: String,
}

fn resolve(said: &mut Said<'_, '_>) -> Option<Service> {
    if let Some(other) = said.beside.iter().find(|target| target.kind == NAME) {
        let message = format!("host `{}` serves `{}` by NFS already", other.host, other.name);
        let problem = Problem::at(said.kind, message);
        said.problems.push(problem.hint("clients look for NFS at one port: put the other one on another host"));
        return None;
    }
    let export = format!("/{}", said.name.value);
    let settings = Nfs { port: PORT, mount_port: MOUNT_PORT, export, file: FILE.to_owned() };
    let Nfs { port, mount_port, export, file } = settings.clone();
    Some(Service {
        access: Access::Nfs { mount_port, port, export, file },
        medium: Medium::Memory,
        words: "NFS 3".to_owned(),
        settings: json!(settings),
    })
}
