//! A route in the words of `ip route` (iproute2 6.1, `ip-route(8)`).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use crate::address::{Address, AddressError};

/// A route by a team: `default via 10.0.0.254 metric 100`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// Where it leads; a prefix of length 0 is `default`.
    pub to: Address,
    /// The next hop; `None`: it is on the link.
    pub via: Option<IpAddr>,
    /// Its metric, if it has one.
    pub metric: Option<u32>,
    /// Its table, if it is not the main one.
    pub table: Option<u32>,
}

/// What the words behind `ip route add` say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteWords {
    /// The route.
    pub route: Route,
    /// The device that it is by (`dev`).
    pub device: Option<String>,
    /// The next hop is on the link whatever the addresses say (`onlink`).
    pub is_on_link: bool,
    /// Words that a [`Route`] has no place for, and without which it leads to the same place: `proto static`.
    pub ignored: Vec<String>,
}

impl RouteWords {
    /// The route, and ahead of it one to the next hop, where that is said to be on the link: to the kernel the same.
    pub fn routes(&self) -> Vec<Route> {
        let hop = self.route.via.filter(|_| self.is_on_link).map(|via| Route {
            to: Address::host(via),
            via: None,
            ..self.route.clone()
        });
        hop.into_iter().chain([self.route.clone()]).collect()
    }
}

impl Route {
    /// Reads the words behind `ip route add`: destination, `via`, `dev`, `metric`, `table`, `onlink` and others.
    ///
    /// # Errors
    /// The first word that makes no sense, or that changes where packets go and has no place in a [`Route`].
    pub fn parse(text: &str) -> Result<RouteWords, RouteError> {
        let mut words = text.split_whitespace();
        let mut parts = Parts::default();
        while let Some(word) = words.next() {
            let mut argument = || words.next().ok_or_else(|| RouteError::Incomplete { word: word.to_owned() });
            match word {
                "to" => parts.set_to(argument()?)?,
                "via" => {
                    let next = argument()?;
                    let hop = if matches!(next, "inet" | "inet6") { argument()? } else { next };
                    parts.via = Some(hop.parse().map_err(|_| AddressError::NoAddress { text: hop.to_owned() })?);
                }
                "dev" | "oif" => parts.device = Some(argument()?.to_owned()),
                "metric" | "priority" | "preference" => parts.metric = Some(number(word, argument()?)?),
                "table" => parts.table = table(argument()?)?,
                "onlink" => parts.is_on_link = true,
                "unicast" => {}
                word if OTHER_TYPES.contains(&word) => return Err(RouteError::NoTeam { word: word.to_owned() }),
                word if UNKNOWN_TO_US.contains(&word) => return Err(RouteError::NotTaken { word: word.to_owned() }),
                word if WITH_ARGUMENT.contains(&word) => {
                    let mut value = argument()?.to_owned();
                    if value == "lock" {
                        value = format!("lock {}", argument()?);
                    }
                    parts.ignored.push(format!("{word} {value}"));
                }
                word if parts.to.is_none() => parts.set_to(word)?,
                word => return Err(RouteError::Unknown { word: word.to_owned() }),
            }
        }
        parts.route()
    }
}

/// Types of routes that lead nowhere, or not by a device.
const OTHER_TYPES: &[&str] =
    &["local", "broadcast", "anycast", "multicast", "throw", "unreachable", "prohibit", "blackhole", "nat"];
/// They change where packets go.
const UNKNOWN_TO_US: &[&str] = &["nexthop", "nhid", "encap", "tos", "dsfield", "from", "vrf"];
/// They do not, and have one argument.
const WITH_ARGUMENT: &[&str] = &[
    "proto",
    "protocol",
    "scope",
    "src",
    "realm",
    "realms",
    "mtu",
    "window",
    "rtt",
    "rttvar",
    "rto_min",
    "initcwnd",
    "initrwnd",
    "advmss",
    "ssthresh",
    "cwnd",
    "hoplimit",
    "congctl",
    "features",
    "quickack",
    "fastopen_no_cookie",
    "pref",
    "expires",
    "weight",
    "reordering",
];

/// What was read of a route.
#[derive(Default)]
struct Parts {
    to: Option<Destination>,
    via: Option<IpAddr>,
    device: Option<String>,
    metric: Option<u32>,
    table: Option<u32>,
    is_on_link: bool,
    ignored: Vec<String>,
}

enum Destination {
    /// Of the family that the next hop has.
    Default,
    Network(Address),
}

impl Parts {
    fn set_to(&mut self, word: &str) -> Result<(), RouteError> {
        let to = match word {
            "default" | "any" | "all" => Destination::Default,
            word if word.contains('/') => Destination::Network(word.parse()?),
            word => match word.parse() {
                Ok(address) => Destination::Network(Address::host(address)),
                Err(_) => return Err(RouteError::NoDestination { word: word.to_owned() }),
            },
        };
        match self.to.replace(to) {
            None => Ok(()),
            Some(_) => Err(RouteError::Unknown { word: word.to_owned() }),
        }
    }

    fn route(self) -> Result<RouteWords, RouteError> {
        let to = match self.to {
            None => return Err(RouteError::Empty),
            Some(Destination::Default) => Address::any_like(self.via.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))),
            Some(Destination::Network(to)) => to,
        };
        if to.network() != to {
            return Err(RouteError::HostBits { to });
        }
        if let Some(via) = self.via.filter(|via| via.is_ipv4() != to.address.is_ipv4()) {
            return Err(RouteError::Families { to, via });
        }
        let route = Route { to, via: self.via, metric: self.metric, table: self.table };
        Ok(RouteWords { route, device: self.device, is_on_link: self.is_on_link, ignored: self.ignored })
    }
}

