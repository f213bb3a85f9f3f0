//! Our access specification beside fio, which uses the same disk by an NBD export, on one shaped link.

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::Path as FilePath;
use std::process::Command;

use nicteam_netlink::Netlink;
use nicteam_storage::nbd::{Address, Server};
use nicteam_storage::{Disk, DiskSpec, Library, Path, Watch};
use nicteam_sys::netns::NetNs;
use nicteam_sys::process;
use nicteam_testnet::IscsiTarget;
use nix::poll::PollFlags;
use nix::sys::eventfd::EventFd;
use serde_json::Value;

use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::held::Ends;
use crate::noise::Noise;
use crate::part::{Context, Part};
use crate::product;
use crate::tools;
use nicteam_statistics::Estimate;

/// IO/s of both.
pub(in crate::accept) const PART: Part<Arguments> = Part {
    tools: &[("tgtd", "tgt"), ("tgtadm", "tgt"), ("fio", "fio")],
    ..Part::new("storage-fio", "access specification beside fio through the NBD export, 32 KiB, one link", measure)
};

/// One link.
const LINK: &str = r#"
title = "One link, one disk"
[defaults]
rate = "500mbit"
[hosts]
left = {}
right = {}
[[links]]
between = ["left", "right"]
"#;
/// What is held for fio, whose target is started beside it: one that the lab served would have its port.
const HELD: &str = r#"
[workloads.any]
kind = "tcp"
from = "left"
to = "right"
[[runs]]
name = "any"
workloads = "any"
"#;
/// The disk at the link's other end, and what reads it.
const READS: &str = r#"
[targets.disk]
kind = "iscsi"
on = "right"
size = "256mib"
max_recv_data = "256kib"
[workloads.reads]
kind = "access-spec"
from = "left"
to = "right"
target = "disk"
spec = "max-throughput-100-read"
[[runs]]
name = "reads"
workloads = "reads"
"#;
const BYTES: u64 = 256 << 20;
/// What the lab gives connections where the file names none.
const CONGESTION: &str = "cubic";
const WITHIN: Bound = Bound::Within(0.90, 1.10);

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let Context { product, scratch, arguments: &Arguments { repeats, seconds, .. } } = *context;
    let write = |name: &str, rest: &str| {
        let file = scratch.path().join(name);
        std::fs::write(&file, format!("{LINK}{rest}")).map_err(Failure::failed)?;
        Ok::<String, Failure>(file.to_string_lossy().into_owned())
    };
    let name = write("one-link.toml", READS)?;
    let held = product.hold(&write("held.toml", HELD)?)?;
    let link = held.ends("left", "right")?;
    // As in the lab, whatever the machine's own is.
    choose_congestion(&link.from, link.address)?;
    choose_congestion(&link.to, held.ends("right", "left")?.address)?;
    let target = IscsiTarget::start_or_skip(&link.to, BYTES, &[("MaxRecvDataSegmentLength", "262144")])
        .ok_or_else(|| Failure::Missing("tgt does not run here".to_owned()))?;
    let (rates, noise) = Noise::around(|| {
        let mut rates = (Vec::new(), Vec::new());
        for round in 1..=repeats {
            eprintln!("beside fio: {round} of {repeats}");
            let mut command = product.lab_run(&name);
            command.arg(format!("--duration={seconds}s"));
            command.arg("--output").arg(scratch.path().join(format!("one-link-{round}")));
            let record = product::record(&mut command)?;
            let task = record.runs.first().and_then(|run| run.operations.first());
            rates.0.push(task.ok_or_else(|| Failure::failed("no operations in the record"))?.rate_per_s);
            rates.1.push(fio_iops(&link, seconds, &scratch.path().join(format!("fio-{round}")))?);
        }
        Ok(rates)
    })?;
    drop(target);
    held.take_down()?;
    let (ours, theirs) = rates;
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let mib = |rates: &[f64]| mean(rates) * 32.0 / 1024.0;
    let peer = format!(
        "means: ours {:.0} IO/s, {:.1} MiB/s; fio {:.0} IO/s, {:.1} MiB/s",
        mean(&ours),
        mib(&ours),
        mean(&theirs),
        mib(&theirs)
    );
    Ok(vec![Figure::ratio("ours / fio, IO/s", Estimate::of_ratios(&ours, &theirs), WITHIN).noise(noise).peer(peer)])
}

/// Gives connections of a namespace to an address the congestion control that the lab's have.
fn choose_congestion(netns: &NetNs, to: IpAddr) -> Result<(), Failure> {
    netns.run(|| Ok::<(), Failure>(Netlink::open()?.route_with_congestion(to, CONGESTION)?))?
}

/// What fio gets of the disk by an export that this process serves from the initiator's host.
fn fio_iops(link: &Ends, seconds: u32, socket: &FilePath) -> Result<f64, Failure> {
    let library = Library::open().map_err(|absent| Failure::Missing(absent.to_string()))?;
    let portal = IscsiTarget::portal(&link.address.to_string());
    let spec = DiskSpec::new(vec![Path { portal, bind_device: None }], IscsiTarget::NAME, IscsiTarget::LUN);
    let served = link.from.run(|| {
        let mut disk = Disk::open(&library, &spec).map_err(Failure::failed)?;
        let mut server = Server::bind(&Address::Unix(socket.to_owned()), "disk", &disk).map_err(Failure::failed)?;
        let stop = EventFd::new().map_err(Failure::failed)?;
        let said = std::thread::scope(|scope| {
            let fio = scope.spawn(|| {
                let said = fio(socket, seconds);
                // Fails only if nobody waits for it any more.
                let _ = stop.write(1);
                said
            });
            let mut others = [Watch::new(stop.as_fd(), PollFlags::POLLIN)];
            while others[0].found.is_empty() {
                server.turn(&mut disk, None, &mut others).map_err(Failure::failed)?;
            }
            fio.join().map_err(|_| Failure::failed("fio's thread panicked"))?
        })?;
        Ok::<String, Failure>(said)
    })??;
    // What its engine has to say stands before the report.
    let report = served.find('{').map_or("", |start| &served[start..]);
    let report: Value = serde_json::from_str(report).map_err(|error| Failure::failed(format!("{error}: {served}")))?;
    let iops = report["jobs"][0]["read"]["iops"].as_f64();
    iops.ok_or_else(|| Failure::failed(format!("fio did not measure: {served}")))
}

/// What fio prints; a first second is left out, as in our run.
fn fio(socket: &FilePath, seconds: u32) -> Result<String, Failure> {
    let mut command = Command::new("fio");
    command.args(["--name=reads", "--ioengine=nbd", "--rw=read", "--bs=32k", "--iodepth=64", "--thread"]);
    command.args(["--time_based", "--ramp_time=1", "--output-format=json"]).arg(format!("--runtime={seconds}"));
    command.arg(format!("--size={BYTES}")).arg(format!("--uri=nbd+unix:///disk?socket={}", socket.display()));
    process::die_with_parent(&mut command);
    let output = tools::output(&mut command)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
