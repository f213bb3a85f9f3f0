//! From a bond to the plan: how frames leave, and what becomes of those that come (`choose_output_member`,
//! `bond_check_admissibility`).

use nicteam_events::LinkState;
use nicteam_lacp::Lacp;
use nicteam_machine::MemberId;
use nicteam_options::mode::{Receives, Sends, Traits};

use super::super::facts::Facts;
use super::super::monitor::is_live;
use super::{Bond, Negotiation, falls_back, negotiation, uses_buckets};
use crate::buckets::{Buckets, Key};
use crate::{Choose, Config, Receive};

/// How a frame finds its member in one of Open vSwitch's modes (`choose_output_member`).
pub(in super::super) fn choose(facts: &Facts<'_>, bond: &Bond) -> Choose {
    let Facts { config, traits, active, parts, .. } = *facts;
    let negotiation = negotiation(config, traits, parts.lacp());
    if falls_back(config, negotiation) {
        return active.map_or(Choose::Nobody, Choose::One);
    }
    match traits.sends {
        _ if negotiation == Negotiation::Configured || bond.enabled.is_empty() => Choose::Nobody,
        Sends::BySource | Sends::ByFlow if uses_buckets(traits, negotiation) => Choose::Buckets(Buckets {
            key: key(config, traits),
            table: Box::new(std::array::from_fn(|place| bond.buckets[place].member)),
            enabled: bond.enabled.clone(),
        }),
        Sends::BySource | Sends::ByFlow => Choose::Nobody,
        _ => active.map_or(Choose::Nobody, Choose::One),
    }
}

fn key(config: &Config, traits: &Traits) -> Key {
    let basis = config.bond.hash_basis;
    if traits.sends == Sends::BySource { Key::Source { basis } } else { Key::Flow { basis } }
}

/// What becomes of the frames that a member receives.
pub(in super::super) fn receive(facts: &Facts<'_>, id: MemberId, state: LinkState) -> Receive {
    let Facts { config, traits, active, parts, .. } = *facts;
    let is_active = active == Some(id);
    let negotiation = negotiation(config, traits, parts.lacp());
    let deliver = match (negotiation, traits.receives) {
        // The partner knows which members make one link. It may send before `updelay` has passed.
        (Negotiation::Negotiated, _) => is_live(state) || parts.lacp().is_some_and(|lacp| collects(lacp, id)),
        (Negotiation::Configured, _) if !falls_back(config, negotiation) => false,
        // Everything that every member hears, enabled or not.
        (_, Receives::UnlessReflected) => {
            return Receive::DropIfMoved { active: is_active || config.all_slaves_active };
        }
        (Negotiation::Off, _) if traits.sends == Sends::ByFlow => false,
        _ => is_active,
    };
    if deliver { Receive::Deliver } else { Receive::Drop }
}

fn collects(lacp: &Lacp, id: MemberId) -> bool {
    lacp.collecting().contains(id)
}

/// True if the dataplane is to note the sources that leave: some are taught to switches after a failover, or known by
/// reflections of their frames.
pub(in super::super) fn notes_sources(config: &Config, traits: &Traits, lacp: Option<&Lacp>) -> bool {
    let negotiation = negotiation(config, traits, lacp);
    match traits.openvswitch {
        true if traits.sends == Sends::ByFlow => falls_back(config, negotiation),
        true => negotiation == Negotiation::Off || falls_back(config, negotiation),
        false => false,
    }
}

/// The members in the order in which they take over from one without carrier.
pub(in super::super) fn failover(facts: &Facts<'_>, bond: &Bond) -> Vec<MemberId> {
    let first = facts.active.into_iter();
    let others = bond.enabled.iter().copied().filter(|id| facts.active != Some(*id));
    first.chain(others).collect()
}
