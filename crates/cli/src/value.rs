//! Values of the command line: a refusal says what would have been right.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use nicteam_dataplane::Kind;
use nicteam_experiment as experiment;
use nicteam_team::mode::Sends;
use nicteam_team::{HashPolicy, MAX_BUCKETS, MAX_MEMBERS, Mode};
use nicteam_wire::Mac;

/// A value that is one of a few names: a refusal is in our own words, and shells complete them.
#[derive(Clone, Debug)]
pub(crate) struct OneOf<T> {
    /// Reads one.
    pub(crate) parse: fn(&str) -> Result<T, String>,
    /// All of them.
    pub(crate) names: fn() -> Vec<&'static str>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// How many members a team has.
pub(crate) fn member_count(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=MAX_MEMBERS as u32, 4)
}

/// How many values a hash has: at least one, and as many as a plan's table at most.
pub(crate) fn hash_buckets(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=MAX_BUCKETS as u32, 8)
}

/// An MTU, bytes: from what every IPv4 link carries (RFC 791) to the longest packet.
pub(crate) fn mtu(text: &str) -> Result<u32, String> {
    whole_number(text, 68..=65_535, 1500)
}

/// The name of a device that may be there.
pub(crate) fn device(text: &str) -> Result<String, String> {
    /// `IFNAMSIZ` less the end of the string.
    const LONGEST: usize = 15;
    match text.trim() {
        "" => Err("the name of a device is missing beside a comma".to_owned()),
        name if name.len() > LONGEST => Err(format!("no device has a name of more than {LONGEST} bytes")),
        name => Ok(name.to_owned()),
    }
}

/// A MAC address that a device can have.
pub(crate) fn host_mac(text: &str) -> Result<Mac, String> {
    let mac: Mac = text.parse().map_err(|error| format!("{error}"))?;
    if mac.is_multicast() || mac.0 == [0; 6] {
        return Err(
            "it is a group's address or none; the first byte of a device's is even: 02:00:00:00:00:01".to_owned()
        );
    }
    Ok(mac)
}

/// A hash policy, by its name or its number in the kernel. Of a mode that hashes nothing it says what that does instead.
pub(crate) fn hash_policy(text: &str) -> Result<HashPolicy, String> {
    text.parse::<HashPolicy>().map_err(|error| {
        let instead = text.parse::<Mode>().ok().and_then(|mode| instead_of_a_hash(mode.traits().sends));
        match instead.or(error.hint().as_deref()) {
            Some(hint) => format!("{error}; hint: {hint}"),
            None => error.to_string(),
        }
    })
}

/// How frames find their members in a mode without a hash policy.
fn instead_of_a_hash(sends: Sends) -> Option<&'static str> {
    match sends {
        Sends::InTurn => Some("this mode hashes nothing: frames take the members in turn"),
        Sends::ByActive => Some("this mode hashes nothing: all frames leave by the active member"),
        Sends::ByAll => Some("this mode hashes nothing: each member sends a copy"),
        Sends::Striped => Some(
            "this mode hashes nothing: each frame of a flow goes by the path by which it arrives first, towards a host \
             without nicteam by the member that is free first; `nicteam team show NAME` says how many members a host has",
        ),
        Sends::ByHash | Sends::ByBuckets(_) | Sends::BySource | Sends::ByFlow => None,
    }
}

/// The dataplane of this name.
pub(crate) fn dataplane(text: &str) -> Result<Kind, String> {
    text.parse().map_err(|_| format!("it takes {}", Kind::names()))
}

/// A duration, of the range that the file's `duration` has.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match experiment::parse_duration(text) {
        Ok(duration) if experiment::RUN_DURATION.contains(&duration) => Ok(duration),
        Ok(_) => Err(format!("`{text}` is out of range; hint: it is 100ms to 24h")),
        Err((wrong, hint)) => Err(format!("{wrong}; hint: {hint}")),
    }
}

/// A rate, bit/s.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    experiment::parse_rate(text).map_err(|(wrong, hint)| format!("{wrong}; hint: {hint}"))
}

fn whole_number(text: &str, range: RangeInclusive<u32>, example: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        format!("it takes a whole number from {} to {}, for example {example}", range.start(), range.end())
    })
}
