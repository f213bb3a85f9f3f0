//! Removes what a killed lab or a power cut left.
//!
//! Namespaces and devices go with the agents, and agents go with their lab; so
//! what can be left is an agent that was stopped when its lab died, and a
//! bundle that was never finished.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::Error;
use crate::output::PARTIAL;

/// What was found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Agents without a lab, by process.
    pub agents: Vec<(u32, String)>,
    /// Bundles without an end.
    pub bundles: Vec<PathBuf>,
}

/// Ends agents whose lab is gone and removes unfinished bundles in `results`.
pub fn clean(results: &Path) -> Result<Cleaned, Error> {
    let mut cleaned = Cleaned::default();
    for (pid, node) in orphans()? {
        // It may have ended by itself meanwhile, which is as good.
        let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
        cleaned.agents.push((pid, node));
    }
    for bundle in unfinished(results) {
        let failed = |source| Error::File { operation: "remove", path: bundle.clone(), source };
        fs::remove_dir_all(&bundle).map_err(failed)?;
        cleaned.bundles.push(bundle);
    }
    Ok(cleaned)
}

/// Agents that run this binary's `agent` command and whose parent is no nicteam.
fn orphans() -> Result<Vec<(u32, String)>, Error> {
    let failed = |source| Error::File { operation: "read", path: "/proc".into(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some(node) = agent_node(pid)
            && !parent(pid).is_some_and(is_nicteam)
        {
            found.push((pid, node));
        }
    }
    Ok(found)
}

/// The node of an agent's command line: `.../nicteam agent --node NODE`.
fn agent_node(pid: u32) -> Option<String> {
    if !is_nicteam(pid) {
        return None;
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy);
    match (words.next()?.as_ref(), words.next()?.as_ref(), words.next()?) {
        ("agent", "--node", node) => Some(node.into_owned()),
        _ => None,
    }
}

/// True for a process of the nicteam binary.
fn is_nicteam(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "nicteam")
}

/// A process's parent.
fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Folders in `results` that were being written when their lab died.
fn unfinished(results: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(results) else { return Vec::new() };
    let folders = entries.flatten().map(|entry| entry.path());
    folders.filter(|path| path.is_dir() && path.to_string_lossy().ends_with(PARTIAL)).collect()
}
