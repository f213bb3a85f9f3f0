//! What the owner changes while frames flow.

use nicteam_dataplane::{Kind, Port};
use nicteam_team::{ActiveSlave, Config, MemberId, TeamError};

use super::Shell;
use crate::ports::{self, Candidate, Member};
use crate::tcp::Changed;
use crate::{Error, Happened, OptionChange};

/// The option that shows, and names, the active member.
const ACTIVE_SLAVE: &str = "active_slave";

impl Shell {
    /// Sets options, all or none; those that have another value now.
    pub(super) fn set(&mut self, options: &[(String, String)]) -> Result<Vec<OptionChange>, Error> {
        let mut config = self.team.config().clone();
        for (name, value) in options {
            config.set(name, value).map_err(TeamError::from)?;
        }
        let wishes = config.active_slave.is_some();
        let (before, shown) = (self.all_options(), self.shown_options());
        let tag_bytes = self.team.config().tag_bytes();
        self.reconfigure(config)?;
        let fitted = self.adjust_mtu_for_tags(tag_bytes);
        self.tell(fitted);
        // A secret that becomes another one changes, too, though it looks the same.
        let changes = before.into_iter().zip(self.all_options()).map(|(before, after)| before != after);
        let changed: Vec<OptionChange> = shown
            .into_iter()
            .zip(self.shown_options())
            .zip(changes)
            .filter_map(|(shown, changes)| changes.then_some(shown))
            // Who is active may follow from another option; that is an event, no option that was set.
            .filter(|((option, _), _)| wishes || *option != ACTIVE_SLAVE)
            .map(|((option, from), (_, to))| OptionChange { option: option.to_owned(), from, to })
            .collect();
        if !changed.is_empty() {
            self.note(Happened::Options { changed: changed.clone() });
        }
        self.drain();
        Ok(changed)
    }

    /// Every option with its value, secrets left out; `active_slave` shows who is active.
    pub(super) fn shown_options(&self) -> Vec<(&'static str, String)> {
        self.with_active(self.team.config().shown_options())
    }

    /// The same with secrets.
    fn all_options(&self) -> Vec<(&'static str, String)> {
        self.with_active(self.team.config().options())
    }

    fn with_active(&self, mut options: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
        let active = self.team.active().map(|id| self.name_of(id)).unwrap_or_default();
        options.push((ACTIVE_SLAVE, active));
        options
    }

    /// Gives the team another configuration, as far as its dataplane can do what it says.
    pub(super) fn reconfigure(&mut self, config: Config) -> Result<(), Error> {
        if !config.queue_id.is_empty() && self.dataplane.kind() == Kind::Packet {
            return Err(Error::QueuesNeedBpf(self.device.name.clone()));
        }
        if let Some(ActiveSlave::Member(device)) = &config.active_slave {
            self.member_named(device)?;
        }
        self.team.set_config(config, self.clock.now())?;
        self.adjust_tcp();
        Ok(())
    }

    /// The host's TCP is told what the mode wants it to know; one that cannot be told carries on.
    fn adjust_tcp(&mut self) {
        let config = self.team.config();
        let wanted = config.tcp_min_rtt_wlen_s.filter(|_| config.mode.stripes());
        let changed = self.tcp.want(wanted);
        if let Ok(Some(Changed { from, to })) = &changed {
            self.note(Happened::TcpMinRttWlen { from: from.clone(), to: to.clone() });
        }
        self.tell(changed.map(drop).map_err(Error::from));
    }

    /// Makes a member the active one.
    pub(super) fn activate(&mut self, device: &str) -> Result<(), Error> {
        let id = self.member_named(device)?;
        let activated = self.team.activate(id, self.clock.now());
        self.drain();
        Ok(activated?)
    }

    /// Gives a bucket a member.
    pub(super) fn migrate(&mut self, bucket: u8, device: &str) -> Result<(), Error> {
        let id = self.member_named(device)?;
        let migrated = self.team.migrate(bucket, id, self.clock.now());
        self.drain();
        Ok(migrated?)
    }

    /// Enables a member by hand, or disables it.
    pub(super) fn enable(&mut self, device: &str, enable: bool) -> Result<(), Error> {
        let id = self.member_named(device)?;
        let done = self.team.enable_member(id, enable, self.clock.now());
        self.drain();
        Ok(done?)
    }

