//! Captures of a team's frames, as pcapng.
//!
//! A [`Capture`] hears the team's device and each of its members, one interface of the file each. Each frame has its
//! direction and a comment: the member that was chosen for it, and by which rule ([`Bundle::comment`], by the choosers of
//! `nicteam-plan`). A capture changes nothing: it sets no device promiscuous and sends nothing.
//!
//! A [`Reader`] hands out the frames of any pcap or pcapng file.
//!
//! Filters are those of libpcap; `tcpdump` compiles them ([`filter`]).
#![forbid(unsafe_code)]

mod bundle;
mod error;
mod file;
pub mod filter;
mod pcapng;
mod reader;
mod reason;
mod session;
mod text;

pub use bundle::{Bundle, Link, Peer};
pub use error::Error;
pub use file::Output;
pub use filter::Filter;
pub use pcapng::{Direction, Interface, Packet, Pcapng, Statistics};
pub use reader::{ReadError, Reader};
pub use session::{Capture, Counts, Lost};
