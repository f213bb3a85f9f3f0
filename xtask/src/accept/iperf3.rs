//! Our tcp workload beside iperf3.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use serde_json::Value;

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Ends;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product::{self, Product};
use crate::tools;
use nicteam_statistics::Estimate;

/// The experiment whose link both use.
const EXPERIMENT: &str = "two-hosts";

/// The tcp workload beside iperf3.
pub(super) const PART: Part<Arguments> = Part {
    tools: &[("iperf3", "iperf3")],
    ..Part::new("iperf3", "tcp workload beside iperf3 on the same link", measure)
};

/// Measures a link in turn with the tcp workload and with iperf3.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { product, scratch, arguments: &Arguments { rounds, seconds, .. } } = *run;
    let held = product.hold(EXPERIMENT)?;
    let link = held.ends("left", "right")?;
    let ours = |round| our_bps(product, seconds, scratch.path().join(format!("iperf3-{round}")));
    let (rates, noise) = Noise::around(|| {
        let mut rates = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            eprintln!("beside iperf3: {round} of {rounds}");
            // Who goes first alternates, so that a slow change of the machine hits both alike.
            if round % 2 == 0 {
                rates.0.push(ours(round)?);
                rates.1.push(iperf3_bps(&link, seconds)?);
            } else {
                rates.1.push(iperf3_bps(&link, seconds)?);
                rates.0.push(ours(round)?);
            }
        }
        Ok(rates)
    })?;
    held.take_down()?;
    let (ours, theirs) = rates;
    let mean_mbps = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64 / 1e6;
    let ratio = Figure::ratio("ours / iperf3", Estimate::of_ratios(&ours, &theirs), Bound::Within(0.98, 1.02));
    let peer = format!("means: ours {:.2}, iperf3 {:.2} Mbit/s", mean_mbps(&ours), mean_mbps(&theirs));
    Ok(vec![ratio.noise(noise).peer(peer)])
}

/// What our tcp workload gets through the link, bit/s.
fn our_bps(product: &Product, seconds: u32, output: PathBuf) -> Result<f64, Failure> {
    let mut command = product.lab_run(EXPERIMENT);
    let record = product::record(command.arg("--duration").arg(format!("{seconds}s")).arg("--output").arg(output))?;
    let run = record.runs.first().ok_or_else(|| Failure::failed(format!("no run in the record of {EXPERIMENT}")))?;
    Ok(run.delivered_bps)
}

/// What iperf3 gets through the link, bit/s: payload at the receiver
/// after a first second that is left out, as in our workload.
fn iperf3_bps(link: &Ends, seconds: u32) -> Result<f64, Failure> {
    let _server = Server::start(&link.to)?;
    let mut client = Command::new("iperf3");
    client.args(["--json", "--congestion", "cubic", "--omit", "1", "--time"]);
    client.arg(seconds.to_string()).arg("--client").arg(link.address.to_string());
    process::in_netns(&mut client, &link.from);
    process::die_with_parent(&mut client);
    let output = tools::output(&mut client)?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(Failure::failed)?;
    let received_bps = report["end"]["sum_received"]["bits_per_second"].as_f64();
    received_bps.ok_or_else(|| Failure::failed(format!("iperf3 did not measure: {}", report["error"])))
}

/// A server for one client; killed with this value.
#[derive(Debug)]
struct Server {
    child: Child,
    /// Stays open, or the server would fail at its next line.
    stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts one and waits until it listens.
    fn start(netns: &NetNs) -> Result<Server, Failure> {
        let mut command = Command::new("iperf3");
        command.args(["--server", "--one-off", "--forceflush"]).stdin(Stdio::null()).stdout(Stdio::piped());
        process::in_netns(&mut command, netns);
        process::die_with_parent(&mut command);
        let mut child = command.spawn().map_err(|error| Failure::failed(format!("cannot run iperf3: {error}")))?;
        let stdout = child.stdout.take().ok_or_else(|| Failure::failed("iperf3 has no standard output"))?;
        let mut server = Server { child, stdout: BufReader::new(stdout) };
        let mut line = String::new();
        while !line.contains("listening") {
            line.clear();
            if server.stdout.read_line(&mut line).map_err(Failure::failed)? == 0 {
                return Err(Failure::failed("the iperf3 server ended before it listened"));
            }
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if it has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
