//! The transmit backlog of our members, and how busy they are.
//!
//! A member's transmit backlog lasts until it has sent what was given to it. Its *use* is how long a window's frames take on it, in
//! 1024 parts of that window: more than 1024 if it was given more than it can send. Windows follow one another; one ends with
//! the first frame to a plain host ([`super::plain`]) that leaves [`WINDOW`] after it began, so it is longer where little is sent.

use std::time::Duration;

use nicteam_machine::{MAX_MEMBERS, MemberId};

use super::limits::LEAD;

/// Over so long use is added up, at least.
pub(super) const WINDOW: Duration = Duration::from_nanos(nicteam_machine::constants::PLAIN_WINDOW_NS);

/// By place of our members, nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Senders {
    taken_until: [u64; MAX_MEMBERS],
    /// When the window began.
    since: u64,
    /// On each wire since then.
    used: [u64; MAX_MEMBERS],
    /// In the window before.
    busy: [u32; MAX_MEMBERS],
}

impl Senders {
    /// When a member's wire is free, `now` or later.
    pub(super) fn free_at(&self, member: MemberId, now: u64) -> u64 {
        now.max(self.taken_until[member.index()])
    }

    /// A frame leaves by a member, and takes so long on its wire.
    pub(super) fn send(&mut self, member: MemberId, wire_ns: u64, now: u64) {
        self.wait(member, wire_ns, now);
        self.used[member.index()] += wire_ns;
    }

    /// Ends the window if it is long enough.
    pub(super) fn end_window(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= WINDOW.as_nanos() as u64 {
            self.busy = self.used.map(|used| u32::try_from(used * 1024 / elapsed).unwrap_or(u32::MAX));
            (self.since, self.used) = (now, [0; MAX_MEMBERS]);
        }
    }

    /// A member's wire is free so much later.
    pub(super) fn wait(&mut self, member: MemberId, longer_ns: u64, now: u64) {
        let taken = &mut self.taken_until[member.index()];
        *taken = ((*taken).max(now) + longer_ns).min(now + LEAD.as_nanos() as u64);
    }

    /// A member's use in the window before, of 1024 parts.
    pub(super) fn busy(&self, member: MemberId) -> u32 {
        self.busy[member.index()]
    }
}

/// How long so many bytes take at this rate, nanoseconds.
pub(super) fn wire_ns(bytes: u32, rate_mbps: u32) -> u64 {
    u64::from(bytes) * 8000 / u64::from(rate_mbps.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn id(place: usize) -> MemberId {
        MemberId::new(place).unwrap()
    }

    #[test]
    fn frames_wait_for_one_another_up_to_the_lead() {
        let mut senders = Senders::default();
        assert_eq!(wire_ns(1250, 100), MS / 10);
        senders.send(id(1), 3 * MS, MS);
        senders.send(id(1), 3 * MS, 2 * MS);
        assert_eq!((senders.free_at(id(1), 2 * MS), senders.free_at(id(0), 2 * MS)), (7 * MS, 2 * MS));
        senders.send(id(1), 900 * MS, 2 * MS);
        assert_eq!(senders.free_at(id(1), 2 * MS), 102 * MS);
        assert_eq!(senders.free_at(id(1), 200 * MS), 200 * MS);
    }

    #[test]
    fn use_is_of_the_window_before() {
        let mut senders = Senders::default();
        senders.send(id(0), MS, 1000 * MS);
        senders.end_window(1000 * MS);
        for ms in 1001..=1019 {
            senders.send(id(0), MS / 2, ms * MS);
            senders.send(id(1), 2 * MS, ms * MS);
            senders.end_window(ms * MS);
        }
        assert!(senders.busy(id(0)) < 2, "the first window was long");
        senders.send(id(0), MS / 2, 1020 * MS);
        senders.end_window(1020 * MS);
        assert_eq!([0, 1, 2].map(|place| senders.busy(id(place))), [512, 38 * 1024 / 20, 0]);
        senders.wait(id(2), 50 * MS, 1021 * MS);
        senders.end_window(1060 * MS);
        assert_eq!([0, 1, 2].map(|place| senders.busy(id(place))), [0, 0, 0], "what waits was not sent");
    }
}
