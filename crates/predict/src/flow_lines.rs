//! Flows of a CSV file, line by line, as the frames that they would send.

use std::fmt;
use std::io::{self, BufRead};
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

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowError::Read(error) => write!(f, "{error}"),
            FlowError::Line { number, why } => write!(f, "line {number}: {why}"),
        }
    }
}

/// A frame of the flow of a line, in a buffer that is used again.
#[derive(Default)]
struct Head(Vec<u8>);

/// Hands the frame of each flow to `take`, with the flow's bytes. `begin` is called before, with whether lines have MAC
/// addresses; nothing comes of a text without a flow.
///
/// # Errors
///
/// The first line that is no flow.
pub fn for_each<S>(
    mut lines: impl BufRead,
    begin: impl FnOnce(bool) -> S,
    mut take: impl FnMut(&mut S, &Frame<'_>, u64),
) -> Result<Option<S>, FlowError> {
    let (mut line, mut number, mut head) = (String::new(), 0, Head::default());
    let mut begin = Some(begin);
    let mut state = None;
    loop {
        line.clear();
        if lines.read_line(&mut line).map_err(FlowError::Read)? == 0 {
            return Ok(state);
        }
        number += 1;
        let text = line.trim_end();
        let is_header = number == 1 && text.starts_with("src_ip");
        if text.is_empty() || text.starts_with('#') || is_header {
            continue;
        }
        let wrong = |why: String| FlowError::Line { number, why };
        let (bytes, has_macs) = head.set(text).map_err(wrong)?;
        if let Some(begin) = begin.take() {
            state = Some(begin(has_macs));
        }
        let frame = Frame::parse(&head.0).map_err(|error| FlowError::Line { number, why: error.to_string() })?;
        if let Some(state) = &mut state {
            take(state, &frame, bytes);
        }
    }
}

impl Head {
    /// Makes the frame of a line; gives its bytes, and whether it has MAC addresses.
    fn set(&mut self, line: &str) -> Result<(u64, bool), String> {
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

    fn read(text: &str) -> Result<Option<Vec<(u64, bool)>>, String> {
        let add =
            |all: &mut Vec<(u64, bool)>, frame: &Frame<'_>, bytes| all.push((bytes, frame.src() != Mac::default()));
        for_each(text.as_bytes(), |_| Vec::new(), add).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_flows() {
        let text = "src_ip,dst_ip,src_port,dst_port,protocol,bytes\n10.0.0.1,10.0.0.2,1,2,tcp,100\n# no flow\nfd00::1,fd00::2,,,58,7\n";
        assert_eq!(read(text).unwrap().unwrap(), [(100, false), (7, false)]);
        let text = "10.0.0.1,10.0.0.2,1,2,17,5,02:00:00:00:00:01,02:00:00:00:00:02";
        assert_eq!(read(text).unwrap().unwrap(), [(5, true)]);
        assert_eq!(read("").unwrap(), None);
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
