//! All that a team can be told, as values: the one door to it.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use nicteam_lacp::Answer;
use nicteam_machine::{MemberId, MemberLink, Time};
use nicteam_wire::Mac;

use crate::stripe::{Note, PlainReport};
use crate::{Config, Group, Identity, Loads, Subnet, Team, TeamError, Traffic};

/// Something that a team is told: one for each of its functions that changes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<'a> {
    /// [`Team::set_identity`]
    Identity(Identity),
    /// [`Team::mark_probes`]
    MarkProbes(u32),
    /// [`Team::begin_members`]
    BeginMembers,
    /// [`Team::remember`]
    Remember(Answer, Duration),
    /// [`Team::remember_active`]
    RememberActive(Cow<'a, str>),
    /// [`Team::members_complete`]
    MembersComplete,
    /// [`Team::add_member_at`]
    AddMember(MemberId, Cow<'a, str>, MemberLink),
    /// [`Team::remove_member`]
    RemoveMember(MemberId),
    /// [`Team::rename_member`]
    RenameMember(MemberId, Cow<'a, str>),
    /// [`Team::enable_member`]
    EnableMember(MemberId, bool),
    /// [`Team::activate`]
    Activate(MemberId),
    /// [`Team::migrate`]
    Migrate(u8, MemberId),
    /// [`Team::set_config`]
    Config(Box<Config>),
    /// [`Team::handle_links`]
    Links(Cow<'a, [(MemberId, MemberLink)]>),
    /// [`Team::handle_frame`]
    Frame(MemberId, Cow<'a, [u8]>),
    /// [`Team::handle_punted`]
    Punted(Cow<'a, [u8]>),
    /// [`Team::handle_timeout`]
    Timeout,
    /// [`Team::handle_traffic`]
    Traffic(Cow<'a, [(MemberId, Traffic)]>),
    /// [`Team::handle_groups`]
    Groups(Cow<'a, [Group]>),
    /// [`Team::handle_notes`]
    Notes(Cow<'a, [Note]>),
    /// [`Team::handle_plain`]
    Plain(Cow<'a, PlainReport>),
    /// [`Team::handle_loads`]
    Loads(Box<Loads>),
    /// [`Team::handle_sources`]
    Sources(Cow<'a, [(Mac, u16)]>),
    /// [`Team::handle_addresses`]
    Addresses(Vec<(u16, IpAddr)>),
    /// [`Team::handle_subnets`]
    Subnets(Vec<Subnet>),
    /// [`Team::handle_mac`]
    Mac(Mac),
    /// [`Team::handle_member_mac`]
    MemberMac(MemberId, Mac),
}

impl Team {
    /// Tells the team something.
    ///
    /// # Errors
    /// What the function refuses that it stands for; nothing has changed then.
    pub fn apply(&mut self, input: Input<'_>, now: Time) -> Result<(), TeamError> {
        match input {
            Input::Identity(identity) => self.set_identity(identity, now),
            Input::MarkProbes(mark) => self.mark_probes(mark),
            Input::BeginMembers => self.begin_members(),
            Input::Remember(answer, silence) => self.remember(answer, silence),
            Input::RememberActive(device) => self.remember_active(&device),
            Input::MembersComplete => self.members_complete(now),
            Input::AddMember(id, name, link) => return self.add_member_at(id, &name, link, now).map(drop),
            Input::RemoveMember(id) => return self.remove_member(id, now),
            Input::RenameMember(id, name) => return self.rename_member(id, &name),
            Input::EnableMember(id, enable) => return self.enable_member(id, enable, now),
            Input::Activate(id) => return self.activate(id, now),
            Input::Migrate(bucket, to) => return self.migrate(bucket, to, now),
            Input::Config(config) => return self.set_config(*config, now),
            Input::Links(links) => return self.handle_links(&links, now),
            Input::Frame(member, frame) => self.handle_frame(member, &frame, now),
            Input::Punted(frame) => self.handle_punted(&frame, now),
            Input::Timeout => self.handle_timeout(now),
            Input::Traffic(traffic) => self.handle_traffic(&traffic, now),
            Input::Groups(groups) => self.handle_groups(&groups, now),
            Input::Notes(notes) => self.handle_notes(&notes, now),
            Input::Plain(report) => self.handle_plain(&report, now),
            Input::Loads(loads) => self.handle_loads(&loads, now),
            Input::Sources(sources) => self.handle_sources(&sources, now),
            Input::Addresses(addresses) => self.handle_addresses(addresses),
            Input::Subnets(subnets) => self.handle_subnets(subnets),
            Input::Mac(mac) => self.handle_mac(mac),
            Input::MemberMac(id, mac) => self.handle_member_mac(id, mac),
        }
        Ok(())
    }
}
