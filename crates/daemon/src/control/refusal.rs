//! Why something was refused, in a form that travels.

use std::fmt;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Why something was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Refusal {
    /// What kind of reason it is.
    pub kind: RefusalKind,
    /// What was wrong, on what.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The error number that the kernel has for it, or gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
}

/// Kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// There is no such team (ENODEV).
    NoTeam,
    /// The team was not ended and its process is gone (ENODEV).
    NotRunning,
    /// Only root and the team's owner may (EPERM).
    NotPermitted,
    /// There is such a team, or such a member, already (EEXIST).
    Exists,
    /// The device belongs to somebody else (EBUSY).
    Busy,
    /// There is no such device, or no such member (ENODEV).
    NoDevice,
    /// No such option, or not this value (EINVAL).
    BadOption,
    /// The rules do not allow it now.
    NotNow,
    /// The machine or this build lacks something (EOPNOTSUPP).
    Missing,
    /// The other side is of another version (EPROTO).
    Version,
    /// The system, or the connection, failed.
    Failed,
}

impl Refusal {
    /// A refusal with the error number that its kind has.
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        Refusal { kind, message: message.into(), hint, errno: kind.errno().map(|errno| errno as i32) }
    }

    /// The system refused.
    pub(crate) fn system(operation: &str, error: &std::io::Error) -> Refusal {
        let message = format!("cannot {operation}: {error}");
        Refusal { errno: error.raw_os_error(), ..Refusal::new(RefusalKind::Failed, message, "") }
    }
}

impl RefusalKind {
    fn errno(self) -> Option<Errno> {
        match self {
            RefusalKind::NoTeam | RefusalKind::NotRunning | RefusalKind::NoDevice => Some(Errno::ENODEV),
            RefusalKind::NotPermitted => Some(Errno::EPERM),
            RefusalKind::Exists => Some(Errno::EEXIST),
            RefusalKind::Busy => Some(Errno::EBUSY),
            RefusalKind::BadOption => Some(Errno::EINVAL),
            RefusalKind::Missing => Some(Errno::EOPNOTSUPP),
            RefusalKind::Version => Some(Errno::EPROTO),
            RefusalKind::NotNow | RefusalKind::Failed => None,
        }
    }
}

impl fmt::Display for Refusal {
    /// Message and error number; the hint is beside it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.errno {
            // What the system said ends with its number already.
            Some(errno) if !self.message.contains("(os error ") => write!(f, " ({:?})", Errno::from_raw(errno)),
            _ => Ok(()),
        }
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Refusal {
        use nicteam_team::TeamError;
        let (kind, errno) = match error {
            Error::NoDevice { .. } | Error::NoMember { .. } => (RefusalKind::NoDevice, None),
            Error::Enslaved { .. } | Error::Member { .. } => (RefusalKind::Busy, None),
            Error::Running { .. } => (RefusalKind::Exists, None),
            Error::Team(TeamError::Duplicate(_)) => (RefusalKind::Exists, None),
            Error::Team(TeamError::Config(_)) => (RefusalKind::BadOption, None),
            // The kernel's BOND_OPTFLAG_NOSLAVES.
            Error::Team(TeamError::ModeNeedsNoMembers { .. }) => (RefusalKind::NotNow, Some(Errno::ENOTEMPTY)),
            Error::Team(TeamError::AddressesNeedNoMembers) => (RefusalKind::NotNow, Some(Errno::ENOTEMPTY)),
            Error::Team(TeamError::NoActiveMember(_)) => (RefusalKind::NotNow, Some(Errno::EACCES)),
            Error::Team(TeamError::NoBuckets(_) | TeamError::NotOpenVSwitch(_)) => {
                (RefusalKind::NotNow, Some(Errno::EOPNOTSUPP))
            }
            Error::Team(TeamError::NotUp { .. } | TeamError::NotEnabled { .. }) => {
                (RefusalKind::NotNow, Some(Errno::EINVAL))
            }
            Error::Team(TeamError::Full) => (RefusalKind::NotNow, Some(Errno::ENOSPC)),
            Error::NotEthernet { .. } | Error::Itself { .. } => (RefusalKind::NotNow, Some(Errno::EINVAL)),
            Error::LastMember { .. } => (RefusalKind::NotNow, None),
            Error::Team(TeamError::NoMember(_) | TeamError::NotAMember(_)) => (RefusalKind::NoDevice, None),
            Error::NoMembers(_) | Error::PrimaryNoMember { .. } => (RefusalKind::BadOption, None),
            Error::Dataplane(nicteam_dataplane::Error::Name(_)) => (RefusalKind::BadOption, None),
            Error::Dataplane(nicteam_dataplane::Error::Taken(_)) => (RefusalKind::Exists, None),
            Error::Dataplane(nicteam_dataplane::Error::Unavailable { .. }) => (RefusalKind::Missing, None),
            Error::QueuesNeedBpf(_) => (RefusalKind::Missing, None),
            Error::Forbidden(_) => (RefusalKind::NotPermitted, None),
            Error::System(source) => (RefusalKind::Failed, source.errno().map(Errno::from_raw)),
            Error::Dataplane(_) | Error::LongAlias { .. } | Error::Damaged { .. } => (RefusalKind::Failed, None),
            Error::DeviceGone(_) | Error::DeviceMoved(_) | Error::Ended(_) => (RefusalKind::NotRunning, None),
        };
        let words = error.to_string();
        let (message, own_hint) = words.split_once("; hint: ").unwrap_or((&words, ""));
        let hint = match error {
            Error::Team(error) => error.hint().unwrap_or_default(),
            _ => own_hint.to_owned(),
        };
        let refusal = Refusal::new(kind, message, hint);
        Refusal { errno: errno.map(|errno| errno as i32).or(refusal.errno), ..refusal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_keep_number_and_hint_apart() {
        let refusal = Refusal::from(&Error::Enslaved { device: "eth0".to_owned() });
        assert_eq!(refusal.to_string(), "`eth0` has a master already (EBUSY)");
        assert_eq!(refusal.hint.as_deref(), Some("`ip link set eth0 nomaster` frees it"));
        let system = nicteam_sys::Error::new("open x", std::io::Error::from_raw_os_error(1));
        let refusal = Refusal::from(&Error::from(system));
        assert_eq!(refusal.to_string(), "cannot open x: Operation not permitted (os error 1)");
        assert_eq!(refusal.errno, Some(1));
    }
}
