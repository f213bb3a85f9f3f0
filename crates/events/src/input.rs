//! All that a team can be told, as values.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use nicteam_lacp::Answer;
use nicteam_machine::{MemberId, MemberLink};
use nicteam_options::Config;
use nicteam_plan::Loads;
use nicteam_plan::stripe::{Note, PlainReport};
use nicteam_wire::Mac;

use crate::identity::Identity;
use crate::readings::{Group, Subnet, Traffic};

/// Something that a team is told: one for each of its functions that changes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<'a> {
    /// `Team::set_identity`
    Identity(Identity),
    /// `Team::mark_probes`
    MarkProbes(u32),
    /// `Team::begin_members`
    BeginMembers,
    /// `Team::remember`
    Remember(Answer, Duration),
    /// `Team::remember_active`
    RememberActive(Cow<'a, str>),
    /// `Team::members_complete`
    MembersComplete,
    /// `Team::add_member_at`
    AddMember(MemberId, Cow<'a, str>, MemberLink),
    /// `Team::remove_member`
    RemoveMember(MemberId),
    /// `Team::rename_member`
    RenameMember(MemberId, Cow<'a, str>),
    /// `Team::enable_member`
    EnableMember(MemberId, bool),
    /// `Team::activate`
    Activate(MemberId),
    /// `Team::migrate`
    Migrate(u8, MemberId),
    /// `Team::set_config`
    Config(Box<Config>),
    /// `Team::handle_links`
    Links(Cow<'a, [(MemberId, MemberLink)]>),
    /// `Team::handle_frame`
    Frame(MemberId, Cow<'a, [u8]>),
    /// `Team::handle_punted`
    Punted(Cow<'a, [u8]>),
    /// `Team::handle_timeout`
    Timeout,
    /// `Team::handle_traffic`
    Traffic(Cow<'a, [(MemberId, Traffic)]>),
    /// `Team::handle_groups`
    Groups(Cow<'a, [Group]>),
    /// `Team::handle_notes`
    Notes(Cow<'a, [Note]>),
    /// `Team::handle_plain`
    Plain(Cow<'a, PlainReport>),
    /// `Team::handle_loads`
    Loads(Box<Loads>),
    /// `Team::handle_sources`
    Sources(Cow<'a, [(Mac, u16)]>),
    /// `Team::handle_addresses`
    Addresses(Vec<(u16, IpAddr)>),
    /// `Team::handle_subnets`
    Subnets(Vec<Subnet>),
    /// `Team::handle_mac`
    Mac(Mac),
    /// `Team::handle_member_mac`
    MemberMac(MemberId, Mac),
}
