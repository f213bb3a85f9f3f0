//! What the kernel says (crate `sys`).

use nicteam_sys::decoders;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("kernel", kernel)];

/// Netlink datagrams, `struct tcp_info` and files of `/proc` are understood or passed over.
pub fn kernel(bytes: &[u8]) -> bool {
    decoders::every(bytes)
}
