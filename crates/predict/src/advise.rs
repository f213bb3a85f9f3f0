//! Which mode and policy suits given traffic: all of them ranked by the share of the links that they use.
//!
//! [`Traffic`] takes flow after flow and keeps sums alone, so that ten million flows need no more memory than ten. For each way to
//! choose a member it adds up the bytes of each member, and those of 65,536 cells of what it hashes. With the sums of the members
//! it knows the share with these addresses; the cells, given to members at random many times, say what other addresses would
//! give.

use nicteam_team::hash::{self, flow, slb};
use nicteam_team::{HashPolicy, Mode};
use nicteam_wire::Frame;

use crate::choose::destination;

/// Cells of what a way to choose looks at.
const CELLS: usize = 1 << 16;
/// How often cells are given to members at random.
const DRAWS: u64 = 100;
/// Bits of a tag that name the VLAN.
const VLAN_ID: u16 = 0x0fff;

/// What decides a frame's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Each member in turn, or the one that has room.
    Frames,
    /// One member carries all.
    One,
    Policy(HashPolicy),
    /// The IP destination.
    Destination,
    /// The source address on Ethernet.
    Source,
    /// Addresses and ports in buckets.
    Buckets,
}

/// A mode, and what decides in it.
struct Way {
    name: &'static str,
    mode: Mode,
    by: By,
    /// What else one should know.
    note: &'static str,
}

const OUT_OF_ORDER: &str = "frames arrive out of order, and TCP slows down";
const MOVES: &str = "buckets move with their load, so it gets better in time";

const WAYS: [Way; 17] = [
    way("stripe at both ends", Mode::Stripe, By::Frames, "one connection uses all links, too"),
    way("stripe at the sending end alone", Mode::Stripe, By::Frames, "towards hosts that do not stripe"),
    way("stripe at the receiving end alone", Mode::Stripe, By::Source, "each sender has one member"),
    way("balance-rr", Mode::BalanceRr, By::Frames, OUT_OF_ORDER),
    way("802.3ad layer3+4", Mode::Ad, By::Policy(HashPolicy::Layer34), ""),
    way("802.3ad layer2+3", Mode::Ad, By::Policy(HashPolicy::Layer23), ""),
    way("802.3ad layer2", Mode::Ad, By::Policy(HashPolicy::Layer2), ""),
    way("balance-xor layer3+4", Mode::BalanceXor, By::Policy(HashPolicy::Layer34), ""),
    way("balance-xor layer2+3", Mode::BalanceXor, By::Policy(HashPolicy::Layer23), ""),
    way("balance-xor layer2", Mode::BalanceXor, By::Policy(HashPolicy::Layer2), ""),
    way("balance-tlb", Mode::BalanceTlb, By::Destination, MOVES),
    way("balance-alb", Mode::BalanceAlb, By::Destination, MOVES),
    way("ovs-balance-tcp", Mode::OvsBalanceTcp, By::Buckets, MOVES),
    way("ovs-balance-slb", Mode::OvsBalanceSlb, By::Source, MOVES),
    way("switch src-dst-port", Mode::Ad, By::Policy(HashPolicy::SrcDstPort), "what a switch sends to the team"),
    way("switch src-dst-ip", Mode::Ad, By::Policy(HashPolicy::SrcDstIp), "what a switch sends to the team"),
    way("switch src-dst-mac", Mode::Ad, By::Policy(HashPolicy::SrcDstMac), "what a switch sends to the team"),
];

/// Modes in which one member carries what all could.
const ONE: [Way; 2] = [
    way("active-backup", Mode::ActiveBackup, By::One, "the others stand by"),
    way("broadcast", Mode::Broadcast, By::One, "a copy of each frame by each member"),
];

const fn way(name: &'static str, mode: Mode, by: By, note: &'static str) -> Way {
    Way { name, mode, by, note }
}

/// Traffic as the sums that the ranking needs.
#[derive(Clone, Debug)]
pub struct Traffic {
    members: usize,
    /// Whether frames have their real MAC addresses.
    has_macs: bool,
    flows: u64,
    bytes: u64,
    heaviest: u64,
    sums: Vec<Sums>,
}

/// The bytes of one way to choose.
#[derive(Clone, Debug)]
struct Sums {
    by: By,
    members: Vec<u64>,
    cells: Vec<u64>,
}

/// How a mode would do with the traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The mode, with its policy.
    pub name: &'static str,
    /// The mode.
    pub mode: Mode,
    /// Part of all links that is used when the busiest one is full, with these addresses.
    pub share: f64,
    /// The same with other addresses, on average.
    pub expected: f64,
    /// The same, in the worst of a hundred cases.
    pub worst: f64,
    /// What else one should know; empty: nothing.
    pub note: &'static str,
}

impl Traffic {
    /// No traffic yet, for a team of so many members. `has_macs`: frames have the MAC addresses that they have on the wire; if not,
    /// what looks at MAC addresses is not ranked.
    pub fn new(members: u32, has_macs: bool) -> Traffic {
        let members = (members as usize).max(1);
        let mut sums: Vec<Sums> = Vec::new();
        for Way { by, .. } in &WAYS {
            let is_known = has_macs || !looks_at_macs(*by);
            if is_known && !matches!(by, By::Frames | By::One) && sums.iter().all(|known| known.by != *by) {
                sums.push(Sums { by: *by, members: vec![0; members], cells: vec![0; CELLS] });
            }
        }
        Traffic { members, has_macs, flows: 0, bytes: 0, heaviest: 0, sums }
    }

