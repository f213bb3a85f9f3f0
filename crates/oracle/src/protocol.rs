//! What a test and the agent in the guest say to each other: a JSON value a line.
//!
//! The agent says [`Hello`] when it is up; then each [`Request`] gets one [`Reply`].
//!
//! The guest's serial port loses its interrupt for good when more comes in than
//! its 4,096 bytes hold. So a request goes in pieces ([`pieces`]); each but the last
//! begins with [`MORE`] and waits for a line that is [`MORE`] alone.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::shares::{Experiment, Second};

/// The mark of a piece that is not the last, and the line that asks for the next.
pub const MORE: char = '+';

/// Bytes of a request in one piece, at most.
const PIECE: usize = 2048;

/// A request's text in pieces, and whether each is the last.
pub fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let end = (0..=PIECE.min(text.len())).rev().find(|&end| text.is_char_boundary(end))?;
        let (piece, after) = text.split_at(end);
        rest = (!after.is_empty()).then_some(after);
        Some((piece, after.is_empty()))
    })
}

/// The agent's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The guest's kernel, as `uname -r` says it.
    pub kernel: String,
}

/// What a test asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Load these modules and those they depend on; [`Answer::Done`].
    Load {
        /// Where the modules of the guest's kernel lie, at any depth.
        folder: PathBuf,
        /// Their names, each perhaps with parameters behind a space.
        modules: Vec<String>,
    },
    /// The content of a file; [`Answer::Text`].
    Read {
        /// Which.
        path: String,
    },
    /// One `write` of this text to a file; [`Answer::Done`].
    Write {
        /// Which.
        path: String,
        /// The text.
        text: String,
    },
    /// Run a program to its end; [`Answer::Text`] with what it printed, refused if it failed.
    Run {
        /// Its path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A veth pair, both ends down; [`Answer::Done`].
    AddVeth {
        /// One end.
        name: String,
        /// The other.
        peer: String,
    },
    /// A host in the guest, a network namespace with nothing but its loopback device; [`Answer::Done`].
    AddHost {
        /// Its name.
        host: String,
    },
    /// Move a device to a host; [`Answer::Done`].
    Give {
        /// Its name.
        name: String,
        /// The host.
        host: String,
    },
    /// Do something on a host.
    In {
        /// The host.
        host: String,
        /// What to do.
        request: Box<Request>,
    },
    /// A VLAN device, down; [`Answer::Done`].
    AddVlan {
        /// Its name.
        name: String,
        /// The device whose tagged frames it has.
        on: String,
        /// The VLAN ID.
        id: u16,
    },
    /// A TAP device, down, that the agent holds as long as it runs; [`Answer::Done`].
    AddTap {
        /// Its name.
        name: String,
        /// The speed that it says, Mbit/s.
        speed_mbps: u32,
    },
    /// A network card, down, 10 Gbit/s, whose cable is another device: what is sent by the
    /// one is sent by the other, what the other receives it receives. Its carrier
    /// is what is written to `/sys/class/net/NAME/carrier` while it is up. [`Answer::Done`].
    AddPort {
        /// Its name.
        name: String,
        /// The other device, which is set up.
        cable: String,
    },
    /// Set the speed of a device made by [`Request::AddPort`]; full duplex. [`Answer::Done`].
    SetSpeed {
        /// Its name.
        name: String,
        /// Mbit/s.
        speed_mbps: u32,
    },
    /// Set the address of a device; [`Answer::Done`].
    SetMac {
        /// Its name.
        name: String,
        /// Six bytes.
        mac: Bytes,
    },
    /// Give a device an IP address; [`Answer::Done`].
    AddAddress {
        /// Its name.
        name: String,
        /// The address.
        address: IpAddr,
        /// Bits of its network.
        prefix: u8,
    },
    /// A learning bridge without spanning tree; [`Answer::Done`].
    AddBridge {
        /// Its name.
        name: String,
    },
    /// Remove a device; [`Answer::Done`].
    Delete {
        /// Its name.
        name: String,
    },
    /// Set a device up or down; [`Answer::Done`].
    SetUp {
        /// Its name.
        name: String,
        /// Up.
        up: bool,
    },
    /// Make a device a port of a bridge or a member of a bond, or let it go; [`Answer::Done`].
    SetMaster {
        /// Its name.
        name: String,
        /// The bridge or bond.
        master: Option<String>,
    },
    /// Keep these frames for [`Request::Inject`]; [`Answer::Done`].
    Frames {
        /// Whole frames, no two alike.
        frames: Vec<Bytes>,
    },
    /// Send the frames kept, and see where each comes out; [`Answer::Departed`].
    Inject {
        /// The device they are sent by.
        into: String,
        /// The devices where they may arrive.
        out: Vec<String>,
    },
    /// Do some things, and hear what devices receive from their beginning on, until nothing comes any more; [`Answer::Heard`].
    Hear {
        /// The devices.
        on: Vec<String>,
        /// What to do.
        requests: Vec<Request>,
        /// So long nothing has to come, milliseconds of the guest's time.
        quiet_ms: u64,
    },
    /// Open a TCP connection to a host, and keep both its ends; [`Answer::Done`].
    Connect {
        /// The host.
        host: String,
        /// Its address, and a port where nobody listens yet.
        to: SocketAddr,
    },
    /// Send bytes there and back by the connection that was opened last; [`Answer::Done`].
    Exchange {
        /// How many.
        bytes: usize,
    },
    /// Take some steps and watch files meanwhile; [`Answer::Traced`].
    Trace {
        /// What to do, in order.
        steps: Vec<Step>,
        /// The files.
        watch: Vec<String>,
    },
    /// Drive a team or bond, whose address is [`crate::shares::ADDRESS`], through an
    /// experiment; [`Answer::Shared`].
    Share {
        /// The experiment.
        experiment: Experiment,
        /// Its members, TAP devices, in their order.
        members: Vec<String>,
    },
}

