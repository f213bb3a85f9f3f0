//! What is true of every team after every change: one property a function.

use nicteam_simnet::Host;
use nicteam_team::mode::{Receives, Sends};
use nicteam_team::{Balance, Choose, Effect, Event, LinkState, MemberId, MemberSet, Mode, Plan, Receive, Team, Time};

use crate::control::shell::Shell;
use crate::control::world::{Cause, MAC, Seen, ms};

/// Everything that can be checked after a drain.
pub fn all(shell: &Shell, cause: Cause, before: &Seen, effects: &[Effect]) {
    let now = Seen::of(&shell.host.team);
    shell_is_up_to_date(shell, &now);
    each_live_member_once(shell, &now);
    never_a_dead_member(&now);
    nobody_only_without_a_usable_member(shell, &now);
    standby_members_are_deaf(shell, &now);
    active_changes_with_a_cause(shell, cause, before, &now, effects);
    carrier_follows_the_count(shell, &now);
    events_tell_every_change(before, &now, effects);
    announcements_are_limited(shell);
    // A member that has just joined has yet to say its address.
    if cause != Cause::Join {
        addresses_are_one_each(shell, &now);
    }
}

/// The plan in force is the one applied last, the carrier the one shown last.
fn shell_is_up_to_date(shell: &Shell, now: &Seen) {
    assert_eq!(shell.host.plan, now.plan);
    assert_eq!(shell.host.carrier, now.carrier);
}

/// A spreading plan has every living member once, by place; every plan has a
/// line for each member, by place.
fn each_live_member_once(shell: &Shell, now: &Seen) {
    let lines: Vec<MemberId> = now.plan.members.iter().map(|line| line.id).collect();
    let members: Vec<MemberId> = now.members.iter().map(|member| member.id).collect();
    assert_eq!(lines, members);
    if !shell.host.team.config().mode.uses_primary() {
        // Of several buckets a member each in turn; without a number of them as many as members.
        let live = live(now);
        let turns = match shell.host.team.config() {
            config if live.is_empty() || !config.mode.traits().has_hash_buckets() => live.len(),
            config if config.hash_buckets == 0 => live.len(),
            config => config.hash_buckets as usize,
        };
        let assigned: Vec<MemberId> = live.iter().copied().cycle().take(turns).collect();
        assert_eq!(chosen(&now.plan), assigned, "{:?}", now.plan);
    }
    if let Choose::Buckets(buckets) = &now.plan.choose {
        let mut enabled = buckets.enabled.clone();
        enabled.sort_unstable();
        assert_eq!(enabled, live(now), "{:?}", now.plan);
        let is_live = |member: &MemberId| enabled.contains(member);
        assert!(buckets.table.iter().flatten().all(is_live), "a bucket of one who may not send: {buckets:?}");
    }
    if let Choose::RoundRobin { members, igmp, .. } = &now.plan.choose {
        assert_eq!(members.first(), Some(igmp));
    }
}

/// Nobody who is down, or not yet up, is sent by.
fn never_a_dead_member(now: &Seen) {
    for member in chosen(&now.plan) {
        assert!(matches!(now.state(member), Some(LinkState::Up | LinkState::Fail)), "{member} is chosen: {now:?}");
    }
}

/// Frames are dropped only when no member could carry them.
fn nobody_only_without_a_usable_member(shell: &Shell, now: &Seen) {
    let sends_nothing = sends_nothing(&shell.host.team);
    let usable = |state| match (shell.host.team.config().mode, state) {
        _ if sends_nothing => false,
        (mode, LinkState::Fail) if mode.traits().openvswitch => true,
        (_, LinkState::Up | LinkState::Back) => true,
        // A failing member is kept, but where one is active not newly chosen.
        (mode, LinkState::Fail) => !mode.uses_primary(),
        (_, LinkState::Down) => false,
    };
    if now.plan.choose == Choose::Nobody {
        assert!(!now.members.iter().any(|member| usable(member.state)), "nobody is chosen: {now:?}");
    }
}

/// Open vSwitch's balance-tcp without LACP.
fn sends_nothing(team: &Team) -> bool {
    let traits = team.config().mode.traits();
    traits.sends == Sends::ByFlow && !traits.aggregates(team.config())
}

