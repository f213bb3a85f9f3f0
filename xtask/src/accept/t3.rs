//! Published test T3: what four links between hosts deliver, and by which links.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nicteam_record::{Record, Run};

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::{self, Product};
use crate::scratch::Scratch;
use nicteam_statistics::Estimate;

/// Who runs it, with which dataplane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// Root, eBPF.
    Bpf,
    /// Root, packet sockets.
    Packet,
    /// An ordinary user: in a user namespace, where there are packet sockets alone.
    User,
}

/// With the eBPF dataplane.
pub(super) const BPF: Part<Arguments> =
    Part::new("t3-bpf", "T3, bpf dataplane, root", |run| measure(run, Setting::Bpf));
/// With the packet dataplane.
pub(super) const PACKET: Part<Arguments> =
    Part::new("t3-packet", "T3, packet dataplane, root", |run| measure(run, Setting::Packet));
/// As an ordinary user.
pub(super) const USER: Part<Arguments> = Part {
    tools: &[("setpriv", "util-linux")],
    ..Part::new("t3-user", "T3, ordinary user", |run| measure(run, Setting::User))
};

/// User and group id of the ordinary user.
const NOBODY: u32 = 65_534;

/// Runs T3 several times and checks every figure.
fn measure(run: &Context<'_, Arguments>, setting: Setting) -> Result<Vec<Figure>, Failure> {
    let Context { arguments, product, scratch } = *run;
    let mut records = Vec::new();
    for repeat in 1..=arguments.repeats {
        eprintln!("T3, {setting:?}: {repeat} of {}", arguments.repeats);
        let output = scratch.path().join(format!("t3-{setting:?}-{repeat}"));
        let record = product::record(&mut setting.command(product, arguments, &output, scratch)?)?;
        setting.check(&record)?;
        records.push(record);
    }
    let first = records.first().ok_or_else(|| Failure::failed("no run"))?;
    let mut figures = vec![Figure::text("links", links(first), "-", None)];
    for (run, bound) in [
        ("one-connection", Bound::Within(0.24, 0.26)),
        ("four-connections", Bound::Within(0.24, 0.26)),
        ("one-to-four", Bound::AtLeast(0.95)),
        ("four-to-one", Bound::AtLeast(0.95)),
        ("four-to-one-unlucky", Bound::AtMost(0.55)),
    ] {
        let of_limit = figure(&records, run, "of limit", bound, |run| Some(run.of_limit))?;
        figures.push(of_limit.peer(published(first, run)));
        if matches!(bound, Bound::Within(..)) {
            figures.push(figure(&records, run, "receiver on one link", Bound::Above(0.99), busiest_receiving_share)?);
            figures.push(figure(&records, run, "sender even, min/max", Bound::AtLeast(0.9), sending_evenness)?);
        }
    }
    Ok(figures)
}

impl Setting {
    /// The command that runs T3 in this setting.
    fn command(
        self,
        product: &Product,
        arguments: &Arguments,
        output: &Path,
        scratch: &Scratch,
    ) -> Result<Command, Failure> {
        let mut command = match self {
            Setting::Bpf | Setting::Packet => product.lab_run("t3"),
            Setting::User => as_ordinary_user(product, scratch)?.lab_run("t3"),
        };
        match self {
            Setting::Bpf => command.args(["--dataplane", "bpf"]),
            Setting::Packet => command.args(["--dataplane", "packet", "--rate", &arguments.packet_rate]),
            Setting::User => command.args(["--rate", &arguments.packet_rate]),
        };
        command.arg("--duration").arg(format!("{}s", arguments.seconds)).arg("--output").arg(output);
        command.current_dir(scratch.path()).env("HOME", scratch.path());
        Ok(command)
    }

    /// Refuses a record of another setting.
    fn check(self, record: &Record) -> Result<(), Failure> {
        let (dataplane, privileges) = match self {
            Setting::Bpf => ("bpf", "root"),
            Setting::Packet => ("packet", "root"),
            Setting::User => ("packet", "user namespace"),
        };
        let found = (record.environment.dataplane.as_str(), record.environment.privileges.as_str());
        if found == (dataplane, privileges) {
            return Ok(());
        }
        Err(Failure::failed(format!("T3 ran with {} as {}, not with {dataplane} as {privileges}", found.0, found.1)))
    }
}

/// One figure of one run, over all repeats.
fn figure(
    records: &[Record],
    name: &str,
    what: &str,
    bound: Bound,
    value: impl Fn(&Run) -> Option<f64>,
) -> Result<Figure, Failure> {
    let runs: Option<Vec<&Run>> =
        records.iter().map(|record| record.runs.iter().find(|run| run.name == name)).collect();
    let runs = runs.ok_or_else(|| Failure::failed(format!("the record has no run {name}")))?;
    let values: Option<Vec<f64>> = runs.iter().map(|run| value(run)).collect();
    let noise_of =
        |(record, run): (&Record, &&Run)| Noise { busy_before: record.environment.busy_before, stolen: run.cpu.stolen };
    let noise = records.iter().zip(&runs).map(noise_of).reduce(Noise::worse).unwrap_or_default();
    let estimate = values.and_then(|values| Estimate::of(&values));
    Ok(Figure::ratio(format!("{name}: {what}"), estimate, bound).noise(noise))
}

/// What the published test found.
fn published(record: &Record, name: &str) -> String {
    let published = record.runs.iter().find(|run| run.name == name).and_then(|run| run.published_of_limit);
    published.map_or_else(String::new, |of_limit| format!("published {of_limit:.2}"))
}

/// The receiving host's busiest member's part of all that the host received.
fn busiest_receiving_share(run: &Run) -> Option<f64> {
    let host = &run.connections.first()?.to;
    let received = || run.members.iter().filter(|member| &member.host == host).map(|member| member.rx_bps);
    Some(received().reduce(f64::max)? / received().sum::<f64>())
}

/// What the sending host's idlest member sent, of what its busiest sent.
fn sending_evenness(run: &Run) -> Option<f64> {
    let host = &run.connections.first()?.from;
    let sent = || run.members.iter().filter(|member| &member.host == host).map(|member| member.tx_bps);
    Some(sent().reduce(f64::min)? / sent().reduce(f64::max)?)
}

/// The links, in words.
fn links(record: &Record) -> String {
    let rate_bps = record.runs.first().and_then(|run| run.topology.links.first()).map_or(0, |link| link.rate_bps);
    format!("{} Mbit/s each, {}", rate_bps / 1_000_000, record.environment.frames())
}

/// The product as a user without any privilege runs it, from a copy: the build
/// folder may be closed to others.
fn as_ordinary_user(product: &Product, scratch: &Scratch) -> Result<Product, Failure> {
    let binary = scratch.path().join("nicteam");
    let copied = fs::copy(&product.binary, &binary);
    let copied = copied.and_then(|_| fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)));
    copied.map_err(|error| Failure::failed(format!("cannot copy nicteam to {}: {error}", binary.display())))?;
    Ok(Product { binary, as_user: Some(NOBODY) })
}
