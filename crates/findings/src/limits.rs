//! Which choice held which connections back.
//!
//! A connection is held where a link that carries it was full. Of several such
//! links on its way the one counts where it got as much as anybody else: on the
//! others it left room that its rivals took. The cause is the node that chose that link, or that made
//! the copies that fill it. A team without a full link is never a cause.

use nicteam_record::{Connection, Disk, Finding, Side};

use super::facts::retransmit_share;
use super::hop::{Choice, Chooser, Hop};
use super::path::Picture;
use super::policy::{Key, key};
use super::slow;
use super::storage;
use crate::bars::FULL;
use crate::team::TeamMode;
use crate::units::share;

/// Beside a full link, links from this load on are held by the same choice.
const ALMOST_FULL: f64 = 0.8;
/// A link this much less full than another on the way is not the narrowest.
const NARROWEST: f64 = 0.05;
/// A connection that gets less than this part of what it gets elsewhere, beside its busiest rival, is
/// not limited there. TCP alone shares two to one in a short run.
const LEAST_SHARE: f64 = 0.5;
/// Full links on which less than this part is payload that arrived carry something else.
const USEFUL: f64 = 0.85;

/// Connections of a run that were held back alike.
#[derive(Clone, Debug)]
pub struct Limit<'p, 'a> {
    /// The run.
    pub picture: &'p Picture<'a>,
    /// What filled the links.
    pub filled_by: FilledBy<'a>,
    /// The hops that were full; none if none was.
    pub hops: Vec<&'p Hop<'a>>,
    /// Places of the connections in the run.
    pub connections: Vec<usize>,
    /// Hops that would hold all of them back as much if these went away.
    pub as_narrow: Vec<&'p Hop<'a>>,
    /// Part of the run's limit that was lost here, 0 to 1.
    pub lost: f64,
}

/// What filled links, if anything did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilledBy<'a> {
    /// No link on the way was full.
    Nothing,
    /// Payload, every link of the hop.
    Payload,
    /// A choice that put too much on some links and too little on others.
    Choice {
        /// Whose choice, and by what.
        chooser: Chooser<'a>,
        /// At which end of the path.
        side: Side,
    },
    /// Copies that a node's broadcast makes.
    Copies {
        /// The node.
        node: &'a str,
    },
    /// No link was: one of the hosts could not do more.
    Host {
        /// The host.
        host: &'a str,
    },
    /// Something that did not arrive as payload.
    Waste {
        /// The node that sent it.
        node: &'a str,
    },
}

/// What held the connections of a run back: every connection is in one limit,
/// the limit that left most unused comes first.
pub(super) fn limits<'p, 'a>(picture: &'p Picture<'a>) -> Vec<Limit<'p, 'a>> {
    if let Some(hops) = all_links_full(picture) {
        let connections = (0..picture.ways.len()).collect();
        let filled_by = FilledBy::Payload;
        return vec![Limit { picture, filled_by, hops, connections, as_narrow: Vec::new(), lost: 0.0 }];
    }
    let mut limits: Vec<Limit<'p, 'a>> = Vec::new();
    for connection in 0..picture.ways.len() {
        let holds = holds(picture, connection);
        let slow = || slow::host_of(picture.run, connection).map_or(FilledBy::Nothing, |host| FilledBy::Host { host });
        let filled_by = holds.first().map_or_else(slow, |hold| hold.filled_by);
        let is_other = |hold: &&Hold<'p, 'a>| hold.filled_by != filled_by;
        let rest: Vec<&Hop<'_>> = holds.iter().filter(is_other).map(|hold| hold.hop).collect();
        let same = |hop: &Hop<'a>| holds.iter().any(|hold| !is_other(&hold) && is_same(hold.hop, hop));
        match limits.iter_mut().find(|limit| limit.filled_by == filled_by) {
            Some(limit) => {
                limit.connections.push(connection);
                limit.as_narrow.retain(|hop| rest.iter().any(|other| is_same(other, hop)));
                if !limit.hops.iter().any(|hop| same(hop)) {
                    limit.hops.extend(holds.first().map(|hold| hold.hop));
                }
            }
            None => {
                let hops = holds.first().map(|hold| hold.hop).into_iter().collect();
                let connections = vec![connection];
                limits.push(Limit { picture, filled_by, hops, connections, as_narrow: rest, lost: 0.0 });
            }
        }
    }
    limits.iter_mut().for_each(Limit::settle);
    limits.sort_by(|one, other| other.unused_bps().total_cmp(&one.unused_bps()));
    share_out(&mut limits, picture.run.of_limit);
    limits
}

