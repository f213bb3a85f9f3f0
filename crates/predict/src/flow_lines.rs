//! Flows of a CSV file, line by line, as the frames that they would send.

use std::fmt;
use std::io;
use std::net::IpAddr;

use nicteam_wire::{Frame, Mac, ethertype};

/// The columns, in their order; the MAC addresses may be missing.
pub const COLUMNS: &str = "src_ip,dst_ip,src_port,dst_port,protocol,bytes,src_mac,dst_mac";

/// What is wrong with a file of flows.
#[derive(Debug)]
pub enum FlowError {
    /// It cannot be read.
    Read(io::Error),
    /// A line is no flow.
    Line {
        /// Which, from 1.
        number: u64,
        /// Why not.
        why: String,
    },
}

impl FlowError {
    /// The line, if it is one's fault.
    pub fn line(&self) -> Option<u64> {
        match self {
            FlowError::Read(_) => None,
            FlowError::Line { number, .. } => Some(*number),
        }
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowError::Read(error) => write!(f, "{error}"),
            FlowError::Line { number, why } => write!(f, "line {number}: {why}"),
        }
    }
}

/// The longest line, bytes. A longer one is no flow.
pub const LONGEST_LINE: usize = 1 << 16;

/// A part of a text: whole lines.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The lines.
    pub text: &'a [u8],
    /// Number of the first of them in the text, from 1.
    pub first: u64,
}

/// A frame of the flow of a line, in a buffer that is used again.
#[derive(Default)]
struct Head(Vec<u8>);

impl<'a> Part<'a> {
    /// Whether lines have MAC addresses, by the first flow; none without a flow.
    ///
    /// # Errors
    ///
    /// The first line that is neither a flow nor left out.
    pub fn has_macs(self) -> Result<Option<bool>, FlowError> {
        let mut head = Head::default();
        self.flows().next().map(|(number, line)| Ok(head.set(number, line)?.1)).transpose()
    }

    /// Hands the frame of each flow to `take`, with the flow's bytes.
    ///
    /// # Errors
    ///
    /// The first line that is no flow.
    pub fn for_each(self, mut take: impl FnMut(&Frame<'_>, u64)) -> Result<(), FlowError> {
        let mut head = Head::default();
        for (number, line) in self.flows() {
            let (bytes, _) = head.set(number, line)?;
            let frame = Frame::parse(&head.0).map_err(|error| FlowError::Line { number, why: error.to_string() })?;
            take(&frame, bytes);
        }
        Ok(())
    }

    /// The lines that are to be flows, with their numbers.
    fn flows(self) -> impl Iterator<Item = (u64, &'a [u8])> {
        let lines = self.text.split(|byte| *byte == b'\n');
        let numbered = (self.first..).zip(lines.map(<[u8]>::trim_ascii));
        let is_header = |number: u64, line: &[u8]| number == 1 && line.starts_with(b"src_ip");
        numbered.filter(move |(number, line)| !line.is_empty() && !line.starts_with(b"#") && !is_header(*number, line))
    }
}

impl Head {
    /// Makes the frame of a line; gives its bytes, and whether it has MAC addresses.
    fn set(&mut self, number: u64, line: &[u8]) -> Result<(u64, bool), FlowError> {
        let line = std::str::from_utf8(line).map_err(|_| "it is no text (UTF-8)".to_owned());
        line.and_then(|line| self.read(line)).map_err(|why| FlowError::Line { number, why })
    }

