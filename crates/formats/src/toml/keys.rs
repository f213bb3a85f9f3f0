//! The table of keys: what each takes and means. Beside them stand the options of bonding, `nicteam_options::Config::OPTIONS`.

/// A key of `[teams.NAME]` that is no option of bonding.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    /// What holds if it is left out.
    pub(super) otherwise: &'static str,
    pub(super) doc: &'static str,
}

/// What a key's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Devices,
    Mac,
    Mtu,
    AcceptRa,
    Dataplane,
    Addresses,
    Routes,
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "members",
        takes: Takes::Devices,
        otherwise: "**required**",
        doc: "the devices that the team is made of, in their order",
    },
    Key { name: "mac", takes: Takes::Mac, otherwise: "the first member's", doc: "the team's MAC address" },
    Key {
        name: "mtu",
        takes: Takes::Mtu,
        otherwise: "the smallest of the members'",
        doc: "MTU of the team and of its members, bytes",
    },
    Key {
        name: "accept_ra",
        takes: Takes::AcceptRa,
        otherwise: "as the first member",
        doc: "whether the team takes router advertisements: 0 no, 1 unless the host forwards, 2 always (`net.ipv6.conf.NAME.accept_ra`)",
    },
    Key {
        name: "dataplane",
        takes: Takes::Dataplane,
        otherwise: "what the machine can",
        doc: "what executes the team",
    },
    Key {
        name: "addresses",
        takes: Takes::Addresses,
        otherwise: "none",
        doc: "the team's addresses, each with the length of its prefix; the members' move to the team anyway",
    },
    Key {
        name: "routes",
        takes: Takes::Routes,
        otherwise: "none",
        doc: "routes by the team, in the words of `ip route`",
    },
];

/// What executes a team.
pub(super) const DATAPLANES: [&str; 2] = ["bpf", "packet"];

impl Takes {
    /// What it takes, in words.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Takes::Devices => "a list of names of devices",
            Takes::Mac => "a MAC address",
            Takes::Mtu => "a whole number from 68 to 65535",
            Takes::AcceptRa => "0, 1 or 2",
            Takes::Dataplane => "`bpf` or `packet`",
            Takes::Addresses => "a list of addresses",
            Takes::Routes => "a list of routes",
        }
    }

    /// A right value, as it stands in the file.
    pub(super) fn example(self) -> &'static str {
        match self {
            Takes::Devices => "[\"eth1\", \"eth2\"]",
            Takes::Mac => "\"02:00:00:00:00:01\"",
            Takes::Mtu => "9000",
            Takes::AcceptRa => "0",
            Takes::Dataplane => "\"bpf\"",
            Takes::Addresses => "[\"10.0.0.1/24\"]",
            Takes::Routes => "[\"default via 10.0.0.254\"]",
        }
    }
}
