//! Published test T2: SoftEther's test of throughput beside ours, how far comparisons can be trusted, and what T2 says.

use std::fs;
use std::process::Command;

use nicteam_record::{Record, Repetition, Run, TrafficTest};
use nicteam_report::{ComparedSide, compare};
use nicteam_statistics::{Comparison, Estimate, Verdict, jain_index, median};

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product;

/// SoftEther's client and server beside our generator.
pub(super) const SOFTETHER: Part<Arguments> = Part {
    tools: &[("vpncmd", "softether-vpncmd")],
    ..Part::new(
        "softether",
        "traffic-test by nicteam and by SoftEther, 32 connections over one link of 1 Gbit/s",
        softether,
    )
};

/// How often a comparison is wrong.
pub(super) const COMPARISONS: Part<Arguments> =
    Part::new("comparisons", "lab compare: a run beside itself, and 5 % found, from runs of this machine", comparisons);

/// T2's clients before and after, and stripe.
pub(super) const T2: Part<Arguments> =
    Part::new("t2", "T2: three clients at once without a team and with one, and stripe", t2);

const ONE_LINK: &str = "title = \"One link\"\n[defaults]\nrate = \"1gbit\"\ngranularity = \"super-frames\"\nduration = \"4s\"\n\
    [hosts]\na = {}\nb = {}\n[[links]]\nbetween = [\"a\", \"b\"]\n";

/// The directions, by SoftEther's names.
const WAYS: [(&str, &str); 3] = [("download", "receive"), ("upload", "send"), ("full", "both")];

/// What a test says of a direction, bit/s.
type Way = fn(&TrafficTest) -> f64;

/// Three pairs of runs in each direction, in turn.
fn softether(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    const PAIRS: &str = "3";
    let mut file = ONE_LINK.to_owned();
    for (name, direction) in WAYS {
        for by in ["nicteam", "softether"] {
            file += &format!(
                "[workloads.{name}-{by}]\nkind = \"traffic-test\"\nby = \"{by}\"\nfrom = \"a\"\nto = \"b\"\nconnections = 32\n\
                 direction = \"{direction}\"\n[[runs]]\nname = \"{name}-{by}\"\nworkloads = \"{name}-{by}\"\n"
            );
        }
    }
    let record = run_file(context, "softether", &file, &["--repeat", PAIRS])?;
    let noise = noise(&record);
    let mut figures = Vec::new();
    for (name, _) in WAYS {
        let of = |by: &str, bps: Way| -> Result<Vec<f64>, Failure> {
            let run = format!("{name}-{by}");
            let tests: Option<Vec<f64>> =
                repetitions(&record, &run).iter().map(|run| run.traffic_tests.first().map(bps)).collect();
            tests.filter(|tests| !tests.is_empty()).ok_or_else(|| Failure::failed(format!("{run} left no table")))
        };
        let parts: &[(&str, Way)] = match name {
            "full" => &[
                ("full, down", TrafficTest::download_bps),
                ("full, up", TrafficTest::upload_bps),
                ("full, both", TrafficTest::total_bps),
            ],
            "download" => &[("download", TrafficTest::download_bps)],
            _ => &[("upload", TrafficTest::upload_bps)],
        };
        for (title, bps) in parts {
            let (ours, theirs) = (of("nicteam", *bps)?, of("softether", *bps)?);
            let peer = format!("{:.1} and {:.1} Mbit/s", median(&ours) / 1e6, median(&theirs) / 1e6);
            let figure = Figure::ratio(
                format!("{title}: ours / SoftEther's"),
                Estimate::of_ratios(&ours, &theirs),
                Bound::Within(0.97, 1.03),
            );
            figures.push(figure.noise(noise).peer(peer));
        }
    }
    Ok(figures)
}

/// Forty times over a link of 100 Mbit/s, and over one of 105; twenty of them at a time are compared as ten with ten.
fn comparisons(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let run = |rate: &str| {
        let mut command = context.product.lab_run("two-hosts");
        command.args(["--rate", rate, "--duration", "500ms", "--repeat", "40"]);
        product::record(command.arg("--output").arg(context.scratch.path().join(format!("comparisons-{rate}"))))
    };
    let (usual, faster) = (run("100mbit")?, run("105mbit")?);
    let noise = noise(&usual).worse(self::noise(&faster));
    let mut numbers = Numbers(1);
    let mut silent = 0;
    for _ in 0..200 {
        let drawn = numbers.draw(&usual.runs, 20);
        let (one, two) = drawn.split_at(10);
        let record = beside(&usual, one, two);
        silent += u32::from(compared(&record)?.shows_nothing());
    }
    let mut found = 0;
    for _ in 0..20 {
        let record = beside(&usual, &numbers.draw(&usual.runs, 10), &numbers.draw(&faster.runs, 10));
        found += u32::from(compared(&record)?.figures.first().is_some_and(|row| row.verdict == Verdict::Higher));
    }
    let count = |name: &str, count: u32, of: u32, least: u32| {
        Figure::text(name, format!("{count} of {of}"), &format!(">= {least}"), Some(count >= least)).noise(noise)
    };
    Ok(vec![
        count("a run beside itself: no difference shown in any figure", silent, 200, 185),
        count("5 % more, ten times each: payload is higher", found, 20, 18),
    ])
}

/// A record of two runs, each carried out as often as there are runs given.
fn beside(record: &Record, one: &[&Run], two: &[&Run]) -> Record {
    let named = |of: &str, runs: &[&Run]| {
        let each = runs.iter().zip(1..).map(|(run, number)| {
            let repetition = Some(Repetition { of: of.to_owned(), number });
            Run { name: format!("{of}@{number}"), repetition, ..(*run).clone() }
        });
        each.collect::<Vec<Run>>()
    };
    Record { runs: [named("one", one), named("two", two)].concat(), ..record.clone() }
}

