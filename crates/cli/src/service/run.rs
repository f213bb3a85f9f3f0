//! `nicteam service run`: a team of the files, as the process of a service.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use nicteam_daemon::control::{Client, Refusal, RefusalKind};
use nicteam_daemon::{Entry, Happened, PersistedTeam, ProcessOptions, Service, StateStore};
use nicteam_dataplane::TeamDevice;
use nicteam_formats::Team;
use nicteam_host::managers::network_manager;
use nicteam_host::service::{self, Absent};
use nicteam_host::up::{self, Options};
use nicteam_sys::Context;
use nicteam_sys::signals::Signals;
use nix::sys::signal::Signal;

use super::of_file::OfFile;
use super::watch::Manager;
use crate::failure::Failure;
use crate::say;
use crate::team::{not_started, require_root};

/// Run a team of `/etc/nicteam/*.toml` for a service manager that speaks sd_notify(3).
///
/// It waits for the members' devices, takes over what an earlier process of the team left, and says READY=1 when the first plan is in
/// force and addresses and routes are set. SIGHUP reads the file again. SIGTERM and SIGINT end the process and leave the team as it
/// is, forwarding on eBPF, for the next one: `nicteam down` takes it down. Then, and after `nicteam team del`, the exit code is 100.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    team: OfFile,
    /// How long to wait for members' devices, seconds; what comes later joins later.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u64,
}

/// The exit code that says: the team was taken down by request, so it is not to be started again.
const TAKEN_DOWN: u8 = 100;

/// Runs a team until a signal comes or it ends.
pub(super) fn run(run: &Run) -> Result<ExitCode, Failure> {
    require_root()?;
    // Before there is another thread, whose signals would end the process.
    let signals = Signals::catch(&[Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])?;
    let manager = Manager::from_environment()?;
    let team = service::named(&run.team.config, &run.team.name).map_err(Failure::from);
    std::env::set_current_dir("/").context(|| "go to /".to_owned())?;
    let service = match team {
        Ok(team) => {
            let Some(absent) = wait_for_members(&team, run.wait, &signals, &manager)? else {
                return Ok(ExitCode::SUCCESS);
            };
            let service = start(&team, &absent, &manager)?;
            service::note(&team).map_err(Failure::failed)?;
            service
        }
        Err(failure) => start_as_left(&run.team.name, failure, &manager)?,
    };
    manager.say("READY=1");
    serve(service, run, &signals, &manager)
}

/// Waits for the devices; those that did not come, or nothing if the process is to end meanwhile.
fn wait_for_members(
    team: &Team,
    seconds: u64,
    signals: &Signals,
    manager: &Manager,
) -> Result<Option<Absent>, Failure> {
    const STEP: Duration = Duration::from_secs(1);
    let devices = team.members.as_slice();
    let mut absent = service::wait_for_devices(devices, Duration::ZERO).map_err(Failure::failed)?;
    for _ in 0..seconds {
        if absent.0.is_empty() {
            break;
        }
        manager.say(&format!("STATUS=waiting for {}", absent.0.join(", ")));
        absent = service::wait_for_devices(devices, STEP).map_err(Failure::failed)?;
        if matches!(signals.next()?, Some(Signal::SIGTERM | Signal::SIGINT)) {
            return Ok(None);
        }
    }
    if !devices.is_empty() && absent.0.len() == devices.len() {
        let message =
            format!("no member of team {} is there: {} did not come within {seconds} s", team.name, devices.join(", "));
        return Err(
            Failure::failed(message).hint(Some("`ip link` lists the devices; udev may have given one another name"))
        );
    }
    for device in &absent.0 {
        say::line(format_args!("member {device} is not there; it joins when it appears"));
    }
    Ok(Some(absent))
}

/// Brings the team up in this process.
fn start(team: &Team, absent: &Absent, manager: &Manager) -> Result<Service, Failure> {
    let left = take_over(&team.name)?;
    // What forwards is not refused, whatever has come since: without a process it would soon forward no more.
    let options = Options { force: left.is_some(), members_may_come: true, ..Options::default() };
    let as_left = left.filter(|_| service::is_noted(team).unwrap_or(false));
    let mut service = None;
    let mut begin = |persisted: &PersistedTeam| {
        // A file that says what it said lets stand what was set by hand since.
        let persisted = as_left.clone().unwrap_or_else(|| persisted.clone());
        let persisted = if absent.0.is_empty() { persisted } else { persisted.with_members_to_come() };
        service = Some(begin_with(&persisted, manager).map_err(|error| not_started(&error).to_string())?);
        Ok(())
    };
    let done = up::bring_up(team, &mut begin, options);
    let done = match (done, &service) {
        (Ok(done), Some(_)) => done,
        (Ok(_), None) => return Err(Failure::failed(format!("team {} was not started", team.name))),
        // Trying again is of no use before somebody has removed what is in the way.
        (Err(error @ nicteam_host::Error::Refused { .. }), _) => return Err(Failure::wrong_input(error)),
        (Err(error), _) => return Err(Failure::failed(error)),
    };
    done.changes.iter().chain(&done.notes).for_each(|line| say::line(say::visible(line)));
    keep_network_manager_off(team);
    service.ok_or_else(|| Failure::failed(format!("team {} was not started", team.name)))
}

