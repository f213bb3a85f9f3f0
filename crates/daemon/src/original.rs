//! What a device was before it joined a team.
//!
//! It is noted in the persisted state ([`crate::claim`]), and in the device's alias, which anybody may change. The
//! alias goes with the device into another namespace, and `ip link` shows it:
//!
//! ```text
//! alias nicteam team0: was mac 02:00:00:00:00:01 mtu 1500 up addrgenmode eui64 ipv6
//! ```
//!
//! A device without IPv6 has no `addrgenmode`, and no `ipv6` if that was switched off; one that took all multicast
//! frames has `allmulticast` behind it, one that took every frame `promisc`. An alias that the user had given stands at
//! the end, behind ` alias `.

use std::fmt::Write;

use nicteam_netlink::{AddrGenMode, Link, MAX_ALIAS};
use nicteam_wire::Mac;

/// What a device was before it joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Original {
    /// Its address.
    pub(crate) mac: Mac,
    /// Its MTU, bytes.
    pub(crate) mtu: u32,
    /// Administratively up.
    pub(crate) up: bool,
    /// How it made an IPv6 address; `None`: it had no IPv6.
    pub(crate) addr_gen_mode: Option<AddrGenMode>,
    /// IPv6 was switched on, and is off while it is a member.
    pub(crate) ipv6: bool,
    /// It was set to take all multicast frames.
    pub(crate) all_multicast: bool,
    /// It was set to take every frame.
    pub(crate) promiscuous: bool,
    /// The alias that the user had given; empty if none.
    pub(crate) alias: String,
}

/// The team that an alias says a device to be of.
pub fn team_of(alias: &str) -> Option<&str> {
    alias.strip_prefix("nicteam ")?.split_once(": was mac ").map(|(team, _)| team)
}

impl Original {
    /// The device as it is; `ipv6`: whether it has that switched on.
    pub(crate) fn of(link: &Link, ipv6: bool) -> Original {
        Original {
            mac: Mac(link.mac),
            mtu: link.mtu,
            up: link.up,
            addr_gen_mode: link.addr_gen_mode,
            ipv6,
            all_multicast: link.all_multicast,
            promiscuous: link.promiscuous,
            alias: link.alias.clone(),
        }
    }

    /// The alias that keeps it for this team; `None` if it is longer than an alias can be.
    pub(crate) fn to_alias(&self, team: &str) -> Option<String> {
        Some(self.to_text(team)).filter(|text| text.len() <= MAX_ALIAS)
    }

    /// The same words, however many.
    pub(crate) fn to_text(&self, team: &str) -> String {
        let Original { mac, mtu, up, addr_gen_mode, ipv6, all_multicast, promiscuous, alias } = self;
        let mut text = format!("nicteam {team}: was mac {mac} mtu {mtu} {}", if *up { "up" } else { "down" });
        // Writing to a string cannot fail.
        if let Some(mode) = addr_gen_mode {
            let _ = write!(text, " addrgenmode {mode}");
        }
        text += if *ipv6 { IPV6 } else { "" };
        text += if *all_multicast { ALL_MULTICAST } else { "" };
        text += if *promiscuous { PROMISCUOUS } else { "" };
        if !alias.is_empty() {
            let _ = write!(text, " alias {alias}");
        }
        text
    }

    /// The team that an alias names, and what it keeps for it. `None` for every
    /// text that [`Original::to_alias`] would not have written.
    pub(crate) fn from_alias(text: &str) -> Option<(&str, Original)> {
        Original::from_text(text).filter(|_| text.len() <= MAX_ALIAS)
    }

