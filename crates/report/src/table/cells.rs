//! Cells and lines of both forms of the table.

use nicteam_findings::bars::bars;
use nicteam_findings::units;
use nicteam_findings::view::MemberView;
use nicteam_record::Run;

use crate::figures;
use crate::like::busy_groups;
use crate::terminal::{GREEN, RED, Style, YELLOW, shown, wrap};

/// Part of the limit as a number of two decimals.
pub(super) fn of_limit(run: &Run) -> String {
    if run.limit_bps > 0.0 { units::ratio(run.of_limit) } else { "-".to_owned() }
}

/// The published figure's part of its limit, and its words.
pub(super) fn published(run: &Run) -> String {
    let part = run.published_of_limit.map_or_else(|| "-".to_owned(), units::ratio);
    format!("{part:>4}  {}", run.published.as_deref().unwrap_or_default()).trim_end().to_owned()
}

/// Colour of a part of the limit.
pub(super) fn verdict(of_limit: f64) -> &'static str {
    match of_limit {
        _ if of_limit >= 0.93 => GREEN,
        _ if of_limit >= 0.6 => YELLOW,
        _ => RED,
    }
}

/// Figures of tasks that are no flow of bytes, as wide as there is room for.
pub(super) fn figure_lines(run: &Run, style: &Style) -> Vec<String> {
    let lines = figures::lines(run).into_iter().flat_map(|line| wrap(&shown(&line, style), style.width - 2));
    lines.map(|line| format!("  {line}")).collect()
}

/// A cell a host, or like hosts, sent above received, as many beside each other as fit.
pub(super) fn member_lines(run: &Run, style: &Style) -> Vec<String> {
    let groups = busy_groups(run);
    let cells: Vec<[String; 2]> = groups
        .iter()
        .map(|group| {
            let name = shown(&group.name, style);
            let cell = |load: fn(&MemberView<'_>) -> f64| {
                format!("{name} {}", bars(group.loads(load).into_iter(), style.ascii))
            };
            [cell(|member| member.tx_load()), cell(|member| member.rx_load())]
        })
        .collect();
    let cell = cells.iter().flatten().map(|cell| cell.chars().count()).max().unwrap_or(0).max(1);
    let per_line = ((style.width - 6) / (cell + 3)).max(1);
    let rows = cells.chunks(per_line).flat_map(|chunk| {
        ["tx", "rx"].iter().enumerate().map(move |(way, label)| {
            let cells: Vec<String> = chunk.iter().map(|pair| format!("{:cell$}", pair[way])).collect();
            format!("  {label}  {}", cells.join("   "))
        })
    });
    rows.map(|row| row.trim_end().to_owned()).collect()
}
