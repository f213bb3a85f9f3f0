//! Captures and flows that `nicteam which` reads.

use std::io::Cursor;

use nicteam_capture::Reader;

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("capture", capture), ("flow", flow)];

/// Small, so that inputs outgrow it.
const BUFFER: usize = 256;

/// A capture has frames, numbered in their order, up to where it is damaged.
pub fn capture(bytes: &[u8]) -> bool {
    let mut next = 0;
    let take = |number: u64, frame: &[u8], _length: usize| {
        assert_eq!(number, next);
        assert!(frame.len() <= bytes.len());
        next += 1;
        Ok(())
    };
    let read = Reader::read(Cursor::new(bytes.to_vec()), BUFFER).and_then(|frames| frames.for_each_frame(take));
    match read {
        Ok(()) => true,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A flow is refused with a reason, or makes a frame.
pub fn flow(bytes: &[u8]) -> bool {
    match String::from_utf8_lossy(bytes).parse::<nicteam_wire::flow_text::Flow>() {
        Ok(flow) => flow.frame(nicteam_wire::Mac::default(), nicteam_wire::Mac::default()).len() >= 34,
        Err(reason) => {
            assert!(!reason.is_empty());
            false
        }
    }
}
