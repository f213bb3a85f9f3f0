//! TCP sockets as the kernel knows them.

use nicteam_netlink::inet_diag::TcpSocket;

use crate::protocol::FlowSample;

/// What the kernel says of a socket of this task or program.
pub fn flow(program: u32, socket: &TcpSocket) -> FlowSample {
    FlowSample {
        program,
        local: socket.local,
        remote: socket.remote,
        received_bytes: socket.info.bytes_received,
        acked_bytes: socket.info.bytes_acked,
        segments: socket.info.data_segments_out,
        retransmits: socket.info.retransmits,
        rtt_us: socket.info.rtt_us,
        congestion: socket.congestion.clone(),
    }
}
