//! LACPDU and marker PDU: what link aggregation says on the wire
//! (IEEE 802.1AX-2014, 6.4.2 and 6.5.3).
//!
//! A receiver looks at neither version, TLV types nor reserved bytes, so that
//! later versions, which only append, are understood (6.4.2.3 and 6.4.12). The
//! lengths of the two information fields are checked: behind another length
//! nothing would stand where it is read.

use std::fmt;
use std::ops::BitOr;

use crate::ethernet::header;
use crate::frame::{Frame, Malformed, ethertype};
use crate::mac::Mac;

/// What one end of a link says of itself or of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PortInfo {
    /// Priority of the system; the lower number is preferred.
    pub system_priority: u16,
    /// Address of the system; zero if nobody is known.
    pub system: Mac,
    /// Ports of one system with the same key may aggregate.
    pub key: u16,
    /// Priority of the port within its system; the lower number is preferred.
    pub port_priority: u16,
    /// Number of the port within its system.
    pub port: u16,
    /// Its state bits.
    pub state: LacpState,
}

/// The eight state bits of a port.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LacpState(pub u8);

/// A link aggregation control PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lacpdu {
    /// Version of the sender; 1 is what this crate writes otherwise unasked.
    pub version: u8,
    /// The sender of itself.
    pub actor: PortInfo,
    /// What the sender knows of the receiver.
    pub partner: PortInfo,
    /// How long the sender's collector may hold a frame, in tens of microseconds.
    pub collector_max_delay: u16,
}

/// A marker or the answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Which of the two it is.
    pub kind: MarkerKind,
    /// Port of the requester.
    pub port: u16,
    /// System of the requester.
    pub system: Mac,
    /// Transaction number that the requester gave this marker.
    pub transaction: u32,
}

/// Question or answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// "Has everything before this arrived?"
    Information,
    /// "It has."
    Response,
}

/// A PDU of the slow protocols that belongs to link aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowPdu {
    /// Subtype 1.
    Lacp(Lacpdu),
    /// Subtype 2.
    Marker(Marker),
}

/// `01:80:c2:00:00:02`, where the slow protocols are sent to.
pub const SLOW_PROTOCOLS: Mac = Mac([0x01, 0x80, 0xc2, 0, 0, 2]);

/// Bytes of either PDU: both have a fixed length in version 1, and are longer later.
const LEN: usize = 110;
const LACP: u8 = 1;
const MARKER: u8 = 2;
const VERSION: u8 = 1;
const INFO_LEN: u8 = 20;
const COLLECTOR_LEN: u8 = 16;
const MARKER_LEN: u8 = 16;

impl LacpState {
    /// It sends PDUs without being spoken to.
    pub const ACTIVITY: LacpState = LacpState(0x01);
    /// It forgets after 3 s of silence, not 90 s, and wants a PDU each second.
    pub const TIMEOUT: LacpState = LacpState(0x02);
    /// It may aggregate.
    pub const AGGREGATION: LacpState = LacpState(0x04);
    /// It is attached to the right aggregator.
    pub const SYNCHRONIZATION: LacpState = LacpState(0x08);
    /// It takes frames in.
    pub const COLLECTING: LacpState = LacpState(0x10);
    /// It sends frames.
    pub const DISTRIBUTING: LacpState = LacpState(0x20);
    /// It assumes its partner instead of knowing it.
    pub const DEFAULTED: LacpState = LacpState(0x40);
    /// It has not heard its partner in time.
    pub const EXPIRED: LacpState = LacpState(0x80);

    /// True if all of these bits are set.
    pub const fn has(self, bits: LacpState) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// The same with these bits set, or without them.
    #[must_use]
    pub const fn with(self, bits: LacpState, on: bool) -> LacpState {
        LacpState(if on { self.0 | bits.0 } else { self.0 & !bits.0 })
    }
}

impl BitOr for LacpState {
    type Output = LacpState;

