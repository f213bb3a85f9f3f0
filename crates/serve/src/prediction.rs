//! What two hosts with a group of links would get: by the same prediction as `nicteam lab predict`, without building
//! anything.

use maud::{Markup, html};
use nicteam_experiment::{self as experiment, Overrides, Predicted};
use nicteam_report::{NUMBER, plain_table};
use nicteam_web::Request;

use crate::chart::{Point, chart, share};
use crate::frame::page;

/// How hosts choose a link, and how the switch does.
const POLICIES: [&str; 3] = ["layer2", "layer2+3", "layer3+4"];
const SPREADS: [&str; 3] = ["src-dst-mac", "src-dst-ip", "src-dst-port"];
const MOST_MEMBERS: u32 = 8;
const MOST_FLOWS: u32 = 64;
/// Addresses and ports are drawn from so many seeds, for the figures and for a point of the line.
const SEEDS: u32 = 400;
const SEEDS_OF_A_POINT: u32 = 100;
/// The points of the line.
const FLOWS: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// What is asked: where the sliders stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inputs {
    members: u32,
    flows: u32,
    policy: &'static str,
    spread: &'static str,
}

impl Inputs {
    /// Of the address; what is missing or wrong is what most people have.
    pub(crate) fn of(request: &Request) -> Inputs {
        let number = |name: &str, usual: u32, most: u32| {
            let given = request.field(name).and_then(|value| value.parse().ok());
            given.filter(|value| (1..=most).contains(value)).unwrap_or(usual)
        };
        let choice = |name: &str, all: &[&'static str]| {
            let given = request.field(name);
            all.iter().find(|one| given.as_deref() == Some(**one)).copied()
        };
        Inputs {
            members: number("members", 4, MOST_MEMBERS),
            flows: number("flows", 8, MOST_FLOWS),
            policy: choice("policy", &POLICIES).unwrap_or("layer3+4"),
            spread: choice("spread", &SPREADS).unwrap_or("src-dst-port"),
        }
    }

    /// The experiment.
    fn text(&self, flows: u32) -> String {
        format!(
            r#"title = "Connections between two hosts"
[defaults]
rate = "1gbit"
[teams.group]
mode = "802.3ad"
xmit_hash_policy = "{}"
[hosts]
left = {{ team = "group" }}
right = {{ team = "group" }}
[switches]
sw = {{ spread = "{}" }}
[[links]]
between = [["left", "right"], "sw"]
count = {}
[workloads.copy]
kind = "tcp"
from = "left"
to = "right"
connections = {flows}
[[runs]]
name = "copy"
workloads = "copy"
"#,
            self.policy, self.spread, self.members
        )
    }

    fn predicted(&self, flows: u32, seeds: u32) -> Result<Predicted, String> {
        let text = self.text(flows);
        let read = experiment::parse("predict", "the built-in experiment", &text, &Overrides::default());
        let mut runs = experiment::predict_drawn(&read.map_err(|error| error.to_string())?, seeds);
        runs.pop().ok_or_else(|| "no run".to_owned())
    }

    /// p5, median and p95 of the share.
    fn point(&self, flows: u32, seeds: u32) -> Result<(Point, Predicted), String> {
        let predicted = self.predicted(flows, seeds)?;
        let drawn = predicted.outcome.as_ref().map_err(Clone::clone)?.drawn.ok_or("nothing was drawn")?;
        let of_limit = |bps: f64| if predicted.limit_bps > 0.0 { bps / predicted.limit_bps } else { 0.0 };
        let shares = [drawn.p5_bps, drawn.median_bps, drawn.p95_bps].map(of_limit);
        Ok((Point { flows, shares }, predicted))
    }
}

