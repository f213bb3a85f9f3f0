//! What many striping teams on one segment cost while nobody sends.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_dataplane::Kind;
use nicteam_load::cpu;
use nicteam_sys::process;
use nicteam_testnet::{Host, Switch};
use serde_json::Value;

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::{Product, TeamProcess};

/// Many idle teams.
pub(super) const PART: Part<Arguments> =
    Part::new("idle", "many idle striping teams on one segment (bpf dataplane)", measure);

const TEAMS: usize = 41;
const LINKS: usize = 2;
const TEAM: &str = "team0";
/// At the beginning and at the end, whose times are compared.
const SOME: usize = 8;
/// Until all know all, at most.
const PATIENCE: Duration = Duration::from_secs(60);
/// In which what follows a new peer comes to its end.
const REST: Duration = Duration::from_secs(20);
const WATCHED: Duration = Duration::from_secs(40);
/// One in ten seconds.
const PLANS: u64 = WATCHED.as_secs() / 10;
/// Of the machine, all processors together.
const BUSY: f64 = 0.10;
/// The last teams may take so many times as long as the first ones.
const SLOWER: f64 = 2.0;

/// A host with its team.
struct Member {
    host: Host,
    _process: TeamProcess,
}

/// What a team says of itself.
struct Said {
    plans: u64,
    processor: Duration,
    peers: usize,
}

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let (product, state) = (context.product, &context.scratch.path().join("state"));
    let mut switch = Switch::new();
    let (mut members, mut took) = (Vec::new(), Vec::new());
    for number in 0..TEAMS {
        eprintln!("team {} of {TEAMS}", number + 1);
        let mut host = Host::quiet();
        switch.join_all(&mut host, "eth", &format!("p{number}-"), LINKS);
        let (member, time) = with_team(product, state, host, number)?;
        members.push(member);
        took.push(time.as_secs_f64());
        // As somebody would who adds one after another.
        process::sleep_or_termination(Duration::from_millis(300));
        interrupted()?;
    }
    let all = Instant::now();
    while !(first_and_last(product, state, &members)?.iter().all(|said| said.peers + 1 == TEAMS)) {
        if all.elapsed() > PATIENCE {
            return Err(Failure::failed("the first and the last team never knew all others"));
        }
        thread::sleep(Duration::from_secs(1));
        interrupted()?;
    }
    process::sleep_or_termination(REST);
    let before = each(product, state, &members)?;
    let (times, start) = (cpu::times()?, Instant::now());
    process::sleep_or_termination(WATCHED);
    interrupted()?;
    let (elapsed, after_times) = (start.elapsed().as_secs_f64(), cpu::times()?);
    let after = each(product, state, &members)?;

    let total = after_times.total.saturating_sub(times.total).as_secs_f64();
    let share = |part: Duration| part.as_secs_f64() / total;
    let busy = share(after_times.busy.saturating_sub(times.busy));
    let noise = Noise { busy_before: 0.0, stolen: share(after_times.stolen.saturating_sub(times.stolen)) };
    let both = || after.iter().zip(&before);
    let processes: f64 = both().map(|(after, before)| (after.processor - before.processor).as_secs_f64()).sum();
    let plans = both().map(|(after, before)| after.plans - before.plans).max().unwrap_or_default();
    let (first, last) = (nicteam_statistics::median(&took[..SOME]), nicteam_statistics::median(&took[TEAMS - SOME..]));
    let text = |name: &str, measured, bound: &str, holds| Figure::text(name, measured, bound, holds).noise(noise);
    Ok(vec![
        text(
            "41 idle teams of two links: busy share of the machine",
            format!("{busy:.3}"),
            &Bound::AtMost(BUSY).to_string(),
            Some(busy <= BUSY),
        ),
        text("their processes together, of one processor", format!("{:.3}", processes / elapsed), "-", None),
        text(
            "plans in 40 s, of the team that made most",
            plans.to_string(),
            &format!("<= {PLANS}"),
            Some(plans <= PLANS),
        ),
        text(
            "from the start of a team to its carrier, the last eight beside the first eight",
            format!("{:.0} ms beside {:.0} ms", last * 1e3, first * 1e3),
            &format!("<= {SLOWER:.0} times"),
            Some(last <= first * SLOWER),
        ),
    ])
}

fn device(link: usize) -> String {
    format!("eth{link}")
}

/// Starts its team; how long it took until the team had carrier.
fn with_team(product: &Product, state: &Path, mut host: Host, number: usize) -> Result<(Member, Duration), Failure> {
    let devices: Vec<String> = (0..LINKS).map(device).collect();
    let start = Instant::now();
    let process = product.start_team(&host.netns, state, TEAM, &devices, &[("mode", "stripe")], Kind::Bpf)?;
    let mut up = false;
    loop {
        let link = host.netlink.link(TEAM)?;
        if link.as_ref().is_some_and(|link| link.carrier) {
            break;
        }
        if let (Some(link), false) = (link, up) {
            host.netlink.set_up(link.index, true)?;
            up = true;
        }
        if start.elapsed() > PATIENCE {
            return Err(Failure::failed(format!("team {} never had carrier", number + 1)));
        }
        thread::sleep(Duration::from_millis(5));
        interrupted()?;
    }
    Ok((Member { host, _process: process }, start.elapsed()))
}

fn first_and_last(product: &Product, state: &Path, members: &[Member]) -> Result<Vec<Said>, Failure> {
    members.first().into_iter().chain(members.last()).map(|member| said(product, state, member)).collect()
}

fn each(product: &Product, state: &Path, members: &[Member]) -> Result<Vec<Said>, Failure> {
    members.iter().map(|member| said(product, state, member)).collect()
}

fn said(product: &Product, state: &Path, member: &Member) -> Result<Said, Failure> {
    let status = product.status(&member.host.netns, state, TEAM)?;
    let number =
        |value: &Value| value.as_u64().ok_or_else(|| Failure::failed(format!("a status without it: {status}")));
    let pid = number(&status["pid"])? as u32;
    Ok(Said {
        plans: number(&status["generation"])?,
        processor: cpu::process_time(pid)?.unwrap_or_default(),
        peers: status["peers"].as_array().map_or(0, Vec::len),
    })
}

fn interrupted() -> Result<(), Failure> {
    match process::termination() {
        Some(_) => Err(Failure::Interrupted),
        None => Ok(()),
    }
}
