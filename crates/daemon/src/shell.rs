//! The thread of a team: waits, tells the team what happened, does what it asks for.

use std::io::Read;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use nicteam_dataplane::{Counters, Dataplane, Kind, TeamDevice};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::netlink::{Change, Link, Monitor, Netlink};
use nicteam_team::{Effect, MemberId, MemberLink, Team};
use nicteam_wire::Mac;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::clock::Clock;
use crate::ports::{self, Member};
use crate::running::{MemberReport, Request, TeamReport};
use crate::{Error, Notice, Notify, TeamSpec};

/// Everything a team's thread holds.
pub(crate) struct Shell {
    team: Team,
    device: TeamDevice,
    dataplane: Box<dyn Dataplane>,
    members: Vec<Member>,
    mtu: u32,
    /// True while members are still being taken in: plan and carrier wait, or a
    /// team that is taken over would drop the frames of members it has yet to meet.
    held: bool,
    clock: Clock,
    netlink: Netlink,
    monitor: Monitor,
    ethtool: Ethtool,
    notify: Notify,
}

impl Shell {
    /// Makes the device, takes the members in, puts the first plan in force.
    pub(crate) fn set_up(spec: TeamSpec, notify: Notify) -> Result<Shell, Error> {
        let (mut netlink, monitor, ethtool) = (Netlink::open()?, Monitor::open()?, Ethtool::open()?);
        let found: Result<Vec<Link>, Error> =
            spec.members.iter().map(|device| ports::find(&mut netlink, &spec.name, device)).collect();
        let found = found?;
        let first = found.first().ok_or_else(|| Error::NoMembers(spec.name.clone()))?;
        let mac = spec.mac.unwrap_or(Mac(first.mac));
        let mtu = spec.mtu.unwrap_or_else(|| found.iter().map(|link| link.mtu).min().unwrap_or(first.mtu));
        let clock = Clock::start();
        let team = Team::new(spec.config, mac, clock.now())?;
        let (device, adopted) = TeamDevice::create_or_adopt(&mut netlink, &spec.name, mac, mtu)?;
        let dataplane = match nicteam_dataplane::open(&device, spec.dataplane) {
            Ok(dataplane) => dataplane,
            Err(error) => {
                if !adopted {
                    device.delete(&mut netlink)?;
                }
                return Err(error.into());
            }
        };
        let members = Vec::with_capacity(found.len());
        let mut shell =
            Shell { team, device, dataplane, members, mtu, held: true, clock, netlink, monitor, ethtool, notify };
        match shell.populate(found, mac) {
            Ok(()) => Ok(shell),
            Err(error) if adopted => Err(error),
            Err(error) => {
                shell.take_down()?;
                Err(error)
            }
        }
    }

    /// What executes the plan.
    pub(crate) fn kind(&self) -> Kind {
        self.dataplane.kind()
    }

    /// Serves until told to end.
    pub(crate) fn serve(mut self, woken: &UnixStream, inbox: &mpsc::Receiver<Request>) {
        loop {
            if let Err(error) = self.wait(woken) {
                (self.notify)(Notice::Trouble(error));
            }
            if let Err(error) = self.take_changes() {
                (self.notify)(Notice::Trouble(error));
            }
            while let Ok(request) = inbox.try_recv() {
                match request {
                    Request::Report(answer) => drop(answer.send(self.report())),
                    Request::Remove(answer) => return drop(answer.send(self.take_down())),
                    Request::Leave => return,
                }
            }
            if self.team.poll_timeout().is_some_and(|(deadline, _)| deadline <= self.clock.now()) {
                self.team.handle_timeout(self.clock.now());
                self.drain();
            }
        }
    }

