//! An entry of a recording: what a team was told, and what it did.

use nicteam_events::Input;
use nicteam_machine::Time;
use nicteam_machine::bytes::{Reader, Unreadable, put_number, put_text};
use nicteam_options::Config;
use nicteam_plan::Plan;
use nicteam_wire::Mac;

use super::digest::Digest;
use super::{encode, words};

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Counts the entries of a team, from 0.
    pub number: u64,
    /// When.
    pub at: Time,
    /// What the team was told.
    pub told: Told,
    /// What followed from its secrets.
    pub(super) derived: Vec<u64>,
    /// Digest of what it wanted, but for plans; 0: nothing.
    pub(super) effects: u32,
    /// The plans it made.
    pub(super) plans: Vec<PlanMade>,
}

/// What a team was told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// It began, with this configuration and address.
    Began(Box<Config>, Mac),
    /// It had this state, before anything else.
    State(Vec<u8>),
    /// Something else.
    Input(Input<'static>),
}

/// A plan that a team made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanMade {
    /// Its digest.
    pub(super) digest: u64,
    /// It in words.
    pub(super) words: String,
}

impl PlanMade {
    pub(super) fn of(plan: &Plan) -> PlanMade {
        PlanMade { digest: super::digest::of_plan(plan), words: words::of_plan(plan) }
    }
}

/// What a team did after it was told something, as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Did {
    pub(super) derived: Vec<u64>,
    pub(super) effects: Option<Digest>,
    pub(super) plans: Vec<PlanMade>,
}

impl Did {
    pub(super) fn clear(&mut self) {
        self.derived.clear();
        self.effects = None;
        self.plans.clear();
    }

    /// Digest of what it wanted; 0: nothing.
    pub(super) fn effects(&self) -> u32 {
        self.effects.map_or(0, |digest| (digest.value() as u32).max(1))
    }

    pub(super) fn put(&self, to: &mut Vec<u8>) {
        put_number(to, self.derived.len() as u64);
        self.derived.iter().for_each(|number| to.extend_from_slice(&number.to_le_bytes()));
        to.extend_from_slice(&self.effects().to_le_bytes());
        put_number(to, self.plans.len() as u64);
        for plan in &self.plans {
            to.extend_from_slice(&plan.digest.to_le_bytes());
            put_text(to, &plan.words);
        }
    }
}

/// Slots from here on are for deadlines.
const DEADLINES: usize = 32;
/// And from here on for frames.
const FRAMES: usize = 64;
/// The slot of a beginning.
pub(super) const BEGINNING: usize = 0;

/// In which slot an entry is to be written: such that it is like the last one there.
pub(super) fn slot(input_kind: u8, bytes: &[u8], did: &Did) -> usize {
    match input_kind {
        encode::FRAME => {
            // Member, length and, behind the destination, source, EtherType and what the payload begins with.
            let (head, rest) = bytes.split_at(bytes.len().min(3));
            let mut digest = Digest::new();
            digest.bytes(head);
            digest.bytes(rest.get(6..18).unwrap_or(rest));
            FRAMES + (digest.value() % (super::delta::SLOTS - FRAMES) as u64) as usize
        }
        encode::TIMEOUT => DEADLINES + did.effects() as usize % (FRAMES - DEADLINES),
        other => usize::from(other),
    }
}

impl Entry {
    /// Reads what stood in a slot.
    pub(super) fn read(number: u64, at: Time, slot: usize, bytes: &[u8]) -> Result<Entry, Unreadable> {
        let mut from = Reader(bytes);
        let told = match slot {
            BEGINNING => {
                let mac = from.mac()?;
                Told::Began(Box::new(encode::take_config(&mut from)?), mac)
            }
            DEADLINES..FRAMES => Told::Input(encode::take(encode::TIMEOUT, &mut from)?),
            FRAMES.. => Told::Input(encode::take(encode::FRAME, &mut from)?),
            kind => Told::Input(encode::take(kind as u8, &mut from)?),
        };
        let derived = from.list(8, Reader::u64)?;
        let effects = from.u32()?;
        let plans = from.list(9, |from| Ok(PlanMade { digest: from.u64()?, words: from.text()? }))?;
        if !from.is_at_end() {
            return Err(Unreadable::new("it is longer than it should be"));
        }
        Ok(Entry { number, at, told, derived, effects, plans })
    }

    /// What the team was told, in a line.
    pub fn words(&self) -> String {
        match &self.told {
            Told::Began(config, mac) => format!("the team began, address {mac}, options {}", words::of_config(config)),
            Told::State(state) => format!("the team's state, {} bytes: what was before may be forgotten", state.len()),
            Told::Input(input) => words::of_input(input),
        }
    }

    /// The plans that the team made then, a line each.
    pub fn plans(&self) -> impl Iterator<Item = &str> {
        self.plans.iter().map(|plan| plan.words.as_str())
    }
}
