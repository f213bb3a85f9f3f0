//! A guest on a processor that QEMU emulates: what it is told, and what lies in the guest's memory.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::EmulatedImage;
use crate::image::{Missing, file_error, run};
use crate::initrd::Archive;

/// From what a guest on an emulated processor has its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A nanosecond is one instruction; an idle processor does not wait.
    Instructions,
    /// The machine's own. Faster for who computes much.
    Host,
}

/// What such a guest loads of modules, by name.
pub(crate) const MODULES: [&str; 6] = ["bonding max_bonds=0", "veth", "tun", "pktgen", "cls_bpf", "sch_ingress"];
/// Where they lie in the guest.
pub(crate) const MODULES_FOLDER: &str = "/modules";
/// Where the kernel's package has them and those they depend on.
const MODULES_FROM: [&str; 24] = [
    "drivers/net/bonding/bonding.ko",
    "drivers/net/veth.ko",
    "drivers/net/macvlan.ko",
    "drivers/net/tun.ko",
    "drivers/net/vxlan/vxlan.ko",
    "net/ipv4/udp_tunnel.ko",
    "net/ipv6/ip6_udp_tunnel.ko",
    "net/core",
    "net/sched",
    "net/tls",
    "net/8021q",
    "net/802",
    "net/bridge/bridge.ko",
    "net/llc/llc.ko",
    "net/openvswitch/openvswitch.ko",
    "net/netfilter/nf_conntrack.ko",
    "net/netfilter/nf_conncount.ko",
    "net/netfilter/nf_nat.ko",
    "net/netfilter/nf_tables.ko",
    "net/netfilter/nfnetlink.ko",
    "net/ipv4/netfilter/nf_defrag_ipv4.ko",
    "net/ipv6/netfilter/nf_defrag_ipv6.ko",
    "net/nsh/nsh.ko",
    "lib/libcrc32c.ko",
];
/// Folders that programs expect.
const FOLDERS: [&str; 7] = ["/proc", "/sys", "/dev", "/run", "/tmp", "/etc", "/root"];

/// The guest's file system, a file in memory.
#[derive(Debug)]
pub(crate) struct Files(File);

impl Files {
    /// The agent as first process, programs in `/bin` with their libraries where
    /// they look for them, and modules.
    pub(crate) fn new(image: &EmulatedImage, agent: &Path, programs: &[&Path]) -> Result<Files, Missing> {
        let mut archive = Archive::default();
        FOLDERS.iter().for_each(|folder| archive.add_folder(Path::new(folder)));
        archive.add_file(Path::new("/init"), &loaded_part(read(agent)?));
        for program in programs {
            let name = program.file_name().unwrap_or_default();
            archive.add_file(&Path::new("/bin").join(name), &loaded_part(read(program)?));
        }
        let mut needed = BTreeSet::new();
        for program in programs.iter().copied().chain([agent]) {
            needed.extend(libraries(program)?);
        }
        for library in needed {
            archive.add_file(&library, &read(&library)?);
        }
        for path in MODULES_FROM.iter().map(|path| image.modules.join("kernel").join(path)) {
            add_modules(&mut archive, &path)?;
        }
        let memory_error = |source| file_error("make a file in", Path::new("memory"), source);
        let mut file = File::from(
            memfd_create("nicteam-guest", MFdFlags::MFD_CLOEXEC).map_err(|errno| memory_error(errno.into()))?,
        );
        file.write_all(&archive.finish()).map_err(memory_error)?;
        Ok(Files(file))
    }
}

/// The emulator.
const QEMU: &str = "qemu-system-x86_64";

/// True if there is a QEMU.
pub(crate) fn is_there() -> bool {
    Command::new(QEMU).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// QEMU, to be started.
pub(crate) fn command(image: &EmulatedImage, files: &Files, clock: Clock) -> Command {
    let mut command = Command::new(QEMU);
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
        .args(["-M", "pc", "-cpu", "max", "-m", "512"])
        .args(["-accel", "tcg,thread=single"])
        // The first serial port speaks by standard input and output, the console by standard error.
        .args(["-serial", "stdio", "-serial", "file:/dev/stderr"])
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(format!("/proc/{}/fd/{}", std::process::id(), files.0.as_raw_fd()))
        // Without mitigations: what they cost differs from processor to processor.
        .args(["-append", "console=ttyS1 quiet panic=-1 nokaslr mitigations=off"]);
    if clock == Clock::Instructions {
        command.args(["-icount", "shift=0,sleep=off"]);
    }
    command
}

/// The shared libraries of a program, with the one that loads them; another file has none.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, Missing> {
    if !read(program)?.starts_with(b"\x7fELF") {
        return Ok(Vec::new());
    }
    let said = run(Command::new("ldd").arg(program))?;
    let paths = said.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(|path| PathBuf::from(path.trim_end_matches(':'))).collect())
}

/// Adds a module, or all of a folder.
fn add_modules(archive: &mut Archive, path: &Path) -> Result<(), Missing> {
    if !path.is_dir() {
        let name = path.file_name().unwrap_or_default();
        archive.add_file(&Path::new(MODULES_FOLDER).join(name), &read(path)?);
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|source| file_error("read", path, source))?;
    entries.flatten().try_for_each(|entry| add_modules(archive, &entry.path()))
}

/// A program as far as the kernel loads it: two thirds are for debuggers, and the guest would unpack that, too.
///
/// The names of fields are those of elf(5).
fn loaded_part(mut program: Vec<u8>) -> Vec<u8> {
    const E_PHOFF: usize = 32;
    const E_SHOFF: usize = 40;
    const E_PHENTSIZE: usize = 54;
    const E_PHNUM: usize = 56;
    const E_SHNUM: usize = 60;
    const P_OFFSET: usize = 8;
    const P_FILESZ: usize = 32;
    if !program.starts_with(b"\x7fELF\x02\x01") {
        return program;
    }
    let half = |at| usize::from(u16::from_le_bytes(field(&program, at)));
    let word = |at| u64::from_le_bytes(field(&program, at)) as usize;
    let headers = (0..half(E_PHNUM)).map(|n| word(E_PHOFF) + n * half(E_PHENTSIZE));
    let end = headers.map(|at| word(at + P_OFFSET) + word(at + P_FILESZ)).max().unwrap_or(program.len());
    program.truncate(end);
    // It has no table of sections any more: neither a place, nor a number of them, nor one with their names.
    program[E_SHOFF..E_SHOFF + 8].fill(0);
    program[E_SHNUM..E_SHNUM + 4].fill(0);
    program
}

fn field<const N: usize>(of: &[u8], at: usize) -> [u8; N] {
    of[at..at + N].try_into().unwrap_or([0; N])
}

fn read(path: &Path) -> Result<Vec<u8>, Missing> {
    fs::read(path).map_err(|source| file_error("read", path, source))
}
