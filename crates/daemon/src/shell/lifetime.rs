//! How a team begins, takes over what another process left, and ends.

use std::sync::Arc;

use nicteam_dataplane::{Port, Programs, TeamDevice};
use nicteam_netlink::nft;
use nicteam_netlink::{Monitor, Netlink};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::random;
use nicteam_team::mode::Addresses;
use nicteam_team::replay::Recorded;
use nicteam_team::{ActiveSlave, Config, FailOverMac, Identity, MAX_MEMBERS, MemberId, TeamError};
use nicteam_wire::Mac;
use nix::errno::Errno;

use super::drain::DrainPeriod;
use super::listeners::Listeners;
use super::{Readable, Shell, missing_members};
use crate::clock::Clock;
use crate::first_error::FirstError;
use crate::lock::Lock;
use crate::persistence::Persistence;
use crate::ports::{self, Candidate, Member};
use crate::repairs::Repairs;
use crate::tcp::Tcp;
use crate::{Error, Happened, Journal, Notify, TeamSpec};

/// Bytes of what a team was told that are kept, for a report of a defect.
const RECORDED: usize = 64 << 20;

impl Shell {
    /// Makes the device, takes the members in, puts the first plan in force.
    /// If that fails, what it changed is undone.
    pub(crate) fn set_up(
        spec: TeamSpec,
        notify: Notify,
        journal: Arc<Journal>,
        lock: Lock,
        mut persistence: Option<Persistence>,
    ) -> Result<Shell, Error> {
        let (mut netlink, monitor, ethtool) = (Netlink::open()?, Monitor::open()?, Ethtool::open()?);
        let found = missing_members::find(&mut netlink, &spec, persistence.as_mut())?;
        let tag_bytes = spec.config.tag_bytes();
        let smallest = found.iter().map(|candidate| candidate.original.mtu.saturating_sub(tag_bytes)).min();
        // One that has lost all its members is its device alone.
        let left = if found.is_empty() { TeamDevice::find(&mut netlink, &spec.name)? } else { None };
        let left = left.map_or(Ok(None), |device| netlink.link_at(device.index))?;
        let own = found.first().map(|first| first.original.mac).zip(smallest);
        let Some((mac, mtu)) = own.or(left.map(|device| (Mac(device.mac), device.mtu))) else {
            return Err(Error::NoMembers(spec.name));
        };
        let (mac, mtu) = (spec.mac.unwrap_or(mac), spec.mtu.unwrap_or(mtu));
        // What an earlier process left to its members stays, too, if it is enough.
        let room = found.iter().map(|candidate| candidate.link.mtu.saturating_sub(tag_bytes)).min();
        let clock = Clock::start();
        // A team has no members to make active yet.
        let wish = spec.config.active_slave.clone();
        let mut team = Recorded::begin(spec.config, mac, clock.now(), RECORDED)?;
        let identity = Identity { number: random::number()?, secret: random::bytes()? };
        team.set_identity(identity, clock.now());
        if let Some(active) = persistence.as_ref().and_then(|persistence| persistence.for_successor.active.as_deref()) {
            team.remember_active(active);
        }
        let (device, adopted) = TeamDevice::create_or_adopt(&mut netlink, &spec.name, mac, mtu)?;
        let programs = Programs::of(team.config().mode);
        let dataplane = nicteam_dataplane::open(&device, spec.dataplane, programs).inspect_err(|_| {
            if !adopted {
                // The first error is the one to report.
                let _ = device.delete(&mut netlink);
            }
        })?;
        let members = Vec::with_capacity(found.len());
        let tcp = Tcp::left(persistence.as_ref().and_then(|persistence| persistence.for_successor.tcp_before.clone()));
        let saved = persistence.as_ref().map(|persistence| persistence.store.saved(&spec.name));
        let (held, gone, _lock) = (true, false, lock);
        let mut shell = Shell {
            team,
            called: device.called(),
            device,
            dataplane,
            members,
            mac,
            mtu,
            takes_all: false,
            held,
            unspoken: Vec::new(),
            gone,
            clock,
            netlink,
            monitor,
            ethtool,
            drain_period: DrainPeriod::default(),
            listeners: Listeners::default(),
            readable: Readable::default(),
            tcp,
            renewed: clock.now(),
            upper_devices: Vec::new(),
            notify,
            journal,
            persistence,
            saved,
            heartbeats: None,
            repairs: Repairs::default(),
            _lock,
        };
        let resumed = if adopted { shell.resume(spec.mac, spec.mtu, room.filter(|_| tag_bytes > 0)) } else { Ok(()) };
        match resumed.and_then(|()| shell.populate(found, wish)) {
            Ok(()) => {
                shell.note(Happened::Started { taken_over: adopted });
                shell.say_missing();
                shell.persist();
                Ok(shell)
            }
            Err(error) => {
                shell.abandon(adopted);
                Err(error)
            }
        }
    }

