//! What a kind of event is to the lab.

use serde_json::Value;

use crate::error::Error;
use crate::testbed::Deployment;

/// A kind of event, as the lab carries it out.
pub(super) trait Kind: Sync {
    /// Its name: [`nicteam_experiment::Event::kind`].
    fn name(&self) -> &'static str;

    /// Does it; the node that it happens to.
    ///
    /// # Errors
    /// It cannot be done.
    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<String, Error>;
}