fn standby_members_are_deaf(shell: &Shell, now: &Seen) {
    let mode = shell.host.team.config().mode;
    for line in &now.plan.members {
        let hears = match mode {
            Mode::ActiveBackup if !shell.host.team.config().all_slaves_active => {
                now.plan.choose == Choose::One(line.id)
            }
            Mode::BalanceTlb | Mode::BalanceAlb => now.active(mode) == Some(line.id),
            mode if mode.traits().openvswitch => {
                let traits = mode.traits();
                let is_active = shell.host.team.active() == Some(line.id);
                let reflects = traits.receives == Receives::UnlessReflected;
                let all = shell.host.team.config().all_slaves_active;
                let checked = Receive::DropIfMoved { active: is_active || all };
                assert_eq!(line.receive == checked, reflects, "{}: {now:?}", line.id);
                !reflects && is_active && !sends_nothing(&shell.host.team)
            }
            // All carry traffic; one has the team's address.
            Mode::Stripe => matches!(&now.plan.choose, Choose::Stripe(stripe) if stripe.other.active == line.id),
            _ => now.state(line.id) != Some(LinkState::Down),
        };
        let delivers = matches!(line.receive, Receive::Deliver | Receive::DeliverAnd { .. });
        assert_eq!(delivers, hears, "{}: {now:?}", line.id);
        if let Receive::DeliverAnd { own, .. } = line.receive {
            // It is a lost member's, and nobody else has it.
            let mut owners = shell.host.members.iter().filter(|(_, member)| member.mac == Some(own));
            assert!(mode == Mode::BalanceAlb && owners.all(|(id, _)| !live(now).contains(id)), "{own}: {now:?}");
        }
        // Of one that has just joined no address is known yet.
        let own = mode.balances_receiving() && line.rewrite.src.is_some() && live(now).contains(&line.id);
        assert_eq!(matches!(line.receive, Receive::Own { .. }), own, "{}: {now:?}", line.id);
    }
}

/// The active member changes only if it went down or away, if somebody joined,
/// if the primary, or one of higher prio, came up, or if a user wanted it.
fn active_changes_with_a_cause(shell: &Shell, cause: Cause, before: &Seen, now: &Seen, effects: &[Effect]) {
    let config = shell.host.team.config();
    let (Some(old), new) = (before.active(config.mode), now.active(config.mode)) else { return };
    let prio_of_old = before.members.iter().find(|member| member.id == old).map_or(0, |m| config.prio_of(&m.name));
    let is_preferred = |name: &String| Some(name) == config.primary.as_ref() || config.prio_of(name) > prio_of_old;
    let primary_came_up = effects.iter().any(
        |effect| matches!(effect, Effect::Event(Event::Member { name, to: LinkState::Up, .. }) if is_preferred(name)),
    );
    let lost = matches!(now.state(old), None | Some(LinkState::Down));
    if new != Some(old) {
        assert!(
            lost || primary_came_up || matches!(cause, Cause::Join | Cause::Change),
            "active {old} -> {new:?} without a cause: {now:?}"
        );
    }
    assert!(!(lost && new == Some(old)), "a lost member stays active: {now:?}");
}

/// Carrier if, and only if, enough members live.
fn carrier_follows_the_count(shell: &Shell, now: &Seen) {
    let needed = shell.host.team.config().min_links.max(1) as usize;
    let carries = live(now).len() >= needed && !sends_nothing(&shell.host.team);
    assert_eq!(now.carrier, carries, "{now:?}");
}

/// The events of a drain lead from what was seen before it to what is seen after.
fn events_tell_every_change(before: &Seen, now: &Seen, effects: &[Effect]) {
    for member in &now.members {
        let mut state = before.state(member.id);
        for effect in effects {
            if let Effect::Event(Event::Member { id, from, to, .. }) = effect
                && *id == member.id
            {
                assert!(state.is_none_or(|state| state == *from), "{effect:?} from {state:?}");
                assert_ne!(from, to);
                state = Some(*to);
            }
        }
        assert!(state.is_none_or(|state| state == member.state), "{} became {state:?} unsaid: {now:?}", member.name);
    }
    let carrier = effects.iter().any(|effect| matches!(effect, Effect::Event(Event::Carrier(_))));
    assert_eq!(carrier, before.carrier != now.carrier);
}

