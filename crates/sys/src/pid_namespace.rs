//! Programs of others, with all that they start: each in a PID namespace of its own, which ends as a whole.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{Context, Result};

/// Lets the child of `command`, and all that it starts, run in a PID namespace of their own, which ends when the child
/// that was started is killed, or when the last of them ends.
///
/// That child is not the program, but waits for it: it ends with the program's exit status, or with 128 and the number
/// of the signal that ended it, as in a shell. The program is no process 1 either, to which signals are not what they
/// are to others.
pub fn in_new_pid_namespace(command: &mut Command) {
    let enter = || {
        unshare(CloneFlags::CLONE_NEWPID)?;
        // Before it has an `init` the namespace has no name in /proc.
        let init = fork()?;
        if init != 0 {
            wait_and_end(init);
        }
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        let program = fork()?;
        if program != 0 {
            wait_and_end(program);
        }
        Ok(())
    };
    // SAFETY: `enter` only makes system calls: it neither allocates nor takes locks. It runs in a child with one thread.
    unsafe { command.pre_exec(enter) };
}

/// The processes of a namespace that [`in_new_pid_namespace`] made, by the child that was started; none once it ended.
pub fn processes(child: u32) -> Vec<u32> {
    let Ok(namespace) = std::fs::read_link(format!("/proc/{child}/ns/pid_for_children")) else { return Vec::new() };
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_inside = |pid: &u32| {
        let link: io::Result<PathBuf> = std::fs::read_link(format!("/proc/{pid}/ns/pid"));
        link.is_ok_and(|link| link == namespace)
    };
    numbers.filter(is_inside).collect()
}

/// Asks each process of such a namespace to end (SIGTERM).
///
/// # Errors
/// The system refuses; a process that has ended meanwhile is none.
pub fn terminate(child: u32) -> Result<()> {
    for pid in processes(child) {
        match kill(Pid::from_raw(pid as i32), Signal::SIGTERM) {
            Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
            Err(error) => return Err(error).context(|| format!("end process {pid}")),
        }
    }
    Ok(())
}

/// The sockets that processes have open, by the numbers of their inodes; those of processes that ended are left out.
pub fn sockets(processes: &[u32]) -> BTreeSet<u32> {
    let open = processes.iter().filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok()).flatten();
    let links = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()).collect()
}

/// A child, 0 in the child itself.
fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: the caller has one thread, and what follows only makes system calls.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(pid),
    }
}

/// Waits until no child is left, and ends as the first one ended. It closes its descriptors, so a reader of the child's
/// output sees the end when the child ends.
fn wait_and_end(child: libc::pid_t) -> ! {
    // SAFETY: system calls alone; descriptors of this process are nobody's any more.
    unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) };
    let mut code = 0;
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to memory that outlives the call.
        match unsafe { libc::waitpid(-1, &raw mut status, 0) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            // SAFETY: ends the process without running anything of the parent's.
            -1 => unsafe { libc::_exit(code) },
            pid if pid == child && libc::WIFEXITED(status) => code = libc::WEXITSTATUS(status),
            pid if pid == child => code = 128 + libc::WTERMSIG(status),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Option<Child> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        in_new_pid_namespace(&mut command);
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            child => Some(child.unwrap()),
        }
    }

    fn until(what: &str, done: impl Fn() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether somebody has waited for it, too, is its parent's affair.
    fn has_ended(pid: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
    }

    #[test]
    fn the_exit_status_is_the_programs() {
        for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
            let Some(child) = shell(script) else { return };
            assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code), "{script}");
        }
        let mut command = Command::new("/there/is/no/such/program");
        in_new_pid_namespace(&mut command);
        assert!(command.spawn().is_err());
    }

    #[test]
    fn what_went_into_the_background_ends_with_the_child() {
        let Some(mut child) = shell("setsid sleep 1000 & setsid sleep 1000 & exit 3") else { return };
        until("both and who waits for them", || processes(child.id()).len() == 3);
        let all = processes(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        until("all have ended", || all.iter().all(|pid| has_ended(*pid)));
    }

    #[test]
    fn they_are_asked_to_end() {
        let Some(mut child) = shell("trap 'exit 4' TERM; sleep 1000 & wait") else { return };
        until("the shell and its child", || processes(child.id()).len() == 3);
        terminate(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(4));
    }
}
