//! LLDP: what the port at the other end of a link says of itself (IEEE 802.1AB-2016; the organisationally specific TLVs of
//! IEEE 802.1Q annex D and IEEE 802.3 clause 79).

use crate::ethernet::header;
use crate::frame::{Frame, Malformed};
use crate::mac::Mac;

/// EtherType of LLDP.
pub const LLDP: u16 = 0x88cc;

/// Where it is sent to the nearest bridge (7.1, table 7-1).
const NEAREST_BRIDGE: Mac = Mac([0x01, 0x80, 0xc2, 0, 0, 0x0e]);

/// What is said, as far as an aggregation of links cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lldp {
    /// Who says it: `02:00:00:00:00:01`, or a name; printable ASCII of at most [`Lldp::LONGEST_NAME`] characters, as all texts.
    pub chassis: String,
    /// By which of its ports: `Ethernet1/7`.
    pub port: String,
    /// For how many seconds it holds; 0: the neighbour goes away.
    pub ttl_s: u16,
    /// What people call the port.
    pub port_description: Option<String>,
    /// Name of the system.
    pub system_name: Option<String>,
    /// What it is.
    pub system_description: Option<String>,
    /// The VLAN of frames without a tag; 0: it takes none.
    pub port_vlan: Option<u16>,
    /// The longest frame that it takes, bytes with header and check sequence.
    pub max_frame_bytes: Option<u16>,
    /// Whether the port is in an aggregation, and could be.
    pub aggregation: Option<LldpAggregation>,
}

/// What a port says of aggregation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LldpAggregation {
    /// It can be aggregated.
    pub capable: bool,
    /// It is in an aggregation now.
    pub aggregated: bool,
    /// Number of the aggregation; 0 outside.
    pub port: u32,
}

const END: u8 = 0;
const CHASSIS: u8 = 1;
const PORT: u8 = 2;
const TTL: u8 = 3;
const PORT_DESCRIPTION: u8 = 4;
const SYSTEM_NAME: u8 = 5;
const SYSTEM_DESCRIPTION: u8 = 6;
const ORGANISATION: u8 = 127;
/// Subtypes of chassis and port whose text is an address of six bytes.
const CHASSIS_MAC: u8 = 4;
const PORT_MAC: u8 = 3;
/// Subtypes of chassis and port whose text is an address of the network, behind a byte that says of which.
const CHASSIS_ADDRESS: u8 = 5;
const PORT_ADDRESS: u8 = 4;
/// A text that was locally assigned; and of an interface its name.
const LOCAL: u8 = 7;
const IEEE_802_1: [u8; 3] = [0x00, 0x80, 0xc2];
const IEEE_802_3: [u8; 3] = [0x00, 0x12, 0x0f];
const PORT_VLAN: u8 = 1;
/// Link aggregation: in the newer standard of 802.1, in the older of 802.3.
const AGGREGATION_802_1: u8 = 7;
const AGGREGATION_802_3: u8 = 3;
const MAX_FRAME: u8 = 4;
const CAPABLE: u8 = 1;
const AGGREGATED: u8 = 2;
/// Bytes of the shortest frame without its check sequence.
const SHORTEST: usize = 60;

impl Lldp {
    /// The longest text that is taken from a frame.
    pub const LONGEST_NAME: usize = 255;

