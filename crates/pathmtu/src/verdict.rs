//! What follows from the answers.

use std::net::IpAddr;

use serde::Serialize;

/// What was found out. Sizes are of IP packets, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// MTU of this host's device, or of its route.
    pub own_mtu: u32,
    /// What the path is to carry.
    pub wanted: u32,
    /// The largest answered echo in one piece, of `wanted` and `own_mtu` at most.
    pub whole: u32,
    /// The router on the way that refused a larger one, and the largest that it forwards (0: not reported).
    pub refused: Option<(IpAddr, u32)>,
    /// Long questions with short answers.
    pub there: There,
    /// Echoes that this host cut into small pieces.
    pub back: Back,
}

/// What questions with short answers say of the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    /// There was no need to ask: whole echoes of all sizes passed.
    NotAsked,
    /// The host answers none, not even a short one.
    Unknown,
    /// The largest that was answered.
    Largest(u32),
}

/// What echoes cut into small pieces say of the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// Not even one of a size that passed in one piece was answered: a device drops fragments.
    Unknown,
    /// What was answered.
    Answered {
        /// The largest that was.
        largest: u32,
        /// The largest that was tried.
        tried: u32,
        /// The largest piece that an answer came in; none: answers came whole.
        piece: Option<u32>,
    },
}

/// What is known of both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The way there.
    pub there: OneWay,
    /// The way back.
    pub back: OneWay,
    /// MTU of the other host's device as its pieces show it, to within seven bytes below; none: it sent none.
    pub other_mtu: Option<u32>,
}

/// What one direction passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum OneWay {
    /// Packets of this size, the largest that was tried or that the other host sends.
    Passes {
        /// Bytes.
        bytes: u32,
    },
    /// Packets of this size and none larger, though larger ones are sent.
    Limited {
        /// Bytes.
        bytes: u32,
        /// By what.
        by: Limiter,
    },
    /// It may be this direction or the other one, or both, that passes no more than this.
    Unknown {
        /// Bytes.
        bytes: u32,
    },
}

impl OneWay {
    /// Whether packets are lost for their size, for all that is known.
    pub fn is_limited(&self) -> bool {
        matches!(self, OneWay::Limited { .. })
    }
}

/// What keeps larger packets from passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Limiter {
    /// This host's own MTU.
    ThisHost,
    /// The other host's own MTU, as its pieces show.
    OtherHost,
    /// A router that says so, as it has to.
    Router {
        /// Its address.
        address: IpAddr,
        /// The largest that it passes on, bytes; 0: it did not say.
        mtu: u32,
    },
    /// Something that says nothing: a black hole.
    BlackHole,
}

/// What a device takes beyond its MTU where it leaves room for a VLAN tag, bytes.
const TAG: u32 = 4;
/// Pieces carry multiples of eight bytes, so the MTU may be this much more than the largest.
const ROUNDED: u32 = 7;

/// What follows from what was found out.
pub fn judge(evidence: &Evidence) -> Verdict {
    let (there, back) = (way_there(evidence), way_back(evidence));
    Verdict { there, back, other_mtu: piece(evidence) }
}

fn way_there(evidence: &Evidence) -> OneWay {
    let Evidence { own_mtu, wanted, whole, refused, .. } = *evidence;
    let tried = wanted.min(own_mtu);
    if whole >= tried {
        let passes = OneWay::Passes { bytes: whole };
        return if wanted > own_mtu { OneWay::Limited { bytes: whole, by: Limiter::ThisHost } } else { passes };
    }
    if let Some((address, mtu)) = refused {
        // It is our packet that he refuses.
        return OneWay::Limited { bytes: whole, by: Limiter::Router { address, mtu } };
    }
    let limited = |bytes| {
        // Its device takes in what it sends, and perhaps a tag more.
        let other = piece(evidence).is_some_and(|piece| (piece..=piece + ROUNDED + TAG).contains(&bytes));
        OneWay::Limited { bytes, by: if other { Limiter::OtherHost } else { Limiter::BlackHole } }
    };
    match (evidence.there, evidence.back) {
        (There::Largest(largest), _) if largest >= tried => OneWay::Passes { bytes: largest },
        (There::Largest(largest), _) => limited(largest.max(whole)),
        // The answer came, so it is the question in one piece that did not arrive.
        (_, Back::Answered { largest, .. }) if largest > whole => limited(whole),
        _ => OneWay::Unknown { bytes: whole },
    }
}

fn way_back(evidence: &Evidence) -> OneWay {
    let Evidence { own_mtu, wanted, whole, .. } = *evidence;
    let by =
        |bytes: u32| if (own_mtu..=own_mtu + TAG).contains(&bytes) { Limiter::ThisHost } else { Limiter::BlackHole };
    match evidence.back {
        Back::Answered { largest, tried, .. } if largest < tried => OneWay::Limited { bytes: largest, by: by(largest) },
        // Answers in pieces say nothing of packets larger than these.
        Back::Answered { largest, piece, .. } => {
            OneWay::Passes { bytes: piece.map_or(largest, |piece| piece.min(largest)) }
        }
        Back::Unknown if whole >= wanted.min(own_mtu) => OneWay::Passes { bytes: whole },
        Back::Unknown => match evidence.there {
            There::Largest(there) if there > whole => OneWay::Limited { bytes: whole, by: by(whole) },
            _ => OneWay::Unknown { bytes: whole },
        },
    }
}

