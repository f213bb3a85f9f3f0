//! What systemd is about to do with a team's unit.

use std::process::{Command, Output, Stdio};

/// Why systemd ends a team's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Another one follows: the team stays.
    Restart,
    /// The machine ends, and the team with it.
    Shutdown,
    /// None: the process has ended by itself, and is started again unless its exit code forbids that.
    None,
    /// The team is to end; also where systemd does not say.
    Stop,
}

/// What systemd is doing with this unit. In the commands of `ExecStop=` nothing else tells a stop from a restart: both run them, and
/// the process gets the same signal.
pub fn job(unit: &str) -> Job {
    // It says so with an exit code of its own.
    if systemctl(&["is-system-running"]).is_ok_and(|output| output.stdout.trim_ascii() == b"stopping") {
        return Job::Shutdown;
    }
    match systemctl(&["list-jobs", "--no-legend", "--no-pager", "--plain", "--full"]) {
        Ok(output) if output.status.success() => job_in(&String::from_utf8_lossy(&output.stdout), unit),
        _ => Job::Stop,
    }
}

/// Lets systemd restart a team's unit, and waits until it has.
///
/// # Errors
/// What systemctl says.
pub fn restart_unit(unit: &str) -> std::io::Result<()> {
    let output = systemctl(&["restart", unit])?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(std::io::Error::other(format!("{unit} could not be restarted: {}", said.trim())))
        }
    }
}

/// The unit that a process belongs to, if it is one of a team's.
pub fn unit_of(pid: u32) -> Option<String> {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    unit_in(&groups)
}

/// In the lines of `systemctl list-jobs`: `JOB UNIT TYPE STATE`. A restart is one until the unit has stopped, a start from then on.
fn job_in(jobs: &str, unit: &str) -> Job {
    let of_unit = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        (words.next() == Some(unit)).then(|| words.next().map(str::to_owned)).flatten()
    };
    match jobs.lines().find_map(of_unit).as_deref() {
        Some("restart" | "try-restart" | "start") => Job::Restart,
        Some(_) => Job::Stop,
        None => Job::None,
    }
}

/// In `/proc/PID/cgroup`, whose lines end in a path.
fn unit_in(groups: &str) -> Option<String> {
    let is_ours = |name: &str| name.starts_with("nicteam@") && name.ends_with(".service");
    groups.lines().find_map(|line| line.rsplit('/').find(|name| is_ours(name)).map(str::to_owned))
}

fn systemctl(arguments: &[&str]) -> std::io::Result<Output> {
    Command::new("systemctl").args(arguments).stdin(Stdio::null()).output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_is_told_from_a_stop() {
        let jobs = "812 nicteam@team0.service  restart running\n\
                    813 nicteam@team1.service  stop    running\n\
                    815 foo-nicteam@team2.service restart waiting\n";
        assert_eq!(job_in(jobs, "nicteam@team0.service"), Job::Restart);
        assert_eq!(job_in(jobs, "nicteam@team1.service"), Job::Stop);
        for nothing in ["", "No jobs running.\n", "x\n", jobs, "1 nicteam@team2.service\n"] {
            assert_eq!(job_in(nothing, "nicteam@team2.service"), Job::None, "{nothing}");
        }
    }

    #[test]
    fn a_process_is_found_in_its_unit() {
        let unified = "0::/system.slice/system-nicteam.slice/nicteam@team0.service\n";
        let split = "12:cpu:/\n1:name=systemd:/system.slice/nicteam@my-team.service\n0::/\n";
        assert_eq!(unit_in(unified).as_deref(), Some("nicteam@team0.service"));
        assert_eq!(unit_in(split).as_deref(), Some("nicteam@my-team.service"));
        assert_eq!(unit_in("0::/user.slice/user-0.slice/session-1.scope\n"), None);
    }
}
