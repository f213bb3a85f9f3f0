//! Every key of an experiment file, once.
//!
//! These tables drive the check for unknown keys, the types of values, the JSON
//! schema and the reference in `docs/experiment.md`. A new key is one entry here
//! and one line where it is resolved; those of one kind of traffic stand with it (`task`).

mod defaults;
mod impairments;

use crate::chaos::CHAOS;
use crate::expect::EXPECT;
use crate::units::RUN_DURATION;
use crate::{guests, remote};
pub(crate) use defaults::DEFAULTS;
use defaults::{DAY_MS, MTU_BYTES};
pub(crate) use impairments::{GEMODEL, IMPAIRMENT};
use nicteam_elements::event::EVENT;
use nicteam_elements::keys::{Key, Kind, Need, Section, Thing};
use nicteam_elements::target::TARGET;
use nicteam_elements::{engine, pattern, switch_model, task};

/// Switch policies first: they are what most files want.
pub(crate) const SPREADS: &[&str] = &[
    "src-mac",
    "dst-mac",
    "src-dst-mac",
    "src-ip",
    "dst-ip",
    "src-dst-ip",
    "src-xor-dst-ip",
    "src-dst-port",
    "layer2",
    "layer2+3",
    "layer3+4",
];

pub(crate) const FILE: Section = Section {
    header: "top of the file",
    doc: "What the experiment is.",
    keys: &[
        Key {
            name: "title",
            kind: Kind::Text,
            need: Need::Required,
            doc: "One line that describes what the experiment tries.",
        },
        Key {
            name: "question",
            kind: Kind::Text,
            need: Need::Otherwise("none"),
            doc: "The question of the experiment. It is printed above the results.",
        },
        Key {
            name: "defaults",
            kind: Kind::Table(&DEFAULTS),
            need: Need::Otherwise("as listed there"),
            doc: DEFAULTS.doc,
        },
        Key {
            name: "testbed",
            kind: Kind::Table(&remote::TESTBED),
            need: Need::Otherwise("as listed there"),
            doc: remote::TESTBED.doc,
        },
        Key { name: "teams", kind: Kind::Teams, need: Need::Otherwise("none"), doc: TEAM_DOC },
        Key { name: "hosts", kind: Kind::Named(Thing::Host, &HOST), need: Need::Required, doc: HOST.doc },
        Key {
            name: "switches",
            kind: Kind::Named(Thing::Switch, &SWITCH),
            need: Need::Otherwise("none"),
            doc: SWITCH.doc,
        },
        Key {
            name: "impairments",
            kind: Kind::Named(Thing::Impairment, &IMPAIRMENT),
            need: Need::Otherwise("none"),
            doc: IMPAIRMENT.doc,
        },
        Key {
            name: "targets",
            kind: Kind::Named(Thing::Target, &TARGET),
            need: Need::Otherwise("none"),
            doc: TARGET.doc,
        },
        Key { name: "links", kind: Kind::List(&LINK), need: Need::Required, doc: LINK.doc },
        Key {
            name: "workloads",
            kind: Kind::Named(Thing::Workload, &WORKLOAD),
            need: Need::Required,
            doc: WORKLOAD.doc,
        },
        Key { name: "runs", kind: Kind::List(&RUN), need: Need::Required, doc: RUN.doc },
        Key { name: "expect", kind: Kind::List(&EXPECT), need: Need::Otherwise("none"), doc: EXPECT.doc },
    ],
    of_kinds: &[],
};

/// `[teams.NAME]`: its keys are the team's options, which `nicteam-team` knows.
pub(crate) const TEAM_DOC: &str = "A named set of team options, with the kernel's names (`mode`, `miimon`, \
    `xmit_hash_policy`, ...). Hosts refer to it by `team`.";

