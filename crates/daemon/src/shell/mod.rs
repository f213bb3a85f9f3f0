//! The thread of a team: waits, tells the team what happened, does what it asks for.
//!
//! Here belongs what needs the whole [`Shell`], one file a task; what can do without it stands beside this folder, or here as
//! a type of its own (`drain`, `listeners`). Only this thread touches the team's devices, dataplane and files. Each change of
//! the team is drained wholly before the next one begins.

mod changes;
mod drain;
mod draining;
mod handover;
mod heartbeat;
mod lifetime;
mod listeners;
mod listening;
mod missing_members;
mod persisting;
mod reconfiguring;
mod repairing;
mod reporting;
mod tag_headroom;

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use nicteam_dataplane::{Dataplane, Kind, TeamDevice};
use nicteam_netlink::{Monitor, Netlink};
use nicteam_sys::capabilities;
use nicteam_sys::ethtool::Ethtool;
use nicteam_team::replay::Recorded;
use nicteam_team::{Effect, MemberId, MemberLink, Time};
use nicteam_wire::Mac;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::clock::Clock;
use crate::heartbeat::Heartbeats;
use crate::lock::Lock;
use crate::persistence::Persistence;
use crate::ports::Member;
use crate::repairs::Repairs;
use crate::request::Request;
use crate::saved::Saved;
use crate::tcp::Tcp;
use crate::upper_devices::UpperDevice;
use crate::{Error, Happened, HeartbeatListener, Journal, NEEDED, Notify};
use drain::DrainPeriod;
use listeners::Listeners;

/// How a member's link is read: [`Member::read`] or [`Member::poll`].
type ReadLink = fn(&mut Member, &mut Netlink, &Ethtool) -> (MemberLink, Option<Error>);

/// Everything a team's thread holds.
pub(crate) struct Shell {
    team: Recorded,
    device: TeamDevice,
    /// How the system calls the team device.
    called: String,
    dataplane: Box<dyn Dataplane>,
    members: Vec<Member>,
    mac: Mac,
    mtu: u32,
    /// True while the team device takes every frame, and so do its members.
    takes_all: bool,
    /// True while members are still being taken in: plan and carrier wait, or a
    /// team that is taken over would drop the frames of members it has yet to meet.
    held: bool,
    /// What members have to say meanwhile; it leaves behind the plan.
    unspoken: Vec<(MemberId, Vec<u8>)>,
    /// True once the team device is gone.
    gone: bool,
    clock: Clock,
    netlink: Netlink,
    monitor: Monitor,
    ethtool: Ethtool,
    drain_period: DrainPeriod,
    listeners: Listeners,
    readable: Readable,
    tcp: Tcp,
    /// When the lease of the plan was renewed last.
    renewed: Time,
    /// What is above the team, as far as it was read.
    upper_devices: Vec<UpperDevice>,
    notify: Notify,
    journal: Arc<Journal>,
    persistence: Option<Persistence>,
    /// Where it is saved what the team was told; `None`: it is not, or could not be.
    saved: Option<Saved>,
    heartbeats: Option<Heartbeats>,
    repairs: Repairs,
    _lock: Lock,
}

/// What has something to be read, beside the listeners: each step takes what is there, and asks nothing else.
#[derive(Clone, Copy, Debug, Default)]
struct Readable {
    changes: bool,
    punted: bool,
    alarm: bool,
}

impl Readable {
    /// Nobody knows.
    const ALL: Readable = Readable { changes: true, punted: true, alarm: true };
}

/// How often the lease of a plan is renewed at least; the eBPF dataplane speaks
/// for a process that has not done so for 400 ms.
const RENEWAL: Duration = Duration::from_millis(150);
/// If the process is so late after a deadline, frames may have come since it asked which sockets are readable.
const LATE: Duration = Duration::from_millis(10);
/// A silence of this process that is worth telling.
const STALL: Duration = Duration::from_secs(1);

impl Shell {
    /// What executes the plan.
    pub(crate) fn kind(&self) -> Kind {
        self.dataplane.kind()
    }

    /// Lets the calling thread, which is to serve, run before others where it may, and where there is no flood.
    pub(crate) fn run_first(&mut self) {
        self.listeners.run_first();
    }

    /// From now on somebody hears signs of life.
    pub(crate) fn send_heartbeats_to(&mut self, heartbeat_listener: Option<HeartbeatListener>) {
        self.heartbeats =
            heartbeat_listener.map(|heartbeat_listener| Heartbeats::new(heartbeat_listener, self.clock.now()));
        self.send_heartbeat();
    }

    /// Keeps the capabilities alone that it needs from now on. A thread that cannot has them all, which its status shows.
    pub(crate) fn confine(&self) {
        self.tell(capabilities::keep_only(&NEEDED));
    }

