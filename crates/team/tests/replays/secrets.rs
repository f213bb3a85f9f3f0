//! No key and no secret is in a recording, nor what was made of one beside stamps that were sent.

use std::time::Duration;

use nicteam_wire::{Frame, Hello, ethertype};

use crate::replays::{faults, file, holds};
use crate::stripe::lan::Lan;

const KEY: &str = "a-key-that-nobody-may-find";
const OLD: &str = "an-older-one-of-that-kind";

/// True if `part` is among these bytes.
fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn keys_and_secrets_are_not_in_the_file() {
    let mut lan = Lan::new();
    // Small, so that states of the team are in it, too.
    lan.recorded = Some(48 << 10);
    let hosts = [(); 2].map(|()| lan.add_with_key(&[0, 0], &[1000, 1000], KEY));
    lan.record();
    lan.run(Duration::from_secs(3));
    for &host in &hosts {
        let mut config = lan.host(host).team.config().clone();
        config.set("stripe_key", OLD).unwrap();
        config.set("stripe_key_old", KEY).unwrap();
        let now = lan.now();
        lan.change(host, |team| team.set_config(config, now).unwrap());
    }
    lan.run(Duration::from_secs(3));
    let tags: Vec<Vec<u8>> = lan
        .take_tape()
        .iter()
        .filter_map(|(_, bytes)| {
            let frame = Frame::parse(bytes).ok().filter(|frame| frame.ethertype() == ethertype::HELLO)?;
            Some(frame.payload()[Hello::tags(frame.payload())?].to_vec())
        })
        .collect();
    assert!(tags.len() > 50, "{} tags", tags.len());
    for (number, host) in lan.hosts().enumerate() {
        let file = file(&host.team);
        assert!(!lan.paths_to(number, lan.host(1 - number).mac).is_empty(), "they know each other");
        for key in [KEY, OLD] {
            // The middle of it, too: an entry may be written as what differs from another.
            assert!(!has(&file, key.as_bytes()) && !has(&file, &key.as_bytes()[6..14]), "a key");
        }
        // The secrets of these hosts (`Lan::team`).
        assert!(!has(&file, &[number as u8 + 1; 16]), "a secret");
        tags.iter().for_each(|tag| assert!(!has(&file, &tag[..8]), "a tag"));
        holds(&host.team);
    }
}

#[test]
fn what_a_recording_prints_of_itself_shows_no_key() {
    let lan = faults::stripe(5, KEY, Duration::from_secs(2));
    for host in lan.hosts() {
        let printed = format!("{:?}", host.team);
        assert!(!printed.contains(KEY) && !printed.contains("another-key"), "a key");
    }
}
