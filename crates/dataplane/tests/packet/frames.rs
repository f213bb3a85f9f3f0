//! Frames to send through a team.

/// SplitMix64: the same seed, the same frames.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.next() as u8);
    }
}

/// A frame that begins like one that a stack sends, is random in the rest, and
/// ends with its number.
pub fn random(random: &mut Random, number: u32) -> Vec<u8> {
    let mut frame = vec![0; 12];
    random.fill(&mut frame);
    for _ in 0..[0, 0, 1, 2][random.below(4)] {
        frame.extend([[0x81, 0x00], [0x88, 0xa8]][random.below(2)]);
        frame.extend((random.next() as u16).to_be_bytes());
    }
    let mut payload = vec![0; 48 + random.below(200)];
    random.fill(&mut payload);
    let ethertype: u16 = match random.below(4) {
        0 => 0x86dd,
        1 => random.next() as u16 | 0x0600,
        _ => 0x0800,
    };
    match ethertype {
        0x0800 => {
            payload[0] = 0x45 + random.below(2) as u8;
            payload[6..8].copy_from_slice(&[0, [0, 0, 0, 1][random.below(4)]]);
            payload[9] = [6, 17, 2, 1][random.below(4)];
        }
        0x86dd => {
            payload[0] = 0x60;
            payload[6] = [6, 17, 58, 44][random.below(4)];
        }
        _ => {}
    }
    frame.extend(ethertype.to_be_bytes());
    frame.extend(payload);
    frame.extend(number.to_be_bytes());
    frame
}

/// The number at the end of a frame.
pub fn number(frame: &[u8]) -> u32 {
    frame.last_chunk().map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
}