    fn read(&mut self, line: &str) -> Result<(u64, bool), String> {
        let mut fields = line.split(',').map(str::trim);
        let mut next = |name: &str| fields.next().ok_or_else(|| format!("no {name}; columns are {COLUMNS}"));
        let (src, dst) = (address(next("src_ip")?)?, address(next("dst_ip")?)?);
        let (src_port, dst_port) = (port(next("src_port")?)?, port(next("dst_port")?)?);
        let protocol = match next("protocol")? {
            "tcp" | "TCP" | "6" => 6,
            "udp" | "UDP" | "17" => 17,
            other => other.parse().map_err(|_| format!("`{other}` is no protocol (tcp, udp, or a number)"))?,
        };
        let bytes = next("bytes")?;
        let bytes = bytes.parse().map_err(|_| format!("`{bytes}` is no number of bytes"))?;
        let macs = [next("src_mac").unwrap_or(""), next("dst_mac").unwrap_or("")];
        let has_macs = macs.iter().all(|mac| !mac.is_empty());
        let mac = |text: &str| if text.is_empty() { Ok(Mac::default()) } else { text.parse::<Mac>() };
        let [src_mac, dst_mac] = macs.map(|text| mac(text).map_err(|_| format!("`{text}` is no MAC address")));
        self.write([src_mac?, dst_mac?], [src, dst], [src_port, dst_port], protocol)?;
        Ok((bytes, has_macs))
    }

    fn write(&mut self, macs: [Mac; 2], ips: [IpAddr; 2], ports: [u16; 2], protocol: u8) -> Result<(), String> {
        let bytes = &mut self.0;
        bytes.clear();
        bytes.extend(macs[1].0);
        bytes.extend(macs[0].0);
        match ips {
            [IpAddr::V4(src), IpAddr::V4(dst)] => {
                bytes.extend(ethertype::IPV4.to_be_bytes());
                bytes.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
                bytes.extend(src.octets());
                bytes.extend(dst.octets());
            }
            [IpAddr::V6(src), IpAddr::V6(dst)] => {
                bytes.extend(ethertype::IPV6.to_be_bytes());
                bytes.extend([0x60, 0, 0, 0, 0, 20, protocol, 64]);
                bytes.extend(src.octets());
                bytes.extend(dst.octets());
            }
            [src, dst] => return Err(format!("{src} and {dst} are not of one address family")),
        }
        bytes.extend(ports[0].to_be_bytes());
        bytes.extend(ports[1].to_be_bytes());
        bytes.extend([0; 16]);
        Ok(())
    }
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is no IP address"))
}

fn port(text: &str) -> Result<u16, String> {
    if text.is_empty() { Ok(0) } else { text.parse().map_err(|_| format!("`{text}` is no port")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, bool)>, String> {
        let part = Part { text: text.as_bytes(), first: 1 };
        let mut all = Vec::new();
        let taken = part.for_each(|frame, bytes| all.push((bytes, frame.src() != Mac::default())));
        taken.map(|()| all).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_flows() {
        let text = "src_ip,dst_ip,src_port,dst_port,protocol,bytes\n10.0.0.1,10.0.0.2,1,2,tcp,100\n# no flow\nfd00::1,fd00::2,,,58,7\n";
        assert_eq!(read(text).unwrap(), [(100, false), (7, false)]);
        assert_eq!(Part { text: text.as_bytes(), first: 1 }.has_macs().unwrap(), Some(false));
        let text = "10.0.0.1,10.0.0.2,1,2,17,5,02:00:00:00:00:01,02:00:00:00:00:02";
        assert_eq!(read(text).unwrap(), [(5, true)]);
        assert_eq!(Part { text: b"", first: 1 }.has_macs().unwrap(), None);
    }

    #[test]
    fn errors_name_the_line_and_the_column() {
        assert_eq!(read("\nmoon,10.0.0.1,1,2,tcp,1").unwrap_err(), "line 2: `moon` is no IP address");
        assert_eq!(
            read("10.0.0.1,fd00::1,1,2,tcp,1").unwrap_err(),
            "line 1: 10.0.0.1 and fd00::1 are not of one address family"
        );
        assert_eq!(read("10.0.0.1,10.0.0.2,1,2,tcp").unwrap_err(), format!("line 1: no bytes; columns are {COLUMNS}"));
    }
}
