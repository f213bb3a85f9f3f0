//! What can be said to an actor system.

use std::fmt;

use nicteam_machine::state;
use nicteam_wire::Mac;

/// How an actor system behaves. Names and defaults are the kernel's; the last
/// three are of this team alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LacpConfig {
    /// Address of the system; not zero, which stands for nobody. Two systems
    /// with the same address take each other for a looped cable.
    pub ad_actor_system: Mac,
    /// Priority of the system; 65535 by default.
    pub ad_actor_sys_prio: u16,
    /// What keys have beside speed and duplex, 0 to 1023 (of more the low ten bits count).
    pub ad_user_port_key: u16,
    /// Speak first (active), or only to a partner that speaks (passive). An
    /// aggregate that does not speak at all (illumos `off`) is balance-xor.
    pub lacp_active: bool,
    /// What the partner is asked for: a PDU each second, or each 30.
    pub lacp_rate: LacpRate,
    /// Which aggregator is active, if there is a choice.
    pub ad_select: AdSelect,
    /// Members that are needed for a carrier; 0 counts as 1.
    pub min_links: u32,
    /// Off (the kernel's default): where no partner speaks, one member carries
    /// the traffic, as in active-backup. On: a member without a partner carries none.
    pub lacp_strict: bool,
    /// Collecting and distributing are switched together. Off: a member
    /// distributes only when its partner collects (independent control).
    pub coupled_control: bool,
    /// How long a member waits for others before its aggregate forms; the
    /// standard's `Aggregate_Wait_Time` is 2000.
    pub aggregate_wait_ms: u32,
    /// How long a member that was lost stands by once it is back, as long as
    /// others carry the traffic; 0 (default): not at all (IEEE 802.1AX-2020,
    /// `aAggPortWTRTime`).
    pub wait_to_restore_ms: u32,
    /// The key of every port; none: what [`LacpConfig::ad_user_port_key`] and the link say.
    pub one_key: Option<u16>,
}

state!(struct LacpConfig { ad_actor_system, ad_actor_sys_prio, ad_user_port_key, lacp_active, lacp_rate, ad_select, min_links, lacp_strict, coupled_control, aggregate_wait_ms, wait_to_restore_ms, one_key });

impl LacpConfig {
    /// The kernel's defaults for a system of this address.
    pub fn new(ad_actor_system: Mac) -> LacpConfig {
        LacpConfig {
            ad_actor_system,
            ad_actor_sys_prio: 0xffff,
            ad_user_port_key: 0,
            lacp_active: true,
            lacp_rate: LacpRate::Slow,
            ad_select: AdSelect::Stable,
            min_links: 0,
            lacp_strict: false,
            coupled_control: true,
            aggregate_wait_ms: 2000,
            wait_to_restore_ms: 0,
            one_key: None,
        }
    }
}

/// How often the partner shall speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LacpRate {
    /// Each 30 s; its silence is noticed after 90 s.
    #[default]
    Slow,
    /// Each second; its silence is noticed after 3 s.
    Fast,
}

/// Which aggregator is active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdSelect {
    /// The one that is, as long as one of its members works; the next one by bandwidth.
    #[default]
    Stable,
    /// The one with the most bandwidth.
    Bandwidth,
    /// The one with the most members, of these the one with the most bandwidth.
    Count,
    /// The one with the highest sum of port priorities, then by members and bandwidth.
    ActorPortPrio,
}

state!(
    enum AdSelect {
        Stable,
        Bandwidth,
        Count,
        ActorPortPrio,
    }
);
state!(
    enum LacpRate {
        Slow,
        Fast,
    }
);

impl LacpRate {
    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            LacpRate::Slow => "slow",
            LacpRate::Fast => "fast",
        }
    }
}

impl AdSelect {
    /// Every choice, by the kernel's number.
    pub const ALL: [AdSelect; 4] = [AdSelect::Stable, AdSelect::Bandwidth, AdSelect::Count, AdSelect::ActorPortPrio];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            AdSelect::Stable => "stable",
            AdSelect::Bandwidth => "bandwidth",
            AdSelect::Count => "count",
            AdSelect::ActorPortPrio => "actor_port_prio",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        match self {
            AdSelect::Stable => 0,
            AdSelect::Bandwidth => 1,
            AdSelect::Count => 2,
            AdSelect::ActorPortPrio => 3,
        }
    }
}

impl fmt::Display for LacpRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for AdSelect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