    /// Takes everything down, whatever fails on the way; the first error.
    pub(super) fn take_down(mut self) -> Result<(), Error> {
        let mut first = FirstError::default();
        first.note(self.forget());
        // A team that runs no more asks for nothing.
        first.note(self.tcp.want(None).map(drop));
        self.part_with_partners();
        for member in std::mem::take(&mut self.members) {
            first.note(self.let_go(member));
        }
        first.note(self.dataplane.remove());
        // One end takes the other along, unless it lives in another namespace by now.
        for index in [self.device.index, self.device.peer_index] {
            match self.netlink.delete(index) {
                Err(error) if error.errno() == Some(Errno::ENODEV as i32) => {}
                deleted => first.note(deleted),
            }
        }
        first.result()
    }

    /// Where partners send by all members they are told to send by one alone: the one that has the team's address for its own, and
    /// goes on by itself. Its partner hears nothing: a port that it is told to leave carries nothing until the partner finds
    /// nobody there.
    fn part_with_partners(&mut self) {
        if self.team.lacp().is_none() {
            return;
        }
        let stays = self.members.iter().find(|member| member.gets_back(self.mac)).or(self.members.first());
        let stays = stays.map(|member| member.port.id);
        let leaving = self.members.iter().map(|member| member.port.id).filter(|id| Some(*id) != stays);
        for id in leaving.collect::<Vec<_>>() {
            let removed = self.team.remove_member(id, self.clock.now());
            self.tell(removed);
            self.drain();
        }
    }

    /// Ends a team whose device is gone; why.
    pub(super) fn end(mut self) -> Error {
        let name = self.device.name.clone();
        let found = TeamDevice::find(&mut self.netlink, &name);
        let is_moved = matches!(found, Err(nicteam_dataplane::Error::Elsewhere { .. }));
        let why = if is_moved { Error::DeviceMoved } else { Error::DeviceGone };
        self.tell(Err(why(name.clone())));
        // The first error is the one to report.
        let _ = self.take_down();
        why(name)
    }

    /// Goes on with the device of an earlier process: what the specification
    /// leaves open stays as it is.
    fn resume(&mut self, mac: Option<Mac>, mtu: Option<u32>, room: Option<u32>) -> Result<(), Error> {
        let link = self.netlink.link_at(self.device.index)?;
        let link = link.ok_or_else(|| Error::DeviceGone(self.device.name.clone()))?;
        self.mac = mac.unwrap_or(Mac(link.mac));
        self.mtu = mtu.unwrap_or(link.mtu.min(room.unwrap_or(u32::MAX)));
        if link.mac != self.mac.0 {
            self.netlink.set_mac(self.device.index, self.mac.0)?;
        }
        if link.mtu != self.mtu {
            self.netlink.set_mtu(self.device.peer_index, self.mtu)?;
            self.netlink.set_mtu(self.device.index, self.mtu)?;
        }
        self.team.handle_mac(self.mac);
        self.drain();
        Ok(())
    }

