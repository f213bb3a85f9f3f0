//! What a recorded run would deliver with something changed, and where its missing share went.
//!
//! A run of a record becomes a [`Scene`]: nodes, cables, teams and flows as the crate `predict` takes them. [`Change`]s alter its
//! teams, and a prediction says what the same flows would get. [`add`] gives a run's findings their [`Cure`]s and the run its
//! [`Missing`] share by cause; `words` has both in sentences.
//!
//! [`Change`]: nicteam_record::Change
//! [`Cure`]: nicteam_record::Cure
//! [`Missing`]: nicteam_record::Missing
#![forbid(unsafe_code)]

mod candidates;
mod find;
mod flows;
mod missing;
mod scene;
mod words;

use nicteam_record::Run;

pub use missing::missing;
pub use scene::Scene;
pub use words::{changes_in_words, cure_in_words, missing_in_words};

/// Gives a run that has its findings their cures, and its missing share by cause.
pub fn add(run: &mut Run) {
    let scene = Scene::of(run);
    if let Ok(scene) = &scene {
        let cures: Vec<_> = run.findings.iter().map(|finding| find::cures(run, scene, finding)).collect();
        for (finding, cures) in run.findings.iter_mut().zip(cures) {
            finding.cures = cures;
        }
    }
    run.missing = Some(missing(run, &scene));
}
