//! How late a probe was, as the dataplane reports it.

use super::kind::{HEADER, HelloKind, PAYLOAD_KIND};
use crate::constants;
use crate::frame::{Frame, ethertype};

/// When a probe was due, and when it arrived; the dataplane writes both behind all that is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the wires of the path should be free, by the clock of the probe's sender, nanoseconds; not 0.
    pub due: u64,
    /// When the probe arrived, by the clock of the host that sends it back; not 0.
    pub arrived: u64,
}

impl Times {
    /// Where they stand in an untagged frame, and end.
    const DUE: usize = constants::HELLO_DUE;
    const ARRIVED: usize = constants::HELLO_ARRIVED;
    pub(super) const END: usize = constants::HELLO_TIMES_END;

    /// What the frame of an echo says, if it is one that has both.
    pub fn of_echo(frame: &Frame<'_>) -> Option<Times> {
        let payload = frame.payload();
        let is_echo = frame.ethertype() == ethertype::HELLO
            && frame.vlan().is_none()
            && payload.get(PAYLOAD_KIND) == Some(&HelloKind::Echo.number());
        let time = |at: usize| {
            let bytes = payload.get(at - HEADER..)?.first_chunk()?;
            Some(u64::from_be_bytes(*bytes)).filter(|time| *time != 0)
        };
        let (due, arrived) = time(Times::DUE).zip(time(Times::ARRIVED)).filter(|_| is_echo)?;
        Some(Times { due, arrived })
    }

    /// Writes when a probe is due into its frame. A frame that is too short stays as it is.
    pub fn set_due(frame: &mut [u8], due: u64) {
        Times::set(frame, Times::DUE, due);
    }

    /// The same of when it arrived.
    pub fn set_arrived(frame: &mut [u8], arrived: u64) {
        Times::set(frame, Times::ARRIVED, arrived);
    }

    fn set(frame: &mut [u8], at: usize, time: u64) {
        if let Some(bytes) = frame.get_mut(at..at + size_of::<u64>()) {
            bytes.copy_from_slice(&time.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hello, Mac};

    #[test]
    fn times_stand_behind_what_is_authenticated() {
        let (a, b) = (Mac([2, 0, 0, 0, 1, 0]), Mac([2, 0, 0, 0, 0, 0]));
        let probe = Hello {
            kind: HelloKind::Probe,
            system: 7,
            sequence: 1,
            team: b,
            place: 3,
            stamp: 5,
            next_ms: 0,
            takes_rtags: true,
            rivals: 0,
            members: Vec::new(),
        };
        let times = |frame: &[u8]| Times::of_echo(&Frame::parse(frame).unwrap());
        for mut frame in [probe.frame(a, b), Hello::frame_of(&probe.encode_tagged(|_| [9; Hello::TAG]), a, b)] {
            let before = frame.clone();
            Times::set_due(&mut frame, 0x0102);
            Times::set_arrived(&mut frame, 0x0304);
            assert_eq!(
                (&frame[..62], &frame[62..]),
                (&before[..62], &[0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4][..])
            );
            assert_eq!(times(&frame), None, "a probe is still to arrive");
            assert!(Hello::reflect(&mut frame));
            assert_eq!(times(&frame), Some(Times { due: 0x0102, arrived: 0x0304 }));
            assert_eq!(times(&frame[..77]), None);
            Times::set_due(&mut frame, 0);
            assert_eq!(times(&frame), None);
        }
        let mut short = vec![0; 60];
        Times::set_arrived(&mut short, 1);
        assert_eq!(short, [0; 60]);
    }
}