fn compared(record: &Record) -> Result<nicteam_report::Compared<'_>, Failure> {
    let side = |run| ComparedSide { label: String::new(), record, run };
    compare(side("one"), side("two")).map_err(Failure::failed)
}

/// All times that a run was carried out, by their numbers.
fn repetitions<'r>(record: &'r Record, name: &str) -> Vec<&'r Run> {
    let mut runs: Vec<&Run> = record.runs.iter().filter(|run| run.base_name() == name).collect();
    runs.sort_by_key(|run| run.repetition.as_ref().map(|of| of.number));
    runs
}

/// Before and after, in turn; and stripe at a rate that the machine carries.
fn t2(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let record = run_t2(context, "t2", &["--only", "no-team-three,alb-rlb-three", "--repeat", "6"])?;
    let noise_of_t2 = noise(&record);
    let values = |name: &str, of: &dyn Fn(&Run) -> Option<f64>| -> Vec<f64> {
        repetitions(&record, name).into_iter().filter_map(of).collect()
    };
    let jain = |run: &Run| {
        let totals: Vec<f64> = run.traffic_tests.iter().map(TrafficTest::total_bps).collect();
        jain_index(&totals)
    };
    let payload = |run: &Run| Some(run.delivered_bps);
    let mut figures = Vec::new();
    for (run, published) in [("no-team-three", "0.74"), ("alb-rlb-three", "0.88")] {
        let figure = Figure::ratio(format!("{run}: Jain's index"), Estimate::of(&values(run, &jain)), Bound::None);
        figures.push(figure.noise(noise_of_t2).peer(format!("published {published}")));
    }
    let (before, after) = (values("no-team-three", &payload), values("alb-rlb-three", &payload));
    let gain = Comparison::of_pairs(&before, &after).ok_or_else(|| Failure::failed("T2 left nothing to compare"))?;
    let interval = gain.low.zip(gain.high).map_or_else(String::new, |(low, high)| format!(" [{low:.3}, {high:.3}]"));
    let says = match gain.verdict(Comparison::HEADLINE) {
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NotShown => "no difference shown",
        Verdict::TooFew => "too few",
    };
    let gain = Figure::text(
        "payload with the team beside without",
        format!("{:.3}{interval}: {says}", gain.middle),
        "-",
        None,
    );
    figures.push(gain.noise(noise_of_t2).peer("published 541.0 -> 844.5 Mbit/s"));
    let stripe = run_t2(
        context,
        "t2-stripe",
        &[
            "--only",
            "fast-hosts-no-team-out,stripe-out,stripe-main,stripe-all-three",
            "--rate",
            "100mbit",
            "--repeat",
            "3",
        ],
    )?;
    let of = |name: &str, of: fn(&Run) -> f64| -> Vec<f64> {
        stripe.runs.iter().filter(|run| run.base_name() == name).map(of).collect()
    };
    let noise_of_stripe = noise(&stripe);
    let doubled = Estimate::of_ratios(
        &of("stripe-out", |run| run.delivered_bps),
        &of("fast-hosts-no-team-out", |run| run.delivered_bps),
    );
    figures.push(
        Figure::ratio(
            "stripe on the server alone, out to three clients, beside one card",
            doubled,
            Bound::AtLeast(1.8),
        )
        .noise(noise_of_stripe)
        .peer("published: impossible"),
    );
    for (name, run, bound) in [
        ("the same, of what both cards carry", "stripe-out", 0.93),
        ("stripe on the server alone, one client both ways, of what its one link carries", "stripe-main", 0.9),
        ("stripe at all ends, three clients both ways, of what both cards carry", "stripe-all-three", 0.9),
    ] {
        let figure = Figure::ratio(name, Estimate::of(&of(run, |run| run.of_limit)), Bound::AtLeast(bound));
        figures.push(figure.noise(noise_of_stripe));
    }
    Ok(figures)
}

fn run_t2(context: &Context<'_, Arguments>, name: &str, arguments: &[&str]) -> Result<Record, Failure> {
    let mut command = context.product.lab_run("t2");
    command.args(arguments).arg("--duration").arg(format!("{}s", context.arguments.seconds.max(3)));
    product::record(command.arg("--output").arg(context.scratch.path().join(name)))
}

fn run_file(context: &Context<'_, Arguments>, name: &str, file: &str, arguments: &[&str]) -> Result<Record, Failure> {
    let path = context.scratch.path().join(format!("{name}.toml"));
    fs::write(&path, file).map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    let mut command: Command = context.product.lab_run(&path.display().to_string());
    product::record(command.args(arguments).arg("--output").arg(context.scratch.path().join(name)))
}

fn noise(record: &Record) -> Noise {
    let stolen = record.runs.iter().map(|run| run.cpu.stolen).fold(0.0, f64::max);
    Noise { busy_before: record.environment.busy_before, stolen }
}

/// Numbers that look random, the same ones each time (Knuth's linear congruence).
struct Numbers(u64);

impl Numbers {
    /// So many of these, none twice.
    fn draw<'r>(&mut self, runs: &'r [Run], count: usize) -> Vec<&'r Run> {
        let mut left: Vec<&Run> = runs.iter().collect();
        let mut drawn = Vec::new();
        while drawn.len() < count && !left.is_empty() {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            drawn.push(left.swap_remove((self.0 >> 33) as usize % left.len()));
        }
        drawn
    }
}
