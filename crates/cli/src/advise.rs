//! `nicteam advise`: which mode and policy suits given traffic.

mod flows;
mod live;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nicteam_capture::Reader;
use nicteam_formats::{Network, Team, WRITERS, Writer};
use nicteam_predict::advise::{Ranked, Traffic};
use nicteam_team::Mode;
use nicteam_wire::Frame;
use serde_json::json;

use crate::failure::Failure;
use crate::value::OneOf;
use crate::{say, value};

/// Rank every mode and policy by how much of the links given traffic would use.
///
/// The traffic is what one end sends: a capture, flows with their bytes, or what this host sends for a time. Give what the hosts
/// send for their policies, and what arrives for the switch's.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("traffic").required(true).args(["pcap", "flows", "live"]),
    after_help = "Examples:\n  nicteam advise --pcap uplink.pcap --members 4\n  nicteam advise --flows flows.csv --members 2 --rate 10gbit --json\n  nicteam advise --flows flows.csv --members 4 --switch cisco\n  sudo nicteam advise --live 60s --interface team0"
)]
pub(crate) struct Args {
    /// A pcap or pcapng file; each frame counts with its length on the wire.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// A CSV file, `-` is standard input: src_ip,dst_ip,src_port,dst_port,protocol,bytes and, if they are known,
    /// src_mac,dst_mac. Without these, what looks at MAC addresses alone is not ranked.
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
    /// Look for so long at what this host sends: 60s. It reads headers of a random share of the frames, and the kernel's list of
    /// TCP connections.
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    live: Option<Duration>,
    /// With --live: a team, a bond or a device; may be given again. By default all teams and bonds of this network namespace.
    #[arg(long, value_name = "NAME", requires = "live")]
    interface: Vec<String>,
    /// With --live: what arrives, for the switch's policy.
    #[arg(long, requires = "live")]
    received: bool,
    /// How many links the team has, 1 to 32; with --live as many as are looked at, by default.
    #[arg(long, value_name = "N", value_parser = value::member_count, required_unless_present = "live")]
    members: Option<u32>,
    /// Rate of each link: 1gbit, 10gbit. Rates are printed beside the shares.
    #[arg(long, value_parser = value::rate)]
    rate: Option<u64>,
    /// Print the switch's end of the best mode that needs a group: cisco, arista, juniper, mikrotik, procurve.
    #[arg(long, value_name = "MAKER", value_parser = MAKER, hide_possible_values = true, conflicts_with = "json")]
    switch: Option<&'static dyn Writer>,
    /// Print JSON instead of the table.
    #[arg(long)]
    json: bool,
}

/// Makers of switches among the formats.
const MAKERS: [&str; 5] = ["cisco", "arista", "juniper", "mikrotik", "procurve"];
const MAKER: OneOf<&'static dyn Writer> = OneOf { parse: maker, names: || MAKERS.to_vec() };

fn maker(name: &str) -> Result<&'static dyn Writer, String> {
    let known = WRITERS.iter().find(|writer| MAKERS.contains(&name) && writer.name() == name);
    known.copied().ok_or_else(|| format!("makers are {}", MAKERS.join(", ")))
}

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let traffic = match (&args.pcap, &args.flows, args.live) {
        (Some(path), ..) => of_capture(path, args.members.unwrap_or(1))?,
        (_, Some(path), _) => of_flows(path, args.members.unwrap_or(1))?,
        (.., Some(time)) => Some(live::traffic(live::Wanted {
            time,
            interfaces: &args.interface,
            received: args.received,
            members: args.members,
            quiet: args.json,
        })?),
        (None, None, None) => None,
    };
    let nothing = || Failure::wrong_input("there is no traffic in it");
    let traffic = traffic.filter(|traffic| traffic.total().1 > 0).ok_or_else(nothing)?;
    let ranked = traffic.ranked();
    if args.json {
        return say::data(format_args!("{:#}\n", as_json(args, &traffic, &ranked)));
    }
    let switch = args.switch.map_or_else(String::new, |writer| switch_end(writer, traffic.members(), &ranked));
    say::data(as_table(args, &traffic, &ranked) + &switch)
}

fn of_capture(path: &Path, members: u32) -> Result<Option<Traffic>, Failure> {
    let in_file = |error| Failure::wrong_input(format!("{}: {error}", path.display()));
    let mut traffic = Traffic::new(members, true);
    Reader::open(path)
        .map_err(in_file)?
        .for_each_frame(|_, bytes, length| {
            if let Ok(frame) = Frame::parse_untagged(bytes) {
                traffic.add(&frame, length as u64);
            }
            Ok(())
        })
        .map_err(in_file)?;
    Ok(Some(traffic))
}

