//! A change that a team refuses.

use nicteam_machine::MemberId;
use nicteam_options::{ConfigError, Mode};

use crate::link_state::LinkState;

/// A change that the team refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// The configuration is not one the kernel would take.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The team has as many members as it can have.
    #[error("a team has at most {} members", nicteam_machine::MAX_MEMBERS)]
    Full,
    /// A member of this name is in the team.
    #[error("`{0}` is a member already")]
    Duplicate(String),
    /// No member has this place.
    #[error("no member at place {0}")]
    NoMember(MemberId),
    /// No member has this device name.
    #[error("`{0}` is no member of the team")]
    NotAMember(String),
    /// Two modes that cannot follow each other while frames flow.
    #[error("mode {from} cannot become {to} while the team has members")]
    ModeNeedsNoMembers {
        /// The mode now.
        from: Mode,
        /// The mode that was asked for.
        to: Mode,
    },
    /// Members would need other addresses (`BOND_OPTFLAG_NOSLAVES` of `fail_over_mac`).
    #[error("`fail_over_mac` of a team with members cannot change, nor the mode while it is set")]
    AddressesNeedNoMembers,
    /// In this mode no member is the active one.
    #[error("mode {0} has no active member: all that are up carry traffic")]
    NoActiveMember(Mode),
    /// The mode has no buckets that could be given to members.
    #[error("mode {0} has no buckets to migrate")]
    NoBuckets(Mode),
    /// A member that buckets cannot be given to.
    #[error("`{name}` is not enabled: it is {state}")]
    NotEnabled {
        /// Its device.
        name: String,
        /// Its state.
        state: LinkState,
    },
    /// Members are enabled and disabled by hand in Open vSwitch's modes alone.
    #[error("mode {0} is none of Open vSwitch's: its members cannot be enabled or disabled by hand")]
    NotOpenVSwitch(Mode),
    /// A member that cannot become the active one.
    #[error("`{name}` cannot become active: it is {state}")]
    NotUp {
        /// Its device.
        name: String,
        /// Its state.
        state: LinkState,
    },
}

impl TeamError {
    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            TeamError::Config(error) => ConfigError::hint(error),
            TeamError::ModeNeedsNoMembers { .. } => {
                Some("take the team down and add it anew with the other mode".to_owned())
            }
            TeamError::AddressesNeedNoMembers => Some("take the team down and add it anew".to_owned()),
            TeamError::NotUp { .. } => Some("a member can become the active one once it is up".to_owned()),
            TeamError::NoBuckets(_) => Some("buckets migrate in mode ovs-balance-slb".to_owned()),
            TeamError::NotEnabled { .. } => Some("a bucket can migrate to a member that may send".to_owned()),
            TeamError::NotOpenVSwitch(_) => Some("set its device down, or remove it from the team".to_owned()),
            TeamError::NoActiveMember(_) => Some("set mode=active-backup, or set xmit_hash_policy".to_owned()),
            TeamError::Full | TeamError::Duplicate(_) | TeamError::NoMember(_) | TeamError::NotAMember(_) => None,
        }
    }
}