/// The page.
pub(crate) fn prediction(inputs: &Inputs) -> Result<String, String> {
    let (chosen, predicted) = inputs.point(inputs.flows, SEEDS)?;
    let points: Vec<Point> =
        FLOWS.iter().map(|flows| Ok(inputs.point(*flows, SEEDS_OF_A_POINT)?.0)).collect::<Result<_, String>>()?;
    let held_by = predicted.outcome.map(|outcome| outcome.held_by).unwrap_or_default();
    let main = html! {
        header {
            p.eyebrow { "nicteam serve" }
            h1 { "Predictions" }
            p.lead {
                "Two hosts, each with a group of 1 Gbit/s links to one switch. What do flows from one host to the other get, "
                "if addresses and ports are random?"
            }
        }
        (form(inputs))
        section #prediction aria-live="polite" {
            (figures(inputs, &chosen, predicted.limit_bps, &held_by))
            figure.prediction {
                (chart(&points, chosen))
                figcaption.quiet {
                    "The line is the median of " (SEEDS_OF_A_POINT) " draws, the band goes from p5 to p95. The mark is where the "
                    "sliders stand."
                }
            }
            (table(&points))
            details {
                summary { "The experiment, for " code { "nicteam lab predict FILE --seeds " (SEEDS) } }
                pre { (inputs.text(inputs.flows)) }
            }
        }
    };
    Ok(page("Predictions", None, &main))
}

fn figures(inputs: &Inputs, chosen: &Point, limit_bps: f64, held_by: &str) -> Markup {
    let [low, middle, high] = chosen.shares;
    let flows = if inputs.flows == 1 { "flow" } else { "flows" };
    html! {
        p.verdict {
            (inputs.flows) " " (flows) " over " (inputs.members) " × 1 Gbit/s: in half of all cases the share of the limit is "
            (share(middle)) " or less."
        }
        p.score {
            span { b { (share(low)) } " p5" } span { b { (share(middle)) } " median" } span { b { (share(high)) } " p95" }
            span { b { (format!("{:.0} Mbit/s", middle * limit_bps / 1e6)) } " of " (format!("{:.0}", limit_bps / 1e6)) }
        }
        p.quiet { "With the addresses and ports that the lab would give, held by: " (held_by) "." }
    }
}

fn form(inputs: &Inputs) -> Markup {
    let slider = |name: &str, words: &str, value: u32, most: u32| {
        html! {
            label for=(name) { (words) }
            input #(name) type="range" name=(name) min="1" max=(most) value=(value);
            output for=(name) { (value) }
        }
    };
    let choice = |name: &str, words: &str, all: &[&str], chosen: &str| {
        html! {
            label for=(name) { (words) }
            select #(name) name=(name) { @for one in all { option value=(one) selected[*one == chosen] { (one) } } }
            span {}
        }
    };
    html! {
        form.sliders method="get" action="/predict" data-replaces="#prediction" {
            (slider("members", "links", inputs.members, MOST_MEMBERS))
            (slider("flows", "flows", inputs.flows, MOST_FLOWS))
            (choice("policy", "hosts choose by", &POLICIES, inputs.policy))
            (choice("spread", "the switch by", &SPREADS, inputs.spread))
            span {} button { "Predict" } span {}
        }
    }
}

fn table(points: &[Point]) -> Markup {
    let columns = [("flows", NUMBER), ("p5", NUMBER), ("median", NUMBER), ("p95", NUMBER)];
    let rows = html! {
        @for point in points {
            tr { td.num { (point.flows) } @for value in point.shares { td.num { (share(value)) } } }
        }
    };
    html! { details { summary { "The same as a table" } (plain_table(&columns, &rows)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Inputs = Inputs { members: 4, flows: 8, policy: "layer3+4", spread: "src-dst-port" };

    #[test]
    fn one_flow_gets_one_link_and_layer2_stays_at_one() {
        let (one, _) = USUAL.point(1, 50).unwrap();
        assert!(one.shares.iter().all(|share| (share - 0.25).abs() < 0.01), "{one:?}");
        let (layer2, _) = Inputs { policy: "layer2", spread: "src-dst-mac", ..USUAL }.point(64, 50).unwrap();
        assert!(layer2.shares[2] < 0.3, "{layer2:?}");
        let (many, _) = USUAL.point(64, 50).unwrap();
        assert!(
            many.shares[1] > 0.8 && many.shares[0] <= many.shares[1] && many.shares[1] <= many.shares[2],
            "{many:?}"
        );
    }

    #[test]
    fn every_choice_is_predicted() {
        for policy in POLICIES {
            for spread in SPREADS {
                for members in [1, MOST_MEMBERS] {
                    let inputs = Inputs { members, flows: 2, policy, spread };
                    assert!(inputs.point(2, 3).is_ok(), "{inputs:?}");
                }
            }
        }
    }
}