pub(crate) const HOST: Section = Section {
    header: "[hosts.NAME]",
    doc: "A host. With a team, its links are the members `eth0`, `eth1`, ... of `team0`. Without a team it has one \
        link, `eth0`. A gateway has several links.",
    keys: &[
        Key {
            name: "address",
            kind: Kind::Address,
            need: Need::Otherwise(
                "the position of the host in the file (1, 2, ...) in the subnet of the first address in \
                the file, or in 10.0.0.0/24",
            ),
            doc: "IPv4 or IPv6 address with prefix length.",
        },
        Key {
            name: "mac",
            kind: Kind::Mac,
            need: Need::Otherwise("02:00:00:00:00:01 for the first host of the file, :02 for the second, ..."),
            doc: "Source MAC address of its frames. Switches that spread by MAC address hash it.",
        },
        Key {
            name: "team",
            kind: Kind::One(Thing::Team),
            need: Need::Otherwise("no team: one bare link"),
            doc: "The team that bundles all its links.",
        },
        Key {
            name: "forward",
            kind: Kind::Flag,
            need: Need::Default("false"),
            doc: "A gateway. It forwards packets between its links (`net.ipv4.ip_forward`). Each of its links leads \
                into a separate subnet.",
        },
        Key {
            name: "addresses",
            kind: Kind::Addresses,
            need: Need::Otherwise(
                "the position of the gateway in the file, in the subnet of each link; a link without a \
                subnet gets the next free one",
            ),
            doc: "Of a gateway: the addresses of its links. They have prefix lengths and stand in the order of the \
                links.",
        },
        Key {
            name: "gateway",
            kind: Kind::One(Thing::Host),
            need: Need::Otherwise("for each subnet the gateway with the fewest gateways on the way"),
            doc: "The gateway over which the host and its guests send to all other subnets.",
        },
        Key {
            name: "bare_link",
            kind: Kind::Integer(0..=1023),
            need: Need::Otherwise("all links, by the team"),
            doc: "No team, and only this link is plugged in. Links are counted from 0. The host is then as it was \
                before its links were bundled. Use it in runs: `[runs.hosts.NAME]`.",
        },
        Key {
            name: "processor",
            kind: Kind::Rate,
            need: Need::Otherwise("the speed of the lab's machine"),
            doc: "A slow host: the payload that its processor can send and receive together. Kinds `tcp`, \
                `traffic-test` and `requests` keep to it, as programs on such a processor would.",
        },
        Key {
            name: "receive_window",
            kind: Kind::Bytes(4096..=1 << 30),
            need: Need::Otherwise("the kernel's own limit (`tcp_rmem`)"),
            doc: "The most unread data that its TCP accepts (`net.ipv4.tcp_rmem`), as on an old system.",
        },
        Key {
            name: "receive_queues",
            kind: Kind::Integer(1..=64),
            need: Need::Otherwise("none: the sender's processor handles frames"),
            doc: "Number of receive queues of each of its devices, with GRO, as on a NIC. One processor at a time \
                serves a queue.",
        },
        Key {
            name: "guests",
            kind: Kind::CountOrList(0..=guests::MOST_OF_A_HOST, &GUEST),
            need: Need::Otherwise("no guests"),
            doc: GUEST.doc,
        },
        remote::SSH,
        remote::LINKS,
        remote::BUNDLE,
    ],
    of_kinds: &[],
};

