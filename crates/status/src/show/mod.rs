//! A team's status in the forms that people and programs expect.
//!
//! One file a form; each makes a text of a [`TeamStatus`] and of nothing else. Nothing here asks a team, a device or a clock,
//! and what other programs read is compared with what the original prints: a word that changes is a format that changes.

mod one_sided;
pub mod openvswitch;
mod proc;
mod teamdctl;
mod teamdctl_view;
mod text;
#[cfg(test)]
mod words;

pub use proc::proc;
pub use teamdctl::teamdctl;
pub use teamdctl_view::teamdctl_view;
pub use text::text;

use crate::TeamStatus;

/// The status as it is, for programs (docs/team.md).
pub fn json(status: &TeamStatus) -> String {
    let text = serde_json::to_string_pretty(status);
    // A struct of texts and numbers always has a JSON form.
    text.unwrap_or_default() + "\n"
}
