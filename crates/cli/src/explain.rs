//! `nicteam explain`: what is wrong with the bundles of this host, and what limits them.

use std::net::{IpAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

use nicteam_explain::{Change, Explanation, Facts, Path, explain};
use nicteam_observe::bundles::Bundle;
use nicteam_observe::traffic::{Options, Watched, watch};
use nicteam_observe::{Host, host};

use nicteam_pathmtu::examine;
use nicteam_team::HashPolicy;
use serde_json::{Value, json};

use nicteam_experiment::show_duration;

use crate::elsewhere::{self, Place};
use crate::failure::Failure;
use crate::{say, value};

/// Explain the bundles of this host: what is wrong, what limits them, and what to change.
///
/// It looks at teams of nicteam, bonds of the kernel, bonds of Open vSwitch and teams of teamd. For some seconds it counts what
/// each link carries, lists the TCP connections, and looks at the headers of a random share of the frames, to learn which link
/// the frames of each flow come by. Then it says what is wrong, on which side, by what evidence, and the command that changes
/// it. It changes nothing itself. It sends one ARP probe for each own address, by which it finds another host with the same.
///
/// Exit code 1: something is wrong, or could not be done.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  sudo nicteam explain\n  sudo nicteam explain bond0 --for 30s --peer 10.0.0.2\n  nicteam explain --json"
)]
pub(crate) struct Args {
    /// The bundle, or its device; all of this network namespace by default.
    #[arg(value_name = "BUNDLE")]
    bundle: Option<String>,
    /// For how long it looks: 30s, 500ms.
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = value::duration)]
    time: Duration,
    /// Find out, too, which packets pass the path to this host and back (`nicteam doctor path`).
    #[arg(long, value_name = "HOST")]
    peer: Option<String>,
    /// Do not say for how long it looks.
    #[arg(long, hide = true)]
    quiet: bool,
    /// Send nothing: no ARP probes.
    #[arg(long, conflicts_with = "peer")]
    passive: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Number of the JSON's format. It changes when a field goes or means something else.
const SCHEMA: u32 = 1;
/// Who looks that long is told so.
const LONG: Duration = Duration::from_secs(2);

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(host) = &args.place.host {
        if args.time >= LONG && !args.json {
            say::line(format_args!("looking at {host} for {} ...", show_duration(args.time)));
        }
        return elsewhere::run(host, &words(args));
    }
    let peer = args.peer.as_deref().map(address).transpose()?;
    let earlier = host()?;
    let chosen = chosen(&earlier, args.bundle.as_deref())?;
    if chosen.is_empty() {
        return nothing(&earlier, args.json);
    }
    if args.time >= LONG && !args.json && !args.quiet {
        let names: Vec<&str> = chosen.iter().map(|bundle| bundle.name.as_str()).collect();
        say::line(format_args!("looking at {} for {} s ...", names.join(", "), args.time.as_secs_f64()));
    }
    let options = Options { time: args.time, probes: !args.passive };
    let (watched, path) = std::thread::scope(|scope| {
        // It waits for answers most of the time.
        let path = peer.map(|peer| scope.spawn(move || self::path(peer)));
        let watched = watch(&chosen, options);
        (watched, path.and_then(|thread| thread.join().ok()))
    });
    let (watched, now) = (watched?, host()?);
    let mut found: Vec<(Bundle, Explanation, String)> = Vec::new();
    for before in &chosen {
        // One that is gone meanwhile is told as it was.
        let bundle = now.bundles.iter().find(|of| of.name == before.name && of.kind == before.kind).unwrap_or(before);
        let facts = facts(bundle, before, &watched, path.as_ref());
        let mut explanation = explain(&facts);
        complete(&mut explanation);
        let text = explanation.text(&facts);
        found.push((bundle.clone(), explanation, text));
    }
    if args.json {
        say::data(format_args!("{:#}\n", as_json(&found, &watched, &earlier, path.as_ref())))?;
    } else {
        let texts: Vec<&str> = found.iter().map(|(.., text)| text.as_str()).collect();
        say::data(say::visible(texts.join("\n")))?;
        let unseen = earlier.unseen.iter().chain(&watched.unseen);
        unseen.for_each(|line| say::line(format_args!("warning: not read: {line}")));
    }
    let is_good = found.iter().all(|(_, explanation, _)| explanation.is_good);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The same command for another machine, which says nothing of how long it looks.
fn words(args: &Args) -> Vec<String> {
    let mut words = vec!["explain".to_owned(), format!("--for={}", show_duration(args.time)), "--quiet".to_owned()];
    words.extend(args.peer.iter().map(|peer| format!("--peer={peer}")));
    words.extend(args.passive.then(|| "--passive".to_owned()));
    words.extend(args.json.then(|| "--json".to_owned()));
    words.extend(args.bundle.iter().flat_map(|bundle| ["--".to_owned(), bundle.clone()]));
    words
}