    /// The same for [`Original::to_text`].
    pub(crate) fn from_text(text: &str) -> Option<(&str, Original)> {
        let (team, rest) = text.strip_prefix("nicteam ")?.split_once(": was mac ")?;
        let (rest, alias) = rest.split_once(" alias ").unwrap_or((rest, ""));
        let (rest, promiscuous) = without(rest, PROMISCUOUS);
        let (rest, all_multicast) = without(rest, ALL_MULTICAST);
        let (rest, ipv6) = without(rest, IPV6);
        let words: Vec<&str> = rest.split(' ').collect();
        let (mac, mtu, up, mode) = match words[..] {
            [mac, "mtu", mtu, up] => (mac, mtu, up, None),
            [mac, "mtu", mtu, up, "addrgenmode", mode] => (mac, mtu, up, Some(mode)),
            _ => return None,
        };
        let original = Original {
            mac: mac.parse().ok()?,
            mtu: mtu.parse().ok()?,
            up: up == "up",
            addr_gen_mode: mode.map(str::parse).transpose().ok()?,
            ipv6,
            all_multicast,
            promiscuous,
            alias: alias.to_owned(),
        };
        (original.to_text(team) == text).then_some((team, original))
    }
}

/// A word of a device whose IPv6 was on.
const IPV6: &str = " ipv6";
/// Words of a device that took more than what was for it.
const ALL_MULTICAST: &str = " allmulticast";
const PROMISCUOUS: &str = " promisc";

/// The text without this end, and whether it had it.
fn without<'a>(text: &'a str, end: &str) -> (&'a str, bool) {
    text.strip_suffix(end).map_or((text, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn original() -> Original {
        Original {
            mac: Mac([2, 0, 0, 0, 0, 0xa]),
            mtu: 9000,
            up: true,
            addr_gen_mode: Some(AddrGenMode::Eui64),
            ipv6: false,
            all_multicast: false,
            promiscuous: false,
            alias: String::new(),
        }
    }

    #[test]
    fn an_alias_reads_as_what_it_keeps() {
        let text = original().to_alias("team0").unwrap();
        assert_eq!(text, "nicteam team0: was mac 02:00:00:00:00:0a mtu 9000 up addrgenmode eui64");
        assert_eq!(Original::from_alias(&text), Some(("team0", original())));
    }

    #[test]
    fn every_original_is_read_back() {
        for alias in ["", "uplink to rack 4", " alias  alias ", "nicteam x: was mac 1 mtu 2 up", "\u{e4}"] {
            for bits in 0..32 {
                let bit = |place: u8| bits & 1 << place != 0;
                let addr_gen_mode = bit(1).then_some(AddrGenMode::None);
                let (up, ipv6, all_multicast, promiscuous) = (bit(0), bit(4), bit(2), bit(3));
                let alias = alias.to_owned();
                let original = Original { up, addr_gen_mode, ipv6, all_multicast, promiscuous, alias, ..original() };
                let text = original.to_alias("t").unwrap();
                assert_eq!(Original::from_alias(&text), Some(("t", original)), "{text}");
            }
        }
    }

    #[test]
    fn foreign_and_damaged_texts_are_refused() {
        let text = original().to_alias("team0").unwrap();
        let without_ipv6 = text.len() - " addrgenmode eui64".len();
        for end in (0..text.len()).filter(|&end| end != without_ipv6) {
            assert_eq!(Original::from_alias(&text[..end]), None, "{}", &text[..end]);
        }
        for (from, to) in [("mtu 9000", "mtu +9000"), (" up", " UP"), (" up", "  up"), ("02:", "2:"), ("eui64", "x")] {
            let damaged = text.replace(from, to);
            assert_eq!(Original::from_alias(&damaged), None, "{damaged}");
        }
        assert_eq!(Original::from_alias("uplink to rack 4"), None);
    }

    #[test]
    fn what_does_not_fit_is_not_cut_off() {
        let alias = "x".repeat(MAX_ALIAS - original().to_alias("team0").unwrap().len() - " alias ".len());
        let longest = Original { alias, ..original() };
        assert_eq!(longest.to_alias("team0").unwrap().len(), MAX_ALIAS);
        assert_eq!(longest.to_alias("team01"), None);
    }
}