    /// Takes the devices in and puts the first plan in force.
    fn populate(&mut self, found: Vec<Link>, mac: Mac) -> Result<(), Error> {
        let (size, segs) = found
            .iter()
            .map(|link| (link.gso_max_size, link.gso_max_segs))
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))
            .unwrap_or((65_536, 65_535));
        self.netlink.set_gso_max(self.device.index, size, segs)?;
        for link in found {
            let state = ports::read(&self.ethtool, &link.name)?;
            let id = self.team.add_member(&link.name, state, self.clock.now())?;
            self.drain();
            let member = Member::enter(&mut self.netlink, link, id, mac, self.mtu)?;
            self.dataplane.attach(&member.port)?;
            self.members.push(member);
        }
        self.read_links()?;
        self.held = false;
        self.dataplane.apply(self.team.plan())?;
        self.device.set_carrier(&mut self.netlink, self.team.carrier())?;
        self.netlink.set_up(self.device.index, true)?;
        self.announce_addresses()
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

    /// Takes in what changed in the namespace.
    fn take_changes(&mut self) -> Result<(), Error> {
        for change in self.monitor.changes()? {
            match change {
                Change::Link(link) if link.index == self.device.index => self.follow_device(&link)?,
                Change::Link(link) => {
                    if let Some(member) = self.members.iter().find(|member| member.port.index == link.index) {
                        let port = member.port.clone();
                        self.read_link(port.id, &port.name)?;
                    }
                }
                Change::LinkGone(index) => self.lose(index)?,
                Change::Addresses(index) if index == self.device.index => self.announce_addresses()?,
                Change::Addresses(_) => {}
                Change::Lost => {
                    self.read_links()?;
                    self.announce_addresses()?;
                }
            }
        }
        Ok(())
    }

    /// Lets the members follow what a user did to the team device.
    fn follow_device(&mut self, link: &Link) -> Result<(), Error> {
        if link.mtu != self.mtu {
            self.mtu = link.mtu;
            self.netlink.set_mtu(self.device.peer_index, link.mtu)?;
            for member in &self.members {
                self.netlink.set_mtu(member.port.index, link.mtu)?;
            }
        }
        self.team.handle_mac(Mac(link.mac));
        self.drain();
        Ok(())
    }

    /// A member's device is gone.
    fn lose(&mut self, index: u32) -> Result<(), Error> {
        let Some(place) = self.members.iter().position(|member| member.port.index == index) else {
            return Ok(());
        };
        let id = self.members.remove(place).port.id;
        self.team.remove_member(id, self.clock.now())?;
        self.drain();
        // The kernel has taken the filters with the device.
        let _ = self.dataplane.detach(id);
        Ok(())
    }

    /// Tells the team which addresses to announce after a failover.
    fn announce_addresses(&mut self) -> Result<(), Error> {
        let addresses = self.netlink.addresses(self.device.index)?;
        let untagged = |(address, _prefix): (IpAddr, u8)| (0, address);
        self.team.handle_addresses(addresses.into_iter().map(untagged).collect());
        self.drain();
        Ok(())
    }

    /// Reads the link of every member.
    fn read_links(&mut self) -> Result<(), Error> {
        let ports: Vec<(MemberId, String)> =
            self.members.iter().map(|member| (member.port.id, member.port.name.clone())).collect();
        ports.iter().try_for_each(|(id, name)| self.read_link(*id, name))
    }

    /// Reads the link of one member. One that cannot be read is down.
    fn read_link(&mut self, id: MemberId, name: &str) -> Result<(), Error> {
        let link = ports::read(&self.ethtool, name).unwrap_or_else(|error| {
            (self.notify)(Notice::Trouble(error));
            MemberLink { carrier: false, speed_mbps: None, duplex: None }
        });
        self.team.handle_link(id, link, self.clock.now())?;
        self.drain();
        Ok(())
    }

    /// Does everything the team asks for.
    fn drain(&mut self) {
        let mut read_links = false;
        while let Some(effect) = self.team.poll_effect() {
            let done = match effect {
                Effect::Apply(_) | Effect::SetCarrier(_) if self.held => Ok(()),
                Effect::Apply(plan) => self.dataplane.apply(&plan).map_err(Error::from),
                Effect::SetCarrier(carrier) => self.device.set_carrier(&mut self.netlink, carrier).map_err(Error::from),
                Effect::Transmit { member, frame } => self.dataplane.transmit(member, &frame).map_err(Error::from),
                Effect::ReadLinks => {
                    read_links = true;
                    Ok(())
                }
                Effect::Event(event) => {
                    (self.notify)(Notice::Event(event));
                    Ok(())
                }
            };
            if let Err(error) = done {
                (self.notify)(Notice::Trouble(error));
            }
        }
        if read_links && let Err(error) = self.read_links() {
            (self.notify)(Notice::Trouble(error));
        }
    }

    /// The team at this moment.
    fn report(&self) -> Result<TeamReport, Error> {
        let counters = self.dataplane.counters()?;
        let of = |id| counters.iter().find(|(member, _)| *member == id).map_or(Counters::default(), |(_, c)| *c);
        let index = |id| self.members.iter().find(|member| member.port.id == id).map_or(0, |m| m.port.index);
        let members = self.team.members().into_iter();
        Ok(TeamReport {
            name: self.device.name.clone(),
            dataplane: self.dataplane.kind(),
            config: self.team.config().clone(),
            carrier: self.team.carrier(),
            members: members.map(|s| MemberReport { index: index(s.id), counters: of(s.id), status: s }).collect(),
        })
    }

    /// Takes everything down.
    fn take_down(mut self) -> Result<(), Error> {
        self.dataplane.remove()?;
        for member in &self.members {
            member.leave(&mut self.netlink)?;
        }
        Ok(self.device.delete(&mut self.netlink)?)
    }
}
