//! A team's status in the forms that people and programs expect.

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
