//! What the checks are worth: defects that are planted in a team are found, and shrunk to a few faults.
//!
//! A defect stands between the team and its host, and begins to show when certain faults have happened. The product knows
//! nothing of it.

use std::collections::BTreeMap;
use std::convert::Infallible;

use nicteam_chaos::{Fault, broken, shrink};
use nicteam_simnet::{Bytes, Host};
use nicteam_team::Plan;
use nicteam_team::Time;
use nicteam_wire::{Frame, ethertype};

use crate::lab::{Setup, carry_out, setup, soaks};

/// What is wrong with host `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// It does not hear that member 0 has lost its carrier.
    CarrierLossUnseen,
    /// It does not hear that a member has its carrier back.
    NeverBack,
    /// After it lost a carrier, it sends every frame by two members.
    Twice,
    /// After it lost a carrier, every frame waits for the next one.
    Overtakes,
    /// After its process was stopped, its timers never run again.
    TimersLost,
    /// It believes of the first LACPDU by which a link may be used that it comes again and again.
    OneWayUnseen,
    /// It misses no LACPDU.
    LacpTimeoutUnseen,
    /// A new process takes all members over but the last.
    MemberForgotten,
    /// The plan of a team without any carrier stays.
    NobodyForEver,
    /// The plan stays as it is when the second carrier is lost.
    PlanFrozen,
    /// After its process was stopped, it hears nothing of carriers.
    DeafAfterStop,
    /// From the second loss of a carrier on frames are sent twice.
    TwiceAtSecond,
}

/// A defect at work.
#[derive(Clone)]
pub(crate) struct Planted {
    defect: Defect,
    /// Carriers that it lost.
    losses: usize,
    /// How often its process continued after a stop.
    pub stops: usize,
    /// A frame that waits for the next one.
    pub held: Option<(usize, Bytes)>,
    /// By port, the last LACPDU, or the first by which the link may be used.
    lacpdus: BTreeMap<usize, Bytes>,
    frozen: Option<Plan>,
}

/// In an LACPDU: the sender's state, and its bits for synchronisation, collecting and distributing.
const STATE: usize = 32;
const IN_USE: u8 = 0x08 | 0x10 | 0x20;

impl Planted {
    pub(crate) fn new(defect: Defect) -> Planted {
        let (held, lacpdus, frozen) = Default::default();
        Planted { defect, losses: 0, stops: 0, held, lacpdus, frozen }
    }

    /// What it hears in place of a frame.
    pub(crate) fn received(&mut self, port: usize, frame: &Bytes) -> Bytes {
        let is_lacpdu = Frame::parse(frame).is_ok_and(|it| it.ethertype() == ethertype::SLOW) && frame[14] == 1;
        match self.defect {
            Defect::OneWayUnseen if is_lacpdu => {
                if let Some(good) = self.lacpdus.get(&port) {
                    return good.clone();
                }
                if frame[STATE] & IN_USE == IN_USE {
                    self.lacpdus.insert(port, frame.clone());
                }
            }
            Defect::LacpTimeoutUnseen if is_lacpdu => drop(self.lacpdus.insert(port, frame.clone())),
            _ => {}
        }
        frame.clone()
    }

    /// Frames that it hears again when a timer runs.
    pub(crate) fn heard_again(&self) -> Vec<(usize, Bytes)> {
        let again = self.defect == Defect::LacpTimeoutUnseen;
        self.lacpdus.iter().filter(|_| again).map(|(port, frame)| (*port, frame.clone())).collect()
    }

    /// True if it hears of a carrier.
    pub(crate) fn sees_carrier(&mut self, port: usize, carrier: bool) -> bool {
        self.losses += usize::from(!carrier);
        match self.defect {
            Defect::CarrierLossUnseen => carrier || port != 0,
            Defect::NeverBack => !carrier || self.losses == 0,
            Defect::DeafAfterStop => self.stops == 0,
            _ => true,
        }
    }

    pub(crate) fn has_timers(&self) -> bool {
        self.defect != Defect::TimersLost || self.stops == 0
    }

    pub(crate) fn forgets_a_member(&self) -> bool {
        self.defect == Defect::MemberForgotten
    }

