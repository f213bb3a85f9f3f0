//! The numbers of this crate that the eBPF programs (`bpf/`) need, too.
//!
//! This is their one source: the build of `nicteam-dataplane` includes this file by itself and writes a C header from
//! [`ALL`]. So nothing here refers to the rest of the crate. Places in a frame count from its destination address, without a
//! VLAN tag.

macro_rules! constants {
    ($($(#[$meta:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $type = $value;)*

        /// The name, the type and the value of each.
        pub const ALL: &[(&str, &str, i128)] = &[$((stringify!($name), stringify!($type), $name as i128)),*];
    };
}

constants! {
    /// Bytes of the shortest frame without its check sequence.
    SHORTEST: usize = 60;
    /// Bytes of check sequence, preamble, start of frame and gap.
    WIRE_OVERHEAD: usize = 24;

    /// The EtherType of slow protocols.
    TYPE_SLOW: u16 = 0x8809;
    /// Of hellos.
    TYPE_HELLO: u16 = 0x88b5;
    /// Of a redundancy tag.
    TYPE_RTAG: u16 = 0xf1c1;
    /// Bytes of a redundancy tag.
    RTAG_LEN: usize = 6;

    /// Where a hello says its version.
    HELLO_VERSION: usize = 14;
    /// And its kind.
    HELLO_KIND: usize = 15;
    /// The kind of a probe.
    HELLO_PROBE: u8 = 2;
    /// Of its echo.
    HELLO_ECHO: u8 = 3;
    /// Of the report of a lost carrier.
    HELLO_LOST: u8 = 6;
    /// Of a probe and its echo: what brings it back.
    HELLO_STAMP: usize = 30;
    /// And when it was to arrive,
    HELLO_DUE: usize = 62;
    /// when it did,
    HELLO_ARRIVED: usize = 70;
    /// and where both end.
    HELLO_TIMES_END: usize = 78;
    /// With what a lost carrier is reported.
    HELLO_LOST_TOKEN: usize = 22;
    /// And which member lost it.
    HELLO_LOST_MAC: usize = 30;
}