/// `RTM_NEWROUTE`'s numbers are unsigned and of 32 bits; iproute2 takes `0x` and a leading 0, too.
fn number(word: &str, text: &str) -> Result<u32, RouteError> {
    let refused = || RouteError::Number { word: word.to_owned(), text: text.to_owned() };
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    if digits.starts_with('+') { Err(refused()) } else { u32::from_str_radix(digits, radix).map_err(|_| refused()) }
}

/// Names are those of `/etc/iproute2/rt_tables` that every system has.
fn table(text: &str) -> Result<Option<u32>, RouteError> {
    match text {
        "main" => Ok(None),
        "default" => Ok(Some(253)),
        "local" => Ok(Some(255)),
        text if text.starts_with(|c: char| c.is_ascii_digit()) => number("table", text).map(Some),
        text => Err(RouteError::Table { text: text.to_owned() }),
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_default = self.to.prefix == 0 && (self.via.is_some() || self.to.address.is_ipv4());
        if is_default {
            f.write_str("default")?
        } else {
            write!(f, "{}", self.to)?
        }
        if let Some(via) = self.via {
            write!(f, " via {via}")?;
        }
        if let Some(metric) = self.metric {
            write!(f, " metric {metric}")?;
        }
        self.table.map_or(Ok(()), |table| write!(f, " table {table}"))
    }
}

impl FromStr for Route {
    type Err = RouteError;

    /// A route alone: without a device, and without words that a [`Route`] has no place for.
    fn from_str(text: &str) -> Result<Route, RouteError> {
        let words = Route::parse(text)?;
        match (words.device, words.is_on_link, words.ignored.into_iter().next()) {
            (None, false, None) => Ok(words.route),
            (Some(_), ..) => Err(RouteError::NotTaken { word: "dev".to_owned() }),
            (_, true, _) => Err(RouteError::NotTaken { word: "onlink".to_owned() }),
            (.., Some(word)) => Err(RouteError::NotTaken { word }),
        }
    }
}

/// The text is no route by a team.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There is no destination.
    #[error("a route without a destination")]
    Empty,
    /// A word that has an argument is the last one.
    #[error("nothing follows `{word}`")]
    Incomplete {
        /// The word.
        word: String,
    },
    /// The destination is none.
    #[error("`{word}` is no destination")]
    NoDestination {
        /// As it was given.
        word: String,
    },
    /// An address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The destination is an address within a network.
    #[error("the destination {to} has bits beyond its prefix")]
    HostBits {
        /// The destination.
        to: Address,
    },
    /// IPv4 by IPv6 or the other way round.
    #[error("{to} and {via} are of two families")]
    Families {
        /// The destination.
        to: Address,
        /// The next hop.
        via: IpAddr,
    },
    /// A number is none, or too large.
    #[error("`{text}` is no number for `{word}`")]
    Number {
        /// What it is to be the number of.
        word: String,
        /// As it was given.
        text: String,
    },
    /// A table's name that only this machine's files know.
    #[error("the table `{text}` is known by that name on its machine alone")]
    Table {
        /// As it was given.
        text: String,
    },
    /// It leads nowhere, or not by a device.
    #[error("a route of type `{word}` leads by no team")]
    NoTeam {
        /// Its type.
        word: String,
    },
    /// `ip route` knows it, a team's routes do not have it.
    #[error("`{word}` is nothing that a team's route has")]
    NotTaken {
        /// The word, with its argument.
        word: String,
    },
    /// `ip route` does not know it.
    #[error("`{word}` is no word of a route")]
    Unknown {
        /// The word.
        word: String,
    },
}

impl RouteError {
    /// True for a route that makes sense, and that no team has: it can be left where it is.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, RouteError::NotTaken { .. } | RouteError::NoTeam { .. } | RouteError::Table { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            RouteError::Incomplete { word } => match word.as_str() {
                "via" => "an address follows: `via 10.0.0.254`".to_owned(),
                "metric" | "table" => format!("a number follows: `{word} 100`"),
                word => format!("remove `{word}`, or say what it is"),
            },
            RouteError::Empty | RouteError::NoDestination { .. } | RouteError::Unknown { .. } => {
                "a route is `default via 10.0.0.254` or `10.9.0.0/16 via 10.0.0.9 metric 100 table 5`".to_owned()
            }
            RouteError::Address(error) => error.hint(),
            RouteError::HostBits { to } => {
                format!("its network is `{}`; the address alone is `{}`", to.network(), to.address)
            }
            RouteError::Families { .. } => "destination and next hop are both IPv4 or both IPv6".to_owned(),
            RouteError::Number { .. } => "a whole number from 0 to 4294967295".to_owned(),
            RouteError::Table { .. } => "write its number, which `/etc/iproute2/rt_tables` has".to_owned(),
            RouteError::NoTeam { .. } => "add it by `ip route` yourself, beside the team's routes".to_owned(),
            RouteError::NotTaken { word } if word == "dev" => {
                "a team's routes are by the team: leave it out".to_owned()
            }
            RouteError::NotTaken { word } if word == "onlink" => {
                "give the next hop a route of its own ahead of it: `10.0.0.254/32`".to_owned()
            }
            RouteError::NotTaken { .. } => "leave it out, or add the route by `ip route` yourself".to_owned(),
        }
    }
}