/// Divides what a run lacks among its limits by what each left unused.
fn share_out(limits: &mut [Limit<'_, '_>], of_limit: f64) {
    let lacks = if of_limit.is_finite() { (1.0 - of_limit).clamp(0.0, 1.0) } else { 0.0 };
    let all: f64 = limits.iter().map(|limit| limit.unused_bps()).sum();
    for limit in limits {
        limit.lost = lacks * share(limit.unused_bps(), all);
    }
}

impl<'a> FilledBy<'a> {
    /// By what the links were chosen, where a choice filled them.
    pub fn chosen_by(&self) -> Option<Choice<'a>> {
        match self {
            FilledBy::Choice { chooser, .. } => Some(chooser.by),
            _ => None,
        }
    }
}

impl<'p, 'a> Limit<'p, 'a> {
    /// A finding about these connections, for a rule to go on with.
    pub fn finding(&self, cause: &str) -> Finding {
        Finding {
            cause: cause.to_owned(),
            side: Side::Unknown,
            node: None,
            policy: None,
            connections: self.connections.iter().map(|place| *place as u32).collect(),
            lost: self.lost,
            hops: Vec::new(),
            as_narrow: Vec::new(),
            cures: Vec::new(),
            details: serde_json::Map::new(),
        }
    }

    /// The same about what the path policy of a disk's initiator did with the links of a hop.
    pub fn finding_by_paths(&self, cause: &str, disk: &Disk, hop: &Hop<'_>) -> Finding {
        Finding {
            side: self.side_of(disk),
            node: Some(disk.host.clone()),
            policy: Some(disk.policy.clone()),
            hops: vec![hop.as_found()],
            ..self.finding(cause)
        }
    }

