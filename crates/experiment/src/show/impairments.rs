//! What links do to frames, in words.

use std::collections::BTreeMap;

use nicteam_impair::{Distribution, Impairments, Loss, Probability};

use crate::units::{show_duration, show_percent};
use nicteam_elements::resolved::{Impaired, Topology, Way};

/// What stands with a link: the name of its impairment; both where its directions differ, `-` where nothing is done.
/// A cable without a name in either direction has its link emulator because of an event.
pub(crate) fn label(impaired: &Impaired) -> String {
    if impaired.a_to_b.name.is_none() && impaired.b_to_a.name.is_none() {
        return "relayed".to_owned();
    }
    let name = |way: &Way| way.name.clone().unwrap_or_else(|| "-".to_owned());
    let (there, back) = (name(&impaired.a_to_b), name(&impaired.b_to_a));
    if there == back { there } else { format!("{there}/{back}") }
}

/// Every impairment that a link has, by its name.
pub(crate) fn texts(topology: &Topology) -> BTreeMap<&str, String> {
    let impaired = topology.cables.iter().filter_map(|cable| cable.impaired.as_ref());
    let ways = impaired.flat_map(|impaired| [&impaired.a_to_b, &impaired.b_to_a]);
    ways.filter_map(|way| Some((way.name.as_deref()?, text(way)))).collect()
}

/// `delay 5ms, loss 1%, seed 1`
fn text(way: &Way) -> String {
    let Impairments { delay, jitter, loss, duplicate, reorder, corrupt } = way.impairments;
    let mut said = Vec::new();
    if !delay.is_zero() {
        said.push(format!("delay {}", show_duration(delay)));
    }
    if !jitter.amount.is_zero() {
        let distribution = match jitter.distribution {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
        };
        let order = if jitter.may_reorder { "may reorder" } else { "keeps order" };
        said.push(format!("jitter {} ({distribution}, {order})", show_duration(jitter.amount)));
    }
    match loss {
        Loss::Independent(Probability::NEVER) => {}
        Loss::Independent(loss) => said.push(format!("loss {}", show_percent(loss))),
        Loss::Gemodel(model) => {
            let [p, r, h, k] = [model.to_bad, model.to_good, model.loss_in_bad, model.loss_in_good].map(show_percent);
            said.push(format!("loss gemodel p {p} r {r} 1-h {h} 1-k {k}"));
        }
    }
    if duplicate > Probability::NEVER {
        said.push(format!("duplicate {}", show_percent(duplicate)));
    }
    if corrupt > Probability::NEVER {
        said.push(format!("corrupt {}", show_percent(corrupt)));
    }
    if let Some(reorder) = reorder {
        said.push(format!("reorder {} gap {}", show_percent(reorder.probability), reorder.gap));
    }
    if said.is_empty() {
        return "nothing".to_owned();
    }
    format!("{}, seed {}", said.join(", "), way.seed)
}