pub(crate) const GUEST: Section = Section {
    header: "[[hosts.NAME.guests]]",
    doc: "Guests of the host: the virtual machines of a hypervisor. Each guest is a network namespace behind the \
        host's bridge `br0`. The host's team, or its one link, is the uplink of the bridge. Workloads name the guests \
        `HOST/guest1`, `HOST/guest2`, ... The value is their number, or a list with one table for each guest.",
    keys: &[
        Key {
            name: "address",
            kind: Kind::Address,
            need: Need::Otherwise("the next address after those of all hosts"),
            doc: "IPv4 or IPv6 address with prefix length.",
        },
        Key {
            name: "mac",
            kind: Kind::Mac,
            need: Need::Otherwise("the next address after those of all hosts"),
            doc: "Source MAC address of its frames. The host's team does not change it.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const SWITCH: Section = Section {
    header: "[switches.NAME]",
    doc: "A switch: a learning bridge.",
    keys: &[
        remote::UNKNOWN,
        Key {
            name: "model",
            kind: Kind::Choice(&switch_model::NAMES),
            need: Need::Otherwise("no real switch"),
            doc: "The real switch that it stands for. `spread` then takes the words of this maker, and the limits of \
                the model apply. [switches.md](switches.md) describes the models and what is assumed of them.",
        },
        Key {
            name: "spread",
            kind: Kind::Text,
            need: Need::Otherwise("with `channel_group` the default of the model, else plain ports"),
            doc: "The hash by which the switch chooses a link of a group. One of `src-mac`, `dst-mac`, `src-dst-mac`, \
                `src-ip`, `dst-ip`, `src-dst-ip`, `src-xor-dst-ip`, `src-dst-port`, `layer2`, `layer2+3`, `layer3+4`; \
                with a `model`, one of the maker's words. The links to each host with a team form a link aggregation \
                group. Several links to another switch form a group if that switch has `spread`, too. Links to an \
                active-backup, balance-tlb, balance-alb or stripe team, and to an ovs-active-backup or \
                ovs-balance-slb team without `lacp`, stay plain ports, as on a real switch.",
        },
        Key {
            name: "lacp",
            kind: Kind::Choice(&["off", "active", "passive"]),
            need: Need::Otherwise("`active` towards teams that speak LACP, `off` towards others"),
            doc: "Whether groups use LACP. `active`: the switch sends LACPDUs first. `passive`: it sends them only to \
                a partner that sends them. `off`: groups are static. It needs `spread`.",
        },
        Key {
            name: "channel_group",
            kind: Kind::Choice(&["on", "active", "passive", "auto", "desirable"]),
            need: Need::Otherwise("as `lacp`"),
            doc: "The same in Cisco's words, for Cisco's models. `on`: static groups. `active`, `passive`: groups by \
                LACP. `auto`, `desirable`: the ports towards teams, and several links to one peer, speak PAgP. No \
                team answers PAgP, so they stay plain ports.",
        },
        Key {
            name: "lacp_rate",
            kind: Kind::Choice(&["slow", "fast"]),
            need: Need::Default("slow"),
            doc: "How often the partner of a group has to send LACPDUs. `slow`: every 30 s. `fast`: every second.",
        },
        Key {
            name: "engine",
            kind: Kind::Choice(&engine::NAMES),
            need: Need::Default(engine::NAMES[0]),
            doc: "The engine of its groups. `[teams.NAME]` describes the engines.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const LINK: Section = Section {
    header: "[[links]]",
    doc: "Cables between two nodes, or between each node of one list and each node of another.",
    keys: &[
        Key {
            name: "between",
            kind: Kind::Ends,
            need: Need::Required,
            doc: "The two ends: `[\"a\", \"sw\"]`, or lists: `[[\"a\", \"b\"], \"sw\"]`.",
        },
        Key {
            name: "count",
            kind: Kind::Integer(1..=nicteam_team::MAX_MEMBERS as u64),
            need: Need::Default("1"),
            doc: "Number of parallel cables.",
        },
        Key {
            name: "rate",
            kind: Kind::Rate,
            need: Need::Otherwise("`rate` of `[defaults]`"),
            doc: "Rate of the wire of each cable, in each direction.",
        },
        Key {
            name: "mtu",
            kind: Kind::PerEnd(MTU_BYTES),
            need: Need::Otherwise("`mtu` of `[defaults]`"),
            doc: "Largest IP packet, bytes. `[9000, 1500]` gives the MTU of the first end of `between` and of the \
                second one. An end accepts no packet that is larger than its MTU.",
        },
        Key {
            name: "offloads",
            kind: Kind::Flag,
            need: Need::Default("true"),
            doc: "Segmentation offloads (TSO, GSO). `false`: a cheap NIC. Its ends send MTU-sized packets with every \
                `granularity`, and each packet costs its host processor time.",
        },
        Key {
            name: "queue",
            kind: Kind::Bytes(2048..=64 << 20),
            need: Need::Otherwise("as its rate needs"),
            doc: "Bytes that each end queues before it drops. The ring of a cheap NIC is short.",
        },
        Key {
            name: "burst",
            kind: Kind::Bytes(2048..=16 << 20),
            need: Need::Otherwise("as its rate needs"),
            doc: "Bytes that each end sends at once after a pause (the burst of a token bucket). Two frames are the \
                right burst where latency is measured; they cost throughput at high rates.",
        },
        Key {
            name: "impair",
            kind: Kind::One(Thing::Impairment),
            need: Need::Otherwise("none"),
            doc: "The impairment of both directions. Each cable has its own.",
        },
        Key {
            name: "impair_back",
            kind: Kind::One(Thing::Impairment),
            need: Need::Otherwise("as `impair`"),
            doc: "Another impairment for the direction from the second end to the first.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const WORKLOAD: Section = Section {
    header: "[workloads.NAME]",
    doc: "Traffic. Runs refer to it.",
    keys: &[
        Key { name: "kind", kind: Kind::Choice(&task::NAMES), need: Need::Required, doc: task::DOC },
        pattern::FROM,
        pattern::TO,
        pattern::PATTERN,
        Key {
            name: "connections",
            kind: Kind::Integer(1..=4096),
            need: Need::Otherwise("one a pair of hosts; of `traffic-test` 32 a pair"),
            doc: "Number of all connections. They are assigned to the pairs of hosts in turn.",
        },
        Key {
            name: "direction",
            kind: Kind::Choice(&["send", "receive", "both"]),
            need: Need::Default("send"),
            doc: "Direction of the payload, seen from `from`. `both`: as many connections again carry payload the \
                other way.",
        },
    ],
    of_kinds: &task::KEYS,
};

pub(crate) const PUBLISHED: Section = Section {
    header: "[runs.published_rates.HOST]",
    doc: "Result of a published test for one client, by direction.",
    keys: &[
        Key { name: "download", kind: Kind::Rate, need: Need::Required, doc: "Rate that the client received." },
        Key { name: "upload", kind: Kind::Rate, need: Need::Required, doc: "Rate that the client sent." },
    ],
    of_kinds: &[],
};

pub(crate) const RUN: Section = Section {
    header: "[[runs]]",
    doc: "One measurement. Runs are measured one after another, in the order of the file.",
    keys: &[
        Key { name: "name", kind: Kind::Name, need: Need::Required, doc: "Its name, for `--only` and the results." },
        Key {
            name: "description",
            kind: Kind::Text,
            need: Need::Otherwise("none"),
            doc: "One line that describes it.",
        },
        Key {
            name: "published",
            kind: Kind::Text,
            need: Need::Otherwise("none"),
            doc: "Result of a published test, in the words of its authors. The report shows it beside the result.",
        },
        Key {
            name: "published_of_limit",
            kind: Kind::Fraction,
            need: Need::Otherwise("none"),
            doc: "The published result as a part of the limit of that test, 0 to 1.",
        },
        Key {
            name: "published_rates",
            kind: Kind::Named(Thing::Host, &PUBLISHED),
            need: Need::Otherwise("none"),
            doc: PUBLISHED.doc,
        },
        Key {
            name: "compared_with",
            kind: Kind::One(Thing::Run),
            need: Need::Otherwise("none"),
            doc: "The run before a change. The report draws both runs side by side, by client and direction.",
        },
        Key {
            name: "step",
            kind: Kind::Integer(1..=3),
            need: Need::Otherwise("none"),
            doc: "Its step in `lab tune`. 1: the baseline. 2: the network alone. 3: production.",
        },
        Key {
            name: "workloads",
            kind: Kind::Many(Thing::Workload),
            need: Need::Required,
            doc: "Traffic of this run. All of it runs at the same time.",
        },
        Key {
            name: "duration",
            kind: Kind::Time(RUN_DURATION),
            need: Need::Otherwise("`duration` of `[defaults]`"),
            doc: "Time for which it is measured.",
        },
        Key {
            name: "warmup",
            kind: Kind::time(0, DAY_MS),
            need: Need::Otherwise("`warmup` of `[defaults]`"),
            doc: "Time before the measurement. It does not count.",
        },
        Key {
            name: "hosts",
            kind: Kind::Named(Thing::Host, &HOST),
            need: Need::Otherwise("as in the file"),
            doc: "Keys of hosts that differ in this run: `[runs.hosts.NAME]`.",
        },
        Key {
            name: "switches",
            kind: Kind::Named(Thing::Switch, &SWITCH),
            need: Need::Otherwise("as in the file"),
            doc: "Keys of switches that differ in this run: `[runs.switches.NAME]`.",
        },
        Key {
            name: "teams",
            kind: Kind::Teams,
            need: Need::Otherwise("as in the file"),
            doc: "Keys of teams that differ in this run: `[runs.teams.NAME]`.",
        },
        Key { name: "chaos", kind: Kind::Table(&CHAOS), need: Need::Otherwise("none"), doc: CHAOS.doc },
        Key { name: "events", kind: Kind::List(&EVENT), need: Need::Otherwise("none"), doc: EVENT.doc },
        Key {
            name: "impairments",
            kind: Kind::Named(Thing::Impairment, &IMPAIRMENT),
            need: Need::Otherwise("as in the file"),
            doc: "Keys of impairments that differ in this run: `[runs.impairments.NAME]`.",
        },
        Key {
            name: "targets",
            kind: Kind::Named(Thing::Target, &TARGET),
            need: Need::Otherwise("as in the file"),
            doc: "Keys of targets that differ in this run: `[runs.targets.NAME]`.",
        },
    ],
    of_kinds: &[],
};
