//! Published test T3 on machines that are reached by real ssh servers, beside the same in network namespaces of the lab.
//!
//! Each machine is a network namespace with four links of its own into a switch: in the lab's words `src-dst-mac`, as
//! teams of this program.

use std::fs;
use std::path::Path;
use std::process::Command;

use nicteam_dataplane::Kind;
use nicteam_netlink::shape::{Granularity, shape};
use nicteam_record::{Bundle, Record};
use nicteam_statistics::Estimate;
use nicteam_sys::process;
use nicteam_testnet::{Host, SshServers, Switch, cable, eventually};

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::{Product, TeamProcess};
use crate::tools;

/// T3 by ssh.
pub(super) const PART: Part<Arguments> =
    Part::new("t3-ssh", "T3 on machines by ssh, of what it is in namespaces of the lab", measure);

/// The experiment, as it comes with the program.
const T3: &str = include_str!("../../../experiments/t3-four-links.toml");
/// The hosts of it, in its order.
const HOSTS: [&str; 5] = ["server", "client1", "client2", "client3", "client4"];
const LINKS: usize = 4;
/// Far below what this machine carries: what differs is to be the testbed.
const RATE: (&str, u64) = ("50mbit", 50_000_000);

/// Runs both, one after the other, and compares each run.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { arguments, product, scratch, .. } = *run;
    let folder = scratch.path();
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot write the experiments: {error}"));
    let [here, there] = ["namespaces", "machines"].map(|name| folder.join(name).with_extension("toml"));
    fs::write(&here, experiment(false)).and_then(|()| fs::write(&there, experiment(true))).map_err(cannot)?;
    let world = World::new(product, folder)?;
    let mut pairs = Vec::new();
    for round in 1..=arguments.repeats {
        eprintln!("T3 by ssh: {round} of {}", arguments.repeats);
        let of = |file: &Path, what: &str| world.record(product, file, folder, (what, round), arguments.seconds);
        pairs.push((of(&here, "here")?, of(&there, "there")?));
    }
    let names: Vec<&String> = pairs.first().into_iter().flat_map(|(here, _)| &here.runs).map(|run| &run.name).collect();
    let figure = |name: &String| {
        let share = |record: &Record| Some(record.runs.iter().find(|run| run.name == *name)?.of_limit);
        let shares: Option<Vec<[f64; 2]>> =
            pairs.iter().map(|(here, there)| Some([share(here)?, share(there)?])).collect();
        let shares = shares.ok_or_else(|| Failure::failed(format!("a record has no run {name}")))?;
        let ratios: Vec<f64> = shares.iter().map(|[here, there]| there / here).collect();
        let noise = pairs.iter().flat_map(|(here, there)| [here, there]).map(|record| Noise {
            busy_before: record.environment.busy_before,
            stolen: record.runs.iter().map(|run| run.cpu.stolen).fold(0.0, f64::max),
        });
        let medians = [0, 1].map(|at| Estimate::of(&shares.iter().map(|of| of[at]).collect::<Vec<_>>()));
        let peer = match medians {
            [Some(here), Some(there)] => format!("{:.3} by ssh, {:.3} in namespaces", there.median, here.median),
            _ => String::new(),
        };
        let figure = Figure::ratio(format!("{name}: by ssh / in namespaces"), Estimate::of(&ratios), BOUND);
        Ok(figure.peer(peer).noise(noise.reduce(Noise::worse).unwrap_or_default()))
    };
    names.into_iter().map(figure).collect()
}

/// What is not the testbed's is at most this.
const BOUND: Bound = Bound::Within(0.97, 1.03);

/// T3 without the run whose hosts have other addresses, which a real machine's do not get, and with one rate for both testbeds.
fn experiment(by_ssh: bool) -> String {
    let end = T3.find("[[runs]]\nname = \"four-to-one-unlucky\"").unwrap_or(T3.len());
    let mut text = T3[..end].replace("count = 4", &format!("count = 4\nrate = \"{}\"", RATE.0));
    text = text.replacen("[teams.four]", "[defaults]\ngranularity = \"packets\"\n\n[teams.four]", 1);
    if !by_ssh {
        return text;
    }
    let links: Vec<String> = (0..LINKS).map(|link| format!("\"link{link}\"")).collect();
    for (number, host) in (1..).zip(HOSTS) {
        let line = text.lines().find(|line| line.starts_with(host) && line.contains("team = ")).map(str::to_owned);
        let line = line.unwrap_or_default();
        let keys = format!(", ssh = \"root@10.9.0.{number}\", links = [{}] }}", links.join(", "));
        text = text.replace(&line, &(line.trim_end().trim_end_matches('}').trim_end().to_owned() + &keys));
    }
    format!("testbed = {{ kind = \"ssh\" }}\n{text}")
}

/// The machines, the switch between them, and a machine of the lab.
struct World {
    lab: Host,
    servers: SshServers,
    _teams: Vec<TeamProcess>,
    _hosts: Vec<Host>,
    _switches: [Switch; 2],
}

