//! The page's style sheet.

/// Light, dark and print. Member colours are told apart by people with every
/// common colour vision, on both grounds; each plot labels its members as well.
pub(super) const CSS: &str = include_str!("style.css");
