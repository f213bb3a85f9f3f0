//! Options about what a change of the active member entails, and who becomes it.
//!
//! Linux drivers/net/bonding/bond_options.c, `bond_option_fail_over_mac_set`,
//! `bond_option_all_slaves_active_set`, `bond_option_resend_igmp_set`,
//! `bond_option_prio_set`, `bond_option_queue_id_set`, `bond_option_active_slave_set`,
//! `bond_option_use_carrier_set`.

use crate::names::choice;

/// Which addresses active-backup members and their team have (`fail_over_mac`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOverMac {
    /// 0: every member has the team's.
    #[default]
    None,
    /// 1: every member keeps its own, and the team has the active member's.
    Active,
    /// 2: the active member has the team's, the others their own: at a change
    /// the old and the new active member swap.
    Follow,
}

impl FailOverMac {
    /// Every choice, by the kernel's number.
    pub const ALL: [FailOverMac; 3] = [FailOverMac::None, FailOverMac::Active, FailOverMac::Follow];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            FailOverMac::None => "none",
            FailOverMac::Active => "active",
            FailOverMac::Follow => "follow",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

choice!(FailOverMac, "fail_over_mac");

/// Which member is to become the active one (`active_slave`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActiveSlave {
    /// The member that would be chosen if none were active (an empty text).
    Best,
    /// The member with this device name.
    Member(String),
}

/// The highest `queue_id`: as many queues as a bond and a team device have
/// (the kernel's `tx_queues`, 16 by default).
pub const MAX_QUEUE_ID: u16 = 16;
