//! Which frames go by two paths: the value of `redundant`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The most ports in [`Classes`].
pub const MAX_PORTS: usize = nicteam_machine::constants::REDUNDANT_PORTS;
/// Differentiated services code points.
const DSCPS: u8 = 64;

/// Which frames go twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// All that are striped.
    pub all: bool,
    /// IP packets with these differentiated services code points, each below 64.
    pub dscp: BTreeSet<u8>,
    /// Those from or to these ports; at most [`MAX_PORTS`].
    pub ports: BTreeSet<(Transport, u16)>,
}

/// Whose port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl Classes {
    /// True if no frame is in it.
    pub fn is_off(&self) -> bool {
        *self == Classes::default()
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.all {
            return f.write_str("all");
        }
        let dscp = self.dscp.iter().map(|dscp| format!("dscp:{dscp}"));
        let ports = self.ports.iter().map(|(transport, port)| format!("{transport}:{port}"));
        let classes: Vec<String> = dscp.chain(ports).collect();
        f.write_str(if classes.is_empty() { "off" } else { "" })?;
        f.write_str(&classes.join(","))
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        })
    }
}

/// The text is not one of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoClasses;

impl FromStr for Classes {
    type Err = NoClasses;

    /// `off`, `all`, or as in `dscp:46,udp:4789,tcp:22`.
    fn from_str(text: &str) -> Result<Classes, NoClasses> {
        let mut classes = Classes::default();
        match text.trim() {
            "off" | "" => return Ok(classes),
            "all" => return Ok(Classes { all: true, ..classes }),
            _ => {}
        }
        for entry in text.split(',') {
            let (kind, number) = entry.split_once(':').ok_or(NoClasses)?;
            let number = number.trim();
            let number = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u16>().ok());
            let number = number.flatten().ok_or(NoClasses)?;
            let transport = match kind.trim() {
                "dscp" if number < DSCPS.into() => {
                    classes.dscp.insert(number as u8);
                    continue;
                }
                "tcp" => Transport::Tcp,
                "udp" => Transport::Udp,
                _ => return Err(NoClasses),
            };
            if number == 0 {
                return Err(NoClasses);
            }
            classes.ports.insert((transport, number));
        }
        if classes.ports.len() > MAX_PORTS { Err(NoClasses) } else { Ok(classes) }
    }
}
