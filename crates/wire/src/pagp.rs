//! PAgP, Cisco's Port Aggregation Protocol: what a port says of itself and of its partner.
//!
//! Cisco published no specification. The places of the fields are those that Wireshark reads (packet-pagp.c). The address
//! that PAgP is sent to is shared by CDP, VTP, DTP and UDLD, which a number behind the SNAP header tells apart.

use crate::frame::{Frame, Malformed};
use crate::mac::Mac;

/// Numbers behind Cisco's SNAP header, for frames to [`Mac::CISCO_GROUP`].
pub mod cisco_pid {
    /// Port Aggregation Protocol.
    pub const PAGP: u16 = 0x0104;
    /// UniDirectional Link Detection.
    pub const UDLD: u16 = 0x0111;
    /// Cisco Discovery Protocol.
    pub const CDP: u16 = 0x2000;
    /// VLAN Trunking Protocol.
    pub const VTP: u16 = 0x2003;
    /// Dynamic Trunking Protocol.
    pub const DTP: u16 = 0x2004;
}

/// An information PDU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pagp {
    /// Hellos leave each 30 s, not each second.
    pub slow: bool,
    /// The port is in mode `auto`, not `desirable`: the other end is to begin.
    pub auto: bool,
    /// The port has agreed with its partner.
    pub consistent: bool,
    /// The sender.
    pub local: PagpPort,
    /// Whom it hears; all zeros: nobody.
    pub partner: PagpPort,
    /// How many partners it hears.
    pub partner_count: u16,
    /// Name of the sending device; at most [`Pagp::LONGEST_NAME`] characters, printable ASCII alone.
    pub device_name: String,
    /// Name of the sending port, of the same form.
    pub port_name: String,
}

/// One end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagpPort {
    /// Address of the device.
    pub device: Mac,
    /// Whether it learns addresses by port (1) or by group (2).
    pub learn: u8,
    /// Priority as a standby of the group.
    pub priority: u8,
    /// Index of the port.
    pub port: u32,
    /// Only ports of one capability bundle.
    pub capability: u32,
    /// Index of the group.
    pub group: u32,
}

/// IEEE 802.2, SNAP, unnumbered information, Cisco's OUI.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x0c];
/// Bytes ahead of a PDU: the Ethernet header, and SNAP's with the number.
const HEADER: usize = 14;
const SNAP_BYTES: usize = 8;
/// Bytes of an information PDU ahead of its TLVs.
const FIXED: usize = 46;
/// Bytes of one end.
const END: usize = 20;
const INFORMATION: u8 = 1;
const SLOW: u8 = 1;
const AUTO: u8 = 2;
const CONSISTENT: u8 = 4;
const TLV_DEVICE_NAME: u16 = 1;
const TLV_PORT_NAME: u16 = 2;
/// Bytes of the shortest frame without its check sequence.
const SHORTEST: usize = 60;
/// From here on the field behind the addresses is an EtherType (IEEE 802.3, 3.2.6).
const FIRST_ETHERTYPE: u16 = 0x0600;

/// The number behind Cisco's SNAP header, if the frame has one: [`cisco_pid`] names some.
pub fn cisco_protocol(frame: &Frame<'_>) -> Option<u16> {
    if frame.ethertype() >= FIRST_ETHERTYPE {
        return None;
    }
    let (snap, rest) = frame.payload().split_first_chunk::<6>()?;
    let number = rest.first_chunk::<2>()?;
    (*snap == SNAP).then(|| u16::from_be_bytes(*number))
}

impl Pagp {
    /// The longest name that is taken from a frame.
    pub const LONGEST_NAME: usize = 64;

    /// The PDU in a frame for [`Mac::CISCO_GROUP`].
    ///
    /// # Errors
    /// The frame is not PAgP, is cut, or is no information PDU. TLVs that do not fit are left out.
    pub fn decode(frame: &Frame<'_>) -> Result<Pagp, Malformed> {
        let pid = cisco_protocol(frame).unwrap_or(0);
        if frame.dst() != Mac::CISCO_GROUP || pid != cisco_pid::PAGP {
            return Err(Malformed::Field { what: "PAgP protocol number", value: pid.into() });
        }
        let pdu = &frame.payload()[SNAP_BYTES..];
        let fixed =
            pdu.first_chunk::<FIXED>().ok_or(Malformed::Short { what: "PAgP", need: FIXED, have: pdu.len() })?;
        if fixed[0] != INFORMATION {
            return Err(Malformed::field("PAgP version", fixed[0]));
        }
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let mut pagp = Pagp {
            slow: fixed[1] & SLOW != 0,
            auto: fixed[1] & AUTO != 0,
            consistent: fixed[1] & CONSISTENT != 0,
            local: PagpPort::read(fixed, 2),
            partner: PagpPort::read(fixed, 2 + END),
            partner_count: half(42),
            ..Pagp::default()
        };
        let mut rest = &pdu[FIXED..];
        for _ in 0..half(44) {
            let Some((kind, value, behind)) = tlv(rest) else { break };
            match kind {
                TLV_DEVICE_NAME => pagp.device_name = printable(value),
                TLV_PORT_NAME => pagp.port_name = printable(value),
                _ => {}
            }
            rest = behind;
        }
        Ok(pagp)
    }

