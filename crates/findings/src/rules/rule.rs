//! What a rule is.

use nicteam_record::Finding;

use crate::limits::Limit;

/// A rule: recognises one cause, and puts it into words.
pub trait Rule: Sync {
    /// Name of the cause, as findings have it: `hash`, `broadcast`.
    fn cause(&self) -> &'static str;

    /// What it recognises in a limit of a run: [`Limit::finding`], gone on with. Nothing if it does not apply.
    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding>;

    /// A finding of its own in one sentence, from what stands in it alone; nothing
    /// if that is not what this rule writes there.
    fn sentence(&self, finding: &Finding) -> Option<String>;

    /// What the sentence rests on, a sentence each.
    fn facts(&self, _finding: &Finding) -> Vec<String> {
        Vec::new()
    }
}
