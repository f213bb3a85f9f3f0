//! A frame as a line for people.

use nicteam_sys::sniff::Heard;
use nicteam_wire::Frame;

use crate::pcapng::Direction;

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// Time of day (UTC), device, direction, addresses, EtherType, length, comment.
pub(crate) fn line(device: &str, direction: Direction, heard: &Heard<'_>, comment: &str) -> String {
    let (seconds, micros) = (heard.at.as_secs() % SECONDS_A_DAY, heard.at.subsec_micros());
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let way = if direction == Direction::Out { "out" } else { "in " };
    let what = match Frame::parse_untagged(heard.bytes) {
        Ok(frame) => {
            let vlan = heard.tag.map_or(String::new(), |tag| format!(" vlan {}", tag.tci & 0x0fff));
            format!("{} > {}{vlan} {:#06x}", frame.src(), frame.dst(), frame.ethertype())
        }
        Err(error) => error.to_string(),
    };
    // A name may steer a terminal.
    let device: String = device.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let length = heard.original;
    format!("{hours:02}:{minutes:02}:{seconds:02}.{micros:06} {device} {way} {what}, {length} bytes: {comment}\n")
}
