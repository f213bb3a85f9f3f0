//! Removes what a killed lab or a power cut left.
//!
//! Namespaces and devices go with the agents, and agents go with their lab; so
//! what can be left is an agent that was stopped when its lab died, and a
//! bundle that was never finished.

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_node::Error;
use nicteam_record::is_abandoned;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::lab_id::LabId;
use crate::output::failed;

/// What was found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Agents without a lab, by process.
    pub agents: Vec<(u32, String)>,
    /// Bundles without an end.
    pub bundles: Vec<PathBuf>,
}

/// Ends agents whose lab is gone and removes unfinished bundles in `results`
/// that nobody writes any more.
pub fn clean(results: &Path) -> Result<Cleaned, Error> {
    let mut cleaned = Cleaned::default();
    for (pid, node) in orphans()? {
        match kill(Pid::from_raw(pid as i32), Signal::SIGKILL) {
            // It may have ended by itself meanwhile, which is as good.
            Ok(()) | Err(Errno::ESRCH) => cleaned.agents.push((pid, node)),
            Err(errno) => {
                let operation = format!("end the agent of {node} (process {pid})");
                return Err(nicteam_sys::Error::new(operation, errno).into());
            }
        }
    }
    for bundle in unfinished(results) {
        fs::remove_dir_all(&bundle).map_err(failed("remove", &bundle))?;
        cleaned.bundles.push(bundle);
    }
    Ok(cleaned)
}

/// Agents whose lab has ended.
fn orphans() -> Result<Vec<(u32, String)>, Error> {
    let proc = Path::new("/proc");
    let mut found = Vec::new();
    for entry in fs::read_dir(proc).map_err(failed("read", proc))? {
        let name = entry.map_err(failed("read", proc))?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some((node, lab)) = agent(pid)
            && !lab.is_alive()
        {
            found.push((pid, node));
        }
    }
    Ok(found)
}

/// The node and the lab of an agent, by its command line: `nicteam agent --node NODE --lab LAB`.
fn agent(pid: u32) -> Option<(String, LabId)> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<String> = line.split(|byte| *byte == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    match words.get(1..6)? {
        [agent, node_flag, node, lab_flag, lab] if agent == "agent" && node_flag == "--node" && lab_flag == "--lab" => {
            Some((node.clone(), lab.parse().ok()?))
        }
        _ => None,
    }
}

/// Folders in `results` that were being written when their lab died.
fn unfinished(results: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(results) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_abandoned(path)).collect()
}
