//! A ring that is full.

use nicteam_team::replay::{Recorded, Recording, Told, Until, replay};
use nicteam_team::{Config, MemberLink, Time};
use nicteam_wire::Mac;

use crate::replays::{file, holds};

const LINK: MemberLink = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: None };

/// A team that is told other links again and again.
fn busy(limit: usize, entries: u32) -> Recorded {
    let mut team = Recorded::begin(Config::default(), Mac([2; 6]), Time::ZERO, limit).unwrap();
    let id = team.add_member("eth0", LINK, Time::ZERO).unwrap();
    while team.poll_effect().is_some() {}
    for number in 0..entries {
        let link = MemberLink { speed_mbps: Some(number), ..LINK };
        team.handle_link(id, link, Time::from_millis(number.into())).unwrap();
        while team.poll_effect().is_some() {}
    }
    team
}

#[test]
fn it_takes_no_more_than_it_may() {
    let limit = 256 << 10;
    let team = busy(limit, 200_000);
    let (bytes, entries) = team.recorded();
    assert_eq!(entries, 200_002);
    // A segment and a block more, until the eldest goes.
    assert!((limit / 2..limit + limit / 4).contains(&bytes), "{bytes} bytes");
    let file = file(&team);
    assert!(file.len() < limit + limit / 4 + 100);
    let small = busy(limit, 0);
    assert!(small.recorded().0 < 200, "{} bytes for two entries", small.recorded().0);
}

#[test]
fn one_without_its_beginning_goes_on_from_a_state() {
    let team = busy(256 << 10, 200_000);
    let file = file(&team);
    let recording = Recording::read(&file).unwrap();
    let entries: Vec<_> = recording.entries().map(Result::unwrap).collect();
    assert!(matches!(&entries[0].told, Told::State(_)) && entries[0].number > 100_000);
    let states = entries.iter().filter(|entry| matches!(entry.told, Told::State(_))).count();
    assert!((4..=10).contains(&states), "{states} states of {} entries", entries.len());
    let last = entries.last().unwrap();
    assert_eq!((last.number, last.words()), (200_001, "links: m0 carrier, 199999 Mbit/s".to_owned()));
    holds(&team);
    // Of another version nobody knows what it means.
    let own = env!("CARGO_PKG_VERSION");
    let version = file.windows(own.len()).position(|part| part == own.as_bytes()).expect("the version of the state");
    let mut other = file.clone();
    other[version] = b'9';
    let other = Recording::mended(&other).unwrap();
    let refused = replay(&Recording::read(&other).unwrap(), Until::End, |_, _| {}).unwrap_err().to_string();
    let wanted = format!(" with a state of nicteam 9{}, ", &own[1..]);
    assert!(refused.contains(&wanted) && refused.contains("; hint: "), "{refused}");
}

#[test]
fn what_is_told_with_an_older_time_is_replayed_with_it() {
    let mut team = busy(1 << 20, 30);
    for back in 1..5 {
        team.handle_timeout(Time::from_millis(2000 * back));
        while team.poll_effect().is_some() {}
        team.handle_timeout(Time::from_millis(1500 * back));
        while team.poll_effect().is_some() {}
    }
    holds(&team);
}
