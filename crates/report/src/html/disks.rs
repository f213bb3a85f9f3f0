//! Disks over the network: their paths, what each carried, and what each session negotiated.

use nicteam_record::{Disk, Negotiated, Run, StoragePath, Target};

use crate::svg::esc;
use crate::units::{bytes, percent, share, thousands};

/// A table a disk, where there are any.
pub(super) fn section(run: &Run) -> String {
    run.disks.iter().map(|disk| of_disk(run, disk)).collect()
}

fn of_disk(run: &Run, disk: &Disk) -> String {
    let all: u64 = disk.paths.iter().map(|path| path.ios).sum();
    let rows: String = disk.paths.iter().map(|path| row(run, path, all)).collect();
    let policy = match (disk.policy.is_empty(), disk.esxi.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(
            "<p class=\"quiet\">Path policy {}; the path changed {} times.</p>\n",
            esc(&disk.policy),
            thousands(disk.switches)
        ),
        (false, false) => format!(
            "<p class=\"quiet\">Path policy {}, in ESXi’s words <code>{}</code>; the path changed {} times.</p>\n",
            esc(&disk.policy),
            esc(&disk.esxi),
            thousands(disk.switches)
        ),
    };
    format!(
        "<h3>Paths of {host} to {target} ({workload})</h3>\n<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>\
         <th scope=\"col\">path</th><th scope=\"col\">way</th><th scope=\"col\">state</th><th scope=\"col\" class=\"num\">requests</th>\
         <th scope=\"col\" class=\"num\">share</th><th scope=\"col\" class=\"num\">read MB/s</th>\
         <th scope=\"col\" class=\"num\">written MB/s</th><th scope=\"col\" class=\"num\">average</th>\
         <th scope=\"col\" class=\"num\">found dead</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{policy}{negotiated}",
        host = esc(&disk.host),
        target = esc(&disk.target),
        workload = esc(&disk.workload),
        negotiated = negotiated(&disk.paths),
    )
}

fn row(run: &Run, path: &StoragePath, all: u64) -> String {
    let mbytes = |bytes: u64| format!("{:.1}", share(bytes as f64 / 1e3, run.measured_ms));
    format!(
        "<tr><td>{}</td><td>{} <code>{}</code> → <code>{}</code></td><td>{}</td><td class=\"num\">{}</td>\
         <td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
        path.path,
        esc(&path.device),
        esc(&path.address),
        esc(&path.portal),
        esc(&path.state),
        thousands(path.ios),
        percent(share(path.ios as f64, all as f64)),
        mbytes(path.read_bytes),
        mbytes(path.written_bytes),
        path.latency_us.map_or_else(|| "–".to_owned(), |us| format!("{:.2} ms", us / 1e3)),
        path.failures,
    )
}

/// What the sessions agreed on, each wording once.
fn negotiated(paths: &[StoragePath]) -> String {
    let mut said: Vec<(String, Vec<u32>)> = Vec::new();
    for path in paths {
        let Some(words) = path.negotiated.as_ref().map(words) else { continue };
        match said.iter_mut().find(|(known, _)| *known == words) {
            Some((_, of)) => of.push(path.path),
            None => said.push((words, vec![path.path])),
        }
    }
    let several = said.len() > 1;
    let line = |(words, of): &(String, Vec<u32>)| {
        let of: Vec<String> = of.iter().map(u32::to_string).collect();
        let which = if several { format!("Path {}: ", of.join(", ")) } else { String::new() };
        format!("<p class=\"quiet\">{which}Negotiated: {words}.</p>\n")
    };
    said.iter().map(line).collect()
}

/// The keys as RFC 7143 names them.
fn words(of: &Negotiated) -> String {
    let yes = |flag| if flag { "Yes" } else { "No" };
    let digest = |digest: &str| if digest.is_empty() { "None".to_owned() } else { esc(digest).to_string() };
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
