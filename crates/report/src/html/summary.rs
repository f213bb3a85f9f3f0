//! The headline table.

use nicteam_record::{Record, Run};

use super::cells::{meter, published, teams};
use crate::columns::{columns, skipped};
use crate::explain;
use crate::repeated::repeated;
use crate::svg::esc;
use crate::units::rate;
use crate::view::lowered_rate;

/// The headline table: a row a run, or where runs differ by their engine alone, a column an engine.
///
/// `whole` has the runs as often as they were carried out.
pub(super) fn section(record: &Record, whole: &Record) -> String {
    let times: String = repeated(whole)
        .iter()
        .filter_map(|group| Some(format!("<p class=\"quiet\">{}: {}.</p>\n", esc(group.name), esc(&group.words()?))))
        .collect();
    let table = columns(record).map_or_else(|| table(record), |columns| super::columns::table(&columns));
    let skipped: String = skipped(record).map(|line| format!("<p>{}</p>\n", esc(&line))).collect();
    let lowered = lowered_rate(record).map_or_else(String::new, |line| format!("<p>{}</p>\n", esc(&line)));
    format!(
        "<section aria-labelledby=\"results\">\n<h2 id=\"results\">What was delivered</h2>\n{table}\
         <p class=\"quiet\">Small bars: a bar a member, sent (tx) and received (rx), as high as its link was full. \
         A colour is the same member everywhere on this page.</p>\n{times}{skipped}{lowered}</section>\n"
    )
}

/// Every run in a row, its sentence and its members' bars below.
fn table(record: &Record) -> String {
    let rows: String = record.runs.iter().enumerate().map(|(index, run)| rows(index, run)).collect();
    format!(
        "<table class=\"results\">\n<thead><tr><th scope=\"col\">run</th><th scope=\"col\" class=\"num\">delivered</th>\
         <th scope=\"col\" class=\"num\">limit</th><th scope=\"col\">of the limit</th>\
         <th scope=\"col\"><span class=\"key-tick\"></span>published, of its limit</th></tr></thead>\n{rows}</table>\n"
    )
}

fn rows(index: usize, run: &Run) -> String {
    let teams = teams(run);
    format!(
        "<tbody>\n<tr><th scope=\"row\"><a href=\"#run-{index}\">{name}</a></th>\
         <td class=\"num\" data-label=\"delivered\">{delivered}</td>\
         <td class=\"num\" data-label=\"limit\">{limit}</td><td>{meter}</td>\
         <td class=\"words\" data-label=\"published\">{published}</td></tr>\n\
         <tr><td colspan=\"5\"><p class=\"say\">{sentence}</p>{figures}{teams}</td></tr>\n</tbody>\n",
        name = esc(&run.name),
        delivered = rate(run.delivered_bps),
        limit = rate(run.limit_bps),
        meter = meter(run),
        published = published(run),
        sentence = esc(&explain(run).sentence),
        figures = super::run::figures(run),
    )
}
