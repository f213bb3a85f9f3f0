//! The TCP of this machine: its congestion controls, and whether it has several paths.

use std::os::fd::AsFd;
use std::path::Path;

use nicteam_experiment::{self as experiment, Experiment};
use nicteam_node::Error;
use nicteam_sys::{mptcp, tcp};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::output::failed;

/// Refuses an experiment whose congestion controls, or whose multipath TCP, this
/// machine does not have, before anything is built. Call with the privileges of a run.
///
/// # Errors
/// [`Error::Experiment`]: each at its place in the file, with those there are.
pub fn check_tcp(experiment: &Experiment) -> Result<(), Error> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = std::fs::read_to_string(path).map_err(failed("read", Path::new(path)))?;
    let available: Vec<&str> = available.split_whitespace().collect();
    let takes = |name: &str| available.contains(&name) || is_loaded_on_demand(name);
    experiment::check_congestion(experiment, &available, takes).map_err(Error::Experiment)?;
    experiment::check_mptcp(experiment, mptcp::is_supported).map_err(Error::Experiment)
}

/// True for one that is a module not loaded so far: for root the kernel loads
/// it when a socket asks (Linux net/ipv4/tcp_cong.c, tcp_ca_find_autoload).
fn is_loaded_on_demand(name: &str) -> bool {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None);
    socket.is_ok_and(|socket| tcp::set_congestion(socket.as_fd(), name).is_ok())
}
