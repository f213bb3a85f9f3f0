//! Which member is the active one.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_choose_primary_or_current` and
//! `bond_find_best_slave`. One difference: where no primary is up and the active
//! member has the highest `prio`, but not alone, it stays. The kernel (since 6.0)
//! prefers the first of that `prio` whenever it has to choose.

use nicteam_events::LinkState;
use nicteam_machine::{Duplex, MemberId};

use super::monitor::{Member, Members};
use crate::{Config, PrimaryReselect};

/// What the choice depends on beside the members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes<'a> {
    /// The preferred member, if it has joined.
    pub(super) primary: Option<MemberId>,
    /// It has just joined: take it, whatever `reselect` says.
    pub(super) force: bool,
    /// When it takes over from a working active member.
    pub(super) config: &'a Config,
}

/// The member that is to be active; one in state `Back` is to be up at once.
pub(super) fn choose(members: &Members, current: Option<MemberId>, wishes: Wishes<'_>) -> Option<MemberId> {
    primary_or_current(members, current, wishes).or_else(|| first_back(members, wishes.config))
}

/// The member in state `Back` whose `updelay` ends first. (One that the ARP
/// monitor tries has yet to answer.)
pub(super) fn first_back(members: &Members, config: &Config) -> Option<MemberId> {
    waiting(members, config).min_by_key(|(_, member)| member.since).map(|(id, _)| *id)
}

/// The first member in state `Back`: in modes that keep no active member it is up while nobody is usable.
pub(super) fn first_by_place(members: &Members, config: &Config) -> Option<MemberId> {
    waiting(members, config).map(|(id, _)| *id).next()
}

fn waiting<'a>(members: &'a Members, config: &Config) -> impl Iterator<Item = (&'a MemberId, &'a Member)> {
    let monitors = !config.arp.is_on();
    members.iter().filter(move |(_, member)| monitors && member.state == LinkState::Back)
}

/// True if this member is up; a failing one is not.
pub(super) fn is_up(members: &Members, id: MemberId) -> bool {
    members.get(&id).is_some_and(|member| member.state == LinkState::Up)
}

fn primary_or_current(members: &Members, current: Option<MemberId>, wishes: Wishes<'_>) -> Option<MemberId> {
    let current = current.filter(|&id| is_up(members, id));
    let primary = wishes.primary.filter(|&id| is_up(members, id));
    let force = wishes.force && primary.is_some();
    let preferred = primary.or_else(|| first_by_prio(members, current, wishes.config));
    let (Some(preferred), Some(active)) = (preferred, current) else {
        return preferred.or(current);
    };
    let takes_over = match wishes.config.primary_reselect {
        _ if force => true,
        PrimaryReselect::Always => true,
        PrimaryReselect::Better => quality(&members[&preferred]) > quality(&members[&active]),
        PrimaryReselect::Failure => false,
    };
    Some(if takes_over { preferred } else { active })
}

/// The first member of the highest `prio` among those that are up; the active
/// one if none is higher.
fn first_by_prio(members: &Members, current: Option<MemberId>, config: &Config) -> Option<MemberId> {
    let prio = |id: MemberId| config.prio_of(&members[&id].name);
    let up = members.keys().copied().filter(|&id| is_up(members, id));
    up.fold(current, |best, id| match best {
        Some(best) if prio(best) >= prio(id) => Some(best),
        _ => Some(id),
    })
}

/// Speed before duplex. A member of which the driver does not say both ranks
/// highest, as in the kernel, where `SPEED_UNKNOWN` is the largest number.
fn quality(member: &Member) -> (u32, Option<Duplex>) {
    match (member.link.speed_mbps, member.link.duplex) {
        (Some(speed_mbps @ 1..), duplex @ Some(_)) => (speed_mbps, duplex),
        _ => (u32::MAX, None),
    }
}
