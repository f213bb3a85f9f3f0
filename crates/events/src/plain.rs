//! What happens to members that send to hosts that do not stripe.

use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

/// A member is left, or used again, towards hosts that do not stripe. `Display` says why, without the member's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainEvent {
    /// No answer comes back by it, and by others answers do.
    Silent {
        /// Which.
        member: MemberId,
        /// The host that was asked.
        host: Mac,
        /// Its address.
        ip: Ipv4Addr,
        /// Probes in a row that were not answered.
        missed: u8,
        /// Other members by which the host answered all of these.
        answered: u8,
    },
    /// Answers come back by it again, or there is no host or no other member any more by which its silence could be judged.
    Heard {
        /// Which.
        member: MemberId,
        /// How long it was left.
        silent_for: Duration,
        /// Probes in a row that were answered; 0: nobody could be asked.
        answered: u8,
    },
    /// More of its segments had to be sent again than of the others'.
    Lossy {
        /// Which.
        member: MemberId,
        /// Segments that it sent in the last second or so.
        sent: u64,
        /// Of these sent again.
        resent: u64,
        /// The same of all other members together.
        others_sent: u64,
        /// The same.
        others_resent: u64,
        /// How long it is left.
        left_for: Duration,
    },
    /// It was left because it was lossy, and is tried again.
    Tried {
        /// Which.
        member: MemberId,
    },
}

impl PlainEvent {
    /// Of whom.
    pub fn member(&self) -> MemberId {
        match self {
            PlainEvent::Silent { member, .. }
            | PlainEvent::Heard { member, .. }
            | PlainEvent::Lossy { member, .. }
            | PlainEvent::Tried { member } => *member,
        }
    }

    /// What happened, in words that follow the member's name.
    pub fn words(&self) -> String {
        match self {
            PlainEvent::Silent { host, ip, missed, answered, .. } => format!(
                "is silent: {ip} ({host}) answered {missed} ARP probes in a row by {}, none by it",
                members(*answered)
            ),
            PlainEvent::Heard { silent_for, answered: 0, .. } => {
                format!("is used again after {:.1} s: no answer is left to check it with", silent_for.as_secs_f64())
            }
            PlainEvent::Heard { silent_for, answered, .. } => {
                format!(
                    "is used again after {:.1} s: {answered} ARP probes in a row were answered",
                    silent_for.as_secs_f64()
                )
            }
            PlainEvent::Lossy { sent, resent, others_sent, others_resent, left_for, .. } => format!(
                "loses frames to hosts without nicteam: {resent} of {sent} segments were sent again, of the other members' {others_resent} of {others_sent}; it sends none to them for {} s",
                left_for.as_secs()
            ),
            PlainEvent::Tried { .. } => "sends to hosts without nicteam again, after it lost frames".to_owned(),
        }
    }

    /// True if it concerns what balance-alb does, too.
    pub fn is_of_silence(&self) -> bool {
        matches!(self, PlainEvent::Silent { .. } | PlainEvent::Heard { .. })
    }
}

fn members(count: u8) -> String {
    if count == 1 { "another member".to_owned() } else { format!("{count} other members") }
}
