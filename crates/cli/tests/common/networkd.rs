//! systemd-networkd on a host of a test.

use std::path::Path;
use std::process::{Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::Host;

use super::teams::Killed;

/// Runs it on a host, with the files of a folder and no others.
pub fn networkd(host: &Host, files: &Path) -> Killed {
    // It takes devices for ready where `/sys` cannot be written to, as there is no udev for this namespace.
    const SCRIPT: &str = "set -e
        mount -t sysfs sysfs /sys
        mount -o remount,bind,ro /sys
        for folder in /run /etc/systemd/network; do mkdir -p $folder; mount -t tmpfs tmpfs $folder; done
        mkdir -p /run/systemd
        cp -r \"$1\" /run/systemd/network
        chmod -R a+rX /run/systemd/network
        /lib/systemd/systemd-networkd &
        wait";
    let mut command = Command::new("unshare");
    // It changes its user, and would outlive this process: so its namespace of processes ends with it.
    command.args(["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["sh", "-c", SCRIPT, "networkd"]).arg(files).env("SYSTEMD_LOG_LEVEL", "warning");
    command.stdin(Stdio::null());
    process::in_netns(&mut command, &host.netns);
    process::die_with_parent(&mut command);
    Killed(command.spawn().unwrap())
}
