//! Where an experiment runs.

use std::path::Path;
use std::time::Duration;

use nicteam_dataplane::Kind;
use nicteam_load::{cpu, share};
use nicteam_netlink::shape::Granularity;
use nicteam_node::Error;
use nicteam_record::Environment;
use nicteam_sys::process;

use crate::options::Options;
use crate::output::failed;

/// How long the machine is watched before the first run.
const WATCH: Duration = Duration::from_millis(300);

/// Looks at the machine.
pub(crate) fn environment(
    options: &Options,
    dataplane: Option<Kind>,
    granularity: Granularity,
    busy_before: f64,
) -> Result<Environment, Error> {
    let uname = nix::sys::utsname::uname().map_err(|errno| nicteam_sys::Error::new("ask for the kernel", errno))?;
    Ok(Environment {
        kernel: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        cpu_model: cpu::model()?,
        cpus: cpu::count(),
        memory_bytes: cpu::memory_bytes()?,
        testbed: options.testbed().name().to_owned(),
        dataplane: dataplane.map_or_else(|| "none".to_owned(), |kind| kind.to_string()),
        privileges: options.privileges.to_owned(),
        congestion_default: congestion_default()?,
        granularity: match granularity {
            Granularity::Packets => "packets".to_owned(),
            Granularity::SuperFrames { .. } => "super-frames".to_owned(),
        },
        max_packets_per_frame: Some(granularity.max_packets()).filter(|&most| most < Granularity::UNBOUNDED),
        busy_before,
    })
}

/// What a connection gets that names none.
fn congestion_default() -> Result<String, Error> {
    let path = "/proc/sys/net/ipv4/tcp_congestion_control";
    let name = std::fs::read_to_string(path).map_err(failed("read", Path::new(path)))?;
    Ok(name.trim_end().to_owned())
}

/// How busy the machine is with nothing of ours running: its noise, 0 to 1.
pub(crate) fn busy_now() -> Result<f64, Error> {
    let before = cpu::times()?;
    process::sleep_or_termination(WATCH);
    let after = cpu::times()?;
    Ok(share(after.busy.saturating_sub(before.busy), after.total.saturating_sub(before.total)))
}
