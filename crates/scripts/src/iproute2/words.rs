//! The words of `ip`: options ahead, objects, abbreviations.

use nicteam_syntax::shell::Word;

/// What `ip` works on, in the order in which it compares (iproute2 6.1, ip/ip.c, `cmds`).
pub(super) const OBJECTS: &[&str] = &[
    "address",
    "addrlabel",
    "maddress",
    "route",
    "rule",
    "neighbor",
    "neighbour",
    "ntable",
    "ntbl",
    "link",
    "l2tp",
    "fou",
    "ila",
    "macsec",
    "tunnel",
    "tunl",
    "tuntap",
    "tap",
    "token",
    "tcpmetrics",
    "tcp_metrics",
    "monitor",
    "xfrm",
    "mroute",
    "mrule",
    "netns",
    "netconf",
    "vrf",
    "sr",
    "nexthop",
    "mptcp",
    "ioam",
    "help",
    "stats",
];

/// The first word that this one begins, as `matches` of iproute2 (lib/utils.c).
pub fn abbreviated(word: &str, among: &[&'static str]) -> Option<&'static str> {
    among.iter().copied().find(|full| !word.is_empty() && full.starts_with(word))
}

/// What `ip` is told.
pub enum Ip<'a> {
    /// Object, verb and what follows, of this family if one is named.
    Here { words: &'a [Word], family: Option<u8> },
    /// Something in another namespace.
    Elsewhere,
    /// To read its commands from a file.
    Batch,
}

/// What stands behind the options that `ip` begins with.
pub fn ip(arguments: &[Word]) -> Ip<'_> {
    let (mut words, mut family) = (arguments, None);
    while let Some((option, rest)) = words.split_first().filter(|(word, _)| word.text.starts_with('-')) {
        words = rest;
        match option.text.trim_start_matches('-') {
            "4" => family = Some(4),
            "6" => family = Some(6),
            "f" | "family" => {
                family = match words.split_first() {
                    Some((value, _)) if value.text == "inet" => Some(4),
                    Some((value, _)) if value.text == "inet6" => Some(6),
                    _ => None,
                };
                words = words.get(1..).unwrap_or_default();
            }
            "n" | "netns" => return Ip::Elsewhere,
            "b" | "batch" => return Ip::Batch,
            _ => {}
        }
    }
    Ip::Here { words, family }
}

/// The object of `ip` that a word means.
pub fn object(word: &Word) -> Option<&'static str> {
    abbreviated(&word.text, OBJECTS)
}
