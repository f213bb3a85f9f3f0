//! All that is read of what the kernel says, for those who try any bytes on it.

use crate::{cpu, netlink, tcp};

/// Reads these bytes as netlink datagrams, as `struct tcp_info` and as files of `/proc`.
/// True if somebody understood them.
pub fn every(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let understood = [
        netlink::reads(bytes),
        cpu::reads(&text),
        bytes.len() >= TCP_INFO_BYTES && tcp::decode_info(bytes) != tcp::TcpInfo::default(),
    ];
    understood.contains(&true)
}

/// What `struct tcp_info` had before it grew (Linux 2.6).
const TCP_INFO_BYTES: usize = 104;