    /// Adds a flow, or a frame of one.
    pub fn add(&mut self, frame: &Frame<'_>, bytes: u64) {
        self.flows += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.heaviest = self.heaviest.max(bytes);
        for sums in &mut self.sums {
            let number = number(sums.by, frame);
            let member = hash::place(number, 0, self.members).unwrap_or(0);
            sums.members[member] = sums.members[member].saturating_add(bytes);
            let cell = &mut sums.cells[mixed(u64::from(number)) as usize % CELLS];
            *cell = cell.saturating_add(bytes);
        }
    }

    /// Adds the traffic of another part of the same text or time: a team of as many members, MAC addresses known or not alike.
    pub fn join(&mut self, other: &Traffic) {
        self.flows += other.flows;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.heaviest = self.heaviest.max(other.heaviest);
        let add = |to: &mut [u64], from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = to.saturating_add(*from));
        };
        for (own, other) in self.sums.iter_mut().zip(&other.sums) {
            add(&mut own.members, &other.members);
            add(&mut own.cells, &other.cells);
        }
    }

    /// How many members the team has.
    pub fn members(&self) -> u32 {
        u32::try_from(self.members).unwrap_or(u32::MAX)
    }

    /// How many flows, or frames, there were, and their bytes.
    pub fn total(&self) -> (u64, u64) {
        (self.flows, self.bytes)
    }

    /// Part of all bytes that the heaviest flow has: no hash gives it more than one member.
    pub fn heaviest_share(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.heaviest as f64 / self.bytes as f64 }
    }

    /// Every mode and policy, the best first: by the share that is to be expected, then by the worst case, then those that keep
    /// the order of frames.
    pub fn ranked(&self) -> Vec<Ranked> {
        let known = WAYS.iter().chain(&ONE).filter(|way| self.has_macs || !looks_at_macs(way.by));
        let mut ranked: Vec<Ranked> = known.map(|way| self.rank(way)).collect();
        let key = |one: &Ranked| (round(one.expected), round(one.worst), one.note != OUT_OF_ORDER);
        // Stable: equal ones stay in the order of the table.
        ranked.sort_by_key(|one| std::cmp::Reverse(key(one)));
        ranked
    }

    fn rank(&self, way: &Way) -> Ranked {
        let Way { name, mode, by, note } = *way;
        let [share, expected, worst] = match (by, self.sums.iter().find(|sums| sums.by == by)) {
            (By::One, _) => [1.0 / self.members as f64; 3],
            (_, Some(sums)) => sums.shares(),
            (_, None) => [1.0; 3],
        };
        Ranked { name, mode, share, expected, worst, note }
    }
}

impl Sums {
    /// The share with these addresses, with others on average, and in the worst case.
    fn shares(&self) -> [f64; 3] {
        let used: Vec<(u64, u64)> = self
            .cells
            .iter()
            .enumerate()
            .filter(|(_, bytes)| **bytes > 0)
            .map(|(cell, bytes)| (cell as u64, *bytes))
            .collect();
        let mut drawn: Vec<u64> = vec![0; self.members.len()];
        let (mut sum, mut worst) = (0.0, f64::INFINITY);
        for draw in 1..=DRAWS {
            drawn.fill(0);
            for (cell, bytes) in &used {
                let member = mixed(cell ^ (draw << 32)) as usize % drawn.len();
                drawn[member] = drawn[member].saturating_add(*bytes);
            }
            let share = evenness(&drawn);
            sum += share;
            worst = share.min(worst);
        }
        [evenness(&self.members), sum / DRAWS as f64, worst]
    }
}

/// Part of all members that is used when the busiest is full.
fn evenness(members: &[u64]) -> f64 {
    let all: f64 = members.iter().map(|bytes| *bytes as f64).sum();
    let most = members.iter().copied().max().unwrap_or(0) as f64;
    if most > 0.0 { all / most / members.len() as f64 } else { 1.0 }
}

/// What a way to choose makes of a frame.
fn number(by: By, frame: &Frame<'_>) -> u32 {
    match by {
        By::Policy(policy) => hash::hash(policy, frame),
        By::Destination => destination(frame) as u32,
        By::Source => {
            let vlan = frame.vlan().map_or(0, |tag| tag.tci & VLAN_ID);
            u32::from(slb::bucket(frame.src(), vlan, 0))
        }
        By::Buckets => u32::from(flow::bucket(frame, 0)),
        By::Frames | By::One => 0,
    }
}

/// Whether it looks at MAC addresses, and at nothing else that could be known.
fn looks_at_macs(by: By) -> bool {
    matches!(by, By::Source | By::Policy(HashPolicy::Layer2 | HashPolicy::SrcDstMac))
}

/// Thousandths, so that nothing is ranked by less.
fn round(share: f64) -> u32 {
    (share * 1000.0) as u32
}

/// A number without pattern (splitmix64).
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
