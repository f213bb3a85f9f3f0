//! What the kernel says (crates `netlink` and `sys`).

use nicteam_sys::decoders;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("kernel", kernel), ("echo", echo)];

/// Netlink datagrams and `struct tcp_info` are understood or passed over.
pub fn kernel(bytes: &[u8]) -> bool {
    nicteam_netlink::reads(bytes) | decoders::tcp_info(bytes)
}

/// Answers to echo requests, as raw sockets give them, are read within their bytes: the first byte says whether by IPv4.
pub fn echo(bytes: &[u8]) -> bool {
    let Some((version, packet)) = bytes.split_first() else { return false };
    let v4 = version % 2 == 0;
    let read = decoders::echo(packet, v4);
    if let Some((_, _, payload_from)) = read {
        // What is read stands before the payload, and what follows changes nothing.
        assert_eq!(decoders::echo(&packet[..payload_from], v4), read);
        assert_eq!(decoders::echo(&packet[..payload_from - 1], v4), None);
        assert_eq!(decoders::echo(&[packet, b"more"].concat(), v4), read);
    }
    read.is_some()
}
