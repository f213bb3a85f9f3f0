//! Where a run's missing share went, and what would help, in sentences.

use std::borrow::Cow;

use nicteam_cures::{cure_in_words, missing_in_words};
use nicteam_findings::findings;
use nicteam_record::Run;

/// Finds why a run delivered what it delivered, and what would help; both go into the run.
pub fn find_reasons(run: &mut Run) {
    run.findings = findings(run);
    nicteam_cures::add(run);
}

/// A sentence about the missing share, and one for each cure.
pub(crate) fn reasons(run: &Run) -> Vec<String> {
    let mut run = Cow::Borrowed(run);
    if run.findings.is_empty() {
        find_reasons(run.to_mut());
    } else if run.missing.is_none() {
        nicteam_cures::add(run.to_mut());
    }
    let cures = run.findings.iter().flat_map(|finding| finding.cures.iter().map(|cure| cure_in_words(finding, cure)));
    let mut sentences: Vec<String> = Vec::new();
    for sentence in run.missing.iter().filter_map(missing_in_words).chain(cures) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}