    fn bitor(self, other: LacpState) -> LacpState {
        LacpState(self.0 | other.0)
    }
}

impl fmt::Debug for LacpState {
    /// The bits that are set, in the words of Open vSwitch's `lacp/show`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            "activity",
            "timeout",
            "aggregation",
            "synchronized",
            "collecting",
            "distributing",
            "defaulted",
            "expired",
        ];
        let set: Vec<&str> = (0..8).filter(|bit| self.0 & 1 << bit != 0).map(|bit| names[bit]).collect();
        f.write_str(&set.join(" "))
    }
}

impl Lacpdu {
    /// A PDU of version 1 from a port whose collector holds nothing back.
    pub fn new(actor: PortInfo, partner: PortInfo) -> Lacpdu {
        Lacpdu { version: VERSION, actor, partner, collector_max_delay: 0 }
    }

    /// The PDU as the payload of a frame of EtherType [`ethertype::SLOW`], in
    /// the form of version 1.
    pub fn encode(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..2].copy_from_slice(&[LACP, self.version]);
        self.actor.write(1, &mut bytes[2..22]);
        self.partner.write(2, &mut bytes[22..42]);
        bytes[42..44].copy_from_slice(&[3, COLLECTOR_LEN]);
        bytes[44..46].copy_from_slice(&self.collector_max_delay.to_be_bytes());
        bytes
    }

    /// The PDU in a frame, without check sequence.
    pub fn frame(&self, src: Mac) -> Vec<u8> {
        frame(src, &self.encode())
    }
}

impl Marker {
    /// The answer to this marker.
    pub fn response(self) -> Marker {
        Marker { kind: MarkerKind::Response, ..self }
    }

    /// The PDU as the payload of a frame of EtherType [`ethertype::SLOW`].
    pub fn encode(&self) -> [u8; LEN] {
        let kind = match self.kind {
            MarkerKind::Information => 1,
            MarkerKind::Response => 2,
        };
        let mut bytes = [0; LEN];
        bytes[..4].copy_from_slice(&[MARKER, VERSION, kind, MARKER_LEN]);
        bytes[4..6].copy_from_slice(&self.port.to_be_bytes());
        bytes[6..12].copy_from_slice(&self.system.0);
        bytes[12..16].copy_from_slice(&self.transaction.to_be_bytes());
        bytes
    }

    /// The PDU in a frame, without check sequence.
    pub fn frame(&self, src: Mac) -> Vec<u8> {
        frame(src, &self.encode())
    }
}

impl SlowPdu {
    /// Reads the payload of a frame of EtherType [`ethertype::SLOW`]. Refuses
    /// other slow protocols (OAM, ESMC) and what is shorter than the standard's PDU.
    pub fn decode(payload: &[u8]) -> Result<SlowPdu, Malformed> {
        let short = Malformed::Short { what: "slow protocols PDU", need: LEN, have: payload.len() };
        let bytes = payload.first_chunk::<LEN>().ok_or(short)?;
        match bytes[0] {
            LACP => Ok(SlowPdu::Lacp(Lacpdu {
                version: bytes[1],
                actor: PortInfo::read("actor information length", bytes, 2)?,
                partner: PortInfo::read("partner information length", bytes, 22)?,
                collector_max_delay: word(bytes, 44),
            })),
            MARKER => Ok(SlowPdu::Marker(Marker {
                kind: match bytes[2] {
                    1 => MarkerKind::Information,
                    2 => MarkerKind::Response,
                    other => return Err(Malformed::field("marker TLV type", other)),
                },
                port: word(bytes, 4),
                system: Mac::at(bytes, 6),
                transaction: u32::from_be_bytes(std::array::from_fn(|byte| bytes[12 + byte])),
            })),
            other => Err(Malformed::field("slow protocols subtype", other)),
        }
    }

