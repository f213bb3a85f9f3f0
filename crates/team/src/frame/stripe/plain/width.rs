//! Whether the width of a plain host is right: looked at once in a window.

use super::super::peer::Sender;
use super::super::senders::{Senders, WINDOW};
use super::hosts::{HOLD_NS, Host};
use crate::constants;

/// A trial of a width lasts at least so long, nanoseconds.
pub(super) const TRIAL: u64 = constants::PLAIN_TRIAL_NS;
/// A member is busy with so much of 1024 parts of a window.
const BUSY: u32 = constants::PLAIN_BUSY;
/// So long no width is tried at most after one gained nothing.
const HOLD_MOST_NS: u64 = constants::PLAIN_HOLD_MOST_NS;
/// Windows in a row that make a width that is not used a smaller one.
const STRIKES: u32 = constants::PLAIN_STRIKES;
/// All of a member's time.
const WHOLE: u64 = 1024;

/// What a host's members do.
struct Use {
    /// The rates of the proven ones together, and that of the next one; 0: there is none.
    capacity_mbps: u64,
    next_mbps: u64,
    /// Of the least busy one that is used.
    busy: u32,
    /// Of the least busy one of all, and its place among those that may be used.
    idle: (u32, usize),
}

impl Host {
    /// A frame left for it: its width and its home are looked at if a window, or a trial, is over.
    pub(super) fn judge(&mut self, members: &[Sender], senders: &Senders, now: u64) {
        let trial = TRIAL.max(2 * self.round_trip);
        let wanted = if self.width > self.proven { trial } else { WINDOW.as_nanos() as u64 };
        if members.is_empty() || now.saturating_sub(self.since) < wanted {
            return;
        }
        let has_queue = self.has_queue();
        let mbps = self.end_window(now);
        self.width = self.width.min(members.len());
        self.proven = self.proven.min(self.width);
        let of = self.look_at(members, senders);
        let (mut is_trial, is_busy) = (self.width > self.proven, of.busy >= BUSY);

        if is_trial && mbps * 4 >= of.capacity_mbps * 4 + of.next_mbps {
            (self.proven, self.hold) = (self.proven + 1, HOLD_NS);
            is_trial = self.width > self.proven;
        } else if is_trial && has_queue {
            return self.hold(self.proven, now);
        }
        let width = self.width as u64;
        let is_unused = has_queue && !is_busy && mbps * width < of.capacity_mbps * (width - 1);
        if !is_trial && width > 1 && is_unused {
            self.strikes += 1;
            if self.strikes >= STRIKES {
                self.hold(self.width - 1, now);
            }
            return;
        }
        self.strikes = 0;
        if !is_busy {
            return;
        }
        if width == 1 && of.is_better_elsewhere(mbps) {
            self.home = of.idle.1;
        } else if self.width < members.len() && now >= self.held_until && !(is_trial && has_queue) {
            self.width += 1;
        }
    }

    fn look_at(&self, members: &[Sender], senders: &Senders) -> Use {
        let busy = |sender: &Sender| senders.busy(sender.id).min(0xffff);
        let rate = |sender: &Sender| u64::from(sender.rate_mbps);
        let from_home = || self.from_home(members).map(|(_, sender)| sender);
        Use {
            capacity_mbps: from_home().take(self.proven).map(rate).sum(),
            next_mbps: from_home().nth(self.proven).map_or(0, rate),
            busy: from_home().take(self.width).map(busy).min().unwrap_or_default(),
            idle: members.iter().enumerate().map(|(at, sender)| (busy(sender), at)).min().unwrap_or_default(),
        }
    }

    /// So many members are used from now on, and no more is tried for a while, each time longer.
    fn hold(&mut self, width: usize, now: u64) {
        self.width = width.max(1);
        self.proven = self.proven.min(self.width);
        self.strikes = 0;
        self.held_until = now + self.hold;
        self.hold = (2 * self.hold).min(HOLD_MOST_NS);
    }
}

impl Use {
    /// True if others have a part of a host's only member that makes a difference, and another member has room for what
    /// it gets, Mbit/s.
    fn is_better_elsewhere(&self, mbps: u64) -> bool {
        let share = mbps * WHOLE / self.capacity_mbps.max(1);
        mbps > 0 && mbps * 10 < self.capacity_mbps * 8 && u64::from(self.idle.0) + share <= WHOLE
    }
}
