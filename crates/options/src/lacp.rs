//! The options of LACP.
//!
//! Linux drivers/net/bonding/bond_options.c of 6.1; `coupled_control` is of 6.9,
//! `broadcast_neighbor` of 6.17, `ad_select actor_port_prio` and `actor_port_prio` of 6.18, `lacp_strict` of a
//! later one. `aggregate_wait`, `wait_to_restore` and `lacp_lease` are this team's own.
//!
//! illumos `dladm create-aggr` says `-L active` and `-L passive` for
//! `lacp_active` on and off, `-T short` and `-T long` for `lacp_rate` fast and
//! slow; these words are taken, too. Its `-L off`, an aggregate that does not
//! speak LACP at all, is mode balance-xor; the kernel's `lacp_active off` is not
//! that, but `passive`.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_lacp::{AdSelect, LacpRate, lease};
use nicteam_wire::Mac;

/// What 802.3ad can be told; fields are the kernel's options of the same name
/// but for a prefix `lacp_` or `ad_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LacpOptions {
    /// Speak first, or only to a partner that speaks.
    pub active: bool,
    /// How often the partner is asked to speak.
    pub rate: LacpRate,
    /// Which aggregator is active, if there is a choice.
    pub select: AdSelect,
    /// Priority of the system, 1 to 65535; the lower number comes first. None: the mode's own ([`Config::actor_sys_prio`](crate::Config::actor_sys_prio)).
    pub actor_sys_prio: Option<u16>,
    /// Address of the system; `None`: the team's when its first member joins.
    pub actor_system: Option<Mac>,
    /// What keys have beside speed and duplex, 0 to 1023.
    pub user_port_key: u16,
    /// Collecting and distributing are switched together.
    pub coupled_control: bool,
    /// A member without a partner carries nothing, and counts for no carrier.
    pub strict: bool,
    /// Port priorities by device, where they are not [`LacpOptions::DEFAULT_PORT_PRIO`].
    pub actor_port_prio: BTreeMap<String, u16>,
    /// ARP and neighbour discovery go to every member that distributes.
    pub broadcast_neighbor: bool,
    /// How long a member waits for others before its aggregate forms, milliseconds.
    pub aggregate_wait_ms: u32,
    /// How long a member that was lost stands by once it is back, milliseconds.
    pub wait_to_restore_ms: u32,
    /// How long the aggregate is kept without the process of the team,
    /// milliseconds; 0: what [`nicteam_lacp::lease`] says of the rate.
    pub lease_ms: u32,
}

impl LacpOptions {
    /// A port's priority in 802.3ad where nothing else is said.
    pub const DEFAULT_PORT_PRIO: u16 = 255;

    /// How long the aggregate is kept without the process of the team.
    pub fn lease(&self) -> Duration {
        match self.lease_ms {
            0 => lease(self.rate),
            ms => Duration::from_millis(ms.into()),
        }
    }
}

impl Default for LacpOptions {
    fn default() -> LacpOptions {
        LacpOptions {
            active: true,
            rate: LacpRate::Slow,
            select: AdSelect::Stable,
            actor_sys_prio: None,
            actor_system: None,
            user_port_key: 0,
            coupled_control: true,
            strict: false,
            actor_port_prio: BTreeMap::new(),
            broadcast_neighbor: false,
            aggregate_wait_ms: AGGREGATE_WAIT_MS,
            wait_to_restore_ms: 0,
            lease_ms: 0,
        }
    }
}

/// `Aggregate_Wait_Time` of IEEE 802.1AX-2014, 6.4.4.
pub(crate) const AGGREGATE_WAIT_MS: u32 = 2000;
