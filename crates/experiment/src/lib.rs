//! The experiment file: TOML text -> records with places -> a resolved [`Experiment`].
//!
//! `docs/experiment.md` describes the file for its users. The tables in `sections.rs` name every key once; kinds of
//! tasks, events, targets and engines have theirs in `nicteam-elements`, with the types of what is resolved.
//!
//! ```
//! use nicteam_experiment::{self as experiment, Overrides};
//!
//! let t3 = experiment::find("t3").unwrap();
//! let t3 = experiment::parse(&t3.name, &t3.path, &t3.text, &Overrides::default()).unwrap();
//! assert_eq!(t3.runs[0].topology.hosts.len(), 5);
//!
//! let errors = experiment::parse("bad", "bad.toml", "titel = 'x'", &Overrides::default()).unwrap_err();
//! assert!(errors.to_string().contains("hint: did you mean `title`?"));
//! ```
//!
//! Pure: it reads no clock and no device, and a file only to find an experiment by its path. What an experiment could
//! deliver at most ([`limit()`]) and how it looks ([`show()`]) follow from the file alone; `nicteam-lab` executes it.
#![forbid(unsafe_code)]

mod addresses;
mod by_hand;
mod catalog;
mod changed;
mod chaos;
mod congestion;
mod expect;
mod gateways;
mod guests;
mod limit;
mod links_used;
mod overrides;
mod predict;
mod programs;
mod reference;
mod remote;
mod resolve;
mod sections;
mod segments;
mod show;
mod switches;
mod teams;
mod topology;

use nicteam_diagnostics::{toml_syntax, units};
use nicteam_elements::read;
use toml::de::DeTable;

pub use by_hand::{ByHand, fault, fault_kinds, fault_text};
pub use catalog::{Builtin, FindError, Group, MAX_FILE_BYTES, Source, builtin, find};
pub use changed::changed;
pub use congestion::{check_congestion, check_mptcp};
pub use limit::{Limit, limit};
pub use links_used::{LinksUsed, links_used, links_used_json, show_links_used};
pub use nicteam_diagnostics::{Diagnostic, Diagnostics};
pub use nicteam_elements::engine::{EXISTING, Engine, KERNEL_OPTIONS, Unsupported, openvswitch_settings};
pub use nicteam_elements::event::{Announce, CablePulled, Migrate, NodeFault, Shown, Silence, TargetKilled};
pub use nicteam_elements::repeat::MOST_REPETITIONS;
pub use nicteam_elements::resolved::*;
pub use nicteam_elements::switch_model::{Spread, SwitchModel};
pub use nicteam_elements::target::{Access, Iscsi, Medium, Nfs, Target};
pub use nicteam_elements::task::{
    AccessSpec, Copy, Disks, Ping, Program, Requests, Storage, Tagged, Tcp, TrafficTest, Udp,
};
pub use nicteam_elements::timed::{Event, Timed};
pub use nicteam_elements::traffic::{DiskUse, Task, Tested};
pub use overrides::Overrides;
pub use predict::{
    Measured, Outcome as PredictedOutcome, Predicted, Spread as PredictedSpread, predict, predict_drawn,
    predicted_json, show_predicted,
};
pub use programs::check_programs;
pub use reference::{key_reference, schema};
pub use show::show;
pub use units::{
    RUN_DURATION, parse_bytes, parse_duration, parse_rate, show_bytes, show_duration, show_percent, show_rate,
};

/// What to do about a file that is none of ours.
const NOT_TOML: &str =
    "docs/experiment.md describes the file; `nicteam lab list` names the experiments that are built in";

/// Parses and checks an experiment file.
///
/// `name` is what it is run by, `path_shown` what messages call the file.
///
/// # Errors
/// Everything that is wrong with it. After a fault of the TOML itself, only what
/// can still be distinguished from consequences of that error. A text that is not TOML at all
/// is one error.
pub fn parse(name: &str, path_shown: &str, text: &str, overrides: &Overrides) -> Result<Experiment, Diagnostics> {
    let mut problems = Vec::new();
    let (table, errors) = DeTable::parse_recoverable(text);
    // Where a key of the whole file is missing, there is nothing to point at but the beginning.
    let file = read::read(table.get_ref(), 0..0, &sections::FILE, &mut problems);
    if let Some(problem) = toml_syntax::not_toml(&errors, text, NOT_TOML) {
        return Err(Diagnostics::new(path_shown, text, vec![problem]));
    }
    if !errors.is_empty() {
        let (faults, end) = toml_syntax::problems(&errors, text);
        problems.retain(|problem| {
            let span = problem.span.clone().unwrap_or(0..0);
            let echo =
                faults.iter().filter_map(|fault| fault.span.as_ref()).any(|f| toml_syntax::same_line(text, f, &span));
            !problem.is_missing_key && !echo && end.is_none_or(|end| span.end < end)
        });
        problems.extend(faults);
        return Err(Diagnostics::new(path_shown, text, problems));
    }
    let experiment = resolve::resolve(name, path_shown, text, &file, overrides, &mut problems);
    if problems.is_empty() { Ok(experiment) } else { Err(Diagnostics::new(path_shown, text, problems)) }
}