    /// The PDU as a frame, without check sequence.
    pub fn frame(&self, src: Mac) -> Vec<u8> {
        let mut pdu = SNAP.to_vec();
        pdu.extend(cisco_pid::PAGP.to_be_bytes());
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        pdu.extend([INFORMATION, flag(self.slow, SLOW) | flag(self.auto, AUTO) | flag(self.consistent, CONSISTENT)]);
        self.local.write(&mut pdu);
        self.partner.write(&mut pdu);
        pdu.extend(self.partner_count.to_be_bytes());
        let names = [(TLV_DEVICE_NAME, &self.device_name), (TLV_PORT_NAME, &self.port_name)];
        let names: Vec<(u16, String)> = names.map(|(kind, name)| (kind, printable(name.as_bytes()))).to_vec();
        let present = || names.iter().filter(|(_, name)| !name.is_empty());
        pdu.extend((present().count() as u16).to_be_bytes());
        for (kind, name) in present() {
            pdu.extend(kind.to_be_bytes());
            pdu.extend((name.len() as u16 + 4).to_be_bytes());
            pdu.extend(name.as_bytes());
        }
        let mut frame = [Mac::CISCO_GROUP.0, src.0].concat();
        frame.extend((pdu.len() as u16).to_be_bytes());
        frame.extend(pdu);
        frame.resize(frame.len().max(SHORTEST), 0);
        frame
    }
}

impl PagpPort {
    fn read(fixed: &[u8; FIXED], at: usize) -> PagpPort {
        let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        PagpPort {
            device: Mac::at(fixed, at),
            learn: fixed[at + 6],
            priority: fixed[at + 7],
            port: word(at + 8),
            capability: word(at + 12),
            group: word(at + 16),
        }
    }

    fn write(&self, pdu: &mut Vec<u8>) {
        pdu.extend(self.device.0);
        pdu.extend([self.learn, self.priority]);
        for word in [self.port, self.capability, self.group] {
            pdu.extend(word.to_be_bytes());
        }
    }
}

/// What a name in somebody else's frame may be for us.
fn printable(name: &[u8]) -> String {
    let printable = name.iter().filter(|byte| (b' '..=b'~').contains(*byte));
    printable.take(Pagp::LONGEST_NAME).map(|byte| char::from(*byte)).collect::<String>().trim().to_owned()
}

/// Type, value, and what follows the first TLV.
type Tlv<'a> = (u16, &'a [u8], &'a [u8]);

/// The first TLV; none if it is not there whole. Its length counts type and length, too.
fn tlv(bytes: &[u8]) -> Option<Tlv<'_>> {
    let (&[a, b, c, d], _) = bytes.split_first_chunk()?;
    let value = bytes.get(4..usize::from(u16::from_be_bytes([c, d])))?;
    Some((u16::from_be_bytes([a, b]), value, &bytes[4 + value.len()..]))
}