    /// Takes a device in. It is ready before the plan names it, and until then
    /// the other members carry on as they did.
    pub(super) fn add_member(&mut self, device: &str) -> Result<(), Error> {
        if self.member_named(device).is_ok() {
            return Err(TeamError::Duplicate(device.to_owned()).into());
        }
        if [&self.device.name, &self.device.peer_name].into_iter().any(|own| own == device) {
            return Err(Error::Itself { device: device.to_owned() });
        }
        let id = self.place_reserved_for(device).or_else(|| self.free_place()).ok_or(TeamError::Full)?;
        let candidate = ports::find(&mut self.netlink, &self.device.name, device)?;
        let own = candidate.original.mac;
        let port = self.take_in(candidate, id)?;
        let joined = ports::read(&self.ethtool, &port.name)
            .and_then(|state| Ok(self.team.add_member_at(id, &port.name, state, self.clock.now())?));
        if let Err(error) = joined {
            // The first error is the one to report.
            let _ = self.hand_out(id);
            return Err(error);
        }
        self.give_up(&port.name);
        self.note(Happened::Joined { member: port.name });
        self.drain();
        self.team.handle_member_mac(id, own);
        self.drain();
        self.fit_gso_frames()
    }

    /// Lets a member go; what its user should know. The others carry its frames
    /// before it leaves.
    pub(super) fn remove_member(&mut self, device: &str) -> Result<Vec<String>, Error> {
        if self.give_up(device) {
            self.note(Happened::Left { member: device.to_owned() });
            return Ok(Vec::new());
        }
        let id = self.member_named(device)?;
        if self.members.len() == 1 {
            return Err(Error::LastMember { team: self.device.name.clone(), device: device.to_owned() });
        }
        self.team.remove_member(id, self.clock.now())?;
        self.note(Happened::Left { member: device.to_owned() });
        self.drain();
        let left = self.hand_out(id);
        let fitted = self.fit_gso_frames();
        self.tell(fitted);
        Ok(left?.into_iter().collect())
    }

    /// Prepares a device and attaches it at a place; all or nothing.
    fn take_in(&mut self, candidate: Candidate, id: MemberId) -> Result<Port, Error> {
        let (mac, mtu) = (self.mac_for(&candidate), self.member_mtu());
        let member = Member::enter(&mut self.netlink, candidate, id, &self.device.name, mac, mtu)?;
        let port = member.port.clone();
        let filtered = if self.takes_all { member.take_all(&mut self.netlink, true) } else { Ok(()) };
        match filtered.and_then(|()| Ok(self.dataplane.attach(&port)?)) {
            Ok(()) => {
                self.members.push(member);
                self.members.sort_by_key(|member| member.port.id);
                Ok(port)
            }
            Err(error) => {
                // The first error is the one to report.
                let _ = self.let_go(member);
                Err(error)
            }
        }
    }

    /// Gives the device at a place back; a note if it shares its address with the team now.
    fn hand_out(&mut self, id: MemberId) -> Result<Option<String>, Error> {
        let Some(place) = self.members.iter().position(|member| member.port.id == id) else { return Ok(None) };
        let member = self.members.remove(place);
        let (device, shared) = (member.port.name.clone(), member.gets_back(self.mac));
        self.let_go(member)?;
        // Linux bond_main.c, __bond_release_one, warns of the same.
        let team = &self.device.name;
        Ok(shared.then(|| {
            format!("`{device}` has the address of {team} again, {}; hint: give one of them another before both are used in one network", self.mac)
        }))
    }

    /// Limits the GSO frames of the stack to the size that every member takes.
    fn fit_gso_frames(&mut self) -> Result<(), Error> {
        let (mut size, mut segs) = (u32::MAX, u32::MAX);
        for member in &self.members {
            if let Some(link) = self.netlink.link_at(member.port.index)? {
                (size, segs) = (size.min(link.gso_max_size), segs.min(link.gso_max_segs));
            }
        }
        match self.netlink.link_at(self.device.index)? {
            Some(link) if size != u32::MAX && (link.gso_max_size, link.gso_max_segs) != (size, segs) => {
                Ok(self.netlink.set_gso_max(self.device.index, size, segs)?)
            }
            _ => Ok(()),
        }
    }

    /// The member of this device name.
    fn member_named(&self, device: &str) -> Result<MemberId, Error> {
        let named = self.members.iter().find(|member| member.port.name == device);
        named.map(|member| member.port.id).ok_or_else(|| Error::NoMember {
            team: self.device.name.clone(),
            device: device.to_owned(),
            members: self.members.iter().map(|member| member.port.name.clone()).collect(),
        })
    }
}
