//! Frames that go twice, in the form of `bpf/plan.h`: which they are, and what
//! was counted of them.

use nicteam_team::constants::REDUNDANT_WORDS;
use nicteam_team::stripe::redundant::{Classes, MAX_PORTS, StreamCounters, Transport};

use super::abi::laid_out_as;
use super::layout::Plain;

/// `struct redundant_class`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    dscp: u64,
    all: u32,
    zero: u32,
    ports: [u32; MAX_PORTS],
}

/// `struct redundant_stream`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stream {
    lock: u32,
    zero: u32,
    sent: u64,
    system: u64,
    passed_ns: u64,
    newest: u64,
    passed: u64,
    duplicates: u64,
    bits: [u64; REDUNDANT_WORDS],
    blocks: [u32; REDUNDANT_WORDS],
}

laid_out_as!(redundant_class, Class);
laid_out_as!(redundant_stream, Stream);

// SAFETY: `repr(C)`, without padding as `laid_out_as!` asserts; all fields are integers or arrays of them.
unsafe impl Plain for Class {}
// SAFETY: as above.
unsafe impl Plain for Stream {}

impl Default for Stream {
    /// Nothing was sent or received.
    fn default() -> Stream {
        Stream {
            lock: 0,
            zero: 0,
            sent: 0,
            system: 0,
            passed_ns: 0,
            newest: 0,
            passed: 0,
            duplicates: 0,
            bits: [0; REDUNDANT_WORDS],
            blocks: [0; REDUNDANT_WORDS],
        }
    }
}

impl Class {
    /// In the kernel's form.
    pub(super) fn new(classes: &Classes) -> Class {
        let mut class = Class { all: classes.all.into(), ..Class::default() };
        class.dscp = classes.dscp.iter().fold(0, |bits, dscp| bits | 1 << (dscp & 63));
        for (place, (transport, port)) in class.ports.iter_mut().zip(&classes.ports) {
            *place = protocol(*transport) << 16 | u32::from(*port);
        }
        class
    }
}

impl Stream {
    /// What was counted.
    pub(super) fn counters(&self) -> StreamCounters {
        let Stream { sent, passed, duplicates, .. } = *self;
        StreamCounters { sent, passed, duplicates }
    }
}

/// `IPPROTO_...`.
fn protocol(transport: Transport) -> u32 {
    match transport {
        Transport::Tcp => 6,
        Transport::Udp => 17,
    }
}
