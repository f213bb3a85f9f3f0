//! A team in one of Open vSwitch's modes, as Open vSwitch's own commands show it.

use std::time::Duration;

use nicteam_team::openvswitch::{BondMember, Negotiation};
use nicteam_team::{Config, LacpMode, MemberId, Team, Time};
use nicteam_wire::Mac;
use serde::{Deserialize, Serialize};

/// What `bond/show` and `lacp/show` tell of a bond (Open vSwitch 3.1, ofproto/bond.c `bond_print_details`,
/// lib/lacp.c `lacp_print_details`). Ports and their counters are in [`MemberState::lacp`](crate::MemberState::lacp).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondState {
    /// `active-backup`, `balance-slb` or `balance-tcp`.
    pub mode: String,
    /// `bond-hash-basis`.
    pub hash_basis: u32,
    /// `all-members-active`, which matters in balance-slb alone.
    pub all_members_active: bool,
    /// `bond_updelay`, milliseconds.
    pub updelay_ms: u32,
    /// `bond_downdelay`, milliseconds.
    pub downdelay_ms: u32,
    /// Until buckets change members by their loads, milliseconds; none: they do not.
    pub next_rebalance_ms: Option<u64>,
    /// `negotiated`, `configured` or `off`.
    pub lacp_status: String,
    /// `lacp-fallback-ab`.
    pub lacp_fallback_ab: bool,
    /// `bond-primary`.
    pub primary: Option<String>,
    /// The active member.
    pub active: Option<String>,
    /// The address that it has of its own; zeros without one.
    pub active_mac: String,
    /// LACP, if it is spoken.
    pub lacp: Option<BondLacp>,
    /// The members, by place.
    pub members: Vec<BondMemberState>,
}

/// A bond's LACP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondLacp {
    /// This end speaks first.
    pub active: bool,
    /// Address of the system; zeros before the first member has joined.
    pub system: String,
    /// Priority of the system.
    pub system_priority: u16,
    /// The key of its ports.
    pub key: u16,
    /// The partner is asked to speak each second, not each 30.
    pub fast: bool,
}

/// A member of a bond.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BondMemberState {
    /// Its device.
    pub name: String,
    /// It may send.
    pub enabled: bool,
    /// Its link and LACP let it.
    pub may_enable: bool,
    /// It is the active one.
    pub active: bool,
    /// Until it is disabled (if it is enabled) or enabled, milliseconds; none: it waits for neither.
    pub delay_ms: Option<u64>,
    /// LACP alone lets it send.
    pub lacp_may_enable: bool,
    /// Its port belongs to the aggregate that carries the traffic, or serves as one without a partner.
    pub lacp_attached: bool,
    /// Its buckets that carried something.
    pub buckets: Vec<BucketLoad>,
}

/// What a bucket carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketLoad {
    /// The bucket.
    pub bucket: u8,
    /// Bytes, those before each run of rebalancing halved.
    pub bytes: u64,
}

impl BondState {
    /// That of a team, if its mode is one of Open vSwitch's. `device` tells the name and the own address of a member.
    pub(crate) fn of(team: &Team, now: Time, device: impl Fn(MemberId) -> (String, Mac)) -> Option<BondState> {
        let bond = team.bond(now)?;
        let config = team.config();
        let active = team.active().map(&device);
        let members = bond.members.iter().map(|member| BondMemberState::of(team, member, device(member.id).0));
        Some(BondState {
            mode: own_name(config).to_owned(),
            hash_basis: config.bond.hash_basis,
            all_members_active: config.all_slaves_active,
            updelay_ms: config.updelay_ms,
            downdelay_ms: config.downdelay_ms,
            next_rebalance_ms: bond.next_rebalance.map(millis),
            lacp_status: bond.negotiation.to_string(),
            lacp_fallback_ab: config.bond.lacp_fallback_ab,
            primary: config.primary.clone(),
            active_mac: active.as_ref().map(|(_, mac)| *mac).unwrap_or_default().to_string(),
            active: active.map(|(name, _)| name),
            lacp: (bond.negotiation != Negotiation::Off).then(|| BondLacp::of(team)),
            members: members.collect(),
        })
    }
}

impl BondLacp {
    fn of(team: &Team) -> BondLacp {
        let (config, lacp) = (team.config(), team.lacp());
        BondLacp {
            active: config.bond.lacp == LacpMode::Active,
            system: lacp.map(|lacp| lacp.config().ad_actor_system).unwrap_or_default().to_string(),
            system_priority: config.actor_sys_prio(),
            key: lacp.and_then(|lacp| lacp.ports().first().map(|port| port.actor.key)).unwrap_or(0),
            fast: config.lacp.rate == nicteam_team::lacp::LacpRate::Fast,
        }
    }
}

impl BondMemberState {
    fn of(team: &Team, member: &BondMember, name: String) -> BondMemberState {
        let in_sync = |mux| mux >= nicteam_team::lacp::MuxState::Attached;
        let ports = team.lacp().map(|lacp| lacp.ports()).unwrap_or_default();
        let attached = ports.iter().any(|port| port.member == member.id && in_sync(port.mux));
        BondMemberState {
            name,
            enabled: member.enabled,
            may_enable: member.may_enable,
            active: member.active,
            delay_ms: member.delay.map(millis),
            lacp_may_enable: member.lacp_may_enable,
            lacp_attached: attached || member.lacp_may_enable,
            buckets: member.buckets.iter().map(|&(bucket, bytes)| BucketLoad { bucket, bytes }).collect(),
        }
    }
}

/// The mode's name in Open vSwitch.
fn own_name(config: &Config) -> &'static str {
    let name = config.mode.name();
    name.strip_prefix("ovs-").unwrap_or(name)
}

fn millis(of: Duration) -> u64 {
    u64::try_from(of.as_millis()).unwrap_or(u64::MAX)
}