fn of_flows(path: &Path, members: u32) -> Result<Option<Traffic>, Failure> {
    let in_file = |error: &dyn std::fmt::Display| Failure::wrong_input(format!("{}: {error}", path.display()));
    let text: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path).map_err(|error| in_file(&error))?),
    };
    flows::read(text, members).map_err(|error| in_file(&error))
}

/// What the switch's ports have to be.
fn ports(mode: Mode) -> &'static str {
    match mode.traits().channel_group(false) {
        Some("active") => "a group with LACP",
        Some(_) => "a static group",
        None => "plain ports",
    }
}

/// Whether it is a row about what a switch sends.
fn is_switch(one: &Ranked) -> bool {
    one.name.starts_with("switch ")
}

fn as_table(args: &Args, traffic: &Traffic, ranked: &[Ranked]) -> String {
    let (flows, bytes) = traffic.total();
    let what = if args.pcap.is_some() { "frames" } else { "flows" };
    let heaviest = heaviest_share(args, traffic)
        .map_or_else(String::new, |share| format!("; the heaviest flow has {:.1} % of the bytes", share * 100.0));
    let mut text = format!(
        "{flows} {what}, {bytes} bytes, {} links{heaviest}\n\
         share of the links in use when the busiest is full: with these addresses, with others on average, in the worst of 100 cases\n",
        traffic.members(),
    );
    let width = ranked.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let rate_head = if args.rate.is_some() { "    Mbit/s" } else { "" };
    let _ = writeln!(text, "  {:<width$}   here  others  worst{rate_head}  switch", "mode");
    for one in ranked {
        let rate =
            args.rate.map_or_else(String::new, |bps| format!("  {:>8.0}", total_bps(traffic, bps, one.share) / 1e6));
        let switch = if is_switch(one) { "" } else { ports(one.mode) };
        let gap = if switch.is_empty() || one.note.is_empty() { "" } else { "; " };
        let line = format!(
            "  {:<width$}  {:>5.2}  {:>6.2}  {:>5.2}{rate}  {switch}{gap}{}",
            one.name, one.share, one.expected, one.worst, one.note
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Part of the bytes that the heaviest flow has; of a capture only frames are known.
fn heaviest_share(args: &Args, traffic: &Traffic) -> Option<f64> {
    args.pcap.is_none().then(|| traffic.heaviest_share())
}

/// What all links carry then, bit/s.
fn total_bps(traffic: &Traffic, bps: u64, share: f64) -> f64 {
    bps as f64 * f64::from(traffic.members()) * share
}

fn as_json(args: &Args, traffic: &Traffic, ranked: &[Ranked]) -> serde_json::Value {
    let (flows, bytes) = traffic.total();
    let one = |one: &Ranked| {
        json!({
            "name": one.name, "mode": one.mode.name(), "share": one.share, "expected": one.expected, "worst": one.worst,
            "bps": args.rate.map(|bps| total_bps(traffic, bps, one.share)),
            "switch": (!is_switch(one)).then(|| ports(one.mode)), "note": one.note,
        })
    };
    json!({
        "flows": flows, "bytes": bytes, "members": traffic.members(), "heaviest_share": heaviest_share(args, traffic),
        "ranked": ranked.iter().map(one).collect::<Vec<_>>(),
    })
}

/// The switch's end of the best mode with a group.
fn switch_end(writer: &dyn Writer, members: u32, ranked: &[Ranked]) -> String {
    // One that delivers out of order is no advice.
    let is_fit = |one: &&Ranked| !is_switch(one) && one.mode != Mode::BalanceRr;
    let grouped = |one: &&Ranked| is_fit(one) && one.mode.traits().channel_group(false).is_some();
    let Some(best) = ranked.iter().find(grouped) else { return String::new() };
    let policy = best.name.split_once(' ').map(|(_, policy)| ("xmit_hash_policy".to_owned(), policy.to_owned()));
    let options = [("mode".to_owned(), best.mode.name().to_owned()), ("miimon".to_owned(), "100".to_owned())];
    let team = Team {
        name: "team0".to_owned(),
        members: (0..members).map(|place| format!("eth{place}")).collect(),
        options: options.into_iter().chain(policy).collect(),
        ..Team::default()
    };
    let written = writer.write(&Network { teams: vec![team] });
    let files: Vec<&str> = written.files.iter().map(|file| file.text.as_str()).collect();
    format!("\n{}:\n{}", best.name, files.join("\n"))
}
