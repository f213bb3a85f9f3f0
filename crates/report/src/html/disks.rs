//! Disks over the network: their paths, what each carried, and what each session negotiated.

use maud::{Markup, html};
use nicteam_findings::units::{bytes, percent, share, thousands};
use nicteam_record::{Disk, Negotiated, Run, StoragePath, Target};

use super::document::{Column, NUMBER, WORDS, plain_table};

const COLUMNS: [Column<'_>; 9] = [
    ("path", WORDS),
    ("way", WORDS),
    ("state", WORDS),
    ("requests", NUMBER),
    ("share", NUMBER),
    ("read MB/s", NUMBER),
    ("written MB/s", NUMBER),
    ("average", NUMBER),
    ("found dead", NUMBER),
];

/// A table a disk, where there are any.
pub(super) fn section(run: &Run) -> Markup {
    html! { @for disk in &run.disks { (of_disk(run, disk)) } }
}

fn of_disk(run: &Run, disk: &Disk) -> Markup {
    let all: u64 = disk.paths.iter().map(|path| path.ios).sum();
    html! {
        h3 { "Paths of " (disk.host) " to " (disk.target) " (" (disk.workload) ")" }
        (plain_table(&COLUMNS, &html! { @for path in &disk.paths { (row(run, path, all)) } }))
        @if !disk.policy.is_empty() {
            p.quiet {
                "Path policy " (disk.policy)
                @if !disk.esxi.is_empty() { ", in ESXi’s words " code { (disk.esxi) } }
                "; the path changed " (thousands(disk.switches)) " times."
            }
        }
        (negotiated(&disk.paths))
    }
}

fn row(run: &Run, path: &StoragePath, all: u64) -> Markup {
    let mbytes = |bytes: u64| format!("{:.1}", share(bytes as f64 / 1e3, run.measured_ms));
    html! {
        tr {
            td { (path.path) }
            td { (path.device) " " code { (path.address) } " → " code { (path.portal) } }
            td { (path.state) }
            td.num { (thousands(path.ios)) }
            td.num { (percent(share(path.ios as f64, all as f64))) }
            td.num { (mbytes(path.read_bytes)) }
            td.num { (mbytes(path.written_bytes)) }
            td.num { (path.latency_us.map_or_else(|| "–".to_owned(), |us| format!("{:.2} ms", us / 1e3))) }
            td.num { (path.failures) }
        }
    }
}

/// What the sessions agreed on, each wording once.
fn negotiated(paths: &[StoragePath]) -> Markup {
    let mut said: Vec<(String, Vec<u32>)> = Vec::new();
    for path in paths {
        let Some(words) = path.negotiated.as_ref().map(words) else { continue };
        match said.iter_mut().find(|(known, _)| *known == words) {
            Some((_, of)) => of.push(path.path),
            None => said.push((words, vec![path.path])),
        }
    }
    let several = said.len() > 1;
    let numbers = |of: &[u32]| of.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    html! {
        @for (words, of) in &said {
            p.quiet { @if several { "Path " (numbers(of)) ": " } "Negotiated: " (words) "." }
        }
    }
}

/// The keys as RFC 7143 names them.
fn words(of: &Negotiated) -> String {
    let yes = |flag| if flag { "Yes" } else { "No" };
    let digest = |digest: &str| if digest.is_empty() { "None".to_owned() } else { digest.to_owned() };
    format!(
        "MaxRecvDataSegmentLength {} at the target, {} at the initiator; FirstBurstLength {}; MaxBurstLength {}; ImmediateData {}; \
         InitialR2T {}; HeaderDigest {}; DataDigest {}",
        bytes(of.max_recv_data_bytes.into()),
        bytes(of.own_max_recv_data_bytes.into()),
        bytes(of.first_burst_bytes.into()),
        bytes(of.max_burst_bytes.into()),
        yes(of.immediate_data),
        yes(of.initial_r2t),
        digest(&of.header_digest),
        digest(&of.data_digest),
    )
}

/// What served, in words: `disk: tgt 1.0.85 on b (iscsi, 1 GiB in memory; max_recv_data 256kib)`.
pub(super) fn target(target: &Target) -> String {
    let configured: Vec<String> = target.configured.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let configured = if configured.is_empty() { String::new() } else { format!("; {}", configured.join(", ")) };
    format!(
        "{}: {} {} on {} ({}, {} {}{configured})",
        target.name,
        target.program,
        target.version,
        target.host,
        target.kind,
        bytes(target.size_bytes),
        if target.medium == "memory" { "in memory" } else { "on a disk" },
    )
}
