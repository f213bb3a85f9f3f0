//! Carrier follows from one end of an impaired link to the other.
//!
//! A veth end has carrier while both of its ends are up. So an end that is set
//! down takes the carrier from the near end of its cable; the near end of the
//! other cable is then set down, which takes the carrier from the link's other
//! end. Never are both near ends set down: by the one that stays up the
//! return of its end is seen.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use nicteam_netlink::{Change, Monitor, Netlink};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;

use super::link::Link;
use crate::error::Failure;

/// Watches the near ends.
pub(super) struct Follower {
    monitor: Monitor,
    netlink: Netlink,
    links: Vec<(Arc<Link>, Option<Cut>)>,
}

/// A link of which an end is down: which end of `RelaySpec::ends`. The near end of the other one's cable is set down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut(usize);

/// What is to be done about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// What holds afterwards.
    cut: Option<Cut>,
    /// The near end that is to be set: which end, up or down.
    set: (usize, bool),
}

impl Follower {
    /// In the caller's namespace, with all links whole.
    pub fn open(links: &[Arc<Link>]) -> Result<Follower, Failure> {
        let links = links.iter().map(|link| (link.clone(), None)).collect();
        Ok(Follower { monitor: Monitor::open()?, netlink: Netlink::open()?, links })
    }

    /// Until `stop` can be read.
    pub fn run(mut self, stop: &EventFd) -> Result<(), Failure> {
        (0..self.links.len()).try_for_each(|place| self.follow(place))?;
        loop {
            let mut ready =
                [PollFd::new(self.monitor.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ready, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            if ready[1].any().unwrap_or(true) {
                return Ok(());
            }
            for change in self.monitor.changes()? {
                let concerned = |link: &Link| match &change {
                    Change::Link(changed) => link.spec.ends.iter().any(|end| end.near_index == changed.index),
                    Change::Lost => true,
                    Change::LinkGone(_) | Change::Addresses(_) | Change::Filters(_) => false,
                };
                let places: Vec<usize> =
                    (0..self.links.len()).filter(|place| concerned(&self.links[*place].0)).collect();
                places.into_iter().try_for_each(|place| self.follow(place))?;
            }
        }
    }

    /// Does what is to be done about a link, by what its ends are now.
    fn follow(&mut self, place: usize) -> Result<(), Failure> {
        let (link, cut) = &mut self.links[place];
        let mut carrier = [false; 2];
        for (carrier, end) in carrier.iter_mut().zip(&link.spec.ends) {
            // A cable that is gone is taken down together with the lab.
            let Some(near) = self.netlink.link_at(end.near_index)? else { return Ok(()) };
            *carrier = near.up && near.carrier;
        }
        let Some(step) = step(*cut, carrier) else { return Ok(()) };
        *cut = step.cut;
        link.is_cut.store(step.cut.is_some(), Relaxed);
        let (end, up) = step.set;
        Ok(self.netlink.set_up(link.spec.ends[end].near_index, up)?)
    }
}

/// What is to be done, by which near ends have carrier.
fn step(cut: Option<Cut>, carrier: [bool; 2]) -> Option<Step> {
    match cut {
        None => {
            let down = carrier.iter().position(|carrier| !carrier)?;
            Some(Step { cut: Some(Cut(down)), set: (1 - down, false) })
        }
        Some(Cut(down)) if carrier[down] => Some(Step { cut: None, set: (1 - down, true) }),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link between two ends, with near ends as the follower sets them.
    struct World {
        ends_up: [bool; 2],
        near_up: [bool; 2],
        cut: Option<Cut>,
    }

    impl World {
        fn carrier(&self) -> [bool; 2] {
            [0, 1].map(|end| self.ends_up[end] && self.near_up[end])
        }

        /// Lets the follower act until it has nothing to do.
        fn settle(&mut self) {
            for _ in 0..4 {
                let Some(step) = step(self.cut, self.carrier()) else { return };
                self.cut = step.cut;
                self.near_up[step.set.0] = step.set.1;
            }
            panic!("it does not come to rest: {:?} {:?}", self.ends_up, self.near_up);
        }
    }

    /// Whatever happens in whatever order, an end that is up has carrier if and
    /// only if the other is up.
    #[test]
    fn every_sequence_of_six_changes_ends_with_the_right_carrier() {
        for sequence in 0..4_usize.pow(6) {
            let mut world = World { ends_up: [true; 2], near_up: [true; 2], cut: None };
            for change in 0..6 {
                let choice = sequence / 4_usize.pow(change) % 4;
                // One end, or both before anybody looks.
                match choice {
                    0 | 1 => world.ends_up[choice] ^= true,
                    2 => world.ends_up = world.ends_up.map(|up| !up),
                    _ => {}
                }
                world.settle();
                for end in [0, 1].into_iter().filter(|end| world.ends_up[*end]) {
                    assert_eq!(world.carrier()[end], world.ends_up[1 - end], "sequence {sequence}, change {change}");
                }
            }
        }
    }
}
