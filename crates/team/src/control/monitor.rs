//! A member's link over time: `miimon`, `updelay`, `downdelay`.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_miimon_inspect` and `bond_miimon_commit`. Two differences, both because
//! the team also hears of links between two readings: a delay is kept to the nanosecond (the kernel rounds it down to
//! whole `miimon` intervals), and what the kernel decides at the next reading is decided at once.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_events::LinkState;
use nicteam_machine::{MemberId, MemberLink, Time, state};

use crate::{Config, TimerReason};

/// The members, by place.
pub(super) type Members = BTreeMap<MemberId, Member>;

/// What the control side keeps of a member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its device.
    pub(super) name: String,
    /// What the operating system said last.
    pub(super) link: MemberLink,
    /// LACP lets it send; false in Open vSwitch's modes alone, where its state follows from that, too.
    pub(super) may_enable: bool,
    /// What follows from it.
    pub(super) state: LinkState,
    /// When it entered this state.
    pub(super) since: Time,
    /// How often it went down, also while it was coming back.
    pub(super) link_failures: u32,
}

state!(struct Member { name, link, may_enable, state, since, link_failures });

impl Member {
    /// True if the team counts on it.
    pub(super) fn is_live(&self) -> bool {
        is_live(self.state)
    }

    /// True if it is one that the kernel's hash modes send by (`bond_slave_can_tx`): one without carrier is not,
    /// although its `downdelay` runs.
    pub(super) fn is_usable(&self) -> bool {
        self.state == LinkState::Up && self.link.carrier
    }

    /// The state that follows from the link. `usable` says whether the team has
    /// a member to send by; without one `updelay` does not count.
    pub(super) fn next_state(&self, config: &Config, usable: bool, now: Time) -> LinkState {
        let over = |delay_ms: u32| now.since(self.since) >= millis(delay_ms);
        let updelay_ms = if usable { config.updelay_ms } else { 0 };
        match (self.state, self.link.carrier && self.may_enable) {
            (state, _) if config.miimon_ms == 0 => state,
            (LinkState::Up | LinkState::Fail, true) => LinkState::Up,
            (LinkState::Up, false) if config.downdelay_ms > 0 => LinkState::Fail,
            (LinkState::Fail, false) if !over(config.downdelay_ms) => LinkState::Fail,
            (LinkState::Down, true) if updelay_ms > 0 => LinkState::Back,
            (LinkState::Back, true) if !over(updelay_ms) => LinkState::Back,
            (_, true) => LinkState::Up,
            (_, false) => LinkState::Down,
        }
    }

    /// When the link has to be looked at again because a delay ends, and why.
    pub(super) fn delay(&self, id: MemberId, config: &Config) -> Option<(Time, TimerReason)> {
        match self.state {
            _ if config.miimon_ms == 0 => None,
            LinkState::Up | LinkState::Down => None,
            LinkState::Back => Some((self.since + millis(config.updelay_ms), TimerReason::UpDelay(id))),
            LinkState::Fail => Some((self.since + millis(config.downdelay_ms), TimerReason::DownDelay(id))),
        }
    }
}

/// The state of a member that joins.
pub(super) fn first_state(config: &Config, link: MemberLink, usable: bool) -> LinkState {
    match link.carrier {
        carrier if config.arp.is_on() => {
            if carrier {
                LinkState::Up
            } else {
                LinkState::Down
            }
        }
        _ if config.miimon_ms == 0 => LinkState::Up,
        false => LinkState::Down,
        true if config.updelay_ms > 0 && usable => LinkState::Back,
        true => LinkState::Up,
    }
}

/// True if the team counts on a member in this state.
pub(super) fn is_live(state: LinkState) -> bool {
    matches!(state, LinkState::Up | LinkState::Fail)
}

/// So many milliseconds.
pub(super) fn millis(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}
