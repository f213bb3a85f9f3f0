//! What other programs say of their bundles (crate `bundles`).

use nicteam_bundles::read;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("bundles", bundles)];

/// A text is read as `/proc/net/bonding/NAME`, as what Open vSwitch prints and as what teamdctl prints.
pub fn bundles(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let bond = read::proc("x", &text);
    assert!(bond.members.iter().all(|member| member.up || !member.active), "a member sends and is not up");
    let team = read::teamdctl("x", &text);
    !bond.members.is_empty() || !read::openvswitch(&text, &text).is_empty() || team.is_some()
}