/// Bytes of the shortest information PDU's frame.
pub const PAGP_BYTES: usize = HEADER + SNAP_BYTES + FIXED;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SWITCH: Mac = Mac([0x00, 0x0a, 0x8a, 0x45, 0x32, 0x9b]);

    /// A hello that was captured of a Catalyst and published with its fields, laid out again from these.
    fn published() -> Pagp {
        Pagp {
            slow: true,
            auto: false,
            consistent: true,
            local: PagpPort {
                device: Mac([0x00, 0x0a, 0x8a, 0x45, 0x43, 0x60]),
                learn: 2,
                priority: 128,
                port: 5,
                capability: 0x0001_0001,
                group: 29,
            },
            partner: PagpPort {
                device: Mac([0x00, 0x0a, 0xb7, 0x5f, 0x31, 0x30]),
                learn: 2,
                priority: 128,
                port: 5,
                capability: 0x0001_0001,
                group: 29,
            },
            partner_count: 1,
            device_name: "Switch".to_owned(),
            port_name: "Fa0/5".to_owned(),
        }
    }

    #[test]
    fn fields_stand_where_others_read_them() {
        let bytes = published().frame(SWITCH);
        assert_eq!(bytes[..12], [[1, 0, 0x0c, 0xcc, 0xcc, 0xcc], SWITCH.0].concat());
        // Length of what follows, SNAP, Cisco, 0x0104.
        assert_eq!(bytes[12..22], [0, 73, 0xaa, 0xaa, 3, 0, 0, 0x0c, 1, 4]);
        let pdu = &bytes[22..];
        assert_eq!((pdu[0], pdu[1], pdu[8], pdu[9]), (1, 0x05, 2, 128));
        assert_eq!(
            (&pdu[10..14], &pdu[14..18], &pdu[18..22]),
            (&[0, 0, 0, 5][..], &[0, 1, 0, 1][..], &[0, 0, 0, 29][..])
        );
        assert_eq!((&pdu[22..28], &pdu[42..46]), (&[0, 0x0a, 0xb7, 0x5f, 0x31, 0x30][..], &[0, 1, 0, 2][..]));
        assert_eq!(pdu[46..56], [0, 1, 0, 10, b'S', b'w', b'i', b't', b'c', b'h']);
        assert_eq!(Pagp::decode(&Frame::parse(&bytes).unwrap()).unwrap(), published());
        assert!(bytes.len() >= PAGP_BYTES);
    }

    #[test]
    fn what_else_is_sent_there_is_not_pagp() {
        let bytes = published().frame(SWITCH);
        for pid in [cisco_pid::CDP, cisco_pid::VTP, cisco_pid::DTP, cisco_pid::UDLD] {
            let mut other = bytes.clone();
            other[20..22].copy_from_slice(&pid.to_be_bytes());
            let frame = Frame::parse(&other).unwrap();
            assert_eq!(cisco_protocol(&frame), Some(pid));
            assert!(matches!(Pagp::decode(&frame), Err(Malformed::Field { value, .. }) if value == u32::from(pid)));
        }
        let change = |at: usize, byte: u8| {
            let mut other = bytes.clone();
            other[at] = byte;
            Pagp::decode(&Frame::parse(&other).unwrap())
        };
        assert!(change(5, 0xcd).is_err(), "another group");
        assert!(change(12, 0x08).is_err(), "an EtherType");
        assert!(change(19, 0x0d).is_err(), "another organisation");
        assert!(change(22, 2).is_err(), "a flush PDU");
        for end in 14..PAGP_BYTES {
            assert!(Pagp::decode(&Frame::parse(&bytes[..end]).unwrap()).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn names_are_printable_and_short() {
        let mut pagp = published();
        pagp.device_name = format!("\u{1b}[2J{}", "x".repeat(100));
        let back = Pagp::decode(&Frame::parse(&pagp.frame(SWITCH)).unwrap()).unwrap();
        assert_eq!(back.device_name, format!("[2J{}", "x".repeat(61)));
    }

    fn any_port() -> impl Strategy<Value = PagpPort> {
        (any::<[u8; 6]>(), any::<[u8; 2]>(), any::<[u32; 3]>()).prop_map(
            |(device, [learn, priority], [port, capability, group])| PagpPort {
                device: Mac(device),
                learn,
                priority,
                port,
                capability,
                group,
            },
        )
    }

    fn any_pagp() -> impl Strategy<Value = Pagp> {
        let names = ("([!-~]([ -~]{0,62}[!-~])?)?", "([!-~]([ -~]{0,62}[!-~])?)?");
        (any::<[bool; 3]>(), any_port(), any_port(), any::<u16>(), names).prop_map(
            |([slow, auto, consistent], local, partner, partner_count, (device_name, port_name))| Pagp {
                slow,
                auto,
                consistent,
                local,
                partner,
                partner_count,
                device_name,
                port_name,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(pagp in any_pagp()) {
            let bytes = pagp.frame(SWITCH);
            prop_assert_eq!(Pagp::decode(&Frame::parse(&bytes).unwrap()), Ok(pagp));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), pagp in any_pagp(), at in 0..200_usize) {
            if let Ok(frame) = Frame::parse(&bytes) {
                let _ = (Pagp::decode(&frame), cisco_protocol(&frame));
            }
            // And a hello with one byte changed, or cut.
            let mut near = pagp.frame(SWITCH);
            let at = at % near.len();
            near[at] ^= bytes.first().copied().unwrap_or(1);
            for bytes in [&near[..], &near[..at.max(14)]] {
                if let Ok(frame) = Frame::parse(bytes) {
                    let _ = Pagp::decode(&frame);
                }
            }
        }
    }
}