    /// Its connections.
    pub fn connections(&self) -> impl Iterator<Item = &'a Connection> {
        let run = self.picture.run;
        self.connections.iter().map(move |place| &run.connections[*place])
    }

    /// How full the fullest link was that its connections passed, as a part of its rate; 0 if none was looked at.
    pub fn fullest_load(&self) -> f64 {
        self.passed().flat_map(|hop| hop.links.iter().map(|link| link.load())).fold(0.0, f64::max)
    }

    /// The disk whose paths its connections are; none if one of them is no path, or another disk's.
    pub fn disk(&self) -> Option<&'a Disk> {
        let run = self.picture.run;
        let mut disks = self.connections().map(|connection| storage::path_of(run, connection).map(|(disk, _)| disk));
        let first = disks.next()??;
        disks.all(|disk| disk.is_some_and(|disk| std::ptr::eq(disk, first))).then_some(first)
    }

    /// At which end of its payload a disk's initiator is.
    fn side_of(&self, disk: &Disk) -> Side {
        let reads = self.connections().any(|connection| connection.to == disk.host);
        if reads { Side::Receiving } else { Side::Sending }
    }

    /// The hop whose links are those of a disk's initiator; any if none was looked at.
    pub fn hop_of(&self, disk: &Disk) -> Option<&'p Hop<'a>> {
        let suspects = self.suspects();
        suspects.iter().find(|hop| hop.host() == disk.host).or(suspects.first()).copied()
    }

    /// Part of its connections' segments that was sent again.
    pub fn resent(&self) -> f64 {
        retransmit_share(&self.connections().collect::<Vec<_>>())
    }

    /// Who chooses among a hop's links for its connections, and by what.
    pub fn chooser<'h>(&self, hop: &Hop<'h>) -> Chooser<'h> {
        let passing = self.connections.iter().find(|place| hop.place_of(**place).is_some());
        hop.chooser(passing.copied().unwrap_or_default())
    }

    /// The hops that its connections pass.
    pub fn passed(&self) -> impl Iterator<Item = &'p Hop<'a>> {
        let passes = |hop: &&Hop<'_>| self.connections.iter().any(|index| hop.place_of(*index).is_some());
        self.picture.hops.iter().filter(passes)
    }

    /// The hops to look at: those that were full, or all if none was.
    pub fn suspects(&self) -> Vec<&'p Hop<'a>> {
        if self.hops.is_empty() { self.passed().collect() } else { self.hops.clone() }
    }

    /// Whether these are all connections of the run.
    pub fn is_whole(&self) -> bool {
        self.connections.len() == self.picture.ways.len()
    }

    /// Where copies fill one link of several, the node that chose that link is as narrow.
    fn settle(&mut self) {
        match self.filled_by {
            FilledBy::Copies { .. } => {
                let chosen = |hop: &&&Hop<'_>| hop.copies_made <= 1.0 && !hop.all_full();
                self.as_narrow = self.hops.iter().filter(chosen).copied().collect();
            }
            FilledBy::Payload | FilledBy::Nothing | FilledBy::Host { .. } => self.as_narrow.clear(),
            // Links that were all full of payload are no choice.
            FilledBy::Choice { .. } | FilledBy::Waste { .. } => {
                // One hash explains that a connection never uses two links; the others need not.
                let said = self.connections.len() == 1 && self.hops.iter().any(|hop| chooses_by_connection(hop));
                // What both ends use together, or an address chooses at both, is one choice.
                // Nor of every hop that keeps the one session of a disk on one link.
                let session = self.connections.len() == 1 && self.disk().is_some();
                let joint = self.filled_by.chosen_by().filter(|by| by.is_joint() || *by == Choice::Address);
                let first = self.connections.first().copied().unwrap_or_default();
                self.as_narrow.retain(|hop| {
                    let same = joint == Some(hop.chooser(first).by);
                    !(hop.all_full() || same || session || said && chooses_by_connection(hop))
                });
            }
        }
    }

    /// What the full hops left unused, as far as the senders' and the receivers' links could have used it, bit/s.
    fn unused_bps(&self) -> f64 {
        if self.filled_by == FilledBy::Payload {
            return 0.0;
        }
        let unused = |hop: &&Hop<'_>| (hop.capacity_bps() - hop.payload_bps()).max(0.0);
        let of_side = |side| self.passed().filter(|hop| hop.side == side).map(|hop| unused(&hop)).reduce(|a, b| a + b);
        let here: f64 = self.suspects().iter().map(unused).sum();
        [Side::Sending, Side::Receiving].into_iter().filter_map(of_side).fold(here, f64::min)
    }
}

/// A hop that holds a connection.
struct Hold<'p, 'a> {
    hop: &'p Hop<'a>,
    filled_by: FilledBy<'a>,
    /// How full the connection's link was, 0 to 1.
    load: f64,
    /// The connection's rate beside that of the fastest on the same link, 0 to 1.
    share_here: f64,
}

/// The hops that hold a connection, the decisive one first: links that are all
/// full, then the choice that could never have used more, then by the way.
fn holds<'p, 'a>(picture: &'p Picture<'a>, connection: usize) -> Vec<Hold<'p, 'a>> {
    let hops = picture.ways[connection].iter().map(|place| &picture.hops[*place]);
    let mut holds: Vec<Hold<'p, 'a>> = hops.filter_map(|hop| hold(picture, hop, connection)).collect();
    let greatest = |of: fn(&Hold<'_, '_>) -> f64, holds: &[Hold<'_, '_>]| holds.iter().map(of).fold(0.0, f64::max);
    let load = greatest(|hold| hold.load, &holds);
    holds.retain(|hold| hold.load >= load - NARROWEST);
    let share_here = greatest(|hold| hold.share_here, &holds);
    holds.retain(|hold| hold.share_here >= share_here * LEAST_SHARE);
    holds.sort_by_key(|hold| match hold.filled_by {
        FilledBy::Payload | FilledBy::Waste { .. } => 0,
        _ => 1 + freedom(hold.hop, connection),
    });
    holds
}

