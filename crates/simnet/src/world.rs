//! All nodes, the links between them, and the passing of time.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_team::Time;

use crate::{Bytes, Link, Node, Port, Random, Schedule, Way};

/// More calls without any time between them than any nodes have use for: so many, and for each of many nodes some more.
const ENDLESS: usize = 1000;
const ENDLESS_EACH: usize = 10;

/// A network under virtual time.
#[derive(Clone, Debug)]
pub struct World<N> {
    /// What nodes put on their links from now on, if it is recorded.
    pub captured: Option<Vec<Captured>>,
    now: Time,
    nodes: Vec<Place<N>>,
    links: Vec<Option<Link>>,
    /// Where frames arrive.
    flights: Schedule<(Port, Bytes)>,
    /// When which node wants to be called.
    timers: BTreeSet<(Time, usize)>,
    /// Nodes that somebody may have changed since they were asked what they want.
    touched: BTreeSet<usize>,
    random: Random,
    /// Calls of one node at this very moment.
    calls: usize,
}

/// A frame that was put on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When.
    pub at: Time,
    /// By which port.
    pub from: Port,
    /// Where the link leads.
    pub to: Port,
    /// The frame.
    pub frame: Bytes,
}

/// A node, and what the world knows of it.
#[derive(Clone, Debug)]
struct Place<N> {
    node: N,
    /// The link at each port.
    links: Vec<Option<usize>>,
    /// Its entry among the timers.
    due: Option<Time>,
}

/// Nodes.
impl<N: Node> World<N> {
    /// Nothing yet; the seed decides what happens by chance.
    pub fn new(seed: u64) -> World<N> {
        World {
            captured: None,
            now: Time::ZERO,
            nodes: Vec::new(),
            links: Vec::new(),
            flights: Schedule::default(),
            timers: BTreeSet::new(),
            touched: BTreeSet::new(),
            random: Random::new(seed),
            calls: 0,
        }
    }

    /// One more node; its number.
    pub fn add(&mut self, node: N) -> usize {
        self.nodes.push(Place { node, links: Vec::new(), due: None });
        self.settle(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// A node.
    pub fn node(&self, node: usize) -> &N {
        &self.nodes[node].node
    }

    /// The same, to be changed; what it wants then is asked before anything else happens.
    pub fn node_mut(&mut self, node: usize) -> &mut N {
        self.touched.insert(node);
        &mut self.nodes[node].node
    }

    /// All nodes, by number.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &N> {
        self.nodes.iter().map(|place| &place.node)
    }

    /// Changes a node, and takes what it sends.
    pub fn change<R>(&mut self, node: usize, change: impl FnOnce(&mut N, Time) -> R) -> R {
        let changed = change(&mut self.nodes[node].node, self.now);
        self.settle(node);
        changed
    }

    /// Takes what a node sends, and asks when it wants to be called.
    fn settle(&mut self, node: usize) {
        while let Some((port, frame)) = self.nodes[node].node.poll_transmit() {
            self.send((node, port), frame);
        }
        let place = &mut self.nodes[node];
        let due = place.node.poll_timeout();
        if due != place.due {
            if let Some(before) = std::mem::replace(&mut place.due, due) {
                self.timers.remove(&(before, node));
            }
            self.timers.extend(due.map(|at| (at, node)));
        }
    }

    fn settle_touched(&mut self) {
        while let Some(node) = self.touched.pop_first() {
            self.settle(node);
        }
    }
}

/// Links.
impl<N: Node> World<N> {
    /// Lays a cable between two ports; both ends get carrier.
    pub fn connect(&mut self, one: Port, other: Port, way: Way) {
        self.lay(one, other, way);
        self.tell(one);
        if one != other {
            self.tell(other);
        }
    }

    /// Takes the cable at a port away; both ends lose carrier. Where it led.
    pub fn disconnect(&mut self, port: Port) -> Option<Port> {
        let far = self.lift(port)?;
        self.tell(port);
        if far != port {
            self.tell(far);
        }
        Some(far)
    }

    /// Gives a link carrier or takes it away; both ends see it.
    pub fn set_carrier(&mut self, port: Port, carrier: bool) {
        let Some(link) = self.link_mut(port) else { return };
        link.carrier = carrier;
        let far = link.far(port);
        self.tell(port);
        self.tell(far);
    }

