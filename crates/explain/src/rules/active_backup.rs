//! A mode in which one member carries everything.

use nicteam_options::HashPolicy;

use super::Rule;
use crate::finding::{Change, Finding, Side, Weight};
use crate::predicted;
use crate::view::{Direction, View};

pub(super) struct ActiveBackup;

impl Rule for ActiveBackup {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let bundle = view.bundle();
        let Some(active) = bundle.active.as_ref().and_then(|name| bundle.member(name)).filter(|_| view.uses_one())
        else {
            return Vec::new();
        };
        let linked = bundle.members.iter().filter(|member| member.carrier).count();
        let ways = [Direction::In, Direction::Out];
        if linked < 2 || ways.into_iter().all(|direction| view.is_idle(direction)) {
            return Vec::new();
        }
        let is_limit = ways.into_iter().any(|direction| view.is_full(active, direction));
        let weight = if is_limit { Weight::Limit } else { Weight::Notice };
        let sentence = format!(
            "{} carries everything, and the others stand by: mode {} uses one member at a time.",
            active.name, bundle.mode
        );
        let text = "a mode that uses all links, and a group with LACP at the switch";
        let finding = Finding::new("active-backup", weight, Side::Host, sentence).of(&active.name);
        if !is_limit {
            return vec![finding];
        }
        let finding = finding.change(Change::here(text, Vec::new()));
        let direction = ways.into_iter().find(|direction| view.is_full(active, *direction)).unwrap_or(Direction::Out);
        let change = predicted::Change::hash_over_all(view, HashPolicy::Layer34);
        let gain = change.and_then(|change| predicted::of_change(view, direction, &view.flows(direction), &change));
        vec![Finding { gain, ..finding }]
    }
}
