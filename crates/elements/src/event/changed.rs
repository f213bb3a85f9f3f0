//! An event that is a sentence and data.

use std::sync::Arc;

use serde_json::Value;

use super::kind::Happens;
use crate::timed::Event;

/// Something that happens, or is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Changed {
    /// Its kind.
    pub kind: &'static str,
    /// The host or switch that it happens at.
    pub node: String,
    /// What happens, in words.
    pub words: String,
    /// The data for the code that carries it out.
    pub details: Value,
}

impl Changed {
    /// The event, and what undoes it.
    pub(super) fn until(self, undone: Changed) -> Happens {
        Happens { event: Arc::new(self), undone: Some(Arc::new(undone)) }
    }
}

impl Event for Changed {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn words(&self) -> String {
        self.words.clone()
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn details(&self) -> Value {
        self.details.clone()
    }
}
