//! The largest packet that passes, by as few waits for an answer as possible.
//!
//! A packet that is lost costs a wait, one that passes nothing; so many sizes are asked at once, and the usual ones
//! first. What is larger than a packet that was lost, and smaller than one that passed, was lost by chance: sizes are
//! taken as passing up to a bound.

use std::net::IpAddr;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its answer came; in pieces of this many bytes at most, if in pieces.
    Answered {
        /// IP packet of the largest piece, bytes.
        largest_piece: Option<u32>,
    },
    /// Nothing came.
    Silent,
    /// A host or router reports that it is too large.
    TooBig {
        /// Its address; none: this host.
        from: Option<IpAddr>,
        /// The largest that he passes on, bytes; 0: he did not say.
        mtu: u32,
    },
}

/// Asks with packets of several sizes at once.
pub trait Ask {
    /// What it cannot go on with.
    type Error;

    /// What became of each, once every answer is there or it is too late for more.
    ///
    /// # Errors
    /// It cannot ask.
    fn ask(&mut self, sizes: &[u32]) -> Result<Vec<Outcome>, Self::Error>;
}

/// The bounds between which the largest size lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    passes: u32,
    fails: u32,
}

/// Packets in one round of questions.
const AT_ONCE: usize = 16;
/// How often a size is asked before it counts as failing.
const TRIES: usize = 3;
/// MTUs that are met, bytes, and the next sizes, where the search then ends: of the Internet's old minimum, IPv6,
/// tunnels, PPPoE, Ethernet, Ethernet with a tag (veth and many NICs take its four bytes at any time), baby giants,
/// jumbo frames.
const USUAL: [u32; 14] = [576, 1280, 1400, 1450, 1492, 1500, 1504, 1600, 2000, 4000, 8000, 8996, 9000, 9004];

impl Search {
    /// One size is known to pass, a larger one to fail.
    pub fn new(passes: u32, fails: u32) -> Search {
        Search { passes, fails: fails.max(passes + 1) }
    }

    /// The largest that passes, once it is known.
    pub fn found(&self) -> Option<u32> {
        (self.fails - self.passes == 1).then_some(self.passes)
    }

