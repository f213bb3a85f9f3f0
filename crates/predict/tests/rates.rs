//! The rates are max-min fair: by their definition, and against a slow reference.

use nicteam_predict::{Uses, max_min};
use proptest::prelude::*;

/// A flow: weight, what it asks for, and its uses.
type Asking = (f64, Option<f64>, Vec<(u32, f64)>);

/// Capacities, and the flows that share them.
#[derive(Clone, Debug)]
struct Case {
    capacities: Vec<f64>,
    flows: Vec<Asking>,
}

impl Case {
    fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        self.flows.iter().for_each(|(weight, asked, of)| uses.push(*weight, *asked, of.iter().copied()));
        uses
    }
}

fn cases() -> impl Strategy<Value = Case> {
    (1..8_usize).prop_flat_map(|resources| {
        let use_of = (0..resources as u32, prop::sample::select(vec![0.03125, 0.25, 0.5, 1.0, 2.0]));
        let asked = prop::option::weighted(0.3, 1.0..200.0);
        let weight = prop::sample::select(vec![0.5, 1.0, 1.0, 4.0]);
        let flow = (weight, asked, prop::collection::vec(use_of, 1..5));
        (prop::collection::vec(1.0..1000.0, resources), prop::collection::vec(flow, 1..24))
            .prop_map(|(capacities, flows)| Case { capacities, flows })
    })
}

/// Progressive filling as in a textbook: one step at a time, everything computed anew.
fn reference(case: &Case) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; case.flows.len()];
    while rates.iter().any(Option::is_none) {
        let used = |resource: usize, of: &dyn Fn(usize) -> Option<f64>| -> f64 {
            let flows = case.flows.iter().enumerate();
            flows
                .filter_map(|(flow, (_, _, uses))| {
                    let factor: f64 = uses.iter().filter(|(r, _)| *r as usize == resource).map(|(_, f)| f).sum();
                    Some(of(flow)? * factor)
                })
                .sum()
        };
        let growing = |flow: usize| rates[flow].is_none().then_some(case.flows[flow].0);
        let level = |resource: usize| {
            let slope = used(resource, &growing);
            let left = case.capacities[resource] - used(resource, &|flow| rates[flow]);
            if slope > 0.0 { left.max(0.0) / slope } else { f64::INFINITY }
        };
        let levels: Vec<f64> = (0..case.capacities.len()).map(level).collect();
        let asked = |flow: usize| case.flows[flow].1.map_or(f64::INFINITY, |asked| asked / case.flows[flow].0);
        let own = |flow: usize| {
            let uses = case.flows[flow].2.iter().map(|(resource, _)| levels[*resource as usize]);
            uses.fold(asked(flow), f64::min)
        };
        let open: Vec<usize> = (0..rates.len()).filter(|flow| rates[*flow].is_none()).collect();
        let least = open.iter().map(|flow| own(*flow)).fold(f64::INFINITY, f64::min);
        let settled: Vec<usize> = open.into_iter().filter(|flow| own(*flow) <= least * (1.0 + 1e-9)).collect();
        settled.into_iter().for_each(|flow| rates[flow] = Some(least * case.flows[flow].0));
    }
    rates.into_iter().flatten().collect()
}

proptest! {
    #[test]
    fn no_resource_carries_more_than_it_can(case in cases()) {
        let rates = max_min(&case.capacities, &case.uses());
        for (used, capacity) in rates.used_bps.iter().zip(&case.capacities) {
            prop_assert!(*used <= capacity * (1.0 + 1e-6), "{used} of {capacity}");
        }
    }

    #[test]
    fn a_flow_has_a_full_resource_where_nobody_gets_more(case in cases()) {
        let rates = max_min(&case.capacities, &case.uses());
        let normal = |flow: usize| rates.bps[flow] / case.flows[flow].0;
        for (flow, (_, asked, uses)) in case.flows.iter().enumerate() {
            let Some(held_by) = rates.held_by[flow] else {
                prop_assert!((rates.bps[flow] - asked.unwrap()).abs() <= 1e-6 * asked.unwrap());
                continue;
            };
            prop_assert!(uses.iter().any(|(resource, _)| *resource == held_by));
            let (used, capacity) = (rates.used_bps[held_by as usize], case.capacities[held_by as usize]);
            prop_assert!(used >= capacity * (1.0 - 1e-6), "{used} of {capacity} is not full");
            for (other, (_, _, uses)) in case.flows.iter().enumerate() {
                let shares = uses.iter().any(|(resource, _)| *resource == held_by);
                prop_assert!(!shares || normal(other) <= normal(flow) * (1.0 + 1e-6));
            }
        }
    }

    #[test]
    fn more_capacity_never_lowers_the_least_rate(case in cases(), which in any::<prop::sample::Index>(), more in 1.0..500.0) {
        let least = |case: &Case| {
            let bps = max_min(&case.capacities, &case.uses()).bps;
            bps.iter().zip(&case.flows).map(|(bps, (weight, _, _))| bps / weight).fold(f64::INFINITY, f64::min)
        };
        let mut wider = case.clone();
        let place = which.index(wider.capacities.len());
        wider.capacities[place] += more;
        prop_assert!(least(&wider) >= least(&case) * (1.0 - 1e-6));
    }

    #[test]
    fn rates_are_those_of_a_slow_reference(case in cases()) {
        let fast = max_min(&case.capacities, &case.uses()).bps;
        for (fast, slow) in fast.iter().zip(reference(&case)) {
            prop_assert!((fast - slow).abs() <= 1e-5 * slow.max(1e-3), "{fast} and {slow}");
        }
    }
}

#[test]
fn what_is_left_on_one_link_goes_to_those_that_can_use_it() {
    // Three flows: one over both links, one over each.
    let case = Case {
        capacities: vec![10.0, 100.0],
        flows: vec![(1.0, None, vec![(0, 1.0), (1, 1.0)]), (1.0, None, vec![(0, 1.0)]), (1.0, None, vec![(1, 1.0)])],
    };
    let rates = max_min(&case.capacities, &case.uses());
    assert_eq!(rates.bps, [5.0, 5.0, 95.0]);
    assert_eq!(rates.held_by, [Some(0), Some(0), Some(1)]);
}

#[test]
fn a_heavier_flow_gets_more() {
    let case = Case { capacities: vec![90.0], flows: vec![(2.0, None, vec![(0, 1.0)]), (1.0, None, vec![(0, 1.0)])] };
    assert_eq!(max_min(&case.capacities, &case.uses()).bps, [60.0, 30.0]);
}
