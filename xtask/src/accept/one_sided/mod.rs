//! What mode stripe gets towards hosts that know nothing of it, by its own end alone.
//!
//! A figure of throughput is measured over links of 1 Gbit/s with GSO frames and of 100 Mbit/s with MTU-sized
//! packets. What takes both ends is compared by `accept --against`.

mod compared;
mod faults;
mod gateway;
mod instructions;
mod latency;
mod lossy;
mod slow;
mod sum;

use super::arguments::Arguments;
use super::stripe::bundles::{Bundles, Times};
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::{Context, Part};
use crate::side;

/// Mode stripe towards plain hosts.
pub(super) const PART: Part<Arguments> = Part {
    tools: &side::TOOLS,
    ..Part::new(
        "one-sided",
        "stripe towards plain hosts: four links at one end, beside its peers, interleaved (bpf dataplane)",
        |context| gathered(GROUPS.iter().map(|group| (group.name, (group.measure)(context)))),
    )
};

/// Figures that are measured together. Where one group fails, the others are measured all the same.
struct Group {
    name: &'static str,
    measure: fn(&Context<'_, Arguments>) -> Result<Vec<Figure>, Failure>,
}

const GROUPS: [Group; 5] = [
    Group { name: "through a switch", measure: through_a_switch },
    Group { name: "through a gateway", measure: through_a_gateway },
    Group { name: "requests beside a bulk flow", measure: latency::measure },
    Group { name: "links that fail", measure: faults::measure },
    Group { name: "instructions a frame", measure: instructions::measure },
];

/// What links and frames are, and the experiments with such links.
struct Setting {
    name: &'static str,
    switch: &'static str,
    gateway: &'static str,
}

const SETTINGS: [Setting; 2] = [
    Setting { name: "4 x 1 Gbit/s", switch: "one-sided-gigabit", gateway: "one-sided-gateway-gigabit" },
    Setting { name: "4 x 100 Mbit/s", switch: "one-sided", gateway: "one-sided-gateway" },
];

/// So much of why a group was not measured stands in the table, characters; all of it is said at once.
const TOLD: usize = 100;

/// What an experiment's runs say.
type Figures = fn(&Bundles) -> Result<Vec<Figure>, Failure>;

/// The figures of all groups; what could not be measured is missed.
fn gathered(
    groups: impl Iterator<Item = (&'static str, Result<Vec<Figure>, Failure>)>,
) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for (name, measured) in groups {
        match measured {
            Ok(found) => figures.extend(found),
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                eprintln!("xtask: {name}: {failure}");
                let begins: String = failure.to_string().chars().take_while(|c| *c != '\n').take(TOLD).collect();
                figures.push(Figure::text(name, format!("not measured: {begins}"), "measured", Some(false)));
            }
        }
    }
    Ok(figures)
}

fn through_a_switch(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    in_settings(context, |setting| setting.switch, &[sum::figures, slow::figures, lossy::figures])
}

fn through_a_gateway(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    in_settings(context, |setting| setting.gateway, &[gateway::figures])
}

/// The figures of an experiment in every setting, each named after it.
fn in_settings(
    context: &Context<'_, Arguments>,
    experiment: fn(&Setting) -> &'static str,
    parts: &[Figures],
) -> Result<Vec<Figure>, Failure> {
    let Arguments { repeats, seconds, .. } = *context.arguments;
    let mut figures = Vec::new();
    for setting in &SETTINGS {
        let times = Times { repeats, seconds };
        let [bundles] = Bundles::in_turn([context.product], context.scratch, experiment(setting), times)?;
        figures.push(bundles.about()?);
        for part in parts {
            figures.extend(part(&bundles)?.into_iter().map(|figure| figure.in_setting(setting.name)));
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_fails_is_missed_and_takes_no_other_with_it() {
        let fails = || ("a", Err(Failure::failed("no link\nhint: lay one")));
        let measures = || ("b", Ok(vec![Figure::count("x", 0, "0".to_owned())]));
        let figures = gathered([fails(), measures()].into_iter()).unwrap();
        let told: Vec<_> = figures.iter().map(|figure| (figure.name.as_str(), figure.holds)).collect();
        assert_eq!(told, [("a", Some(false)), ("x", Some(true))]);
        assert_eq!(figures[0].measured, "not measured: no link");
        let stopped = gathered([measures(), ("c", Err(Failure::Interrupted)), fails()].into_iter());
        assert_eq!(stopped.unwrap_err(), Failure::Interrupted);
    }
}
