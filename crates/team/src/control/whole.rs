//! A team as what can be recorded and replayed: a whole team's state, and a team that goes on from it.
//!
//! The plan is not written: a state is taken only while it says the plan that is in force, so the plan follows from it.
//! Keys and secrets are not either.

use std::collections::VecDeque;

use nicteam_discovery::Discovery;
use nicteam_events::{Effect, Identity, TeamError};
use nicteam_machine::bytes::{Reader, Unreadable, put_number, put_text};
use nicteam_machine::state::State;
use nicteam_machine::{MemberId, Source, Time};
use nicteam_replay::{Input, Keys, Recordable, plan_digest, put_config, take_config};
use nicteam_wire::Mac;

use super::Team;
use crate::{Config, Plan};

/// The version whose states this one reads: its own.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Recordable for Team {
    fn begin(config: Config, mac: Mac, now: Time) -> Result<Team, TeamError> {
        Team::new(config, mac, now)
    }

    fn apply(&mut self, input: Input<'_>, now: Time) -> Result<(), TeamError> {
        Team::apply(self, input, now)
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        Team::poll_effect(self)
    }

    fn place_for(&self, name: &str) -> Result<MemberId, TeamError> {
        Team::place_for(self, name)
    }

    fn set_source(&mut self, source: Source) {
        self.source = source;
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.set_source(source);
        }
    }

    fn take_derived(&mut self) -> impl Iterator<Item = u64> {
        self.parts.discovery.iter_mut().flat_map(Discovery::take_derived)
    }

    fn give_derived(&mut self, numbers: &[u64]) {
        if let Some(discovery) = &mut self.parts.discovery {
            discovery.give_derived(numbers);
        }
    }

    fn state(&self, keys: &mut Keys) -> Option<Vec<u8>> {
        state(self, keys)
    }

    fn of_state(state: &[u8]) -> Result<Team, Unreadable> {
        team(state)
    }
}

/// The state of a team; none while it is about to do something.
fn state(team: &Team, keys: &mut Keys) -> Option<Vec<u8>> {
    let Team {
        config,
        traits: _,
        members,
        active,
        force_primary,
        carrier,
        plan,
        announcer,
        macs,
        group_rounds,
        arp,
        pagp,
        identity,
        source: _,
        parts,
        timers,
        effects,
    } = team;
    if !effects.is_empty() || team.plan_of_now() != *plan {
        return None;
    }
    let mut bytes = Vec::new();
    put_text(&mut bytes, VERSION);
    plan_digest(plan).put(&mut bytes);
    put_number(&mut bytes, plan.generation);
    put_config(&mut bytes, config, keys);
    identity.number.put(&mut bytes);
    members.put(&mut bytes);
    (*active, *force_primary, *carrier).put(&mut bytes);
    announcer.put(&mut bytes);
    macs.put(&mut bytes);
    group_rounds.put(&mut bytes);
    arp.put(&mut bytes);
    pagp.put(&mut bytes);
    parts.put(&mut bytes);
    timers.put(&mut bytes);
    Some(bytes)
}

/// A team that goes on from a state, to be replayed.
fn team(state: &[u8]) -> Result<Team, Unreadable> {
    let mut from = Reader(state);
    let version = from.text()?;
    if version != VERSION {
        return Err(Unreadable::new(format!(
            "the recording begins in the middle, with a state of nicteam {version}, which {VERSION} does not read; hint: replay it with nicteam {version}"
        )));
    }
    let (digest, generation) = (from.u64()?, from.number()?);
    let config = take_config(&mut from)?;
    let traits = config.mode.traits();
    let identity = Identity { number: from.u64()?, secret: [0; 32] };
    let members = State::take(&mut from)?;
    let (active, force_primary, carrier) = State::take(&mut from)?;
    let mut team = Team {
        config,
        traits,
        members,
        active,
        force_primary,
        carrier,
        plan: Plan { generation, ..Plan::nobody() },
        announcer: State::take(&mut from)?,
        macs: State::take(&mut from)?,
        group_rounds: State::take(&mut from)?,
        arp: State::take(&mut from)?,
        pagp: State::take(&mut from)?,
        identity,
        source: Source::Recording,
        parts: State::take(&mut from)?,
        timers: State::take(&mut from)?,
        effects: VecDeque::new(),
    };
    if let Some(discovery) = &mut team.parts.discovery {
        discovery.restore_keys(team.config.stripe_key.as_ref(), team.config.stripe_key_old.as_ref());
        discovery.set_source(Source::Recording);
    }
    team.plan = team.plan_of_now();
    if !from.is_at_end() || plan_digest(&team.plan) != digest {
        return Err(Unreadable::new(
            "the recording begins in the middle, with a state that another build of nicteam wrote; hint: replay it with that one",
        ));
    }
    Ok(team)
}