/// Whether a hop holds a connection.
fn hold<'p, 'a>(picture: &'p Picture<'a>, hop: &'p Hop<'a>, connection: usize) -> Option<Hold<'p, 'a>> {
    let at = hop.place_of(connection)?;
    let places = hop.prediction.as_ref().filter(|prediction| prediction.agrees).map(|prediction| &prediction.places);
    let own = hop.links.iter().filter(|link| places.is_none_or(|places| places[at] == link.place));
    let fullest = own.map(|link| link.load()).fold(0.0, f64::max);
    let load = if hop.all_full() { hop.load() } else { fullest };
    if load < if hop.some_full() { ALMOST_FULL } else { FULL } {
        return None;
    }
    let rivals = hop.connections.iter().enumerate();
    let rivals = rivals.filter(|(rival, _)| places.is_none_or(|places| places[*rival] == places[at]));
    let fastest = rivals.map(|(_, rival)| rival.delivered_bps).fold(0.0, f64::max);
    let share_here = share(hop.connections[at].delivered_bps, fastest);
    Some(Hold { hop, filled_by: filled_by(picture, hop, connection), load: load.min(1.0), share_here })
}

/// What fills a hop that holds a connection.
fn filled_by<'a>(picture: &Picture<'a>, hop: &Hop<'a>, connection: usize) -> FilledBy<'a> {
    let way = picture.ways[connection].iter().map(|place| &picture.hops[*place]);
    let mut upto = way.take_while(|before| !is_same(before, hop)).chain([hop]);
    if let Some(broadcast) = upto.find(|hop| hop.copies_made > 1.0) {
        return FilledBy::Copies { node: broadcast.node };
    }
    match () {
        () if hop.all_full() && is_useful(hop) => FilledBy::Payload,
        () if hop.all_full() => FilledBy::Waste { node: hop.node },
        () => FilledBy::Choice { chooser: hop.chooser(connection), side: hop.side },
    }
}

/// The fewest hops of one side with links all full of payload that every connection passes.
fn all_links_full<'p, 'a>(picture: &'p Picture<'a>) -> Option<Vec<&'p Hop<'a>>> {
    let full = |hop: &&Hop<'_>| {
        hop.all_full() && is_useful(hop) && hop.copies_made <= 1.0 && hop.copies.iter().all(|copies| *copies <= 1.0)
    };
    [Side::Sending, Side::Between, Side::Receiving]
        .iter()
        .map(|side| picture.hops.iter().filter(|hop| hop.side == *side).filter(full).collect::<Vec<_>>())
        .filter(|hops| {
            let passing: usize = hops.iter().map(|hop| hop.connections.len()).sum();
            !hops.is_empty() && passing >= picture.ways.len()
        })
        .min_by_key(|hops| (hops.len(), hops.iter().map(|hop| hop.links.len()).sum::<usize>()))
}

/// Whether what a hop carried is payload that arrived.
fn is_useful(hop: &Hop<'_>) -> bool {
    hop.payload_bps() >= USEFUL * hop.carried_bps()
}

/// How much a choice may use, the least first: one link whatever the traffic,
/// one for each pair of hosts, one for each connection, all.
fn freedom(hop: &Hop<'_>, connection: usize) -> u8 {
    match hop.chooser(connection).by {
        _ if chooses_by_connection(hop) => 2,
        _ if hop.hashes() => 1,
        by if by.is_joint() || hop.has_mode(TeamMode::takes_turns) => 3,
        _ if hop.has_mode(TeamMode::gives_each_flow_one) => 2,
        _ if hop.has_mode(TeamMode::gives_each_peer_one) || hop.has_mode(TeamMode::gives_each_source_one) => 1,
        _ => 0,
    }
}

/// Whether a hash chooses that looks at each connection.
fn chooses_by_connection(hop: &Hop<'_>) -> bool {
    hop.prediction.as_ref().is_some_and(|prediction| key(prediction.policy).0 == Key::Connection)
}

fn is_same(one: &Hop<'_>, other: &Hop<'_>) -> bool {
    (one.node, one.peer) == (other.node, other.peer)
}