/// Goes on with a team that forwards, though its file is wrong or gone: without a process it would soon forward no more.
fn start_as_left(team: &str, wrong: Failure, manager: &Manager) -> Result<Service, Failure> {
    let Some(left) = take_over(team)? else { return Err(wrong) };
    say::line(&wrong);
    say::line(format_args!("team {team} goes on as it was; `systemctl reload nicteam@{team}` reads its file again"));
    begin_with(&left.with_members_to_come(), manager).map_err(|error| not_started(&error))
}

fn begin_with(persisted: &PersistedTeam, manager: &Manager) -> Result<Service, nicteam_daemon::Error> {
    let options = ProcessOptions { heartbeat_listener: Some(manager.heartbeat_listener()), confined: true };
    Service::start_with(persisted, Box::new(tell), options)
}

/// Devices that are the team's are none of NetworkManager's, which may start later.
fn keep_network_manager_off(team: &Team) {
    let behind = TeamDevice::end_behind(&team.name);
    let devices: Vec<&str> = team.members.iter().map(String::as_str).chain([behind.as_str()]).collect();
    if let Err(error) = network_manager::set_unmanaged(Path::new("/"), &team.name, &devices) {
        say::line(format_args!(
            "NetworkManager could not be told to leave the members of {} alone: {error}",
            team.name
        ));
    }
}

/// Ends the process that runs the team, if one does, without taking it down; what is kept of the team.
fn take_over(team: &str) -> Result<Option<PersistedTeam>, Failure> {
    match Client::connect(team) {
        Ok(client) => client.replace()?,
        Err(Refusal { kind: RefusalKind::NotRunning, .. }) => nicteam_daemon::control::wait_until_free(team)?,
        Err(Refusal { kind: RefusalKind::NoTeam, .. }) => {}
        // A process of an older version, or one that hangs, is no reason to stay without one.
        Err(refusal) => return Err(refusal.into()),
    }
    // What cannot be read is made anew by the file.
    Ok(StateStore::here().and_then(|store| store.load(team)).unwrap_or_default())
}

/// Does what signals say, until one of them or the team ends it.
fn serve(service: Service, run: &Run, signals: &Signals, manager: &Manager) -> Result<ExitCode, Failure> {
    let team = service.name().to_owned();
    loop {
        service.wait(Some(signals.as_fd())).map_err(Failure::failed)?;
        match signals.next()? {
            Some(Signal::SIGHUP) => reload(run, manager),
            Some(_) => {
                manager.say("STOPPING=1\nSTATUS=left as it is");
                service.leave();
                return Ok(ExitCode::SUCCESS);
            }
            None => break,
        }
    }
    manager.say("STOPPING=1");
    // Why it ended by itself, if nobody asked for it.
    service.end().map_err(Failure::failed)?;
    // Where it is kept, another process runs it from now on.
    if !StateStore::here().and_then(|store| store.load(&team)).is_ok_and(|persisted| persisted.is_some()) {
        let _ = service::forget(&team);
    }
    Ok(ExitCode::from(TAKEN_DOWN))
}

/// Makes the team what its file says by now. One that is wrong changes nothing.
fn reload(run: &Run, manager: &Manager) {
    manager.say(&format!("RELOADING=1\nMONOTONIC_USEC={}", nicteam_sys::notify::monotonic_us()));
    match service::reload(&run.team.config, &run.team.name) {
        Ok(done) => done.changes.iter().chain(&done.notes).for_each(|line| say::line(say::visible(line))),
        Err(error) => say::line(Failure::from(error)),
    }
    manager.say("READY=1");
}

/// Tells the log what happens.
fn tell(entry: &Entry) {
    match &entry.happened {
        // For those who follow its events.
        Happened::Plan { .. } | Happened::Started { .. } => {}
        happened => say::line(say::visible(happened)),
    }
}
