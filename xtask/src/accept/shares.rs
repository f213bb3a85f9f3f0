//! Who sends and receives how much where loads decide: ours beside the kernel's
//! driver, in one guest, through the same experiment.
//!
//! The guest does not wait for an idle processor, so that a minute of assignments every
//! ten seconds passes in some seconds. Ours is the product, on eBPF.

use nicteam_oracle::protocol::Request;
use nicteam_oracle::shares::{ADDRESS, Experiment, Fault, PREFIX, Second, Summary, busiest, roomiest_busiest};
use nicteam_oracle::{Guest, Refusal};

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::side::{self, Side};
use nicteam_statistics::Estimate;

const SEED: u64 = 61;
/// Hosts that the team speaks to.
const HOSTS: u8 = 48;
/// How much less even than the best ours may be, and than the kernel's: flows come in pieces.
const NOISE: f64 = 0.05;

/// Hosts that may be told an address for another reason.
const CHANCE: u32 = 3;
/// Share of datagrams that ours may lose more than the kernel's.
const LOST: f64 = 0.002;
const MIIMON: (&str, &str) = ("miimon", "100");
const RANDOM: (&str, &str) = ("packets_per_slave", "0");

/// What both sides are set to, and go through.
struct Case {
    name: &'static str,
    options: &'static [(&'static str, &'static str)],
    experiment: Experiment,
}

/// What both showed.
struct Shown {
    ours: Summary,
    kernels: Summary,
}

/// Shares in balance-tlb and balance-alb beside the kernel's.
pub(super) const PART: Part<Arguments> = Part {
    tools: &side::TOOLS,
    ..Part::new(
        "shares",
        "shares where loads decide, in a guest: ours (bpf) beside the kernel's driver, 48 hosts",
        measure,
    )
};

/// Measures all in one guest.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let measured = || {
        side::in_guest(run.product, Vec::new(), |guest| {
            let kernel = guest.kernel().to_owned();
            let shown = cases().into_iter().map(|case| case.show(guest).map(|shown| case.figures(&shown, &kernel)));
            Ok(shown.collect::<Result<Vec<_>, _>>()?.concat())
        })
    };
    let (figures, noise) = Noise::around(measured)?;
    Ok(figures.into_iter().map(|figure| figure.noise(noise)).collect())
}

fn cases() -> Vec<Case> {
    let like = Experiment {
        seed: SEED,
        speeds_mbps: vec![2; 4],
        hosts: HOSTS,
        load_percent: 60,
        seconds: 61,
        shifts_s: vec![],
        faults: vec![],
    };
    let unlike = Experiment { speeds_mbps: vec![4, 2, 1, 1], load_percent: 80, ..like.clone() };
    let cut = |experiment: &Experiment, member| Experiment {
        faults: vec![Fault { at_s: 22, member, up: false }, Fault { at_s: 39, member, up: true }],
        seconds: 71,
        ..experiment.clone()
    };
    let shifted = Experiment { shifts_s: vec![31], seconds: 72, ..like.clone() };
    let case = |name, options, experiment| Case { name, options, experiment };
    vec![
        case("tlb, 4 like members, load shifts", &[("mode", "balance-tlb"), MIIMON][..], shifted),
        case("tlb, speeds 4:2:1:1", &[("mode", "balance-tlb"), MIIMON], unlike.clone()),
        case("alb, 4 like members, the active one lost and back", &[("mode", "balance-alb"), MIIMON], cut(&like, 0)),
        case("alb, speeds 4:2:1:1, the second lost and back", &[("mode", "balance-alb"), MIIMON], cut(&unlike, 1)),
        case("rr at random", &[("mode", "balance-rr"), MIIMON, RANDOM], Experiment { seconds: 31, ..like }),
    ]
}

impl Case {
    /// Drives the kernel's, then ours, through the experiment.
    fn show(&self, guest: &mut Guest) -> Result<Shown, Refusal> {
        let mut summary = |side| {
            eprintln!("shares: {}, {side:?}", self.name);
            self.drive(guest, side).map(|seconds| Summary::of(&self.experiment, &seconds))
        };
        Ok(Shown { kernels: summary(Side::Kernel)?, ours: summary(Side::Ours)? })
    }

    fn drive(&self, guest: &mut Guest, side: Side) -> Result<Vec<Second>, Refusal> {
        let speeds_mbps = &self.experiment.speeds_mbps;
        let members: Vec<String> = (0..speeds_mbps.len()).map(|member| format!("t{member}")).collect();
        for (name, &speed_mbps) in members.iter().zip(speeds_mbps) {
            guest.ask(&Request::AddTap { name: name.clone(), speed_mbps })?;
        }
        side.add(guest, self.options, &members)?;
        let name = side.device().to_owned();
        guest.ask(&Request::AddAddress { name, address: ADDRESS, prefix: PREFIX })?;
        let seconds = guest.share(&self.experiment, &members)?;
        side.remove(guest)?;
        for name in members {
            guest.ask(&Request::Delete { name })?;
        }
        Ok(seconds)
    }

    fn figures(&self, shown: &Shown, kernel: &str) -> Vec<Figure> {
        let Shown { ours, kernels } = shown;
        let sent = Figure::text(self.named("sent by member"), words(&ours.sent), "-", None)
            .peer(format!("Linux {kernel}: {}", words(&kernels.sent)));
        if self.options.contains(&RANDOM) {
            return vec![sent, self.random(shown)];
        }
        let mut figures = vec![sent, self.busiest(shown), self.jain(shown), self.at_first(shown), self.moved(shown)];
        if self.options.contains(&("mode", "balance-alb")) {
            figures.extend(self.receiving(shown));
        }
        figures.push(self.lost(shown));
        figures
    }

