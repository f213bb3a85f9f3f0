//! What is wrong with a team, for people.

use serde::{Deserialize, Serialize};

/// Something that is wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}