/// One step of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What to do; all of it at once.
    pub requests: Vec<Request>,
    /// The step ends when the files have these contents. Waiting for a state and
    /// not for a time makes a trace independent of how fast the guest runs.
    pub until: Vec<String>,
    /// It ends without them after so many milliseconds of the guest's time.
    pub patience_ms: u64,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It was done.
    Ok(Answer),
    /// It was refused.
    Err(Refusal),
}

/// What a request yields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing but success.
    Done,
    /// A file's content, or what a program printed.
    Text(String),
    /// Where the frames came out.
    Departed(Departures),
    /// What was received.
    Heard(Vec<Stray>),
    /// What was seen: every change, and the first sample of every step.
    Traced(Vec<Sample>),
    /// What was seen in each second of an experiment.
    Shared(Vec<Second>),
}

/// What the guest's kernel refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// The error number, if the kernel gave one.
    pub errno: Option<i32>,
    /// What was tried, and what the kernel said.
    pub what: String,
}

/// Where frames came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departures {
    /// For each frame a bit for each device of [`Request::Inject`], the first
    /// the lowest: set if it arrived there, byte for byte as it was sent.
    pub members: Vec<u32>,
    /// Frames that arrived byte for byte but for their source.
    pub readdressed: Vec<Readdressed>,
    /// Frames that the kernel did not take, by place.
    pub refused: Vec<usize>,
    /// What else arrived: frames that were not sent like this, or a second time.
    pub strays: Vec<Stray>,
}

/// A frame that arrived with another source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readdressed {
    /// The frame, by place.
    pub frame: usize,
    /// The device where it arrived, by place.
    pub out: usize,
    /// Its source there.
    pub source: Bytes,
}

/// A frame that was received, and not sent like this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    /// The device where it arrived, by its place among those that were named.
    pub out: usize,
    /// The frame, its tag among the bytes.
    pub frame: Bytes,
}

/// The watched files at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Steps taken so far, from 0.
    pub step: usize,
    /// Since the trace began, milliseconds of the guest's time.
    pub at_ms: u64,
    /// The files' contents, without the end of the line; empty for one that cannot be read.
    pub values: Vec<String>,
}

/// Bytes that are written as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
        let text: String = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let bytes = text.as_bytes().chunks(2).map(|pair| match *pair {
            [high, low] => Some(value(high)? << 4 | value(low)?),
            _ => None,
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        bytes.map(Bytes).ok_or_else(|| de::Error::custom("pairs of hexadecimal digits are expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole() {
        for text in [String::new(), "a".repeat(PIECE), "ä".repeat(PIECE), "abc".repeat(PIECE)] {
            let cut: Vec<_> = pieces(&text).collect();
            assert_eq!(cut.iter().map(|(piece, _)| *piece).collect::<String>(), text);
            assert!(cut.iter().all(|(piece, _)| piece.len() <= PIECE));
            assert_eq!(cut.iter().position(|(_, last)| *last), Some(cut.len() - 1));
        }
    }

    #[test]
    fn bytes_are_written_and_read_back() {
        let bytes = Bytes(vec![0, 0x5a, 0xff]);
        let text = serde_json::to_string(&bytes).unwrap();
        assert_eq!(text, "\"005aff\"");
        assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap(), bytes);
        for bad in ["\"0\"", "\"0g\"", "\"é\"", "1"] {
            assert!(serde_json::from_str::<Bytes>(bad).is_err(), "{bad}");
        }
    }
}
