//! What a port counts.

use nicteam_machine::state;

/// PDUs of a port (IEEE 802.1AX-2014, 7.3.3, `aAggPortStats`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// LACPDUs received, without our own.
    pub lacpdus_received: u64,
    /// LACPDUs sent.
    pub lacpdus_sent: u64,
    /// Our own LACPDUs that came back.
    pub looped: u64,
    /// Markers received.
    pub markers_received: u64,
    /// Markers sent.
    pub markers_sent: u64,
    /// Answers to markers received.
    pub responses_received: u64,
    /// Answers to markers sent.
    pub responses_sent: u64,
    /// Frames that were neither.
    pub malformed: u64,
    /// How often the partner was not heard in time (`CURRENT` to `EXPIRED`).
    pub expired: u64,
    /// How often it was given up then (`EXPIRED` to `DEFAULTED`).
    pub defaulted: u64,
    /// How often the link lost its carrier or got it back.
    pub carrier_changes: u64,
}

state!(struct PortCounters { lacpdus_received, lacpdus_sent, looped, markers_received, markers_sent, responses_received, responses_sent, malformed, expired, defaulted, carrier_changes });
