//! Max-min fair rates by progressive filling.
//!
//! All rates grow together, each in proportion to its weight, until a resource is used up. The flows that use it keep
//! their rates; the others grow on. A flow uses each of its resources by a factor: what a bit of its payload takes there
//! (headers; the part of its frames that goes this way; copies; acknowledgements on the way back).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What flows use, one flow after the other.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    starts: Vec<u32>,
    resources: Vec<u32>,
    factors: Vec<f32>,
    weights: Vec<f32>,
    asked_bps: Vec<f64>,
}

impl Uses {
    /// Adds a flow: its weight, what it asks for at most, bit/s, and its resources with what a bit of payload takes there. A
    /// resource may be named more than once.
    pub fn push(&mut self, weight: f64, asked_bps: Option<f64>, uses: impl IntoIterator<Item = (u32, f64)>) {
        self.starts.push(self.resources.len() as u32);
        for (resource, factor) in uses.into_iter().filter(|(_, factor)| *factor > 0.0) {
            self.resources.push(resource);
            self.factors.push(factor as f32);
        }
        self.weights.push(weight as f32);
        self.asked_bps.push(asked_bps.unwrap_or(f64::INFINITY));
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// True if there is no flow.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The weight of a flow.
    pub(crate) fn weight(&self, flow: usize) -> f64 {
        f64::from(self.weights[flow])
    }

    /// Gives a flow another weight; false if it is the one that it has.
    pub(crate) fn set_weight(&mut self, flow: usize, weight: f64) -> bool {
        let before = std::mem::replace(&mut self.weights[flow], weight as f32);
        before != weight as f32
    }

    /// The resources of a flow, each with what a bit of payload takes there.
    pub fn of(&self, flow: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = self.starts[flow] as usize;
        let end = self.starts.get(flow + 1).map_or(self.resources.len(), |end| *end as usize);
        (start..end).map(|at| (self.resources[at] as usize, f64::from(self.factors[at])))
    }
}

/// The rates of flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Payload of each flow, bit/s. A flow without a resource and without a bound of its own gets 0.
    pub bps: Vec<f64>,
    /// The resource that holds each flow; none: it gets what it asks for.
    pub held_by: Vec<Option<u32>>,
    /// What is used of each resource, bit/s.
    pub used_bps: Vec<f64>,
}

/// What a resource has left while rates grow.
#[derive(Clone, Copy, Default)]
struct Resource {
    capacity: f64,
    /// Used by flows whose rates are settled.
    settled: f64,
    /// What the others use when each rate is its weight.
    slope: f64,
    /// Uses of flows that still grow.
    growing: u32,
}

impl Resource {
    /// The level at which it is used up.
    fn level(&self) -> f64 {
        ((self.capacity - self.settled) / self.slope).max(0.0)
    }
}

/// A resource, or what a flow asks for, and the level at which it settles rates.
#[derive(PartialEq)]
struct Next {
    level: f64,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Resource(u32),
    Asked(u32),
}

impl Eq for Next {}

impl Ord for Next {
    /// The lowest level is the greatest; equal levels in a fixed order.
    fn cmp(&self, other: &Next) -> Ordering {
        other.level.total_cmp(&self.level).then_with(|| other.what.cmp(&self.what))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Next) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The weighted max-min fair rates of flows over resources of these capacities, bit/s.
///
/// The time grows with the number of uses, and a heap of the resources.
pub fn max_min(capacities: &[f64], flows: &Uses) -> Rates {
    let mut filling = Filling::new(capacities, flows);
    while let Some(next) = filling.heap.pop() {
        match next.what {
            What::Asked(flow) => {
                if !filling.is_settled[flow as usize] {
                    filling.settle(flow, next.level, None);
                }
            }
            What::Resource(resource) => filling.used_up(resource, next.level),
        }
    }
    filling.rates.used_bps = filling.resources.iter().map(|resource| resource.settled).collect();
    filling.rates
}

/// Rates while they grow.
struct Filling<'f> {
    flows: &'f Uses,
    resources: Vec<Resource>,
    /// The flows of each resource: those of resource `r` are `users[first_user[r]..first_user[r + 1]]`.
    first_user: Vec<u32>,
    users: Vec<u32>,
    is_settled: Vec<bool>,
    heap: BinaryHeap<Next>,
    rates: Rates,
}

impl<'f> Filling<'f> {
    fn new(capacities: &[f64], flows: &'f Uses) -> Filling<'f> {
        let mut resources: Vec<Resource> =
            capacities.iter().map(|capacity| Resource { capacity: *capacity, ..Resource::default() }).collect();
        let mut first_user = vec![0_u32; resources.len() + 1];
        for flow in 0..flows.len() {
            let weight = f64::from(flows.weights[flow]);
            for (resource, factor) in flows.of(flow) {
                resources[resource].slope += weight * factor;
                resources[resource].growing += 1;
                first_user[resource + 1] += 1;
            }
        }
        for resource in 0..resources.len() {
            first_user[resource + 1] += first_user[resource];
        }
        let mut next = first_user.clone();
        let mut users = vec![0_u32; flows.resources.len()];
        for flow in 0..flows.len() {
            for (resource, _) in flows.of(flow) {
                users[next[resource] as usize] = flow as u32;
                next[resource] += 1;
            }
        }
        let of_resources = (0_u32..).zip(&resources).filter(|(_, resource)| resource.growing > 0);
        let mut heap: Vec<Next> = of_resources
            .map(|(number, resource)| Next { level: resource.level(), what: What::Resource(number) })
            .collect();
        let asked =
            (0_u32..).zip(flows.asked_bps.iter().zip(&flows.weights)).filter(|(_, (asked, _))| asked.is_finite());
        heap.extend(asked.map(|(flow, (asked, weight))| Next {
            level: (asked / f64::from(*weight)).max(0.0),
            what: What::Asked(flow),
        }));
        let rates = Rates { bps: vec![0.0; flows.len()], held_by: vec![None; flows.len()], used_bps: Vec::new() };
        let is_settled = vec![false; flows.len()];
        Filling { flows, resources, first_user, users, is_settled, heap: heap.into(), rates }
    }

    /// A resource came to the top of the heap. Its level may have risen since, when flows that use it settled elsewhere.
    fn used_up(&mut self, number: u32, level: f64) {
        let resource = self.resources[number as usize];
        if resource.growing == 0 {
            return;
        }
        let now = resource.level();
        if now > level * (1.0 + 1e-12) {
            self.heap.push(Next { level: now, what: What::Resource(number) });
            return;
        }
        let users = self.first_user[number as usize] as usize..self.first_user[number as usize + 1] as usize;
        for at in users {
            let flow = self.users[at];
            if !self.is_settled[flow as usize] {
                self.settle(flow, level, Some(number));
            }
        }
    }

    /// A flow keeps the rate that it has at this level.
    fn settle(&mut self, flow: u32, level: f64, held_by: Option<u32>) {
        let index = flow as usize;
        let weight = f64::from(self.flows.weights[index]);
        let bps = weight * level;
        self.is_settled[index] = true;
        self.rates.bps[index] = bps;
        self.rates.held_by[index] = held_by;
        for (resource, factor) in self.flows.of(index) {
            let resource = &mut self.resources[resource];
            resource.settled += bps * factor;
            resource.slope -= weight * factor;
            resource.growing -= 1;
        }
    }
}