    pub(crate) fn sends_twice(&self) -> bool {
        let from = match self.defect {
            Defect::Twice => 1,
            Defect::TwiceAtSecond => 2,
            _ => usize::MAX,
        };
        self.losses >= from
    }

    pub(crate) fn reorders(&self) -> bool {
        self.defect == Defect::Overtakes && self.losses > 0
    }

    /// After each change of the host.
    pub(crate) fn after(&mut self, host: &mut Host, _now: Time) {
        let freezes = match self.defect {
            Defect::NobodyForEver => host.members.values().all(|member| !member.link.carrier),
            Defect::PlanFrozen => self.losses >= 2,
            _ => false,
        };
        if freezes && self.frozen.is_none() {
            self.frozen = Some(host.plan.clone());
        }
        if let Some(frozen) = &self.frozen {
            host.plan = frozen.clone();
        }
    }
}

/// Each defect, a mode in which it shows, and the invariant that it breaks.
const DEFECTS: [(Defect, &str, &str); 12] = [
    (Defect::CarrierLossUnseen, "active-backup", "blackhole"),
    (Defect::NeverBack, "active-backup", "blackhole"),
    (Defect::Twice, "balance-xor", "duplicates"),
    (Defect::Overtakes, "balance-tlb", "order"),
    (Defect::TimersLost, "stripe", "blackhole"),
    (Defect::OneWayUnseen, "802.3ad", "blackhole"),
    (Defect::LacpTimeoutUnseen, "802.3ad", "blackhole"),
    (Defect::MemberForgotten, "ovs-active-backup", "blackhole"),
    (Defect::NobodyForEver, "balance-alb", "blackhole"),
    (Defect::PlanFrozen, "active-backup", "blackhole"),
    (Defect::DeafAfterStop, "balance-xor", "blackhole"),
    (Defect::TwiceAtSecond, "ovs-balance-tcp", "duplicates"),
];

/// What a run with these faults breaks.
fn breaks(setup: &Setup, faults: &[Fault]) -> Vec<&'static str> {
    broken(&carry_out(setup, faults).0).into_iter().map(|it| it.what).collect()
}

/// The faults with which a defect is found, and the fewest of them.
fn found(defect: Defect, mode: &str, seed: u64) -> Option<(Vec<Fault>, Vec<Fault>, Vec<&'static str>)> {
    let sound = setup(mode, "bpf", seed);
    let faults = sound.faults();
    assert_eq!(breaks(&sound, &faults), [] as [&str; 0], "{mode}, seed {seed}: without a defect");
    let with = Setup { defect: Some(defect), ..sound };
    if breaks(&with, &faults).is_empty() {
        return None;
    }
    let fewest = shrink(&faults, |some| Ok::<_, Infallible>(!breaks(&with, some).is_empty()));
    let fewest = fewest.unwrap_or_else(|never| match never {});
    let mut what = breaks(&with, &fewest);
    what.dedup();
    Some((faults, fewest, what))
}

/// A sample at the first seed that finds it; everything: ten seeds of each.
#[test]
fn planted_defects_are_found_and_shrunk_to_a_few_faults() {
    let sample = |place: usize| soaks() || place == 1;
    for (_, (defect, mode, invariant)) in DEFECTS.into_iter().enumerate().filter(|(place, _)| sample(*place)) {
        let mut found_in = Vec::new();
        for seed in 0..10 {
            let Some((all, fewest, what)) = found(defect, mode, seed) else { continue };
            if soaks() {
                let texts: Vec<String> = fewest.iter().map(ToString::to_string).collect();
                let (few, all) = (fewest.len(), all.len());
                println!("{defect:?} in {mode}, seed {seed}: {what:?}, {few} of {all} faults: {texts:?}");
            }
            assert!(fewest.len() <= 3, "{defect:?}, seed {seed}: {fewest:?}");
            assert!(what.contains(&invariant), "{defect:?}, seed {seed}: {what:?}");
            found_in.push(seed);
            if !soaks() {
                break;
            }
        }
        println!("{defect:?} in {mode}: found by seeds {found_in:?}");
        assert!(!found_in.is_empty(), "{defect:?} is not found");
    }
}
