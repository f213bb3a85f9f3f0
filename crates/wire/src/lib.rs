//! Frames as they stand on the wire.
//!
//! Every decoder of this crate is total: any bytes decode or are refused with
//! a [`Malformed`] that says what was missing; nothing panics. Nothing here
//! does I/O, keeps time or allocates more than the frame it builds.
#![forbid(unsafe_code)]

mod arp;
mod checksum;
pub mod constants;
mod ethernet;
mod flow;
pub mod flow_text;
mod frame;
mod gap;
mod hello;
mod lacp;
mod learning;
mod lldp;
mod mac;
pub mod membership;
mod ndisc;
mod pagp;
mod rarp;
mod rtag;

pub use arp::Arp;
pub use checksum::ones_complement as internet_checksum;
pub use ethernet::tagged;
pub use flow::{datagram, datagram_head_bytes, head_of_flow};
pub use frame::{Frame, Malformed, Vlan, ethertype};
pub use gap::{Acknowledgement, GapReport, Segment};
pub use hello::{Hello, HelloKind, HelloMember, Lost, Tagged, Times};
pub use lacp::{LacpState, Lacpdu, Marker, MarkerKind, PortInfo, SLOW_PROTOCOLS, SlowPdu};
pub use learning::learning_packet;
pub use lldp::{LLDP, Lldp, LldpAggregation};
pub use mac::{Mac, ParseMacError};
pub use ndisc::{Ndisc, NdiscKind};
pub use pagp::{PAGP_BYTES, Pagp, PagpPort, cisco_pid, cisco_protocol};
pub use rarp::rarp_packet;
pub use rtag::Rtag;