impl World {
    fn new(product: &Product, folder: &Path) -> Result<World, Failure> {
        let (mut manage, mut data, mut lab) = (Switch::new(), Switch::new(), Host::quiet());
        let (mut hosts, mut teams) = (Vec::new(), Vec::new());
        for (number, name) in (1..).zip(HOSTS) {
            let mut host = Host::quiet();
            host.set_up("lo", true);
            manage.join(&mut host, "manage", name);
            host.address("manage", &[(&format!("10.9.0.{number}"), 24)]);
            for link in 0..LINKS {
                lay(&mut host, &mut data.host, (number, link))?;
            }
            teams.push(group(product, folder, &mut data, (name, number))?);
            hosts.push(host);
        }
        manage.join(&mut lab, "manage", "lab");
        lab.address("manage", &[("10.9.0.99", 24)]);
        let addresses: Vec<String> = (1..=hosts.len()).map(|number| format!("10.9.0.{number}")).collect();
        let served: Vec<(&Host, &str)> = hosts.iter().zip(addresses.iter().map(String::as_str)).collect();
        let servers = SshServers::start_or_skip(&served, &lab);
        let servers = servers.ok_or_else(|| Failure::Missing("there is no sshd (openssh-server)".to_owned()))?;
        Ok(World { lab, servers, _teams: teams, _hosts: hosts, _switches: [manage, data] })
    }

    fn record(
        &self,
        product: &Product,
        file: &Path,
        folder: &Path,
        (what, round): (&str, u32),
        seconds: Option<u32>,
    ) -> Result<Record, Failure> {
        let bundle = folder.join(format!("{what}-{round}"));
        let mut command = product.command();
        command.args(["lab", "run"]).arg(file).args(["--yes", "--dataplane", "bpf", "--output"]).arg(&bundle);
        command.args(seconds.map(|seconds| format!("--duration={seconds}s")));
        command.current_dir(folder).env("HOME", folder).env("NICTEAM_SSH", self.servers.client());
        process::in_netns(&mut command, &self.lab.netns);
        process::die_with_parent(&mut command);
        tools::output(&mut command)?;
        Bundle::open(&bundle).map(|bundle| bundle.record).map_err(Failure::failed)
    }
}

/// A link from a machine to the switch, limited at both ends. A device that moves to another namespace loses its limit; so the
/// machine lends one above it, which waits as a card does whose queue is full.
fn lay(host: &mut Host, switch: &mut Host, (number, link): (u32, usize)) -> Result<(), Failure> {
    let (wire, port) = (format!("wire{link}"), port(number, link));
    cable(host, &wire, switch, &port);
    for (end, device) in [(&mut *host, &wire), (switch, &port)] {
        let index = end.index(device);
        shape(&mut end.netlink, index, RATE.1, Granularity::Packets)?;
    }
    let name = format!("link{link}");
    // And it sends packets, as in namespaces: in turns of GSO frames more would be overtaken.
    for words in [
        &["link", "add", &name, "link", &wire, "type", "macvlan", "mode", "passthru"][..],
        &["link", "set", &name, "gso_max_segs", "1"],
    ] {
        let mut ip = Command::new("ip");
        process::in_netns(ip.args(words), &host.netns);
        tools::output(&mut ip)?;
    }
    host.set_up(&name, true);
    if link == 0 {
        // The team takes it: the switch is to hash the addresses of the experiment in namespaces.
        let index = host.index(&name);
        host.netlink.set_mac(index, [2, 0, 0, 0, 0, number as u8])?;
    }
    Ok(())
}

/// A group of the switch towards a machine.
fn group(
    product: &Product,
    folder: &Path,
    switch: &mut Switch,
    (name, number): (&str, u32),
) -> Result<TeamProcess, Failure> {
    let members: Vec<String> = (0..LINKS).map(|link| port(number, link)).collect();
    let options = [("mode", "balance-xor"), ("xmit_hash_policy", "src-dst-mac"), ("miimon", "100")];
    let state = folder.join("switch");
    let team = product.start_team(&switch.host.netns, &state, name, &members, &options, Kind::Bpf)?;
    eventually("the group", || switch.host.netlink.link(name).is_ok_and(|link| link.is_some()));
    let (bridge, group) = (switch.bridge(), switch.host.index(name));
    switch.host.netlink.set_master(group, Some(bridge))?;
    switch.host.set_up(name, true);
    Ok(team)
}

fn port(number: u32, link: usize) -> String {
    format!("s{number}-{link}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_experiments_are_t3_at_one_rate() {
        let [here, there] = [false, true].map(experiment);
        assert_eq!(here.matches("[[runs]]").count(), 4);
        assert!(here.contains("count = 4\nrate = \"50mbit\"") && !here.contains("ssh"));
        let links = "links = [\"link0\", \"link1\", \"link2\", \"link3\"] }";
        assert_eq!((there.matches(links).count(), there.matches("root@10.9.0.").count()), (5, 5), "{there}");
    }
}