    /// Serves until told to end.
    ///
    /// # Errors
    /// The team ended by itself: its device is gone.
    pub(crate) fn serve(mut self, woken: &UnixStream, inbox: &mpsc::Receiver<Request>) -> Result<(), Error> {
        loop {
            self.adjust_listeners();
            let waited = self.wait(woken);
            self.tell(waited);
            // What was heard until now is taken in before what is due now: a process
            // that was stopped must not take a partner for silent whose PDUs wait.
            let now = self.clock.now();
            // It may have been stopped since it asked which sockets are readable.
            if self.team.poll_timeout().is_some_and(|(deadline, _)| now.since(deadline) >= LATE) {
                self.listeners.read_all();
                self.readable = Readable::ALL;
            }
            self.notice_stall(now);
            if self.readable.changes {
                self.take_changes();
            }
            let is_due = self.repairs.deadline().is_some_and(|deadline| deadline <= now);
            if is_due || self.readable.alarm {
                self.repairs.look();
                self.repair();
            }
            self.hear();
            while let Ok(request) = inbox.try_recv() {
                match request {
                    Request::Remove(answer) => {
                        // The client that asked may have gone.
                        let _ = answer.send(self.take_down());
                        return Ok(());
                    }
                    Request::Leave => {
                        let noted = self.hand_over();
                        self.tell(noted);
                        let saved = self.saved.take().map_or(Ok(()), |mut saved| saved.save(&self.team));
                        self.tell(saved);
                        return Ok(());
                    }
                    request => self.answer(request),
                }
            }
            if self.gone {
                return Err(self.end());
            }
            if self.readable.punted {
                self.take_punted();
            }
            if self.team.poll_timeout().is_some_and(|(deadline, _)| deadline <= now) {
                self.team.handle_timeout(now);
                self.drain();
            }
            self.renew();
            self.close_relieved();
            self.persist();
            self.save_recording();
            self.send_heartbeat();
        }
    }

    /// Does what was asked, where the team goes on. The client that asked may have gone.
    fn answer(&mut self, request: Request) {
        let sent = match request {
            Request::Report(answer) => answer.send(self.report()).is_ok(),
            Request::Status(answer) => answer.send(self.status().map(Box::new)).is_ok(),
            Request::Set(options, answer) => answer.send(self.set(&options)).is_ok(),
            Request::AddMember(device, answer) => answer.send(self.add_member(&device)).is_ok(),
            Request::RemoveMember(device, answer) => answer.send(self.remove_member(&device)).is_ok(),
            Request::Migrate(bucket, device, answer) => answer.send(self.migrate(bucket, &device)).is_ok(),
            Request::Enable(device, enable, answer) => answer.send(self.enable(&device, enable)).is_ok(),
            Request::Activate(device, answer) => answer.send(self.activate(&device)).is_ok(),
            Request::Record(answer) => answer.send(self.team.recording().unwrap_or_default()).is_ok(),
            Request::Remove(_) | Request::Leave => true,
        };
        let _ = sent;
        // Before anybody hears of the change and trusts in it.
        self.persist();
    }