/// The largest piece that the other host sent.
fn piece(evidence: &Evidence) -> Option<u32> {
    match evidence.back {
        Back::Answered { piece, .. } => piece,
        Back::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 9));

    /// A path that is to carry 9000, both ends of which have an MTU of 9000.
    fn evidence(whole: u32, there: There, back: Back) -> Evidence {
        Evidence { own_mtu: 9000, wanted: 9000, whole, refused: None, there, back }
    }

    fn answered(largest: u32, piece: Option<u32>) -> Back {
        Back::Answered { largest, tried: 9000, piece }
    }

    fn ways(evidence: Evidence) -> (OneWay, OneWay) {
        let verdict = judge(&evidence);
        (verdict.there, verdict.back)
    }

    fn hole(bytes: u32) -> OneWay {
        OneWay::Limited { bytes, by: Limiter::BlackHole }
    }

    fn passes(bytes: u32) -> OneWay {
        OneWay::Passes { bytes }
    }

    #[test]
    fn all_is_well() {
        assert_eq!(ways(evidence(9000, There::NotAsked, answered(9000, None))), (passes(9000), passes(9000)));
        // A device drops fragments; whole packets passed both ways.
        assert_eq!(ways(evidence(9000, There::NotAsked, Back::Unknown)), (passes(9000), passes(9000)));
    }

    /// Every combination of what the three questions can say of a path that passes 1504 there and back.
    #[test]
    fn the_direction_follows_from_each_combination() {
        let unknown = OneWay::Unknown { bytes: 1504 };
        let all = [
            // Pieces go there, and the answer comes back whole: the way there is at fault.
            (There::Unknown, answered(9000, None), (hole(1504), passes(9000))),
            (There::Largest(1504), answered(9000, None), (hole(1504), passes(9000))),
            // Long questions go there, whole answers do not come back.
            (There::Largest(9000), answered(1504, None), (passes(9000), hole(1504))),
            // Neither.
            (There::Largest(1504), answered(1504, None), (hole(1504), hole(1504))),
            // The way back is; of the way there nothing is known.
            (There::Unknown, answered(1504, None), (unknown, hole(1504))),
            // A device drops fragments.
            (There::Largest(1504), Back::Unknown, (hole(1504), unknown)),
            (There::Largest(9000), Back::Unknown, (passes(9000), hole(1504))),
            (There::Unknown, Back::Unknown, (unknown, unknown)),
            // Both, differently.
            (There::Largest(4000), answered(1504, None), (hole(4000), hole(1504))),
            (There::Largest(1504), answered(4000, None), (hole(1504), hole(4000))),
        ];
        for (there, back, expected) in all {
            assert_eq!(ways(evidence(1504, there, back)), expected, "{there:?} {back:?}");
        }
    }

    #[test]
    fn an_end_of_another_mtu_is_told_by_the_pieces_it_sends() {
        let found = evidence(1504, There::Largest(1504), answered(9000, Some(1500)));
        let other = OneWay::Limited { bytes: 1504, by: Limiter::OtherHost };
        assert_eq!(judge(&found), Verdict { there: other, back: passes(1500), other_mtu: Some(1500) });
        // Its pieces are larger than what passes: it is not its MTU.
        assert_eq!(ways(evidence(1504, There::Largest(1504), answered(9000, Some(4000)))).0, hole(1504));
    }

    #[test]
    fn this_end_is_named_where_answers_are_larger_than_its_mtu() {
        let near = Evidence { own_mtu: 1500, wanted: 1500, ..evidence(1500, There::NotAsked, answered(1504, None)) };
        let this = |bytes| OneWay::Limited { bytes, by: Limiter::ThisHost };
        assert_eq!(ways(near), (passes(1500), this(1504)));
        // If more is wanted than this end sends, that is reported.
        assert_eq!(ways(Evidence { wanted: 9000, ..near }), (this(1500), this(1504)));
        // All is of 1500, and answers come in such pieces.
        let plain = Evidence { back: answered(9000, Some(1500)), ..near };
        assert_eq!(ways(plain), (passes(1500), passes(1500)));
    }

    #[test]
    fn a_router_that_says_so_is_named() {
        let found =
            Evidence { refused: Some((ROUTER, 1400)), ..evidence(1400, There::Unknown, answered(9000, Some(1400))) };
        let router = OneWay::Limited { bytes: 1400, by: Limiter::Router { address: ROUTER, mtu: 1400 } };
        assert_eq!(ways(found), (router, passes(1400)));
    }
}
