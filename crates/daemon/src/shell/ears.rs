//! Frames of members for the control side: a listening socket a member, while
//! the team wants any.

use std::os::fd::{AsFd, BorrowedFd};

use nicteam_sys::listen::{Listener, Protocols};
use nicteam_team::{Listen, MemberId, Traffic};

use super::Shell;
use crate::first::FirstError;

/// The most frames taken from a member before the rest of the team has its turn.
const AT_ONCE: usize = 64;

/// The listening sockets.
#[derive(Debug, Default)]
pub(super) struct Ears {
    wanted: Listen,
    /// By member and device; none where it could not be opened.
    open: Vec<(MemberId, u32, Option<Listener>)>,
    /// Memory for a frame.
    frame: Vec<u8>,
}

impl Ears {
    /// What becomes readable when a member has heard something.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.iter().filter_map(|(_, _, listener)| listener.as_ref().map(AsFd::as_fd))
    }
}

impl Shell {
    /// Opens and closes sockets, so that the members hear what the team wants.
    /// One that cannot be opened is tried again when the team wants something else.
    pub(super) fn adjust_ears(&mut self) {
        let wanted = self.team.listens();
        if wanted != self.ears.wanted {
            self.ears.wanted = wanted;
            self.ears.open.clear();
        }
        let is_member =
            |id: MemberId, index: u32| self.members.iter().any(|m| (m.port.id, m.port.index) == (id, index));
        self.ears.open.retain(|&(id, index, _)| is_member(id, index));
        if wanted == Listen::default() {
            return;
        }
        let Listen { slow, hellos, arp, neighbours } = wanted;
        let mut first = FirstError::default();
        for port in self.members.iter().map(|member| &member.port) {
            if self.ears.open.iter().any(|&(id, _, _)| id == port.id) {
                continue;
            }
            let listener = Listener::open(port.index, Protocols { slow, hellos, arp, neighbours });
            let listener = listener.map_err(|error| first.note(Err(error))).ok();
            self.ears.open.push((port.id, port.index, listener));
        }
        self.tell(first.result());
    }

    /// Hands on what the members have heard.
    pub(super) fn hear(&mut self) {
        let mut ears = std::mem::take(&mut self.ears);
        for (id, _, listener) in &ears.open {
            let Some(listener) = listener else { continue };
            for _ in 0..AT_ONCE {
                match listener.receive(&mut ears.frame) {
                    Ok(true) => {
                        self.team.handle_frame(*id, &ears.frame, self.clock.now());
                        self.drain();
                    }
                    Ok(false) => break,
                    Err(error) => {
                        self.tell(Err(error));
                        break;
                    }
                }
            }
        }
        self.ears = ears;
    }

    /// Tells the team what each member carried, standby members included.
    pub(super) fn read_traffic(&mut self) {
        let counters = match self.dataplane.counters() {
            Ok(counters) => counters,
            Err(error) => {
                self.tell(Err(error));
                Vec::new()
            }
        };
        let traffic: Vec<(MemberId, Traffic)> = counters
            .into_iter()
            .map(|(id, of)| (id, Traffic { tx_frames: of.tx_frames, rx_frames: of.rx_frames + of.rx_drops }))
            .collect();
        self.team.handle_traffic(&traffic, self.clock.now());
        self.drain();
    }
}
