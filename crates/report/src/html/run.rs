//! One run's section.

use maud::{Markup, html};
use nicteam_findings::explain;
use nicteam_findings::units::{percent, rate, ratio};
use nicteam_record::{Memory, Run, Sample};

use super::cells::of_limit;
use super::document::{Column, NUMBER, WORDS, plain_table};
use super::{disks, fairness, faults, tasks, timeline, traffic};
use crate::figures;
use crate::reasons::reasons;

/// What set the limit, what every member and every connection did.
pub(super) fn section(index: usize, run: &Run, samples: &[Sample]) -> Markup {
    let explanation = explain(run);
    html! {
        section.run id={ "run-" (index) } aria-labelledby={ "run-" (index) "-name" } {
            h2 id={ "run-" (index) "-name" } { (run.name) }
            @if let Some(description) = &run.description { p.quiet { (description) } }
            p.verdict { (explanation.sentence) }
            @for reason in reasons(run) { p { (reason) } }
            (score(run))
            (figures(run))
            @if !explanation.facts.is_empty() {
                details {
                    summary { "What this rests on" }
                    ul { @for fact in &explanation.facts { li { (fact) } } }
                }
            }
            (traffic::section(run, samples))
            (tasks::section(run))
            (disks::section(run))
            (faults::section(run))
            (timeline::section(run))
            (fairness::section(run))
            (measured(run))
        }
    }
}

/// The figures in a line.
fn score(run: &Run) -> Markup {
    html! {
        p.score {
            span { b { (of_limit(run)) } " of the limit" }
            span { b { (rate(run.delivered_bps)) } " delivered of " (rate(run.limit_bps)) }
            @if let Some(part) = run.published_of_limit { span { b { (ratio(part)) } " published" } }
            span { "processors " (percent(run.cpu.busy)) " busy" }
        }
        @if let Some(words) = &run.published { p.quiet { "The published test: " (words) } }
    }
}

/// The figures of storage, as the published tests print them.
pub(super) fn figures(run: &Run) -> Markup {
    html! { @for line in figures::lines(run) { p.figures { (line) } } }
}

const HOSTS: [Column<'_>; 5] =
    [("host", WORDS), ("MAC address", WORDS), ("address", WORDS), ("device", WORDS), ("processor time", NUMBER)];

/// What each figure counts, and the hosts as they were.
fn measured(run: &Run) -> Markup {
    let hosts = html! {
        @for host in &run.topology.hosts {
            tr {
                td { (host.name) }
                td { code { (host.mac) } }
                td { code { (host.address) } }
                td { code { (host.device) } }
                td.num { (cpu_seconds(run, &host.name)) }
            }
        }
    };
    html! {
        details {
            summary { "How this run was measured" }
            dl.glossary {
                dt { "measured" } dd { (seconds(run.measured_ms)) " s, after " (seconds(run.warmup_ms)) " s of warm-up" }
                dt { "limit" } dd { (run.limit_reason) }
                dt { "delivered counts" } dd { (run.delivered_counted_at) }
                dt { "members count" } dd { (run.members_counted_at) }
                dt { "processors" }
                dd {
                    (percent(run.cpu.busy)) " busy, " (percent(run.cpu.stolen)) " steal time"
                    (cores(&run.cpu.cores))
                }
                @if let Some(memory) = &run.memory { dt { "memory" } dd { (self::memory(memory)) } }
                dt { "raw samples" } dd { code { (run.samples) } br; "SHA-256 " code { (run.samples_sha256) } }
            }
            (plain_table(&HOSTS, &hosts))
        }
    }
}

/// `; by core 71 %, 48 %`.
fn cores(cores: &[f64]) -> String {
    let each: Vec<String> = cores.iter().map(|busy| percent(*busy)).collect();
    if each.is_empty() { String::new() } else { format!("; by core {}", each.join(", ")) }
}

fn memory(memory: &Memory) -> String {
    let gib = |bytes: u64| format!("{:.2} GiB", bytes as f64 / f64::from(1u32 << 30));
    format!("{} in use at most, {} swapped out", gib(memory.used_bytes), gib(memory.swapped_bytes))
}

fn seconds(ms: f64) -> String {
    if ms.is_finite() { format!("{:.1}", ms / 1000.0) } else { "–".to_owned() }
}

fn cpu_seconds(run: &Run, host: &str) -> String {
    let cpu = run.cpu.seconds.iter().find(|cpu| cpu.host == host);
    cpu.map_or_else(|| "–".to_owned(), |cpu| format!("{:.2} s", cpu.seconds))
}
