//! LACP that nobody answers.

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Weight};
use crate::units::list;
use crate::view::View;

pub(super) struct LacpMissing;

impl Rule for LacpMissing {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let bundle = view.bundle();
        let is_missing = bundle.lacp.as_ref().is_some_and(|lacp| lacp.negotiated == Some(false));
        let linked: Vec<&str> = bundle.members.iter().filter(|of| of.carrier).map(|of| of.name.as_str()).collect();
        if !is_missing || linked.is_empty() {
            return Vec::new();
        }
        let active = view.active();
        let consequence = match active.as_slice() {
            [] => "so nothing is carried".to_owned(),
            [one] => format!("so {} alone carries everything", one.name),
            _ => "so the other end may not take the links as one".to_owned(),
        };
        let finding = Finding::new(
            "lacp-missing",
            Weight::Fault,
            Side::Switch,
            format!("No partner answers by LACP, {consequence}."),
        );
        let group = view.traits.and_then(|of| of.channel_group(true)).unwrap_or("active");
        let change =
            Change::at(Place::Switch, format!("put the ports that {} lead to into one group with LACP", list(&linked)));
        let change = Change { commands: vec![format!("channel-group N mode {group}    (Cisco, Arista)")], ..change };
        vec![finding.by("no LACPDU of the other end is known".to_owned()).change(change)]
    }
}
