//! The storage that an agent's node serves.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Duration;

use nicteam_load::cpu;
use nicteam_netlink::inet_diag::TcpSockets;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::content;
use nicteam_node::hexadecimal::hexadecimal;
use nicteam_node::lock;
use nicteam_node::protocol::{Done, FlowSample, ServeTarget, Serves, TargetAct};
use nicteam_node::sockets::flow;
use nicteam_storage::Pattern;
use nicteam_sys::pid_namespace;
use sha2::{Digest, Sha256};

use crate::target::{Kind, Said, Served};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// What is served on a node.
#[derive(Debug)]
pub(super) struct Targets {
    kinds: Vec<&'static dyn Kind>,
    served: Mutex<BTreeMap<String, Served>>,
    /// Processor time of processes that were killed.
    spent: Mutex<Duration>,
    /// The last answer about each socket of what serves: one that was closed keeps what it had.
    flows: Mutex<BTreeMap<(SocketAddr, SocketAddr), FlowSample>>,
}

impl Targets {
    /// Nothing yet; of these kinds there can be some.
    pub(super) fn new(kinds: &[&'static dyn Kind]) -> Targets {
        Targets { kinds: kinds.to_vec(), served: Mutex::default(), spent: Mutex::default(), flows: Mutex::default() }
    }

    /// Serves storage; what serves it.
    pub(super) fn serve(&self, target: &ServeTarget, output: &Output) -> Result<Serves, Failure> {
        let kind = self.kinds.iter().find(|kind| kind.name() == target.kind);
        let kind = kind.ok_or_else(|| format!("no kind of target `{}` for {}", target.kind, target.name))?;
        let served = kind.serve(target, output)?;
        let Said { program, version, portals, configured } = served.said().clone();
        let serves = Serves { program: program.to_owned(), version, portals, configured };
        lock(&self.served).insert(target.name.clone(), served);
        Ok(serves)
    }

    /// Does something with what is served.
    pub(super) fn act(&self, name: &str, act: &TargetAct) -> Result<Done, Failure> {
        // Samples go on while much is read.
        if let TargetAct::Digest { offset, bytes } = act {
            let digest = digest(&self.backing(name)?, *offset, *bytes)?;
            return Ok(Done { digest: Some(digest), ..Done::default() });
        }
        if let TargetAct::Fill { offset, bytes, seed, generation } = *act {
            let file = self.backing(name)?;
            let fill = |at: u64, chunk: &[u8]| file.write_all_at(chunk, at);
            content::chunks(&Pattern::new(seed), (offset, bytes), generation, fill)
                .map_err(|error| format!("fill target {name}: {error}"))?;
            return Ok(Done::default());
        }
        let mut served = self.take(name)?;
        let done = match act {
            TargetAct::Kill => served.kill(),
            TargetAct::Restart => served.restart(),
            TargetAct::Digest { .. } | TargetAct::Fill { .. } => Ok(()),
        };
        lock(&self.served).insert(name.to_owned(), served);
        done.map(|()| Done::default())
    }

    /// Takes a target out, so that samples need not wait for what is done with it; its time so far still counts.
    fn take(&self, name: &str) -> Result<Served, Failure> {
        let mut all = lock(&self.served);
        let served = all.remove(name).ok_or_else(|| unknown(name))?;
        *lock(&self.spent) += processor_time(&served.processes())?;
        Ok(served)
    }

    /// Asks the kernel about the sockets of what serves, for the samples to come. Whose task each is, the other end knows.
    pub(super) fn ask(&self) {
        let processes: Vec<u32> = lock(&self.served).values().flat_map(Served::processes).collect();
        if processes.is_empty() {
            return;
        }
        // A kernel that does not answer has said so to who asked first.
        let Ok(all) = TcpSockets::open().and_then(|mut sockets| sockets.list()) else { return };
        let own = pid_namespace::sockets(&processes);
        for socket in all.iter().filter(|socket| !socket.listens && own.contains(&socket.inode)) {
            let flow = flow(FlowSample::BY_THE_OTHER_END, socket);
            lock(&self.flows).insert((flow.local, flow.remote), flow);
        }
    }

    /// What was answered last.
    pub(super) fn flows(&self) -> Vec<FlowSample> {
        lock(&self.flows).values().cloned().collect()
    }

    /// Processor time of all that serves, so far.
    pub(super) fn processor_time(&self) -> Result<Duration, Failure> {
        let served = lock(&self.served);
        let processes: Vec<u32> = served.values().flat_map(Served::processes).collect();
        Ok(*lock(&self.spent) + processor_time(&processes)?)
    }

    /// A handle of its own on what a target holds.
    fn backing(&self, name: &str) -> Result<File, Failure> {
        let served = lock(&self.served);
        Ok(served.get(name).ok_or_else(|| unknown(name))?.backing().try_clone()?)
    }
}

fn unknown(name: &str) -> String {
    format!("no target {name} is served here")
}

fn processor_time(processes: &[u32]) -> Result<Duration, Failure> {
    let times = processes.iter().map(|process| Ok(cpu::process_time(*process)?.unwrap_or_default()));
    times.sum()
}

/// SHA-256 of a range of a file, hexadecimal.
fn digest(file: &File, offset: u64, bytes: u64) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut done = 0;
    while done < bytes {
        let length = usize::try_from(bytes - done).map_or(CHUNK, |left| left.min(CHUNK));
        let at = offset.checked_add(done).ok_or("a range beyond any file")?;
        file.read_exact_at(&mut chunk[..length], at)
            .map_err(|error| format!("read {length} bytes at {at}: {error}"))?;
        hash.update(&chunk[..length]);
        done += length as u64;
    }
    Ok(hexadecimal(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_the_range_alone() {
        let path = std::env::temp_dir().join(format!("nicteam-digest-{}", std::process::id()));
        std::fs::write(&path, b"xxabcxx").unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(&file, 2, 3).unwrap(), abc);
        assert!(digest(&file, 6, 2).unwrap_err().to_string().starts_with("read 2 bytes at 6"));
        assert!(digest(&file, u64::MAX, 2).is_err());
    }
}
