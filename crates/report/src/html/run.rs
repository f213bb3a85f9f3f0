//! One run's section.

use nicteam_record::{Memory, Run, Sample};

use super::cells::of_limit;
use super::{disks, fairness, tasks, timeline, traffic};
use crate::explain;
use crate::figures;
use crate::svg::esc;
use crate::units::{percent, rate, ratio};

/// What set the limit, what every member and every connection did.
pub(super) fn section(index: usize, run: &Run, samples: &[Sample]) -> String {
    let explanation = explain(run);
    let description =
        run.description.as_deref().map_or_else(String::new, |text| format!("<p class=\"quiet\">{}</p>\n", esc(text)));
    let facts: String = explanation.facts.iter().map(|fact| format!("<li>{}</li>\n", esc(fact))).collect();
    let facts = if facts.is_empty() {
        facts
    } else {
        format!("<details>\n<summary>What this rests on</summary>\n<ul>\n{facts}</ul>\n</details>\n")
    };
    format!(
        "<section class=\"run\" id=\"run-{index}\" aria-labelledby=\"run-{index}-name\">\n<h2 id=\"run-{index}-name\">{name}</h2>\n\
         {description}<p class=\"verdict\">{sentence}</p>\n{score}{figures}{facts}{traffic}{tasks}{disks}{timeline}{fairness}{measured}</section>\n",
        name = esc(&run.name),
        sentence = esc(&explanation.sentence),
        score = score(run),
        figures = figures(run),
        traffic = traffic::section(run, samples),
        timeline = timeline::section(run),
        fairness = fairness::section(run),
        tasks = tasks::section(run),
        disks = disks::section(run),
        measured = measured(run),
    )
}

/// The figures in a line.
fn score(run: &Run) -> String {
    let published = run
        .published_of_limit
        .map_or_else(String::new, |part| format!("<span><b>{}</b> published</span>", ratio(part)));
    let words = run
        .published
        .as_deref()
        .map_or_else(String::new, |words| format!("<p class=\"quiet\">The published test: {}</p>\n", esc(words)));
    format!(
        "<p class=\"score\"><span><b>{}</b> of the limit</span><span><b>{}</b> delivered of {}</span>{published}\
         <span>processors {} busy</span></p>\n{words}",
        of_limit(run),
        rate(run.delivered_bps),
        rate(run.limit_bps),
        percent(run.cpu.busy),
    )
}

/// The figures of storage, as the published tests print them.
pub(super) fn figures(run: &Run) -> String {
    let lines = figures::lines(run);
    lines.iter().map(|line| format!("<p class=\"figures\">{}</p>\n", esc(line))).collect()
}

/// What each figure counts, and the hosts as they were.
fn measured(run: &Run) -> String {
    let hosts: String = run
        .topology
        .hosts
        .iter()
        .map(|host| {
            format!(
                "<tr><td>{}</td><td><code>{}</code></td><td><code>{}</code></td><td><code>{}</code></td><td class=\"num\">{}</td></tr>\n",
                esc(&host.name),
                esc(&host.mac),
                esc(&host.address),
                esc(&host.device),
                cpu_seconds(run, &host.name),
            )
        })
        .collect();
    format!(
        "<details>\n<summary>How this run was measured</summary>\n<dl class=\"glossary\">\n\
         <dt>measured</dt><dd>{} s, after {} s of warm-up</dd>\n<dt>limit</dt><dd>{}</dd>\n\
         <dt>delivered counts</dt><dd>{}</dd>\n<dt>members count</dt><dd>{}</dd>\n\
         <dt>processors</dt><dd>{} busy, {} taken away by a hypervisor{}</dd>\n{}\
         <dt>raw samples</dt><dd><code>{}</code><br>SHA-256 <code>{}</code></dd>\n</dl>\n\
         <div class=\"scroll\"><table class=\"plain\">\n<thead><tr><th scope=\"col\">host</th><th scope=\"col\">MAC address</th>\
         <th scope=\"col\">address</th><th scope=\"col\">device</th><th scope=\"col\" class=\"num\">processor time</th></tr></thead>\n\
         <tbody>\n{hosts}</tbody>\n</table></div>\n</details>\n",
        seconds(run.measured_ms),
        seconds(run.warmup_ms),
        esc(&run.limit_reason),
        esc(&run.delivered_counted_at),
        esc(&run.members_counted_at),
        percent(run.cpu.busy),
        percent(run.cpu.stolen),
        cores(&run.cpu.cores),
        run.memory.as_ref().map_or_else(String::new, memory),
        esc(&run.samples),
        esc(&run.samples_sha256),
    )
}

/// `; by core 71 %, 48 %`.
fn cores(cores: &[f64]) -> String {
    let each: Vec<String> = cores.iter().map(|busy| percent(*busy)).collect();
    if each.is_empty() { String::new() } else { format!("; by core {}", each.join(", ")) }
}

fn memory(memory: &Memory) -> String {
    let gib = |bytes: u64| format!("{:.2} GiB", bytes as f64 / f64::from(1u32 << 30));
    format!(
        "<dt>memory</dt><dd>{} in use at most, {} swapped out</dd>\n",
        gib(memory.used_bytes),
        gib(memory.swapped_bytes)
    )
}

fn seconds(ms: f64) -> String {
    if ms.is_finite() { format!("{:.1}", ms / 1000.0) } else { "–".to_owned() }
}

fn cpu_seconds(run: &Run, host: &str) -> String {
    let cpu = run.cpu.seconds.iter().find(|cpu| cpu.host == host);
    cpu.map_or_else(|| "–".to_owned(), |cpu| format!("{:.2} s", cpu.seconds))
}
