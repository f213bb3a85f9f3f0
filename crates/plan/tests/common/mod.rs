//! Frames and answers recorded from a real kernel; see `data/kernel-6.1/README.md`.

/// The frames, a classic pcap file.
pub const FRAMES: &[u8] = include_bytes!("../data/kernel-6.1/frames.pcap");
/// The member each frame left by, a column a job.
pub const ANSWERS: &str = include_str!("../data/kernel-6.1/answers.csv");
/// Frames in tunnels and the like, a classic pcap file.
pub const ENCAP_FRAMES: &[u8] = include_bytes!("../data/kernel-6.1/encap-frames.pcap");
/// The member each of those left by.
pub const ENCAP_ANSWERS: &str = include_str!("../data/kernel-6.1/encap-answers.csv");

/// The frames of a little-endian pcap file that is whole.
pub fn pcap_frames(file: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    let mut rest = &file[24..];
    while let Some((header, after)) = rest.split_first_chunk::<16>() {
        let length = u32::from_le_bytes(*header[8..].first_chunk().unwrap()) as usize;
        let (frame, next) = after.split_at(length);
        frames.push(frame);
        rest = next;
    }
    frames
}
