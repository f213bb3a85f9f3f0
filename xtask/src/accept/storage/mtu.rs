//! A wrong MTU at one end of one cable: how soon it is named, and whether rightly, in the lab and outside it.

use std::net::IpAddr;
use std::process::Command;
use std::time::Instant;

use nicteam_netlink::Netlink;
use nicteam_sys::process;
use serde_json::Value;

use super::TOOLS;
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Held;
use crate::noise::Noise;
use crate::part::{Context, Part};
use nicteam_statistics::Estimate;

/// The first look of `lab tune`, and `doctor path` in the same network.
pub(in crate::accept) const PART: Part<Arguments> = Part {
    tools: TOOLS,
    ..Part::new("storage-mtu", "a wrong MTU at one end of one of eight cables: lab tune --look, doctor path", measure)
};

/// Within which it is to be found, seconds.
const SOON: Bound = Bound::AtMost(3.0);
/// The MTU that all have, and that of the one end.
const RIGHT: u64 = 9000;
const WRONG: u64 = 1500;
/// What a device takes in that leaves room for a VLAN tag.
const TAGGED: u64 = WRONG + 4;

/// An end of a cable, and what is to be said of it.
struct Place {
    /// The host at whose cable it is.
    host: &'static str,
    /// It is the switch's end.
    at_switch: bool,
    /// What is to be found of the way there, and back.
    there: Way,
    back: Way,
}

/// What passes one way, and what holds larger packets back.
enum Way {
    Limited { bytes: u64, by: &'static str },
    Passes { at_most: u64 },
}

const HOLE: Way = Way::Limited { bytes: TAGGED, by: "black_hole" };
const PLACES: [Place; 4] = [
    Place {
        host: "esx",
        at_switch: false,
        there: Way::Limited { bytes: WRONG, by: "this_host" },
        back: Way::Limited { bytes: TAGGED, by: "this_host" },
    },
    Place { host: "esx", at_switch: true, there: HOLE, back: HOLE },
    Place { host: "filer", at_switch: true, there: HOLE, back: HOLE },
    Place {
        host: "filer",
        at_switch: false,
        there: Way::Limited { bytes: TAGGED, by: "other_host" },
        back: Way::Passes { at_most: WRONG },
    },
];

impl Place {
    /// Where it is, in the words of `lab tune`; the cable is the second of four.
    fn words(&self) -> String {
        let Place { host, at_switch, .. } = self;
        let end = if *at_switch { "sw" } else { host };
        let device = if *at_switch { format!("{host}-1") } else { "eth1".to_owned() };
        format!("cable 2 of 4 between {host} and sw, end {end}: device {device}")
    }

    /// A host and a filer by four subnets of jumbo frames, wrong here.
    fn experiment(&self) -> String {
        let links = ["esx", "filer"].map(|host| {
            let wrong = match (self.host == host, self.at_switch) {
                (false, _) => RIGHT.to_string(),
                (true, false) => format!("[{WRONG}, {RIGHT}]"),
                (true, true) => format!("[{RIGHT}, {WRONG}]"),
            };
            let link = |count: u32, mtu: &str| {
                format!("[[links]]\nbetween = [\"{host}\", \"sw\"]\ncount = {count}\nmtu = {mtu}\n")
            };
            link(1, &RIGHT.to_string()) + &link(1, &wrong) + &link(2, &RIGHT.to_string())
        });
        format!("{HEAD}{}{REST}", links.concat())
    }
}

const HEAD: &str = r#"
title = "Four paths to a disk"
[defaults]
rate = "1gbit"
[hosts]
esx = {}
filer = {}
[switches]
sw = {}
"#;
const REST: &str = r#"
[targets.disk]
kind = "iscsi"
on = "filer"
size = "16mib"
[workloads.read]
kind = "access-spec"
from = "esx"
to = "filer"
target = "disk"
spec = "max-throughput-100-read"
paths = "all"
[[runs]]
name = "baseline"
step = 1
workloads = "read"
"#;

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { product, scratch, arguments: &Arguments { repeats, .. } } = *context;
    let ((looks, paths), noise) = Noise::around(|| {
        let (mut looks, mut paths) = (Found::default(), Found::default());
        for place in &PLACES {
            eprintln!("wrong MTU: {}", place.words());
            let file = scratch.path().join(format!("mtu-{}-{}.toml", place.host, place.at_switch));
            std::fs::write(&file, place.experiment()).map_err(Failure::failed)?;
            let name = file.to_string_lossy().into_owned();
            for _ in 0..repeats {
                looks.note(look(&mut product.lab_tune_look(&name), place)?);
            }
            let held = product.hold(&name)?;
            for _ in 0..repeats {
                paths.note(path(&held, product.doctor_path(), place)?);
            }
            held.take_down()?;
        }
        Ok((looks, paths))
    })?;
    let mut figures = looks.figures("lab tune --look", "named by cable, end and device");
    figures.extend(paths.figures("doctor path", "named by path, direction, largest size and side"));
    Ok(figures.into_iter().map(|figure| figure.noise(noise)).collect())
}