    fn named(&self, what: &str) -> String {
        format!("{}: {what}", self.name)
    }

    fn busiest(&self, shown: &Shown) -> Figure {
        let best = roomiest_busiest(&self.experiment.speeds_mbps, f64::from(self.experiment.load_percent) / 100.0);
        let bound = Bound::AtMost(best * (1.0 + NOISE));
        let figure = Figure::ratio(self.named("busiest, of its fair share"), Estimate::of(&shown.ours.busiest), bound);
        figure.peer(format!("kernel {}, best by room {best:.3}", interval(&shown.kernels.busiest)))
    }

    fn jain(&self, shown: &Shown) -> Figure {
        let kernels = Estimate::of(&shown.kernels.jain).map_or(1.0, |estimate| estimate.median);
        let bound = Bound::AtLeast(kernels * (1.0 - NOISE / 2.0));
        let figure = Figure::ratio(self.named("Jain's index, by speed"), Estimate::of(&shown.ours.jain), bound);
        figure.peer(format!("kernel {}", interval(&shown.kernels.jain)))
    }

    fn at_first(&self, Shown { ours, kernels }: &Shown) -> Figure {
        let name = self.named("busiest before the first measurement");
        let bound = Bound::AtMost(kernels.busiest_at_first);
        let figure = Figure::ratio(name, Estimate::of(&[ours.busiest_at_first]), bound);
        figure
            .peer(format!("kernel {:.3}; assigns all to the first of the fastest, by design", kernels.busiest_at_first))
    }

    fn moved(&self, Shown { ours, kernels }: &Shown) -> Figure {
        let (measured, bound) = (ours.moved_by_assignment, kernels.moved_by_assignment);
        let name = self.named("flows moved by an assignment, loads unchanged");
        let figure = Figure::text(
            name,
            format!("{measured:.1}"),
            &format!("<= {bound:.1}, the kernel's"),
            Some(measured <= bound),
        );
        figure.peer(format!("kernel {bound:.1} of {HOSTS}; assigns anew each time, by design"))
    }

    fn receiving(&self, shown: &Shown) -> Vec<Figure> {
        let Shown { ours, kernels } = shown;
        let speeds = &self.experiment.speeds_mbps;
        let is_like = speeds.iter().all(|speed| *speed == speeds[0]);
        let by_design = if is_like { "hosts that it probes go to the active one" } else { "the fastest get all" };
        let received = Figure::text(self.named("received by member"), words(&ours.received), "-", None);
        let [fair, kernels_fair] = [ours, kernels].map(|summary| busiest(&summary.received, speeds));
        let name = self.named("receiving, busiest of its fair share");
        let evenness = Figure::ratio(name, Estimate::of(&[fair]), Bound::AtMost(1.0 + NOISE));
        let held = Figure::text(self.named("hosts by member at the end"), format!("{:?}", ours.held), "-", None);
        vec![
            received.peer(format!("kernel {}; {by_design}, by design", words(&kernels.received))),
            evenness.peer(format!("kernel {kernels_fair:.3}")),
            held.peer(format!("kernel {:?}", kernels.held)),
            self.told_anew(shown),
        ]
    }

    /// A member that comes is to get its part of the hosts, and no other host is to hear of it.
    fn told_anew(&self, Shown { ours, kernels }: &Shown) -> Figure {
        let speeds = &self.experiment.speeds_mbps;
        let speed_mbps: u32 = self.experiment.faults.last().map_or(0, |fault| speeds[fault.member]);
        let part = u32::from(HOSTS) * speed_mbps / speeds.iter().sum::<u32>();
        let holds = ours.retold <= part + CHANCE;
        let bound = format!("<= {part}, its part, + {CHANCE}");
        let name = self.named("hosts told anew on the return");
        let figure = Figure::text(name, ours.retold.to_string(), &bound, Some(holds));
        figure.peer(format!("kernel {}", kernels.retold))
    }

    fn lost(&self, Shown { ours, kernels }: &Shown) -> Figure {
        let words = |summary: &Summary| {
            format!("{:.2} % sent, {:.2} % received", summary.lost_sent * 100.0, summary.lost_received * 100.0)
        };
        let holds = ours.lost_sent <= kernels.lost_sent + LOST && ours.lost_received <= kernels.lost_received + LOST;
        let bound = format!("<= the kernel's + {:.1} %", LOST * 100.0);
        Figure::text(self.named("datagrams lost"), words(ours), &bound, Some(holds))
            .peer(format!("kernel {}", words(kernels)))
    }

    /// Every share as a fair coin gives it: within three hundredths.
    fn random(&self, Shown { ours, kernels }: &Shown) -> Figure {
        let farthest = |shares: &[f64]| {
            let fair = 1.0 / shares.len() as f64;
            shares.iter().map(|share| (share - fair).abs()).fold(0.0, f64::max)
        };
        let name = self.named("farthest share from the fair one");
        let figure = Figure::ratio(name, Estimate::of(&[farthest(&ours.sent)]), Bound::AtMost(0.03));
        figure.peer(format!("kernel {:.3}", farthest(&kernels.sent)))
    }
}

/// Shares, to be read.
fn words(shares: &[f64]) -> String {
    shares.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>().join(" ")
}

fn interval(samples: &[f64]) -> String {
    let words = |Estimate { median, low, high, .. }| format!("{median:.3} [{low:.3}, {high:.3}]");
    Estimate::of(samples).map_or_else(|| "no samples".to_owned(), words)
}
