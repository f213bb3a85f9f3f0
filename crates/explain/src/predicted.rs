//! What a change would give, by prediction from the flows that were seen.
//!
//! A flow whose link is full now takes what it gets; every other flow asks for what it carries now. What remains at the other end
//! and behind it is taken to be wide enough.

use nicteam_bundles::Member;
use nicteam_bundles::traffic::UDP;
use nicteam_options::HashPolicy;
use nicteam_predict::{Cable, Flow, Kind, Network, Node, Prediction, Receives, Sends, Team, predict};
use nicteam_wire::{Frame, Mac};

use crate::units::{percent, plural, rate};
use crate::view::{Direction, Placed, View};

/// This host, the other end of its links, and all hosts behind that.
const HERE: usize = 0;
const FAR: usize = 1;
const BEHIND: usize = 2;
/// Of a full frame: payload, what a device counts, and what the wire carries.
const PAYLOAD_BYTES: f64 = 1448.0;
const FRAME_BYTES: f64 = 1514.0;
const WIRE_BYTES: f64 = 1538.0;
/// Less than this part more is no gain.
const WORTH: f64 = 1.02;

/// How frames would find their link, and of which speeds links would be.
pub(crate) struct Change {
    pub sends: Sends,
    pub speeds_bps: Vec<f64>,
}

impl Change {
    /// A hash over the links that are active now; none where a speed is not known.
    pub(crate) fn hash(view: &View<'_>, policy: HashPolicy) -> Option<Change> {
        Some(Change { sends: by(policy), speeds_bps: view.active().into_iter().map(speed).collect::<Option<_>>()? })
    }

    /// A hash over all links that have carrier.
    pub(crate) fn hash_over_all(view: &View<'_>, policy: HashPolicy) -> Option<Change> {
        let linked = view.bundle().members.iter().filter(|of| of.carrier);
        Some(Change { sends: by(policy), speeds_bps: linked.map(speed).collect::<Option<_>>()? })
    }

    /// One connection by all links.
    pub(crate) fn stripe(view: &View<'_>) -> Option<Change> {
        Some(Change { sends: Sends::Striped, ..Change::hash(view, HashPolicy::Layer34)? })
    }
}

fn by(policy: HashPolicy) -> Sends {
    Sends::Hash { policy, buckets: 0 }
}

fn speed(of: &Member) -> Option<f64> {
    of.speed_mbps.filter(|mbps| *mbps > 0).map(|mbps| f64::from(mbps) * 1e6)
}

/// What a hash over the links of now would give to these flows.
pub(crate) fn gain(view: &View<'_>, direction: Direction, policy: HashPolicy, flows: &[Placed<'_>]) -> Option<String> {
    of_change(view, direction, flows, &Change::hash(view, policy)?)
}

/// What a change would give to these flows; none if it gives nothing.
pub(crate) fn of_change(
    view: &View<'_>,
    direction: Direction,
    flows: &[Placed<'_>],
    change: &Change,
) -> Option<String> {
    let links = change.speeds_bps.len();
    let asked = asked(view, direction, flows);
    if flows.is_empty() || links == 0 {
        return None;
    }
    let prediction = predict(&network(direction, change), &asked);
    let then = Then::of(&prediction, change, direction);
    let now = view.total_bps(direction);
    let (top, _) = view.top(direction)?;
    let fullest_now = view.load(top, direction)?;
    let verb = if direction == Direction::In { "receive" } else { "send" };
    let who = format!("by prediction {} would use {} of {links} links", plural(flows.len(), "flow"), then.used);
    match () {
        () if then.bps > now * WORTH => {
            Some(format!("{who}, and this host would {verb} {} where it is {} now", rate(then.bps), rate(now)))
        }
        () if then.fullest * WORTH < fullest_now => Some(format!(
            "{who}, the fullest of them to {} where it is {} now",
            percent(then.fullest),
            percent(fullest_now)
        )),
        () => None,
    }
}

/// What links would carry.
struct Then {
    used: usize,
    /// Bit/s of all links as devices count them: without preamble, check sequence and gap.
    bps: f64,
    /// The load of the fullest link.
    fullest: f64,
}

impl Then {
    fn of(prediction: &Prediction, change: &Change, direction: Direction) -> Then {
        let speeds = &change.speeds_bps;
        if change.sends == Sends::Striped {
            let bps = prediction.bps.iter().sum::<f64>() * FRAME_BYTES / PAYLOAD_BYTES;
            return Then { used: speeds.len(), bps, fullest: bps / speeds.iter().sum::<f64>() };
        }
        let way = usize::from(direction == Direction::In);
        let loads = || prediction.load.iter().take(speeds.len()).map(|load| load[way]);
        let carried: f64 = speeds.iter().zip(loads()).map(|(speed, load)| speed * load).sum();
        Then {
            used: loads().filter(|load| *load > 1e-6).count(),
            bps: carried * FRAME_BYTES / WIRE_BYTES,
            fullest: loads().fold(0.0, f64::max),
        }
    }
}

/// The flows, each with what it asks for.
fn asked(view: &View<'_>, direction: Direction, flows: &[Placed<'_>]) -> Vec<Flow> {
    let total = view.total_bps(direction);
    let bytes: u64 = flows.iter().fold(0, |sum, flow| sum.saturating_add(flow.bytes));
    let flow = |of: &Placed<'_>| {
        let nodes = if direction == Direction::In { [BEHIND, HERE] } else { [HERE, BEHIND] };
        let is_full = view.bundle().member(of.member).is_some_and(|member| view.is_full(member, direction));
        let carries = total * of.bytes as f64 / bytes.max(1) as f64 * PAYLOAD_BYTES / FRAME_BYTES;
        let ends = [of.key.local, of.key.remote];
        // Frames of the other direction have the addresses of what is sent, the other way round.
        let macs = Frame::parse_untagged(of.head)
            .map_or([Mac::default(), of.mac.unwrap_or_default()], |frame| [frame.src(), frame.dst()]);
        let turned = direction == Direction::In;
        Flow {
            macs: if turned { [macs[1], macs[0]] } else { macs },
            asked_bps: (!is_full).then_some(carries),
            kind: if of.key.protocol == UDP { Kind::Datagrams(PAYLOAD_BYTES as u32) } else { Kind::Tcp },
            ..Flow::tcp(nodes, if turned { [ends[1], ends[0]] } else { ends })
        }
    };
    flows.iter().map(flow).collect()
}

/// This host, its links, and one wide link behind them.
fn network(direction: Direction, change: &Change) -> Network {
    let mut cables: Vec<Cable> = change.speeds_bps.iter().map(|speed| Cable::new([HERE, FAR], *speed)).collect();
    let members: Vec<usize> = (0..cables.len()).collect();
    let all: f64 = change.speeds_bps.iter().sum();
    cables.push(Cable::new([FAR, BEHIND], all * 10.0));
    let is_striped = change.sends == Sends::Striped;
    let team = |node: usize, changes: bool| Team {
        node,
        members: members.clone(),
        preferred: 0,
        sends: if changes || is_striped { change.sends } else { by(HashPolicy::Layer34) },
        receives: Receives::WhereSent,
    };
    let (here, far) = (team(HERE, direction == Direction::Out), team(FAR, direction == Direction::In));
    Network { nodes: vec![Node::host(), Node::switch(), Node::host()], cables, teams: vec![here, far] }
}
