//! What the guest goes through, and what it costs those outside.

mod boot;
mod package;
mod processes;
mod traffic;

use std::path::Path;
use std::time::{Duration, Instant};

use nicteam_sys::process;

use super::goods;
use super::guest::Guest;
use super::image::{Image, at};
use super::outside::{GUEST, NICS, Outside};
use super::snapshot::Snapshot;
use super::stacks::Stacks;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::product::Product;

/// Members of both teams.
const MEMBERS: [&str; 4] = ["ens16", "ens17", "ens18", "ens19"];
/// A device of no team, which NetworkManager takes.
const SPARE: &str = "ens20";
const UNITS: [&str; 2] = ["nicteam@team0.service", "nicteam@team1.service"];
/// Until both teams answer: LACP has to agree, and an emulated processor is slow.
const SETTLED: Duration = Duration::from_secs(120);

/// What tells why a unit is not what it should be.
const JOURNAL: &str =
    "systemctl status --no-pager --lines=0 'nicteam@*'; journalctl --no-pager --output=short-monotonic --lines=80 --unit='nicteam@*'
    ip -brief address; networkctl --no-pager";

/// A step of the course.
struct Step {
    what: &'static str,
    /// Without it there is no team, so it is taken whatever is asked for.
    always: bool,
    take: fn(&mut Course<'_>) -> Result<(), Failure>,
}

const STEPS: [Step; 11] = [
    Step { always: true, ..step("installed", |course| course.install()) },
    step("a catch-all of networkd", |course| course.refuse()),
    Step { always: true, ..step("teams started", |course| course.start()) },
    step("killed", |course| course.kill()),
    step("hung", |course| course.hang()),
    step("upgraded", |course| course.upgrade("upgraded")),
    step("upgraded across a changed map layout", |course| course.upgrade_across_layouts()),
    step("rebooted", |course| course.reboot(Stacks::NetworkdAndOwn)),
    step("removed and installed again", |course| course.reinstall()),
    step("rebooted with other stacks", |course| course.reboot(Stacks::NetplanAndIfupdown)),
    step("removed", |course| course.remove()),
];

const fn step(what: &'static str, take: fn(&mut Course<'_>) -> Result<(), Failure>) -> Step {
    Step { what, always: false, take }
}

/// The names of the steps.
pub fn names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.what).collect()
}

/// The guest, those outside, and what was seen so far.
struct Course<'a> {
    guest: Guest,
    outside: &'a Outside,
    /// Before the package was there.
    before: Snapshot,
    figures: Vec<Figure>,
}

/// Goes through the whole course; a step that fails is a missed figure, and the last.
pub(super) fn measure(
    product: &Product,
    scratch: &Path,
    suite: &str,
    wanted: &[String],
) -> Result<Vec<Figure>, Failure> {
    let (figures, noise) = Noise::around(|| run(product, scratch, suite, wanted))?;
    Ok(figures.into_iter().map(|figure| figure.noise(noise)).collect())
}

fn run(product: &Product, scratch: &Path, suite: &str, wanted: &[String]) -> Result<Vec<Figure>, Failure> {
    let scratch = scratch.join(suite);
    std::fs::create_dir_all(&scratch).map_err(|error| at("make", &scratch, error))?;
    let goods = goods::pack(product, &scratch)?;
    let image = Image::obtain(suite)?;
    let outside = Outside::new(product, &scratch, &image.busybox)?;
    let start = Instant::now();
    let mut guest = Guest::boot(&image, &goods, &outside.host.netns, &NICS)?;
    let booted = Figure::text("booted: seconds until the guest can be used", seconds(start.elapsed()), "-", None);
    guest.wait_for("the end of the boot", "systemctl is-system-running --wait || true", SETTLED)?;
    // The boot ends before udev has loaded all modules.
    guest.wait_for("its devices", &format!("udevadm settle && ip link show {SPARE}"), SETTLED)?;
    guest.must(&format!("mount -o ro /dev/vdb {}", goods::FOLDER))?;
    // A device keeps the queue that it got when it was up for the first time.
    for device in MEMBERS {
        guest.must(&format!("ip link set {device} up && ip link set {device} down"))?;
    }
    let before = Snapshot::of(&mut guest, SPARE)?;
    let mut course = Course { guest, outside: &outside, before, figures: vec![booted] };
    let taken = |step: &&Step| step.always || wanted.is_empty() || wanted.iter().any(|what| what == step.what);
    for Step { what, take, .. } in STEPS.iter().filter(taken) {
        eprintln!("service: {what}");
        match take(&mut course) {
            Ok(()) => {}
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                let line = failure.to_string().lines().next().unwrap_or_default().to_owned();
                eprintln!("service: {what}: {failure}");
                course.explain(JOURNAL);
                course.figures.push(Figure::text(*what, line, "done", Some(false)));
                return Ok(course.figures);
            }
        }
    }
    let Course { guest, figures, .. } = course;
    guest.power_off()?;
    Ok(figures)
}

impl Course<'_> {
    /// Waits until both teams answer.
    fn wait_answered(&self) -> Result<(), Failure> {
        let start = Instant::now();
        for (probe, address) in self.outside.probes()?.iter().zip(GUEST) {
            while !probe.is_answered() {
                if process::termination().is_some() {
                    return Err(Failure::Interrupted);
                }
                if start.elapsed() > SETTLED {
                    return Err(Failure::failed(format!("{address} does not answer")));
                }
            }
        }
        Ok(())
    }

    /// Notes whether both teams are back, and goes on only then.
    fn must_be_back(&mut self, what: &str, answered: Result<(), Failure>) -> Result<(), Failure> {
        let (measured, holds) = match &answered {
            Ok(()) => ("both".to_owned(), true),
            Err(failure) => (failure.to_string(), false),
        };
        self.figures.push(Figure::text(format!("{what}: teams that are back"), measured, "both", Some(holds)));
        answered
    }

    /// Prints what may tell why something did not hold.
    fn explain(&mut self, script: &str) {
        match self.guest.run(script) {
            Ok(said) => eprintln!("{}", said.text.trim()),
            Err(failure) => eprintln!("service: {failure}"),
        }
    }

    /// A number that has to be 0.
    fn tell(&mut self, name: &str, count: usize) {
        self.figures.push(Figure::count(name, count as u64, count.to_string()));
    }

    fn told_seconds(&mut self, name: &str, time: Duration) {
        self.figures.push(Figure::text(name, seconds(time), "-", None));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}
