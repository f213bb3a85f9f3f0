//! Texts by which programs say how their bundles are.
//!
//! A line that is unknown is passed over, a value that cannot be read is unknown: these texts grow from version to version.
//! Nothing here panics, whatever the text.

mod openvswitch;
mod proc;
mod teamdctl;

pub use openvswitch::openvswitch;
pub use proc::proc;
pub use teamdctl::teamdctl;

/// An address as all of this crate writes it; none of a text that is none.
fn mac(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(':').collect();
    let is_byte = |group: &&str| group.len() == 2 && group.bytes().all(|digit| digit.is_ascii_hexdigit());
    (groups.len() == 6 && groups.iter().all(is_byte)).then(|| text.to_ascii_lowercase())
}