    /// What to ask next, the smallest first; with the usual sizes as long as these lie between.
    pub fn sizes(&self) -> Vec<u32> {
        let between = |size: &u32| self.passes < *size && *size < self.fails;
        let mut sizes: Vec<u32> = USUAL.into_iter().flat_map(|size| [size, size + 1]).filter(between).collect();
        let gap = self.fails - self.passes;
        if sizes.len() < AT_ONCE {
            let parts = (AT_ONCE - sizes.len()) as u32 + 1;
            let even = |part| self.passes + (u64::from(gap) * u64::from(part) / u64::from(parts)) as u32;
            sizes.extend((1..parts).map(even).filter(between));
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A packet of this size passed.
    pub fn passed(&mut self, size: u32) {
        self.passes = self.passes.max(size);
        self.fails = self.fails.max(self.passes + 1);
    }

    /// One of this size was lost, as often as it was tried.
    pub fn failed(&mut self, size: u32) {
        if size > self.passes {
            self.fails = self.fails.min(size);
        }
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The largest size that passed, bytes.
    pub largest: u32,
    /// The largest piece in which an answer came.
    pub largest_piece: Option<u32>,
    /// The router that refused a larger one, and the largest that it forwards; none: no router did. Refusals of this
    /// host do not count.
    pub refused: Option<(IpAddr, u32)>,
}

/// Finds the largest size that passes, up to `wanted`; `passes` is known to.
///
/// # Errors
/// It cannot ask.
pub fn largest<A: Ask>(ask: &mut A, passes: u32, wanted: u32) -> Result<Found, A::Error> {
    let mut found = Found { largest: passes, ..Found::default() };
    let mut search = Search::new(passes, wanted.max(passes) + 1);
    if wanted > passes && tried(ask, &[wanted], &mut search, &mut found)? {
        // All of it passes.
        return Ok(Found { largest: wanted, ..found });
    }
    search.failed(wanted);
    while search.found().is_none() {
        let mut sizes = search.sizes();
        // The router that refused knows the size.
        let told = found.refused.map(|(_, mtu)| mtu).filter(|mtu| search.passes < *mtu && *mtu < search.fails);
        sizes.extend(told.into_iter().flat_map(|mtu| [mtu, mtu + 1]).filter(|size| *size < search.fails));
        sizes.sort_unstable();
        sizes.dedup();
        tried(ask, &sizes, &mut search, &mut found)?;
    }
    Ok(Found { largest: search.passes, ..found })
}

/// Asks with all of these sizes, again with the smallest that failed; true if the largest passed.
fn tried<A: Ask>(ask: &mut A, sizes: &[u32], search: &mut Search, found: &mut Found) -> Result<bool, A::Error> {
    let mut asked = sizes.to_vec();
    for last in (0..TRIES).rev() {
        for (&size, outcome) in asked.iter().zip(ask.ask(&asked)?) {
            match outcome {
                Outcome::Answered { largest_piece } => {
                    search.passed(size);
                    found.largest_piece = found.largest_piece.max(largest_piece);
                }
                Outcome::TooBig { from, mtu } => {
                    search.failed(size);
                    found.refused = from.map(|from| (from, mtu)).or(found.refused);
                }
                Outcome::Silent if last == 0 => search.failed(size),
                Outcome::Silent => {}
            }
        }
        let open = |size: &&u32| search.passes < **size && **size < search.fails;
        // Those above it fail all the more.
        asked = asked.iter().filter(open).take(1).copied().collect();
        if asked.is_empty() {
            break;
        }
    }
    Ok(sizes.last().is_some_and(|size| *size <= search.passes))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// A path that passes so much, refuses or swallows what is larger, and loses packets by chance.
    struct Path {
        largest: u32,
        refuses: bool,
        /// Every so manieth is lost; 0: none.
        loses: usize,
        asked: usize,
        rounds: usize,
    }

    impl Ask for Path {
        type Error = Infallible;

        fn ask(&mut self, sizes: &[u32]) -> Result<Vec<Outcome>, Infallible> {
            self.rounds += 1;
            assert!(sizes.len() <= 32 && sizes.is_sorted(), "{sizes:?}");
            let outcome = |size: &u32| {
                self.asked += 1;
                let lost = self.loses > 0 && self.asked.is_multiple_of(self.loses);
                match *size <= self.largest {
                    _ if lost => Outcome::Silent,
                    true => Outcome::Answered { largest_piece: (*size > 1500).then_some(1500) },
                    false if self.refuses => Outcome::TooBig { from: Some([10, 0, 0, 9].into()), mtu: self.largest },
                    false => Outcome::Silent,
                }
            };
            Ok(sizes.iter().map(outcome).collect())
        }
    }

    fn path(largest: u32) -> Path {
        Path { largest, refuses: false, loses: 0, asked: 0, rounds: 0 }
    }

    #[test]
    fn a_path_that_passes_all_costs_one_question() {
        let mut whole = path(9000);
        assert_eq!(
            largest(&mut whole, 84, 9000),
            Ok(Found { largest: 9000, largest_piece: Some(1500), refused: None })
        );
        assert_eq!((whole.asked, whole.rounds), (1, 1));
        assert_eq!(largest(&mut path(9000), 84, 84).map(|found| found.largest), Ok(84), "nothing to find");
    }

    #[test]
    fn the_usual_sizes_are_found_at_once() {
        for size in USUAL.into_iter().filter(|size| *size < 9000) {
            let mut path = path(size);
            assert_eq!(largest(&mut path, 84, 9000).map(|found| found.largest), Ok(size));
            assert!(path.rounds <= 2 * TRIES, "{size}: {} rounds", path.rounds);
        }
    }

    #[test]
    fn who_refuses_is_believed_and_tried() {
        let mut path = Path { refuses: true, ..path(1437) };
        let router = Some(([10, 0, 0, 9].into(), 1437));
        assert_eq!(largest(&mut path, 84, 9000), Ok(Found { largest: 1437, largest_piece: None, refused: router }));
        assert_eq!(path.rounds, 2);
    }

    proptest! {
        #[test]
        fn any_size_is_found(size in 84_u32..9000, refuses: bool) {
            let mut path = Path { refuses, ..path(size) };
            prop_assert_eq!(largest(&mut path, 84, 9000).map(|found| found.largest), Ok(size));
            prop_assert!(path.rounds <= 5 * TRIES, "{} rounds", path.rounds);
        }

        #[test]
        fn a_path_that_loses_some_is_found_as_well(size in 84_u32..9000, loses in 5_usize..50) {
            let mut path = Path { loses, ..path(size) };
            prop_assert_eq!(largest(&mut path, 84, 9000).map(|found| found.largest), Ok(size));
        }
    }
}