    /// Lays a cable as [`World::connect`] does, and nobody is told.
    pub fn lay(&mut self, one: Port, other: Port, way: Way) {
        for port in [one, other] {
            self.lift(port);
        }
        let free = self.links.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.links.push(None);
            self.links.len() - 1
        });
        self.links[number] = Some(Link::new([one, other], way));
        [one, other].into_iter().for_each(|port| *self.slot(port) = Some(number));
    }

    /// Takes a cable away as [`World::disconnect`] does, and nobody is told.
    pub fn lift(&mut self, port: Port) -> Option<Port> {
        let number = self.slot(port).take()?;
        let far = self.links[number].take()?.far(port);
        *self.slot(far) = None;
        Some(far)
    }

    /// Plugs the far end of the cable at `port` into another port, behind a media converter: nobody loses carrier.
    pub fn rewire(&mut self, port: Port, far: Port) {
        let Some(before) = self.far(port).filter(|before| *before != far) else { return };
        self.lift(far);
        *self.slot(before) = None;
        self.plug_far(port, far);
    }

    /// Exchanges the far ends of the cables at two ports in the same manner; cables between these ports stay.
    pub fn cross(&mut self, one: Port, other: Port) {
        if let (Some(far_one), Some(far_other)) = (self.far(one), self.far(other))
            && ![one, other].contains(&far_one)
            && ![one, other].contains(&far_other)
        {
            self.plug_far(one, far_other);
            self.plug_far(other, far_one);
        }
    }

    fn plug_far(&mut self, port: Port, far: Port) {
        let number = *self.slot(port);
        if let Some(link) = self.link_mut(port) {
            let end = usize::from(link.ends[0] == port);
            link.ends[end] = far;
            *self.slot(far) = number;
        }
    }

    /// The link at a port.
    pub fn link(&self, port: Port) -> Option<&Link> {
        let number = (*self.nodes[port.0].links.get(port.1)?)?;
        self.links[number].as_ref()
    }

    /// The same, to be changed.
    pub fn link_mut(&mut self, port: Port) -> Option<&mut Link> {
        let number = (*self.nodes[port.0].links.get(port.1)?)?;
        self.links[number].as_mut()
    }

    /// All links, to be changed.
    pub fn links_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.links.iter_mut().flatten()
    }

    /// The port at the other end of the cable.
    pub fn far(&self, port: Port) -> Option<Port> {
        self.link(port).map(|link| link.far(port))
    }

    /// Each port with a cable, and the port at its other end, in order.
    pub fn cables(&self) -> impl Iterator<Item = (Port, Port)> {
        let ports = self.nodes.iter().enumerate();
        let ports = ports.flat_map(|(node, place)| (0..place.links.len()).map(move |port| (node, port)));
        ports.filter_map(|port| Some((port, self.far(port)?)))
    }

    fn slot(&mut self, (node, port): Port) -> &mut Option<usize> {
        let links = &mut self.nodes[node].links;
        if links.len() <= port {
            links.resize(port + 1, None);
        }
        &mut links[port]
    }

    /// Tells a node what the link at its port says.
    fn tell(&mut self, (node, port): Port) {
        let carrier = self.link((node, port)).is_some_and(|link| link.carrier);
        self.change(node, |it, now| it.handle_carrier(port, carrier, now));
    }
}

/// Frames and time.
impl<N: Node> World<N> {
    /// The time now.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Puts a frame on the cable at a port, as the node there does.
    pub fn send(&mut self, from: Port, frame: impl Into<Bytes>) {
        let Some(link) = self.link(from).filter(|link| link.carries(from)) else { return };
        let (frame, way, to) = (frame.into(), *link.way(from), link.far(from));
        if let Some(captured) = &mut self.captured {
            captured.push(Captured { at: self.now, from, to, frame: frame.clone() });
        }
        for after in way.arrivals(&mut self.random) {
            self.flights.push(self.now + after, (to, frame.clone()));
        }
    }

    /// Hands a frame to a port as if it had come by its cable.
    pub fn deliver(&mut self, (node, port): Port, frame: impl Into<Bytes>) {
        let frame = frame.into();
        self.change(node, |it, now| it.handle_frame(port, &frame, now));
    }

    /// Lets so much time pass.
    pub fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.step_until(end).is_some() {}
    }

    /// Lets the next event happen if it does by then; which node it happened to. If none does, it is `end`.
    pub fn step_until(&mut self, end: Time) -> Option<usize> {
        if self.next_time().is_none_or(|at| at > end) {
            self.now = self.now.max(end);
            return None;
        }
        self.step()
    }

    /// Lets time pass to the next event, and lets that happen; which node it happened to.
    pub fn step(&mut self) -> Option<usize> {
        let at = self.next_time()?;
        if at > self.now {
            (self.now, self.calls) = (at, 0);
        }
        let timer = self.timers.first().copied();
        let arrival = self.flights.next_time();
        match (timer, arrival) {
            // What arrives at the same moment is there first.
            (Some((due, node)), arrival) if arrival.is_none_or(|arrives| due < arrives) => {
                self.call(node);
                Some(node)
            }
            _ => self.flights.pop().map(|(_, (to, frame))| {
                self.arrive(to, &frame);
                to.0
            }),
        }
    }

    /// When the next event happens.
    pub fn next_time(&mut self) -> Option<Time> {
        self.settle_touched();
        self.timers.first().map(|(at, _)| *at).into_iter().chain(self.flights.next_time()).min()
    }

    /// The frames on their way in the order in which they arrive, and where.
    pub fn in_flight(&self) -> impl Iterator<Item = (Port, &[u8])> {
        self.flights.iter().map(|(_, (to, frame))| (*to, &frame[..]))
    }

    /// Frames that were on their way so far, copies included.
    pub fn flown(&self) -> u64 {
        self.flights.scheduled()
    }

    fn call(&mut self, node: usize) {
        self.calls += 1;
        let endless = ENDLESS + ENDLESS_EACH * self.nodes.len();
        assert!(self.calls < endless, "time stands still at {}: node {node} wants to be called", self.now);
        self.change(node, N::handle_timeout);
    }

    fn arrive(&mut self, to: Port, frame: &Bytes) {
        let arrives = self.link(to).is_some_and(|link| link.carries(link.far(to)));
        if arrives {
            self.change(to.0, |node, now| node.handle_frame(to.1, frame, now));
        }
    }
}