    /// Takes the devices in and puts the first plan in force.
    fn populate(&mut self, found: Vec<Candidate>, wish: Option<ActiveSlave>) -> Result<(), Error> {
        let (size, segs) = found
            .iter()
            .map(|candidate| (candidate.link.gso_max_size, candidate.link.gso_max_segs))
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))
            .unwrap_or((65_536, 65_535));
        self.netlink.set_gso_max(self.device.index, size, segs)?;
        self.cut_gso_frames()?;
        let remembered = self.ports_left()?;
        self.team.begin_members();
        for candidate in found {
            let name = candidate.link.name.clone();
            if self.members.iter().any(|member| member.port.name == name) {
                return Err(TeamError::Duplicate(name).into());
            }
            // Where it was, or frames would be lost while it moves in the plan in force.
            let known_as = candidate.formerly.clone().unwrap_or_else(|| name.clone());
            let before = self.persistence.as_ref().and_then(|persistence| persistence.place_of(&known_as));
            let id = before.or_else(|| self.free_place()).ok_or(TeamError::Full)?;
            let (mac, own, mtu) = (self.mac_for(&candidate), candidate.original.mac, self.member_mtu());
            let member = Member::enter(&mut self.netlink, candidate, id, &self.device.name, mac, mtu)?;
            let port = member.port.clone();
            self.members.push(member);
            self.dataplane.attach(&port)?;
            // It can hear and speak before the team wants it to.
            self.adjust_listeners();
            let state = ports::read(&self.ethtool, &name)?;
            if let Some(left) = remembered.iter().find(|left| (left.index, left.answer.member) == (port.index, id)) {
                self.team.remember(left.answer.clone(), left.silence);
            }
            self.team.add_member_at(id, &known_as, state, self.clock.now())?;
            self.drain();
            self.rename(id, known_as);
            self.drain();
            self.team.handle_member_mac(id, own);
            self.drain();
        }
        self.read_links();
        self.team.members_complete(self.clock.now());
        self.drain();
        self.read_filter()?;
        // Also where an ended process has left members otherwise.
        self.set_filters()?;
        self.reconfigure(Config { active_slave: wish, ..self.team.config().clone() })?;
        self.drain();
        self.held = false;
        let plan = self.team.plan().clone();
        self.execute(&plan)?;
        self.renew();
        for (member, frame) in std::mem::take(&mut self.unspoken) {
            let sent = self.dataplane.transmit(member, &frame);
            self.tell(sent);
        }
        self.device.set_carrier(&mut self.netlink, self.team.carrier())?;
        self.netlink.set_up(self.device.index, true)?;
        self.announce_addresses()?;
        let freed = self.free_former_members();
        self.tell(freed);
        Ok(())
    }

    /// The address with which a device joins.
    pub(super) fn mac_for(&self, candidate: &Candidate) -> Mac {
        match self.team.config().mac_policy() {
            // In balance-alb and stripe its own, which it keeps if no other member has it.
            FailOverMac::None if self.team.config().mode.traits().addresses == Addresses::Own => candidate.original.mac,
            FailOverMac::None => self.mac,
            FailOverMac::Active | FailOverMac::Follow => candidate.original.mac,
        }
    }

    /// Gives the devices back that an earlier process of this team had and
    /// this one was not given.
    fn free_former_members(&mut self) -> Result<(), Error> {
        let mut first = FirstError::default();
        let team = self.device.name.clone();
        for (link, original, claim) in ports::left_by(&mut self.netlink, &team)? {
            first.note(self.free(&link.name, link.index));
            match ports::restore(&mut self.netlink, link.index, &original) {
                Ok(()) => claim.release(),
                Err(error) => first.note(Err(error)),
            }
        }
        first.result()
    }

    /// Takes what an earlier process attached off a device. A dataplane knows
    /// how for the devices it has, so it gets this one at a free place for a moment.
    fn free(&mut self, name: &str, index: u32) -> Result<(), Error> {
        let is_free = |id: &MemberId| self.members.iter().all(|member| member.port.id != *id);
        let place = (0..MAX_MEMBERS).filter_map(MemberId::new).find(is_free);
        // A full team has taken every place of its predecessor, and so freed its devices.
        let Some(id) = place else { return Ok(()) };
        let attached = self.dataplane.attach(&Port { id, name: name.to_owned(), index });
        let detached = self.detach(id, name);
        attached?;
        detached
    }

    /// Undoes a beginning that failed. A team that was taken over goes on as its
    /// predecessor left it, without the members that are new.
    fn abandon(mut self, adopted: bool) {
        // The first error is the one to report.
        if !adopted {
            // What was persisted before is the next one's to try.
            self.persistence = self.persistence.filter(|persistence| !persistence.recalled);
            let _ = self.take_down();
            return;
        }
        for member in std::mem::take(&mut self.members) {
            if !member.taken_over {
                let _ = self.let_go(member);
            }
        }
    }

    /// Gives a member back.
    pub(super) fn let_go(&mut self, member: Member) -> Result<(), Error> {
        let mut first = FirstError::default();
        first.note(self.detach(member.port.id, &member.port.name));
        first.note(member.leave(&mut self.netlink));
        first.result()
    }

    /// Gives a device its own traffic back.
    fn detach(&mut self, id: MemberId, name: &str) -> Result<(), Error> {
        let detached = self.dataplane.detach(id);
        // A packet team that was killed may have left its rule, even if this one
        // is another; where there is no nf_tables, there is none.
        let _ = nft::undo(name);
        Ok(detached?)
    }
}