/// The bundles to look at.
fn chosen(host: &Host, name: Option<&str>) -> Result<Vec<Bundle>, Failure> {
    let Some(name) = name else { return Ok(host.bundles.clone()) };
    if let Some(bundle) = host.bundle(name) {
        return Ok(vec![bundle.clone()]);
    }
    let names: Vec<&str> = host.bundles.iter().map(|bundle| bundle.name.as_str()).collect();
    let with_member = host.bundles.iter().find(|bundle| bundle.member(name).is_some());
    let hint = match (with_member, nicteam_team::nearest(name, names.iter().copied()), names.as_slice()) {
        (Some(bundle), ..) => format!("it is a member of {}", bundle.name),
        (None, Some(near), _) => format!("did you mean `{near}`?"),
        (None, None, []) => "there is none in this network namespace".to_owned(),
        (None, None, names) => format!("the bundles here are {}", names.join(", ")),
    };
    Err(Failure::wrong_input(format!("no bundle `{name}`")).hint(Some(hint)))
}

/// A host without a bundle.
fn nothing(host: &Host, json: bool) -> Result<ExitCode, Failure> {
    if json {
        let none = json!({ "schema": SCHEMA, "bundles": [], "unseen": host.unseen });
        say::data(format_args!("{none:#}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    // Not every program may be asked by everybody.
    if let Some(why) = host.unseen.first() {
        return Err(Failure::missing(format!("no bundle could be read: {why}")).hint(Some("run this as root (sudo)")));
    }
    say::data(
        "no bundle in this network namespace: no team of nicteam, no bond of the kernel or of Open vSwitch, no team of teamd\n",
    )?;
    Ok(ExitCode::SUCCESS)
}

fn facts<'a>(bundle: &'a Bundle, before: &'a Bundle, watched: &'a Watched, path: Option<&'a Path>) -> Facts<'a> {
    Facts {
        bundle,
        earlier: Some(before),
        rates: &watched.rates,
        connections: &watched.connections,
        headers: watched.headers.get(&before.name),
        addresses: watched.addresses.get(&before.name).map_or(&[], Vec::as_slice),
        path,
    }
}

/// The first address of the host.
fn address(host: &str) -> Result<IpAddr, Failure> {
    let no_address = |why: String| Failure::wrong_input(format!("no address of `{host}`: {why}"));
    let mut known = (host, 0).to_socket_addrs().map_err(|error| no_address(error.to_string()))?;
    known.next().map(|address| address.ip()).ok_or_else(|| no_address("it has none".to_owned()))
}

/// What passes the path there and back.
fn path(to: IpAddr) -> Path {
    match examine(&nicteam_pathmtu::Options { to, from: None, device: None, wanted: None }) {
        Ok(report) => {
            Path { to: to.to_string(), is_good: report.is_good(), findings: report.findings(), cures: report.cures() }
        }
        // What could not be asked is no fault of the path.
        Err(error) => Path { to: to.to_string(), is_good: true, findings: vec![error.to_string()], cures: Vec::new() },
    }
}

/// Writes what to type at a switch.
fn complete(explanation: &mut Explanation) {
    let changes = explanation.findings.iter_mut().flat_map(|finding| &mut finding.changes);
    for change in changes {
        let Change { hash: Some(hash), commands, .. } = change else { continue };
        let Ok(policy) = hash.parse::<HashPolicy>() else { continue };
        let makers = nicteam_formats::balancing(policy);
        commands.extend(
            makers.iter().flat_map(|(maker, lines)| lines.iter().map(move |line| format!("{line}    ({maker})"))),
        );
    }
}

fn as_json(found: &[(Bundle, Explanation, String)], watched: &Watched, host: &Host, path: Option<&Path>) -> Value {
    let bundles = found.iter().map(|(bundle, explanation, _)| {
        let devices: Vec<&str> = bundle.devices().collect();
        let rates = watched.rates.devices.iter().filter(|(name, _)| devices.contains(&name.as_str()));
        let headers = watched.headers.get(&bundle.name);
        let flows = headers.into_iter().flat_map(|headers| &headers.flows).map(|(key, seen)| {
            json!({
                "protocol": key.protocol,
                "local": key.local,
                "remote": key.remote,
                "remote_mac": seen.remote_mac.map(|mac| mac.to_string()),
                "received_by": seen.received,
                "sent_by": seen.sent,
            })
        });
        json!({
            "bundle": bundle,
            "rates": rates.collect::<std::collections::BTreeMap<_, _>>(),
            "flows": flows.collect::<Vec<_>>(),
            "frames_looked_at": headers.map(|headers| headers.frames),
            "explanation": explanation,
        })
    });
    json!({
        "schema": SCHEMA,
        "seconds": watched.rates.seconds,
        "processor": watched.processor,
        "bundles": bundles.collect::<Vec<_>>(),
        "connections": watched.connections,
        "path": path,
        "unseen": host.unseen.iter().chain(&watched.unseen).collect::<Vec<_>>(),
    })
}