/// What was found, and how soon.
#[derive(Default)]
struct Found {
    seconds: Vec<f64>,
    wrongly: Vec<String>,
}

impl Found {
    fn note(&mut self, (seconds, wrongly): (f64, Option<String>)) {
        self.seconds.push(seconds);
        self.wrongly.extend(wrongly);
    }

    fn figures(&self, by: &str, rightly: &str) -> Vec<Figure> {
        let longest = self.seconds.iter().copied().fold(f64::NAN, f64::max);
        let estimate = Estimate::of(&self.seconds);
        let took = Figure::ratio(format!("{by}: from its start to its answer"), estimate, SOON).unit("s");
        let longest = Figure::ratio(format!("{by}: the longest of all"), Estimate::of(&[longest]), SOON).unit("s");
        let (wrongly, all) = (self.wrongly.len() as u64, self.seconds.len());
        let named = Figure::count(format!("{by}: not {rightly}"), wrongly, format!("{wrongly} of {all}"));
        vec![took, longest, named.peer(self.wrongly.first().cloned().unwrap_or_default())]
    }
}

/// `lab tune --look --json`, from its start to its end; what it says of another place.
fn look(command: &mut Command, place: &Place) -> Result<(f64, Option<String>), Failure> {
    let (seconds, report) = timed(command)?;
    let found: Vec<&str> =
        report["first_look"].as_array().into_iter().flatten().filter_map(|it| it["place"].as_str()).collect();
    let expected = place.words();
    Ok((seconds, (found != [expected.as_str()]).then(|| format!("{expected}: {found:?}"))))
}

/// `doctor path` of all of the filer's addresses at once; what it says of another path, or otherwise of that one.
fn path(held: &Held, mut command: Command, place: &Place) -> Result<(f64, Option<String>), Failure> {
    let portals = held.netns("filer")?.run(addresses)??;
    command.args(portals.iter().map(IpAddr::to_string)).args(["--mtu", &RIGHT.to_string(), "--json"]);
    process::in_netns(&mut command, &held.netns("esx")?);
    let (seconds, report) = timed(&mut command)?;
    let paths = report["paths"].as_array().map_or(&[][..], Vec::as_slice);
    let rightly = |(number, path): (usize, &Value)| match number {
        1 => is_way(&path["there"], &place.there) && is_way(&path["back"], &place.back),
        _ => path["good"] == true,
    };
    let is_right = paths.len() == 4 && paths.iter().enumerate().all(rightly);
    Ok((seconds, (!is_right).then(|| format!("{}: {report}", place.words()))))
}

fn is_way(said: &Value, way: &Way) -> bool {
    match *way {
        Way::Limited { bytes, by } => said["result"] == "limited" && said["bytes"] == bytes && said["by"]["what"] == by,
        Way::Passes { at_most } => said["result"] == "passes" && said["bytes"].as_u64().is_some_and(|it| it <= at_most),
    }
}

/// Runs a command to its end, which has found something wrong (1) or nothing; how long it took, and what it said.
fn timed(command: &mut Command) -> Result<(f64, Value), Failure> {
    process::die_with_parent(command);
    let begun = Instant::now();
    let output = command.output().map_err(|error| Failure::failed(format!("cannot run nicteam: {error}")))?;
    let seconds = begun.elapsed().as_secs_f64();
    let said = serde_json::from_slice(&output.stdout).map_err(|error| {
        Failure::failed(format!("no answer ({error}): {}", String::from_utf8_lossy(&output.stderr).trim()))
    })?;
    Ok((seconds, said))
}

/// The addresses of the caller's namespace, in order; the loopback device's are left out.
fn addresses() -> Result<Vec<IpAddr>, Failure> {
    let all = Netlink::open()?.all_addresses()?;
    let mut own: Vec<IpAddr> =
        all.into_iter().map(|(_, address, _)| address).filter(|it| it.is_ipv4() && !it.is_loopback()).collect();
    own.sort();
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrong_end_is_that_of_the_second_cable() {
        let text = PLACES[1].experiment();
        assert!(text.contains("between = [\"esx\", \"sw\"]\ncount = 1\nmtu = [9000, 1500]\n"), "{text}");
        assert_eq!(text.matches("1500").count(), 1, "{text}");
        assert_eq!(PLACES[1].words(), "cable 2 of 4 between esx and sw, end sw: device esx-1");
    }

    #[test]
    fn a_way_is_right_by_size_and_by_what_holds_it_back() {
        let said = serde_json::json!({ "result": "limited", "bytes": 1504, "by": { "what": "black_hole" } });
        assert!(is_way(&said, &HOLE));
        assert!(!is_way(&said, &Way::Limited { bytes: 1504, by: "other_host" }));
        assert!(!is_way(&said, &Way::Passes { at_most: 1504 }));
    }
}
