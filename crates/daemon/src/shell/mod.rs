//! The thread of a team: waits, tells the team what happened, does what it asks for.

mod changes;
mod lifetime;

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use nicteam_dataplane::{Counters, Dataplane, Kind, TeamDevice};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netlink::{Monitor, Netlink};
use nicteam_team::{Effect, MemberId, Team};
use nicteam_wire::Mac;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::clock::Clock;
use crate::lock::Lock;
use crate::ports::Member;
use crate::running::{MemberReport, Request, TeamReport};
use crate::{Error, Notice, Notify};

/// Everything a team's thread holds.
pub(crate) struct Shell {
    team: Team,
    device: TeamDevice,
    dataplane: Box<dyn Dataplane>,
    members: Vec<Member>,
    mac: Mac,
    mtu: u32,
    /// True while members are still being taken in: plan and carrier wait, or a
    /// team that is taken over would drop the frames of members it has yet to meet.
    held: bool,
    /// True once the team device is gone.
    gone: bool,
    clock: Clock,
    netlink: Netlink,
    monitor: Monitor,
    ethtool: Ethtool,
    notify: Notify,
    _lock: Lock,
}

impl Shell {
    /// What executes the plan.
    pub(crate) fn kind(&self) -> Kind {
        self.dataplane.kind()
    }

    /// Serves until told to end.
    ///
    /// # Errors
    /// The team ended by itself: its device is gone.
    pub(crate) fn serve(mut self, woken: &UnixStream, inbox: &mpsc::Receiver<Request>) -> Result<(), Error> {
        loop {
            let waited = self.wait(woken);
            self.tell(waited);
            self.take_changes();
            while let Ok(request) = inbox.try_recv() {
                match request {
                    Request::Report(answer) => drop(answer.send(self.report())),
                    Request::Remove(answer) => {
                        // Whoever asked may have gone.
                        let _ = answer.send(self.take_down());
                        return Ok(());
                    }
                    Request::Leave => return Ok(()),
                }
            }
            if self.gone {
                return Err(self.end());
            }
            if self.team.poll_timeout().is_some_and(|(deadline, _)| deadline <= self.clock.now()) {
                self.team.handle_timeout(self.clock.now());
                self.drain();
            }
        }
    }

    /// Waits for a link event, a request or the team's deadline.
    fn wait(&self, woken: &UnixStream) -> Result<(), Error> {
        let timeout = match self.team.poll_timeout() {
            // Rounded up, or the loop would spin through the last part of a millisecond.
            Some((deadline, _)) => self.clock.until(deadline) + Duration::from_micros(999),
            None => Duration::from_secs(3600),
        };
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        let mut fds = [self.monitor.as_fd(), woken.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(nicteam_sys::Error::new("wait for link events", errno).into()),
        }
        let mut wakes = [0; 64];
        while matches!((&*woken).read(&mut wakes), Ok(read) if read == wakes.len()) {}
        Ok(())
    }

    /// Reads the link of every member. One that cannot be read is down.
    fn read_links(&mut self) {
        let ids: Vec<MemberId> = self.members.iter().map(|member| member.port.id).collect();
        for id in ids {
            self.read_link(id);
        }
    }

    /// Reads the link of one member.
    fn read_link(&mut self, id: MemberId) {
        let Some(member) = self.members.iter_mut().find(|member| member.port.id == id) else { return };
        let (link, trouble) = member.read(&mut self.netlink, &self.ethtool);
        self.tell(trouble.map_or(Ok(()), Err));
        let handled = self.team.handle_link(id, link, self.clock.now());
        self.tell(handled);
        self.drain();
    }

    /// Does everything the team asks for.
    fn drain(&mut self) {
        let mut read_links = false;
        while let Some(effect) = self.team.poll_effect() {
            let done = match effect {
                Effect::Apply(_) | Effect::SetCarrier(_) if self.held => Ok(()),
                Effect::Apply(plan) => self.dataplane.apply(&plan),
                Effect::SetCarrier(carrier) => self.device.set_carrier(&mut self.netlink, carrier),
                Effect::Transmit { member, frame } => self.dataplane.transmit(member, &frame),
                Effect::ReadLinks => {
                    read_links = true;
                    Ok(())
                }
                Effect::Event(event) => {
                    (self.notify)(Notice::Event(event));
                    Ok(())
                }
            };
            // Without its device a team can do little, and why is told once.
            if !self.gone {
                self.tell(done);
            }
        }
        if read_links {
            self.read_links();
        }
    }

    /// Tells the owner what could not be done.
    fn tell(&self, done: Result<(), impl Into<Error>>) {
        if let Err(error) = done {
            (self.notify)(Notice::Trouble(error.into()));
        }
    }

    /// The team at this moment.
    fn report(&self) -> Result<TeamReport, Error> {
        let counters = self.dataplane.counters()?;
        let of = |id| counters.iter().find(|(member, _)| *member == id).map_or(Counters::default(), |(_, c)| *c);
        let members = self.team.members().into_iter().map(|mut status| {
            let port = self.members.iter().find(|member| member.port.id == status.id).map(|member| &member.port);
            if let Some(port) = port {
                // The name it has now.
                status.name.clone_from(&port.name);
            }
            MemberReport { index: port.map_or(0, |port| port.index), counters: of(status.id), status }
        });
        Ok(TeamReport {
            name: self.device.name.clone(),
            dataplane: self.dataplane.kind(),
            config: self.team.config().clone(),
            carrier: self.team.carrier(),
            members: members.collect(),
        })
    }
}
