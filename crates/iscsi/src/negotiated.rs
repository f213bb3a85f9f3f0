//! What initiator and target agreed on at login.

/// What initiator and target agreed on at login (RFC 7143 section 13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negotiated {
    /// Most bytes that may be sent of a write before the target asks for them (FirstBurstLength).
    pub first_burst: u32,
    /// Most bytes of a solicited sequence of data (MaxBurstLength).
    pub max_burst: u32,
    /// Most data bytes of a PDU that the target takes (its MaxRecvDataSegmentLength).
    pub max_recv_data: u32,
    /// Most data bytes of a PDU that this initiator takes (its own MaxRecvDataSegmentLength).
    pub own_max_recv_data: u32,
    /// Data is sent with the command (ImmediateData).
    pub immediate_data: bool,
    /// The target asks for all data but the immediate (InitialR2T).
    pub initial_r2t: bool,
    /// Headers have a checksum (HeaderDigest=CRC32C).
    pub header_digest: bool,
    /// Data has a checksum (DataDigest=CRC32C).
    pub data_digest: bool,
}