    /// Reads a whole frame, without check sequence. Refuses what is sent
    /// elsewhere than to [`SLOW_PROTOCOLS`] or carries a tag: these PDUs never do.
    pub fn parse(frame: &[u8]) -> Result<SlowPdu, Malformed> {
        let frame = Frame::parse(frame)?;
        if frame.ethertype() != ethertype::SLOW {
            return Err(Malformed::Field { what: "EtherType", value: frame.ethertype().into() });
        }
        if frame.dst() != SLOW_PROTOCOLS {
            let [_, _, a, b, c, d] = frame.dst().0;
            let value = u32::from_be_bytes([a, b, c, d]);
            return Err(Malformed::Field { what: "last four bytes of the destination", value });
        }
        SlowPdu::decode(frame.payload())
    }
}

impl PortInfo {
    /// Bytes of it on the wire.
    pub const LEN: usize = 15;

    /// Its bytes in the order of the wire.
    pub fn to_bytes(&self) -> [u8; PortInfo::LEN] {
        let mut bytes = [0; PortInfo::LEN];
        bytes[..2].copy_from_slice(&self.system_priority.to_be_bytes());
        bytes[2..8].copy_from_slice(&self.system.0);
        bytes[8..10].copy_from_slice(&self.key.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.port_priority.to_be_bytes());
        bytes[12..14].copy_from_slice(&self.port.to_be_bytes());
        bytes[14] = self.state.0;
        bytes
    }

    /// What these bytes say; any bytes say something.
    pub fn from_bytes(bytes: &[u8; PortInfo::LEN]) -> PortInfo {
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        PortInfo {
            system_priority: word(0),
            system: Mac(std::array::from_fn(|byte| bytes[2 + byte])),
            key: word(8),
            port_priority: word(10),
            port: word(12),
            state: LacpState(bytes[14]),
        }
    }

    /// Writes the 20 bytes of an information TLV.
    fn write(&self, kind: u8, bytes: &mut [u8]) {
        bytes[..2].copy_from_slice(&[kind, INFO_LEN]);
        bytes[2..2 + PortInfo::LEN].copy_from_slice(&self.to_bytes());
    }

    fn read(what: &'static str, bytes: &[u8; LEN], at: usize) -> Result<PortInfo, Malformed> {
        if bytes[at + 1] != INFO_LEN {
            return Err(Malformed::field(what, bytes[at + 1]));
        }
        Ok(PortInfo::from_bytes(&std::array::from_fn(|byte| bytes[at + 2 + byte])))
    }
}

fn frame(src: Mac, payload: &[u8; LEN]) -> Vec<u8> {
    let mut frame = header(SLOW_PROTOCOLS, src, None, ethertype::SLOW, LEN);
    frame.extend_from_slice(payload);
    frame
}

