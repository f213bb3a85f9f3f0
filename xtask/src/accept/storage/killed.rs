//! A lab that is killed in the middle of a write: what it leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nicteam_sys::process;

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::Context;

/// When it is killed: under the write, which begins after a second or so.
const UNDER_WRITE: Duration = Duration::from_secs(3);
/// How long what it started may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);
/// Folders where a lab, or what it starts, could leave files.
const FOLDERS: [&str; 5] = ["/run", "/run/nicteam", "/dev/shm", "/tmp", "/var/tmp"];
/// What serves in it.
const SERVER: &str = "tgtd";

/// Kills it with -9, and looks for processes, mounts and files.
pub(super) fn figure(context: &Context<'_, Arguments>) -> Result<Figure, Failure> {
    eprintln!("a lab is killed");
    let before = Machine::look()?;
    let mut command = context.product.lab_run("storage-faults");
    command.args(["--only", "near-end", "--dataplane", "bpf"]);
    command.arg("--output").arg(context.scratch.path().join("killed"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    process::die_with_parent(&mut command);
    let mut lab = command.spawn().map_err(Failure::failed)?;
    std::thread::sleep(UNDER_WRITE);
    let started = descendants(lab.id());
    let serves = started.iter().any(|pid| name_of(*pid).as_deref() == Some(SERVER));
    lab.kill().and_then(|()| lab.wait()).map_err(Failure::failed)?;
    let killed = Instant::now();
    let is_gone = |pid: &&u32| name_of(**pid).is_none();
    while !started.iter().all(|pid| is_gone(&pid)) && killed.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    let took_ms = killed.elapsed().as_millis();
    let processes = started.iter().filter(|pid| !is_gone(pid)).count();
    let Machine { mounts, files } = Machine::look()?.without(&before);
    let left = processes + mounts.len() + files.len();
    let measured = format!("{processes} processes, {} mounts, {} files", mounts.len(), files.len());
    let what = "a lab killed with -9 under a write: what it leaves";
    if !serves {
        return Err(Failure::failed(format!("the lab to be killed served nothing: {} processes", started.len())));
    }
    let first = mounts.into_iter().chain(files.iter().map(|path| path.display().to_string())).next();
    let peer = first.unwrap_or_else(|| format!("{} processes were gone after {took_ms} ms", started.len()));
    Ok(Figure::text(what, measured, "nothing", Some(left == 0)).peer(peer))
}

/// What a lab could leave on a machine.
struct Machine {
    mounts: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

impl Machine {
    fn look() -> Result<Machine, Failure> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(Failure::failed)?;
        let entries = |folder: &&str| fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
        let files = FOLDERS.iter().flat_map(entries).map(|entry| entry.path()).collect();
        Ok(Machine { mounts: mounts.lines().map(str::to_owned).collect(), files })
    }

    /// What is there now, and was not before.
    fn without(self, before: &Machine) -> Machine {
        let mounts = self.mounts.difference(&before.mounts).cloned().collect();
        Machine { mounts, files: self.files.difference(&before.files).cloned().collect() }
    }
}

/// Every process below another one.
fn descendants(of: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    children.into_iter().chain(below).collect()
}

/// The name of a process that lives; none of one that has ended, though nobody has asked how.
fn name_of(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    (!field("State:")?.starts_with('Z')).then(|| field("Name:").unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_below_is_found_by_its_name_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(descendants(std::process::id()).contains(&child.id()));
        while name_of(child.id()).as_deref() != Some("sleep") {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        while name_of(child.id()).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn what_is_new_is_left() {
        let machine = |mounts: &[&str]| Machine {
            mounts: mounts.iter().map(|it| (*it).to_owned()).collect(),
            files: BTreeSet::new(),
        };
        let left = machine(&["a", "b"]).without(&machine(&["a", "c"]));
        assert_eq!(left.mounts.into_iter().collect::<Vec<_>>(), ["b"]);
    }
}