    /// What a frame says. TLVs that are unknown, or too short for what they are, are left out.
    ///
    /// # Errors
    /// It is not LLDP, or does not begin with chassis, port and time to live, whole, in this order (8.2).
    pub fn decode(frame: &Frame<'_>) -> Result<Lldp, Malformed> {
        if frame.ethertype() != LLDP {
            return Err(Malformed::Field { what: "LLDP EtherType", value: frame.ethertype().into() });
        }
        let mut rest = frame.payload();
        let mut next = |wanted: u8| match tlv(rest) {
            Some((kind, value, behind)) if kind == wanted => {
                rest = behind;
                Ok(value)
            }
            Some((kind, ..)) => Err(Malformed::field("LLDP type", kind)),
            None => Err(Malformed::Short { what: "LLDP", need: 2, have: rest.len() }),
        };
        let chassis = next(CHASSIS).and_then(|value| identifier(value, CHASSIS_MAC, CHASSIS_ADDRESS))?;
        let port = next(PORT).and_then(|value| identifier(value, PORT_MAC, PORT_ADDRESS))?;
        let ttl = next(TTL)?;
        let ttl_s = half(ttl).ok_or(Malformed::Short { what: "LLDP time to live", need: 2, have: ttl.len() })?;
        let mut lldp = Lldp { chassis, port, ttl_s, ..Lldp::default() };
        while let Some((kind, value, behind)) = tlv(rest).filter(|(kind, ..)| *kind != END) {
            lldp.take(kind, value);
            rest = behind;
        }
        Ok(lldp)
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        match kind {
            PORT_DESCRIPTION => self.port_description = named(value),
            SYSTEM_NAME => self.system_name = named(value),
            SYSTEM_DESCRIPTION => self.system_description = named(value),
            ORGANISATION => {
                let Some((&[a, b, c, subtype], value)) = value.split_first_chunk() else { return };
                match ([a, b, c], subtype) {
                    (IEEE_802_1, PORT_VLAN) => self.port_vlan = half(value).or(self.port_vlan),
                    (IEEE_802_3, MAX_FRAME) => self.max_frame_bytes = half(value).or(self.max_frame_bytes),
                    (IEEE_802_1, AGGREGATION_802_1) | (IEEE_802_3, AGGREGATION_802_3) => {
                        self.aggregation = aggregation(value).or(self.aggregation);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The same as a frame, without check sequence; chassis and port as locally assigned texts.
    pub fn frame(&self, src: Mac) -> Vec<u8> {
        let mut pdu = Vec::new();
        let mut put = |kind: u8, parts: &[&[u8]]| {
            let value: Vec<u8> = parts.concat().into_iter().take(LONGEST_VALUE).collect();
            pdu.extend((u16::from(kind) << LENGTH_BITS | value.len() as u16).to_be_bytes());
            pdu.extend(value);
        };
        put(CHASSIS, &[&[LOCAL], printable(self.chassis.as_bytes()).as_bytes()]);
        put(PORT, &[&[LOCAL], printable(self.port.as_bytes()).as_bytes()]);
        put(TTL, &[&self.ttl_s.to_be_bytes()]);
        let texts = [
            (PORT_DESCRIPTION, &self.port_description),
            (SYSTEM_NAME, &self.system_name),
            (SYSTEM_DESCRIPTION, &self.system_description),
        ];
        for (kind, text) in texts {
            if let Some(text) = text {
                put(kind, &[printable(text.as_bytes()).as_bytes()]);
            }
        }
        if let Some(vlan) = self.port_vlan {
            put(ORGANISATION, &[&IEEE_802_1, &[PORT_VLAN], &vlan.to_be_bytes()]);
        }
        if let Some(bytes) = self.max_frame_bytes {
            put(ORGANISATION, &[&IEEE_802_3, &[MAX_FRAME], &bytes.to_be_bytes()]);
        }
        if let Some(of) = self.aggregation {
            let flag = |set: bool, bit: u8| if set { bit } else { 0 };
            let status = flag(of.capable, CAPABLE) | flag(of.aggregated, AGGREGATED);
            put(ORGANISATION, &[&IEEE_802_1, &[AGGREGATION_802_1, status], &of.port.to_be_bytes()]);
        }
        put(END, &[]);
        let mut frame = header(NEAREST_BRIDGE, src, None, LLDP, pdu.len());
        frame.extend(pdu);
        frame.resize(frame.len().max(SHORTEST), 0);
        frame
    }
}

/// Bits of a TLV's length, below its type.
const LENGTH_BITS: u16 = 9;
const LONGEST_VALUE: usize = (1 << LENGTH_BITS) - 1;

/// Type, value, and what follows the first TLV; none if it is not there whole.
fn tlv(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[a, b], rest) = bytes.split_first_chunk()?;
    let head = u16::from_be_bytes([a, b]);
    let (value, behind) = rest.split_at_checked(usize::from(head) & LONGEST_VALUE)?;
    Some(((head >> LENGTH_BITS) as u8, value, behind))
}

/// The text of a chassis or port, by its subtype.
fn identifier(value: &[u8], mac: u8, address: u8) -> Result<String, Malformed> {
    let (&subtype, text) =
        value.split_first().ok_or(Malformed::Short { what: "LLDP identifier", need: 2, have: value.len() })?;
    Ok(match <[u8; 6]>::try_from(text) {
        Ok(bytes) if subtype == mac => Mac(bytes).to_string(),
        // IANA's address family 1: IPv4.
        _ if subtype == address && text.len() == 5 && text[0] == 1 => {
            std::net::Ipv4Addr::new(text[1], text[2], text[3], text[4]).to_string()
        }
        _ => printable(text),
    })
}

fn aggregation(value: &[u8]) -> Option<LldpAggregation> {
    let (&[status, a, b, c, d], _) = value.split_first_chunk()?;
    Some(LldpAggregation {
        capable: status & CAPABLE != 0,
        aggregated: status & AGGREGATED != 0,
        port: u32::from_be_bytes([a, b, c, d]),
    })
}

fn half(value: &[u8]) -> Option<u16> {
    value.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn named(value: &[u8]) -> Option<String> {
    Some(printable(value)).filter(|text| !text.is_empty())
}

/// What a text in somebody else's frame may be for us.
fn printable(text: &[u8]) -> String {
    let printable = text.iter().filter(|byte| (b' '..=b'~').contains(*byte));
    printable.take(Lldp::LONGEST_NAME).map(|byte| char::from(*byte)).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SWITCH: Mac = Mac([0x00, 0x0a, 0x8a, 0x45, 0x32, 0x9b]);

    #[test]
    fn fields_stand_where_the_standard_has_them() {
        #[rustfmt::skip]
        let bytes = [
            0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x00, 0x0a, 0x8a, 0x45, 0x32, 0x9b, 0x88, 0xcc,
            0x02, 7, 4, 0x00, 0x0a, 0x8a, 0x45, 0x32, 0x80, // chassis, an address
            0x04, 6, 5, b'G', b'i', b'0', b'/', b'7', // port, a name
            0x06, 2, 0, 120,
            0x0a, 3, b's', b'w', b'1',
            0xfe, 6, 0x00, 0x80, 0xc2, 1, 0, 10, // port VLAN
            0xfe, 9, 0x00, 0x12, 0x0f, 1, 3, 0x6c, 0, 0, 0x10, // MAC and PHY: not read
            0xfe, 9, 0x00, 0x12, 0x0f, 3, 3, 0, 0, 0, 5, // aggregation, the older place
            0xfe, 6, 0x00, 0x12, 0x0f, 4, 0x24, 0x00, // longest frame: 9216
            0x00, 0,
            1, 2, 3, 4, // behind the end
        ];
        let lldp = Lldp::decode(&Frame::parse(&bytes).unwrap()).unwrap();
        let expected = Lldp {
            chassis: "00:0a:8a:45:32:80".to_owned(),
            port: "Gi0/7".to_owned(),
            ttl_s: 120,
            system_name: Some("sw1".to_owned()),
            port_vlan: Some(10),
            max_frame_bytes: Some(9216),
            aggregation: Some(LldpAggregation { capable: true, aggregated: true, port: 5 }),
            ..Lldp::default()
        };
        assert_eq!(lldp, expected);
        for cut in 14..32 {
            assert!(Lldp::decode(&Frame::parse(&bytes[..cut]).unwrap()).is_err(), "{cut} bytes");
        }
        let mut other = bytes;
        other[13] = 0xcb;
        assert!(Lldp::decode(&Frame::parse(&other).unwrap()).is_err(), "another EtherType");
    }

    fn any_lldp() -> impl Strategy<Value = Lldp> {
        let text = || "[!-~]([ -~]{0,60}[!-~])?";
        let texts = [text(), text(), text()].map(proptest::option::of);
        let aggregation = (any::<bool>(), any::<bool>(), any::<u32>());
        let aggregation =
            aggregation.prop_map(|(capable, aggregated, port)| LldpAggregation { capable, aggregated, port });
        let numbers = (any::<u16>(), any::<Option<u16>>(), any::<Option<u16>>(), proptest::option::of(aggregation));
        (text(), text(), texts, numbers).prop_map(
            |(
                chassis,
                port,
                [port_description, system_name, system_description],
                (ttl_s, port_vlan, max_frame_bytes, aggregation),
            )| {
                Lldp {
                    chassis,
                    port,
                    ttl_s,
                    port_description,
                    system_name,
                    system_description,
                    port_vlan,
                    max_frame_bytes,
                    aggregation,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(lldp in any_lldp()) {
            let bytes = lldp.frame(SWITCH);
            prop_assert_eq!(Lldp::decode(&Frame::parse(&bytes).unwrap()), Ok(lldp));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 14..200), lldp in any_lldp(), at in 14..200_usize) {
            if let Ok(frame) = Frame::parse(&bytes) {
                let _ = Lldp::decode(&frame);
            }
            // And one with a byte changed, or cut.
            let mut near = lldp.frame(SWITCH);
            let at = at % near.len();
            near[at] ^= bytes[0] | 1;
            for bytes in [&near[..], &near[..at.max(14)]] {
                if let Ok(frame) = Frame::parse(bytes) && let Ok(lldp) = Lldp::decode(&frame) {
                    prop_assert!(lldp.chassis.len() <= Lldp::LONGEST_NAME);
                }
            }
        }
    }
}
