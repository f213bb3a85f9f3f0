//! All that is read of what the kernel says, for those who try any bytes on it.

use crate::{echo, tcp};

/// Reads these bytes as `struct tcp_info`. True if they say something.
pub fn tcp_info(bytes: &[u8]) -> bool {
    bytes.len() >= TCP_INFO_BYTES && tcp::decode_info(bytes) != tcp::TcpInfo::default()
}

/// What `struct tcp_info` had before it grew (Linux 2.6).
const TCP_INFO_BYTES: usize = 104;

/// Reads a packet as a raw socket gives it, of IPv4 with its header, as an answer to an echo request: the numbers of socket and
/// question, and where its payload begins.
pub fn echo(packet: &[u8], v4: bool) -> Option<(u16, u16, usize)> {
    echo::read(packet, v4)
}
