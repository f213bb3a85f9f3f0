//! Members of different speeds: what each mode makes of them.

use nicteam_team::mode::Sends;

use super::super::facts::{Bundle, Device, HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct Speeds;

const NAME: &str = "speeds";

impl Rule for Speeds {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        facts.bundles.iter().filter_map(|bundle| of_bundle(facts, bundle)).collect()
    }
}

fn of_bundle(facts: &HostFacts, bundle: &Bundle) -> Option<Finding> {
    let (traits, config) = bundle.traits()?;
    let with_speed: Vec<(&Device, u32)> = facts
        .members(bundle)
        .filter(|device| device.link.carrier)
        .filter_map(|device| Some((device, device.speed_mbps?)))
        .collect();
    let slowest = with_speed.iter().map(|(_, speed)| *speed).min()?;
    let fastest = with_speed.iter().map(|(_, speed)| *speed).max()?;
    if slowest == fastest {
        return None;
    }
    let told: Vec<String> =
        with_speed.iter().map(|(device, speed)| format!("{} {speed} Mbit/s", device.link.name)).collect();
    let told = told.join(", ");
    let fast: Vec<&str> =
        with_speed.iter().filter(|(_, speed)| *speed == fastest).map(|(device, _)| device.link.name.as_str()).collect();
    let same = "members of one speed, or `--mode stripe` at both ends, which loads each by its own";
    let (text, cure) = if traits.aggregates(&config) {
        let text = "LACP puts ports of one speed into a group, and uses one group: the others stand idle";
        (
            text.to_owned(),
            "ports of one speed; or `ad_select=bandwidth`, which at least uses the fastest group".to_owned(),
        )
    } else {
        match traits.sends {
            Sends::Striped => return None,
            // A team of ours says that itself.
            Sends::InTurn if bundle.owner == Owner::Team => return None,
            Sends::InTurn => {
                let sum = u64::from(slowest) * with_speed.len() as u64;
                let text = format!("frames in turn go at the pace of the slowest: {sum} Mbit/s in all");
                (text, same.to_owned())
            }
            Sends::ByAll => (format!("every frame goes by every member: {slowest} Mbit/s in all"), same.to_owned()),
            Sends::ByActive => {
                if bundle.option("primary").is_some_and(|primary| fast.contains(&primary)) {
                    return None;
                }
                let text = "the member that carries the traffic may be the slow one".to_owned();
                (text, format!("set `primary={}`, the fastest", fast.first().copied().unwrap_or_default()))
            }
            _ => {
                let text =
                    "a connection gets a member by a hash, not by its speed: some run at the slowest's".to_owned();
                (text, same.to_owned())
            }
        }
    };
    let text = format!("its members differ in speed ({told}): {text}");
    Some(finding(NAME, &bundle.name, Weight::Disappoints, text, cure))
}
