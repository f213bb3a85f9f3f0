//! Whether the width of a plain host is right: looked at once in a window.

use nicteam_machine::constants;

use super::super::peer::Sender;
use super::super::senders::{Senders, WINDOW};
use super::hosts::{HOLD_NS, Host};

/// A window of a trial lasts at least so long, nanoseconds.
const TRIAL: u64 = constants::PLAIN_TRIAL_NS;
/// And for so many round trips: one connection measures one at a time.
const TRIPS: u64 = constants::PLAIN_WINDOW_TRIPS;
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
    /// The rate of the first one.
    home_mbps: u64,
    /// How many of the used ones gain something: what those before carry, and a fourth of what each carries itself, is delivered.
    worth: usize,
    /// Of the least busy one that is used.
    busy: u32,
    /// Of the least busy one of all, and its place among those that may be used.
    idle: (u32, usize),
}

impl Host {
    /// A frame left for it: its width and its home are looked at if a window, or a trial, is over.
    pub(super) fn judge(&mut self, members: &[Sender], senders: &Senders, now: u64) {
        let least = if self.width > self.proven { TRIAL } else { WINDOW.as_nanos() as u64 };
        if members.is_empty() || now.saturating_sub(self.since) < least.max(TRIPS * self.round_trip) {
            return;
        }
        let has_queue = self.has_queue();
        let mbps = self.end_window(now);
        self.width = self.width.min(members.len());
        self.proven = self.proven.min(self.width);
        let of = self.look_at(members, senders, mbps);
        let is_busy = of.busy >= BUSY;
        if of.worth > self.proven {
            (self.proven, self.hold) = (of.worth, HOLD_NS);
        }
        let is_trial = self.width > self.proven;
        if is_trial && has_queue {
            return self.hold(self.proven, now);
        }
        if !is_trial && has_queue && !is_busy && of.worth < self.width {
            self.strikes += 1;
            if self.strikes >= STRIKES {
                self.hold(of.worth, now);
            }
            return;
        }
        self.strikes = 0;
        if is_busy && self.width == 1 && of.is_better_elsewhere(mbps) {
            self.home = of.idle.1;
        } else if is_busy && self.width < members.len() && now >= self.held_until {
            (self.width, self.trial) = (self.width + 1, now);
        }
    }

    fn look_at(&self, members: &[Sender], senders: &Senders, mbps: u64) -> Use {
        let busy = |sender: &Sender| senders.busy(sender.id).min(0xffff);
        let rate = |sender: &Sender| u64::from(sender.rate_mbps);
        let used = || self.in_turn(members).map(|(_, sender)| sender).take(self.width);
        let (mut before, mut worth) = (0, 0);
        for rate_mbps in used().map(rate) {
            worth += usize::from(mbps * 4 >= before * 4 + rate_mbps);
            before += rate_mbps;
        }
        Use {
            home_mbps: used().next().map_or(0, rate),
            worth: worth.max(1),
            busy: used().map(busy).min().unwrap_or_default(),
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
        let share = mbps * WHOLE / self.home_mbps.max(1);
        mbps > 0 && mbps * 10 < self.home_mbps * 8 && u64::from(self.idle.0) + share <= WHOLE
    }
}
