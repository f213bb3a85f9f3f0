//! `nicteam storage export`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nicteam_experiment::{parse_bytes, parse_duration, show_bytes};
use nicteam_multipath::NoPath;
use nicteam_storage::nbd::{Address, Server};
use nicteam_storage::{Cached, Disk, DiskSpec, INITIATOR, Library, Path, Policy, Volume, Watch, WriteBack};
use nicteam_sys::process;
use nix::poll::PollFlags;

use super::portal::portal;
use super::show;
use crate::failure::Failure;
use crate::say;

/// Export an iSCSI disk over one or more paths as an NBD server, until a signal comes.
///
/// Any program that speaks NBD can use it:
///   fio --ioengine=nbd --uri=nbd+unix:///disk?socket=/run/disk.sock ...
///   qemu-img info nbd+unix:///disk?socket=/run/disk.sock
///   nbd-client -unix /run/disk.sock /dev/nbd0
///
/// Each path is a session of its own. A path that dies is given up within 250 ms, at once where its own device loses its
/// carrier; what it had outstanding goes by another one, writes only after the old session is fenced.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Export {
    /// Address of a portal of the target, with the device to leave by behind a comma: 10.0.0.2,eth1. Repeated, a path each.
    #[arg(long = "portal", required = true, value_name = "ADDRESS[:PORT][,DEVICE]", value_parser = portal)]
    portals: Vec<Path>,
    /// The target's name: iqn.2026-01.org.example:disk.
    #[arg(long, value_name = "IQN")]
    target: String,
    /// The logical unit's number.
    #[arg(long, default_value_t = 1)]
    lun: u32,
    /// The own name that the target knows.
    #[arg(long, value_name = "IQN", default_value = INITIATOR)]
    initiator: String,
    /// How a path is chosen: best, round-robin, queue-length, service-time, fixed.
    #[arg(long, default_value = "best")]
    policy: Policy,
    /// I/Os by a path before it is the next one's turn (round-robin; 1000 where none is given, as ESXi has it).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iops: Option<u32>,
    /// What becomes of I/Os while no path is up: so long they wait (30s), or `fail` at once.
    #[arg(long, value_name = "TIME|fail", default_value = "30s", value_parser = no_path)]
    no_path: NoPath,
    /// Writes are done when they are in memory, so much of it: 256mib. A flush writes all of them.
    #[arg(long, value_name = "SIZE", value_parser = cache)]
    cache: Option<u64>,
    /// The export's Unix socket; it goes with the command.
    #[arg(long, value_name = "FILE", required_unless_present = "listen")]
    socket: Option<PathBuf>,
    /// Serve on a TCP port instead. NBD has no passwords: a program that reaches the port has the disk.
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "socket")]
    listen: Option<SocketAddr>,
    /// The export's name.
    #[arg(long, default_value = "disk")]
    name: String,
    /// Say every so often what the paths did: 10s.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    status: Option<Duration>,
}

/// Serves the disk until a signal comes.
pub(super) fn export(export: &Export) -> Result<(), Failure> {
    let spec = export.spec()?;
    let library = Library::open().map_err(nicteam_storage::Error::from)?;
    process::catch_termination()?;
    let mut disk = Cached::new(Disk::open(&library, &spec)?, export.cache.map(|bytes| WriteBack { bytes }));
    let address = match (&export.socket, export.listen) {
        (Some(socket), _) => Address::Unix(socket.clone()),
        (None, Some(listen)) => Address::Tcp(listen),
        (None, None) => return Err(Failure::wrong_input("an export needs --socket or --listen")),
    };
    let mut server = Server::bind(&address, &export.name, &disk)?;
    let size = show_bytes(disk.bytes());
    say::line(format_args!("exports {size} in blocks of {} bytes: {}", disk.block_bytes(), export.uri(&address)));
    serve(export, &mut disk, &mut server)?;
    drop(server);
    let written = disk.empty();
    disk.into_volume().close()?;
    Ok(written?)
}

fn serve(export: &Export, disk: &mut Cached<Disk>, server: &mut Server) -> Result<(), Failure> {
    let mut next_status = export.status.map(|interval| Instant::now() + interval);
    while process::termination().is_none() {
        let event = process::termination_event();
        let mut others: Vec<Watch<'_>> = event.map(|event| Watch::new(event, PollFlags::POLLIN)).into_iter().collect();
        let limit = next_status.map(|due| due.saturating_duration_since(Instant::now()));
        server.turn(disk, limit, &mut others)?;
        while let Some((at, notice)) = disk.volume_mut().next_notice() {
            say::line(format_args!("{:.3} s: {}", at.as_secs_f64(), say::visible(notice)));
        }
        if let (Some(due), Some(interval)) = (next_status, export.status)
            && due <= Instant::now()
        {
            say::talk(say::visible(show::lines(&disk.volume().status(), disk.counts())));
            next_status = Some(Instant::now() + interval);
        }
    }
    Ok(())
}

impl Export {
    fn spec(&self) -> Result<DiskSpec, Failure> {
        let mut spec = DiskSpec::new(self.portals.clone(), &self.target, self.lun);
        spec.initiator.clone_from(&self.initiator);
        spec.multipath.policy = match (self.policy, self.iops) {
            (policy, None) => policy,
            (Policy::RoundRobin { .. }, ios) => Policy::RoundRobin { ios },
            (policy, Some(_)) => {
                let wrong = format!("--iops is for the policy round-robin, not {policy}");
                return Err(Failure::wrong_input(wrong));
            }
        };
        spec.multipath.no_path = self.no_path;
        Ok(spec)
    }

    /// What a client is given.
    fn uri(&self, address: &Address) -> String {
        match address {
            Address::Unix(socket) => format!("nbd+unix:///{}?socket={}", self.name, socket.display()),
            Address::Tcp(listen) => format!("nbd://{listen}/{}", self.name),
        }
    }
}

fn no_path(text: &str) -> Result<NoPath, String> {
    if text == "fail" { Ok(NoPath::Fail) } else { duration(text).map(NoPath::Queue) }
}

fn interval(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        interval if interval >= Duration::from_millis(100) => Ok(interval),
        _ => Err("it takes 100ms and more".to_owned()),
    }
}

fn cache(text: &str) -> Result<u64, String> {
    match parse_bytes(text) {
        Ok(bytes) if bytes >= 1 << 20 => Ok(bytes),
        Ok(_) => Err(format!("`{text}` is less than a cache needs; hint: 1mib and more")),
        Err((wrong, hint)) => Err(format!("{wrong}; hint: {hint}")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|(wrong, hint)| format!("{wrong}; hint: {hint}"))
}
