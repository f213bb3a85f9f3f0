//! What initiator and target agreed on at login.

use crate::Login;

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

impl Negotiated {
    /// What libiscsi 1.19 offers for FirstBurstLength and MaxBurstLength and declares as its MaxRecvDataSegmentLength
    /// (`lib/init.c`); no function changes it.
    const OWN_BYTES: u32 = 262_144;
    /// What an end has declared that declares no MaxRecvDataSegmentLength (RFC 7143 section 13.12).
    const DEFAULT_MAX_RECV_DATA: u32 = 8192;

    /// The state of a login before the first answer of the target.
    pub(crate) fn offered(login: &Login) -> Negotiated {
        Negotiated {
            first_burst: Self::OWN_BYTES,
            max_burst: Self::OWN_BYTES,
            max_recv_data: Self::DEFAULT_MAX_RECV_DATA,
            own_max_recv_data: Self::OWN_BYTES,
            immediate_data: login.immediate_data,
            initial_r2t: login.initial_r2t,
            header_digest: login.header_digest,
            // libiscsi 1.19 offers none.
            data_digest: false,
        }
    }

    /// Takes what the target answered, `Key=Value`, by the result functions of RFC 7143 section 13. Other keys, and
    /// values that are no numbers, change nothing.
    pub(crate) fn answered(&mut self, pair: &str) {
        let Some((key, value)) = pair.split_once('=') else { return };
        let number = value.parse::<u32>().ok();
        let yes = value == "Yes";
        match (key, number) {
            ("FirstBurstLength", Some(bytes)) => self.first_burst = self.first_burst.min(bytes),
            ("MaxBurstLength", Some(bytes)) => self.max_burst = self.max_burst.min(bytes),
            ("MaxRecvDataSegmentLength", Some(bytes)) => self.max_recv_data = bytes,
            ("ImmediateData", _) => self.immediate_data &= yes,
            ("InitialR2T", _) => self.initial_r2t |= yes,
            ("HeaderDigest", _) => self.header_digest = value == "CRC32C",
            ("DataDigest", _) => self.data_digest = value == "CRC32C",
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isid;

    fn offered() -> Negotiated {
        let portal = "10.0.0.1:3260".parse().unwrap();
        Negotiated::offered(&Login::new(portal, "iqn.2026-01.test:disk", 1, "iqn.2026-01.test:host", Isid::new(1, 0)))
    }

    #[test]
    fn lengths_are_the_lesser_of_both_and_each_end_declares_its_own_segments() {
        let mut agreed = offered();
        for pair in ["FirstBurstLength=65536", "MaxBurstLength=1000000", "MaxRecvDataSegmentLength=1000000"] {
            agreed.answered(pair);
        }
        assert_eq!((agreed.first_burst, agreed.max_burst), (65_536, 262_144));
        assert_eq!((agreed.max_recv_data, agreed.own_max_recv_data), (1_000_000, 262_144));
    }

    #[test]
    fn one_end_suffices_for_initial_r2t_and_both_are_needed_for_immediate_data() {
        let mut agreed = offered();
        assert!(agreed.immediate_data && !agreed.initial_r2t);
        agreed.answered("ImmediateData=No");
        agreed.answered("InitialR2T=Yes");
        assert!(!agreed.immediate_data && agreed.initial_r2t);
        agreed.answered("ImmediateData=Yes");
        assert!(!agreed.immediate_data, "it stays refused");
    }

    #[test]
    fn what_makes_no_sense_changes_nothing() {
        let mut agreed = offered();
        for pair in ["", "FirstBurstLength", "MaxBurstLength=many", "MaxRecvDataSegmentLength=-1", "X=Y", "="] {
            agreed.answered(pair);
        }
        assert_eq!(agreed, offered());
    }
}
