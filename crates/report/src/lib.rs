//! Tables, explanations and pages made from a record.
//!
//! Three views of one outcome: [`table()`] for the terminal, [`html()`] for a
//! browser, and [`explain()`], which both use: one plain sentence a run about
//! what set the limit. It is made of [`findings()`] (`nicteam-findings`), which rules ([`Rule`])
//! compute from the counters and the hash alone. Nothing here measures
//! anything, and no name of an experiment or run is looked at.
#![forbid(unsafe_code)]

mod columns;
mod compare;
mod faults;
mod figures;
mod html;
mod like;
mod matrix;
mod reasons;
mod repeated;
mod series;
mod svg;
mod table;
mod terminal;
mod told;
mod verdicts;

pub use compare::{Compared, Figure, Side as ComparedSide, compare, run_names};
pub use html::{
    Column, Frame, NUMBER, SCRIPT, STYLE, WORDS, compared_page, compared_page_in, document, framed, html,
    loaded_topology, page, page_in, plain_table, section, traffic_over_time, verdicts_page,
};
pub use nicteam_findings::{
    Choice, Chooser, Explanation, FilledBy, Hop, HopLink, Limit, Picture, Prediction, RULES, Rule, Spreading, Team,
    TeamMode, add_findings, explain, explain_by, findings, findings_by, is_full, is_idle,
};
pub use nicteam_record::Side;
pub use reasons::find_reasons;
pub use svg::px;
pub use table::table;
pub use terminal::Style;
pub use verdicts::{junit, verdicts, verdicts_json};