    /// Waits for a link event, a request, a frame for the control side or the team's deadline.
    fn wait(&mut self, woken: &UnixStream) -> Result<(), Error> {
        let of_team = self.team.poll_timeout().map(|(deadline, _)| deadline);
        let own = self.drain_period.deadline().into_iter().chain(self.heartbeats.as_ref().map(Heartbeats::deadline));
        let own = own.chain(self.saved.as_ref().and_then(Saved::deadline)).chain(self.repairs.deadline());
        let timeout = match of_team.into_iter().chain(own).chain(self.listeners.deadline()).min() {
            Some(deadline) => self.clock.until(deadline),
            None => Duration::from_secs(3600),
        };
        let timeout = if self.is_leased() { timeout.min(RENEWAL) } else { timeout };
        let ends = [self.monitor.as_fd(), woken.as_fd()].into_iter();
        let fds = ends.chain(self.dataplane.punts());
        let (fds, alarms) = (fds.chain(self.dataplane.alarm()), usize::from(self.dataplane.alarm().is_some()));
        let mut fds: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let others = fds.len();
        fds.extend(self.listeners.fds().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        let waited = ppoll(&mut fds, Some(TimeSpec::from_duration(timeout)), None);
        let readable: Vec<bool> = fds.iter().map(|fd| waited.is_err() || fd.any().unwrap_or(true)).collect();
        self.listeners.set_readable(readable[others..].to_vec());
        let first_alarm = others - alarms;
        self.readable = Readable {
            changes: readable[0],
            punted: readable[2..first_alarm].contains(&true),
            alarm: readable[first_alarm..others].contains(&true),
        };
        match waited {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(nicteam_sys::Error::new("wait for link events", errno).into()),
        }
        let mut wakes = [0; 64];
        while readable[1] && matches!((&*woken).read(&mut wakes), Ok(read) if read == wakes.len()) {}
        Ok(())
    }

    /// Says that this process lives, and what to say to the partners when it does not.
    fn renew(&mut self) {
        let answers = self.team.answers();
        let renewed = self.dataplane.renew(&answers);
        self.tell(renewed);
        self.renewed = self.clock.now();
    }

    /// Reports a time in which the dataplane had to answer for this process.
    fn notice_stall(&self, now: Time) {
        let silence = now.since(self.renewed);
        if self.is_leased() && silence >= STALL {
            self.note(Happened::Stalled { ms: u64::try_from(silence.as_millis()).unwrap_or(u64::MAX) });
        }
    }

    /// True if somebody has to know that this process lives.
    fn is_leased(&self) -> bool {
        self.team.plan().lease.is_some() && self.kind() == Kind::Bpf
    }

    /// Hands the team what its plan punted.
    fn take_punted(&mut self) {
        let frames = self.dataplane.take_punted().unwrap_or_else(|error| {
            self.tell(Err(error));
            Vec::new()
        });
        for frame in frames {
            self.team.handle_punted(&frame, self.clock.now());
            self.drain();
        }
    }

    /// Looks at the carrier of every member.
    fn read_links(&mut self) {
        let ids: Vec<MemberId> = self.members.iter().map(|member| member.port.id).collect();
        self.read_links_of(&ids, Member::poll);
    }

    /// Reads the links of members, and then acts on them; one that cannot be read is down.
    fn read_links_of(&mut self, ids: &[MemberId], read: ReadLink) {
        let mut links = Vec::new();
        for &id in ids {
            let Some(member) = self.members.iter_mut().find(|member| member.port.id == id) else { continue };
            let before = member.port.name.clone();
            let (link, trouble) = read(member, &mut self.netlink, &self.ethtool);
            links.push((id, link));
            self.rename(id, before);
            self.tell(trouble.map_or(Ok(()), Err));
        }
        let handled = self.team.handle_links(&links, self.clock.now());
        self.tell(handled);
        self.drain();
    }

    /// Does everything the team asks for.
    fn drain(&mut self) {
        let (mut read_links, mut read_traffic, mut read_groups) = (false, false, false);
        let (mut read_loads, mut read_notes, mut read_sources, mut read_plain) = (false, false, false, false);
        while let Some(effect) = self.team.poll_effect() {
            let done = match effect {
                Effect::Apply(_) | Effect::SetCarrier(_) | Effect::ReadGroups if self.held => Ok(()),
                Effect::Transmit { member, frame } if self.held => {
                    self.unspoken.push((member, frame));
                    Ok(())
                }
                // Its device is gone.
                Effect::Transmit { member, .. } if self.members.iter().all(|of| of.port.id != member) => Ok(()),
                Effect::Apply(plan) => self.execute(&plan),
                Effect::SetCarrier(carrier) => self.device.set_carrier(&mut self.netlink, carrier),
                Effect::Transmit { member, frame } => self.dataplane.transmit(member, &frame),
                Effect::SetMac { member, mac } => {
                    let set = self.set_mac(member, mac);
                    self.tell(set);
                    Ok(())
                }
                Effect::TakeAll { member, on } => {
                    let set = self.take_all(member, on);
                    self.tell(set);
                    Ok(())
                }
                Effect::ReadLoads => {
                    read_loads = true;
                    Ok(())
                }
                Effect::ReadSources => {
                    read_sources = true;
                    Ok(())
                }
                Effect::ReadNotes => {
                    read_notes = true;
                    Ok(())
                }
                Effect::ReadPlain => {
                    read_plain = true;
                    Ok(())
                }
                Effect::ReadGroups => {
                    read_groups = true;
                    Ok(())
                }
                Effect::ReadLinks => {
                    read_links = true;
                    Ok(())
                }
                Effect::ReadTraffic => {
                    (read_links, read_traffic) = (true, true);
                    Ok(())
                }
                Effect::Event(event) => {
                    self.happened(event);
                    Ok(())
                }
            };
            // Without its device a team can do little, and why is told once.
            if !self.gone {
                self.tell(done);
            }
        }
        self.announced();
        if read_notes {
            self.read_notes();
        }
        if read_plain {
            self.read_plain();
        }
        if read_loads {
            self.read_loads();
        }
        if read_sources {
            self.read_sources();
        }
        if read_links {
            self.read_links();
        }
        if read_traffic {
            self.read_traffic();
        }
        if read_groups {
            self.read_groups();
        }
    }

    /// Tells the team what the dataplane noted of peers' frames.
    fn read_notes(&mut self) {
        match self.dataplane.take_notes() {
            Ok(notes) => {
                self.team.handle_notes(&notes, self.clock.now());
                self.drain();
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Tells the team what the dataplane has seen of hosts that do not stripe.
    fn read_plain(&mut self) {
        match self.dataplane.plain() {
            Ok(report) => {
                self.team.handle_plain(&report, self.clock.now());
                self.drain();
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Tells the team which sources the dataplane has noted.
    fn read_sources(&mut self) {
        match self.dataplane.sources() {
            Ok(sources) => {
                self.team.handle_sources(&sources, self.clock.now());
                self.drain();
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Tells the team what the dataplane counted.
    fn read_loads(&mut self) {
        match self.dataplane.loads() {
            Ok(loads) => {
                self.team.handle_loads(&loads, self.clock.now());
                self.drain();
            }
            Err(error) => self.tell(Err(error)),
        }
    }
}