fn word(bytes: &[u8; LEN], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 0x11]);

    fn healthy() -> Lacpdu {
        let actor = PortInfo {
            system_priority: 0xffff,
            system: MAC,
            key: 9,
            port_priority: 255,
            port: 1,
            state: LacpState(63),
        };
        Lacpdu::new(actor, PortInfo { system: Mac([2, 0, 0, 0, 0, 0x22]), port: 2, ..actor })
    }

    #[test]
    fn a_pdu_has_the_bytes_of_the_standard() {
        let frame = healthy().frame(MAC);
        #[rustfmt::skip]
        let expected = [
            0x01, 0x80, 0xc2, 0, 0, 2, 2, 0, 0, 0, 0, 0x11, 0x88, 0x09,
            1, 1,
            1, 20, 0xff, 0xff, 2, 0, 0, 0, 0, 0x11, 0, 9, 0, 255, 0, 1, 63, 0, 0, 0,
            2, 20, 0xff, 0xff, 2, 0, 0, 0, 0, 0x22, 0, 9, 0, 255, 0, 2, 63, 0, 0, 0,
            3, 16, 0, 0,
        ];
        assert_eq!(frame[..expected.len()], expected);
        assert_eq!(frame[expected.len()..], [0; 124 - 60], "reserved bytes and the terminator");
        assert_eq!(SlowPdu::parse(&frame), Ok(SlowPdu::Lacp(healthy())));
        assert_eq!(
            format!("{:?}", healthy().actor.state),
            "activity timeout aggregation synchronized collecting distributing"
        );
    }

    #[test]
    fn a_marker_and_its_answer() {
        let marker = Marker { kind: MarkerKind::Information, port: 3, system: MAC, transaction: 0x0102_0304 };
        let bytes = marker.encode();
        assert_eq!(bytes[..18], [2, 1, 1, 16, 0, 3, 2, 0, 0, 0, 0, 0x11, 1, 2, 3, 4, 0, 0]);
        assert_eq!(bytes[18..], [0; 92], "terminator and reserved bytes");
        let answer = marker.response();
        assert_eq!((answer.encode()[2], answer.transaction, answer.port), (2, marker.transaction, 3));
        assert_eq!(SlowPdu::decode(&answer.encode()), Ok(SlowPdu::Marker(answer)));
    }

    #[test]
    fn later_versions_and_unknown_tlvs_are_read_as_this_one() {
        let mut bytes = healthy().encode().to_vec();
        bytes[1] = 2;
        bytes[2] = 0x77; // type of the actor information
        bytes[19..22].fill(0xee); // reserved
        bytes[42..44].copy_from_slice(&[0x44, 0xff]); // type and length of the collector information
        bytes[58..].fill(0x55); // instead of the terminator
        bytes.extend_from_slice(&[4, 8, 1, 2, 3, 4, 5, 6]);
        let expected = Lacpdu { version: 2, ..healthy() };
        assert_eq!(SlowPdu::decode(&bytes), Ok(SlowPdu::Lacp(expected)));
    }

    #[test]
    fn other_frames_are_refused() {
        let good = healthy().frame(MAC);
        for (place, what) in [(5, "destination"), (13, "EtherType"), (14, "subtype"), (17, "actor"), (37, "partner")] {
            let mut bad = good.clone();
            bad[place] ^= 0x40;
            assert!(matches!(SlowPdu::parse(&bad), Err(Malformed::Field { .. })), "{what}");
        }
        for length in 0..good.len() {
            assert!(matches!(SlowPdu::parse(&good[..length]), Err(Malformed::Short { .. })), "{length} bytes");
        }
    }

    fn any_info() -> impl Strategy<Value = PortInfo> {
        any::<(u16, [u8; 6], u16, u16, u16, u8)>().prop_map(
            |(system_priority, system, key, port_priority, port, state)| PortInfo {
                system_priority,
                system: Mac(system),
                key,
                port_priority,
                port,
                state: LacpState(state),
            },
        )
    }

    proptest! {
        #[test]
        fn a_lacpdu_round_trips(
            version: u8, actor in any_info(), partner in any_info(), collector_max_delay: u16, padding in 0_usize..8
        ) {
            let pdu = Lacpdu { version, actor, partner, collector_max_delay };
            let mut frame = pdu.frame(MAC);
            frame.resize(frame.len() + padding, 0xee);
            prop_assert_eq!(SlowPdu::parse(&frame), Ok(SlowPdu::Lacp(pdu)));
        }

        #[test]
        fn a_marker_round_trips(answer: bool, port: u16, system: [u8; 6], transaction: u32) {
            let kind = if answer { MarkerKind::Response } else { MarkerKind::Information };
            let marker = Marker { kind, port, system: Mac(system), transaction };
            prop_assert_eq!(SlowPdu::parse(&marker.frame(MAC)), Ok(SlowPdu::Marker(marker)));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..130), subtype in 0_u8..4) {
            let _ = SlowPdu::parse(&bytes);
            if let [first, _, kind, ..] = bytes.as_mut_slice() {
                (*first, *kind) = (subtype, *kind & 3);
            }
            if let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::decode(&bytes) {
                prop_assert_eq!(SlowPdu::decode(&pdu.encode()), Ok(SlowPdu::Lacp(pdu)));
            }
        }
    }
}