/// No more announcements after a failover than were asked for. (The worlds of
/// the checks do not change their addresses after the first member.)
fn announcements_are_limited(shell: &Shell) {
    if shell.host.team.config().mode.balances_load() {
        return;
    }
    let rounds = shell.host.team.config().num_grat_arp as usize;
    assert!(shell.transmitted <= rounds * ADDRESSES, "{} frames in {rounds} rounds", shell.transmitted);
}

/// balance-tlb, balance-alb: the active member sends as the team, every other
/// one with an address that nobody else has.
fn addresses_are_one_each(shell: &Shell, now: &Seen) {
    let mode = shell.host.team.config().mode;
    if !mode.balances_load() {
        return;
    }
    for (&id, member) in &shell.host.members {
        assert!(member.mac.is_none_or(|mac| shell.host.team.device_mac(id) == mac), "{id}: {member:?}");
    }
    let mut seen = vec![MAC];
    for line in &now.plan.members {
        let Some(mac) = line.rewrite.src else {
            continue;
        };
        assert_ne!(now.active(mode), Some(line.id), "{now:?}");
        assert!(!seen.contains(&mac) || now.active(mode).is_none(), "{mac} twice: {now:?}");
        seen.push(mac);
    }
}

/// The most addresses a test gives its team.
pub const ADDRESSES: usize = 3;

/// Each plan counts on by one, and is another plan.
pub fn plan_follows(old: &Plan, new: &Plan) {
    assert_eq!(new.generation, old.generation + 1);
    let frames = old.choose != new.choose || old.members != new.members;
    let beside = (&old.failover, old.notes_sources) != (&new.failover, new.notes_sources);
    assert!(frames || beside, "the same plan again: {new:?}");
}

/// Announcements leave by the active member of the plan in force; what
/// balance-tlb and balance-alb say by any that lives.
pub fn sent_by_one_who_may(host: &Host, member: MemberId) {
    if host.team.config().mode.balances_load() {
        assert!(live(&Seen::of(&host.team)).contains(&member), "{member} sends: {:?}", host.team.members());
        return;
    }
    assert_eq!(host.plan.choose, Choose::One(member));
    assert!(host.carrier, "an announcement without carrier");
}

/// Once a deadline was served, the next one lies in the future.
pub fn deadlines_are_ahead(team: &Team, now: Time) {
    if let Some((at, reason)) = team.poll_timeout() {
        assert!(at > now, "{reason:?} at {at} is not after {now}");
    }
}

/// Nobody waits for the end of a delay that is over.
pub fn delays_end(shell: &Shell, now: Time) {
    let team = &shell.host.team;
    let config = team.config();
    for member in team.members() {
        let delay_ms = match member.state {
            LinkState::Back => config.updelay_ms,
            LinkState::Fail => config.downdelay_ms,
            LinkState::Up | LinkState::Down => continue,
        };
        let told = &shell.told[&member.id];
        let same = told.iter().rev().take_while(|(_, carrier)| *carrier == member.link.carrier);
        let since = same.last().map(|(at, _)| *at).unwrap();
        assert!(now.since(since) < ms(delay_ms.into()), "{} waits since {since} at {now}", member.name);
    }
}

fn live(now: &Seen) -> Vec<MemberId> {
    let live = now.members.iter().filter(|member| matches!(member.state, LinkState::Up | LinkState::Fail));
    live.map(|member| member.id).collect()
}

fn chosen(plan: &Plan) -> Vec<MemberId> {
    match &plan.choose {
        Choose::Nobody => Vec::new(),
        Choose::One(member) => vec![*member],
        Choose::Hash { table, .. } | Choose::HashOrAll { table, .. } => table.clone(),
        Choose::RoundRobin { members, .. } => members.clone(),
        Choose::All(members) => members.iter().collect(),
        Choose::Balance(Balance { table, active, .. }) => {
            let all: MemberSet = table.iter().chain([active]).copied().collect();
            all.iter().collect()
        }
        Choose::Buckets(buckets) => buckets.enabled.clone(),
        Choose::Stripe(stripe) => stripe.senders.iter().map(|sender| sender.id).collect(),
    }
}
