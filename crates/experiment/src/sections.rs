//! Every key of an experiment file, once.
//!
//! These tables drive the check for unknown keys, the types of values, the JSON
//! schema and the reference in `docs/experiment.md`. A new key is one entry here
//! and one line where it is resolved; those of one kind of traffic stand with it (`task`).

use std::time::Duration;

use crate::event::EVENT;
use crate::keys::{Key, Kind, Need, Section, Thing};
use crate::target::TARGET;
use crate::units::RUN_DURATION;
use crate::{engine, guests, switch_model, task};

/// A longest and a shortest time.
const fn time(shortest_ms: u64, longest_ms: u64) -> Kind {
    Kind::Time(Duration::from_millis(shortest_ms)..=Duration::from_millis(longest_ms))
}

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

/// Bytes of an IP packet: from the least every IPv4 host takes to the largest jumbo frames of real switches.
const MTU_BYTES: std::ops::RangeInclusive<u64> = 576..=9216;
const MTU: Kind = Kind::Integer(MTU_BYTES);
const DAY_MS: u64 = 86_400_000;
const LONGEST_DELAY_MS: u64 = nicteam_impair::LONGEST_DELAY.as_millis() as u64;

pub(crate) const FILE: Section = Section {
    header: "top of the file",
    doc: "What the experiment is.",
    keys: &[
        Key { name: "title", kind: Kind::Text, need: Need::Required, doc: "One line that says what is tried." },
        Key {
            name: "question",
            kind: Kind::Text,
            need: Need::Otherwise("none"),
            doc: "What the experiment wants to know; printed above the results.",
        },
        Key {
            name: "defaults",
            kind: Kind::Table(&DEFAULTS),
            need: Need::Otherwise("all as listed"),
            doc: DEFAULTS.doc,
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
    ],
    of_kinds: &[],
};

/// `[teams.NAME]`: its keys are the team's options, which `nicteam-team` knows.
pub(crate) const TEAM_DOC: &str = "A named set of team options, in the kernel's words (`mode`, `miimon`, \
    `xmit_hash_policy`, ...). Hosts refer to it by `team`.";

pub(crate) const DEFAULTS: Section = Section {
    header: "[defaults]",
    doc: "What holds where nothing else is said.",
    keys: &[
        Key {
            name: "rate",
            kind: Kind::Rate,
            need: Need::Default("100mbit"),
            doc: "Rate of every link that names none.",
        },
        Key {
            name: "mtu",
            kind: MTU,
            need: Need::Default("1500"),
            doc: "Largest IP packet of every link that names none, bytes.",
        },
        Key {
            name: "duration",
            kind: Kind::Time(RUN_DURATION),
            need: Need::Default("8s"),
            doc: "How long each run is measured.",
        },
        Key {
            name: "warmup",
            kind: time(0, DAY_MS),
            need: Need::Default("1s"),
            doc: "What goes before each measurement and does not count.",
        },
        Key {
            name: "congestion",
            kind: Kind::Word,
            need: Need::Default("cubic"),
            doc: "TCP congestion control of every workload that names none.",
        },
        Key {
            name: "interval",
            kind: time(10, 60_000),
            need: Need::Default("100ms"),
            doc: "Time between two samples.",
        },
        Key {
            name: "seed",
            kind: Kind::Integer(0..=i64::MAX as u64),
            need: Need::Default("1"),
            doc: "Seed of everything random.",
        },
        Key {
            name: "granularity",
            kind: Kind::Choice(&["auto", "packets", "super-frames"]),
            need: Need::Default("auto"),
            doc: "`packets`: every frame is a packet of at most the MTU. `super-frames`: GSO frames of up to 64 KB. \
                `auto`: packets wherever the machine can carry them at these rates, else GSO frames of as few packets as it can.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const HOST: Section = Section {
    header: "[hosts.NAME]",
    doc: "A host. With a team its links are the members `eth0`, `eth1`, ... of `team0`; without one it has a single \
        link, `eth0`, or as a gateway several.",
    keys: &[
        Key {
            name: "address",
            kind: Kind::Address,
            need: Need::Otherwise(
                "the host's place in the file (1, 2, ...) in the subnet of the first address given, else in 10.0.0.0/24",
            ),
            doc: "IPv4 or IPv6 address with prefix length.",
        },
        Key {
            name: "mac",
            kind: Kind::Mac,
            need: Need::Otherwise("02:00:00:00:00:01 for the first host of the file, :02 for the second, ..."),
            doc: "MAC address it sends from. Switches that spread by MAC address hash it.",
        },
        Key {
            name: "team",
            kind: Kind::One(Thing::Team),
            need: Need::Otherwise("no team: one bare link"),
            doc: "Team that bundles all its links.",
        },
        Key {
            name: "forward",
            kind: Kind::Flag,
            need: Need::Default("false"),
            doc: "A gateway: it forwards packets between its links (`net.ipv4.ip_forward`), each of which leads into a subnet of its own.",
        },
        Key {
            name: "addresses",
            kind: Kind::Addresses,
            need: Need::Otherwise(
                "the gateway's place in the file in the subnet of each link; a subnet nobody chose is the next free one",
            ),
            doc: "With `forward`: the addresses of its links with prefix length, in the order of the links.",
        },
        Key {
            name: "gateway",
            kind: Kind::One(Thing::Host),
            need: Need::Otherwise("for each subnet the gateway by which the fewest gateways lead there"),
            doc: "The gateway by which it sends to all other subnets; its guests do, too.",
        },
        Key {
            name: "bare_link",
            kind: Kind::Integer(0..=1023),
            need: Need::Otherwise("all links, by the team"),
            doc: "No team: of the links of a host that has several this one alone is plugged in, counted from 0, as before \
                they were bundled. For runs: `[runs.hosts.NAME]`.",
        },
        Key {
            name: "processor",
            kind: Kind::Rate,
            need: Need::Otherwise("as fast as the lab's machine is"),
            doc: "A slow host: the payload that its processor can send and receive, both together, one after another. Kinds `tcp`, \
                `traffic-test` and `requests` keep to it, as programs with such a processor would.",
        },
        Key {
            name: "receive_window",
            kind: Kind::Bytes(4096..=1 << 30),
            need: Need::Otherwise("as the kernel grows it (`tcp_rmem`)"),
            doc: "The most that its TCP lets others send it unread (`net.ipv4.tcp_rmem`), as of an old system.",
        },
        Key {
            name: "receive_queues",
            kind: Kind::Integer(1..=64),
            need: Need::Otherwise("received frames are taken where their sender runs"),
            doc: "Receive queues of its devices, each of which one processor serves at a time, with GRO, as a card's.",
        },
        Key {
            name: "guests",
            kind: Kind::CountOrList(0..=guests::MOST_OF_A_HOST, &GUEST),
            need: Need::Otherwise("no guests"),
            doc: GUEST.doc,
        },
    ],
    of_kinds: &[],
};

pub(crate) const GUEST: Section = Section {
    header: "[[hosts.NAME.guests]]",
    doc: "Guests of the host, as a hypervisor has them: each a network namespace of its own behind a bridge on the \
        host, `br0`, whose uplink is the host's team or its one link. Workloads name them `HOST/guest1`, `HOST/guest2`, \
        ... A number, or a table for each.",
    keys: &[
        Key {
            name: "address",
            kind: Kind::Address,
            need: Need::Otherwise("counted on behind the hosts', as theirs"),
            doc: "IPv4 or IPv6 address with prefix length.",
        },
        Key {
            name: "mac",
            kind: Kind::Mac,
            need: Need::Otherwise("counted on behind the hosts', as theirs"),
            doc: "MAC address it sends from; the host's team passes it on as it is.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const SWITCH: Section = Section {
    header: "[switches.NAME]",
    doc: "A switch: a learning bridge.",
    keys: &[
        Key {
            name: "model",
            kind: Kind::Choice(&switch_model::NAMES),
            need: Need::Otherwise("no maker's switch in particular"),
            doc: "Whose switch it stands for: `spread` takes that maker's words, and its limits hold. \
                [switches.md](switches.md) says what each does, and what of it is assumed.",
        },
        Key {
            name: "spread",
            kind: Kind::Text,
            need: Need::Otherwise("the model's own way where `channel_group` is given, else plain ports, no groups"),
            doc: "One of `src-mac`, `dst-mac`, `src-dst-mac`, `src-ip`, `dst-ip`, `src-dst-ip`, `src-xor-dst-ip`, \
                `src-dst-port`, `layer2`, `layer2+3`, `layer3+4`; with a `model` one of its words. With it, the links to each host with a team form a link aggregation group, and so do several links to \
                another switch that has it, too; the switch picks a group's link by this hash. Links to an \
                active-backup, balance-tlb, balance-alb or stripe team, or one of ovs-active-backup or ovs-balance-slb \
                without `lacp`, stay plain ports, as on a real switch.",
        },
        Key {
            name: "lacp",
            kind: Kind::Choice(&["off", "active", "passive"]),
            need: Need::Otherwise("`active` towards teams that speak LACP, `off` towards others"),
            doc: "Whether groups are agreed on by LACP. `active`: the switch sends LACPDUs first. `passive`: only to \
                a partner that sends them. `off`: groups are static. It needs `spread`.",
        },
        Key {
            name: "channel_group",
            kind: Kind::Choice(&["on", "active", "passive", "auto", "desirable"]),
            need: Need::Otherwise("as `lacp` says"),
            doc: "The same in Cisco's words, for its models. `on`: static groups. `active`, `passive`: by LACP. `auto`, \
                `desirable`: the ports towards teams, and several links to one peer, speak PAgP, which no team \
                answers: they stay plain ports.",
        },
        Key {
            name: "lacp_rate",
            kind: Kind::Choice(&["slow", "fast"]),
            need: Need::Default("slow"),
            doc: "How often groups with LACP ask the other end to speak: `slow` each 30 s, `fast` each second.",
        },
        Key {
            name: "engine",
            kind: Kind::Choice(&engine::NAMES),
            need: Need::Default(engine::NAMES[0]),
            doc: "Who runs its groups; `[teams.NAME]` has the engines.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const LINK: Section = Section {
    header: "[[links]]",
    doc: "Cables between two nodes, or between every node of one list and every node of another.",
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
            doc: "Parallel cables.",
        },
        Key {
            name: "rate",
            kind: Kind::Rate,
            need: Need::Otherwise("`rate` of `[defaults]`"),
            doc: "Rate of each cable's wire in each direction.",
        },
        Key {
            name: "mtu",
            kind: Kind::PerEnd(MTU_BYTES),
            need: Need::Otherwise("`mtu` of `[defaults]`"),
            doc: "Largest IP packet, bytes. `[9000, 1500]`: of the first end of `between` and of the second; an end takes \
                no larger packet in than it sends.",
        },
        Key {
            name: "offloads",
            kind: Kind::Flag,
            need: Need::Default("true"),
            doc: "`false`: a cheap card. Its ends send MTU-sized packets whatever `granularity` says (no TSO, no GSO), and each \
                packet costs its host the processor's time.",
        },
        Key {
            name: "queue",
            kind: Kind::Bytes(2048..=64 << 20),
            need: Need::Otherwise("as its rate needs"),
            doc: "What the ends hold behind the wire before they drop: a cheap card's ring is short.",
        },
        Key {
            name: "impair",
            kind: Kind::One(Thing::Impairment),
            need: Need::Otherwise("nothing is done to frames"),
            doc: "What is done to frames of both directions, of each cable for itself.",
        },
        Key {
            name: "impair_back",
            kind: Kind::One(Thing::Impairment),
            need: Need::Otherwise("as `impair`"),
            doc: "What is done to frames from the second end to the first instead.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const IMPAIRMENT: Section = Section {
    header: "[impairments.NAME]",
    doc: "What a link does to frames, in the terms of Linux's netem. Links refer to it by `impair`. Without a key it \
        does nothing, but its links are built as impaired ones all the same, so that runs compare.",
    keys: &[
        Key {
            name: "delay",
            kind: time(0, LONGEST_DELAY_MS),
            need: Need::Default("0s"),
            doc: "How long each frame is on its way, behind the sender's queue.",
        },
        Key {
            name: "jitter",
            kind: time(0, LONGEST_DELAY_MS),
            need: Need::Default("0s"),
            doc: "How much that varies: the greatest deviation if `uniform`, then at most the delay; the standard \
                deviation if `normal`.",
        },
        Key {
            name: "jitter_distribution",
            kind: Kind::Choice(&["uniform", "normal"]),
            need: Need::Default("uniform"),
            doc: "How deviations are distributed. `normal` is cut at six standard deviations and at no delay.",
        },
        Key {
            name: "jitter_order",
            kind: Kind::Choice(&["kept", "free"]),
            need: Need::Default("kept"),
            doc: "`kept`: a frame with a shorter delay waits for those before it. `free`: it overtakes them, as in netem.",
        },
        Key {
            name: "loss",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that is lost, each independently of the others.",
        },
        Key {
            name: "gemodel",
            kind: Kind::Table(&GEMODEL),
            need: Need::Otherwise("no bursts"),
            doc: "Losses in bursts, instead of `loss`.",
        },
        Key {
            name: "duplicate",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that arrives twice, the copy right behind the original.",
        },
        Key {
            name: "reorder",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that is not delayed and so overtakes those before it. It needs a `delay`.",
        },
        Key {
            name: "reorder_gap",
            kind: Kind::Integer(1..=1_000_000),
            need: Need::Default("1"),
            doc: "After a frame that was not delayed, so many less one are, before `reorder` applies again (netem's `gap`).",
        },
        Key {
            name: "seed",
            kind: Kind::Integer(0..=i64::MAX as u64),
            need: Need::Otherwise("`seed` of `[defaults]`"),
            doc: "Seed of everything random about it. Each direction of each cable draws numbers of its own from it.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const GEMODEL: Section = Section {
    header: "[impairments.NAME.gemodel]",
    doc: "The Gilbert-Elliott model as netem's `loss gemodel p r 1-h 1-k` has it: a good and a bad state, each with a \
        loss of its own. A frame meets the state as it is; then the state may change.",
    keys: &[
        Key {
            name: "p",
            kind: Kind::Percent,
            need: Need::Required,
            doc: "Probability to go from the good state to the bad one, each frame.",
        },
        Key {
            name: "r",
            kind: Kind::Percent,
            need: Need::Required,
            doc: "Probability to go back: a burst has 1/r frames on average.",
        },
        Key { name: "1-h", kind: Kind::Percent, need: Need::Default("100%"), doc: "Loss in the bad state." },
        Key { name: "1-k", kind: Kind::Percent, need: Need::Default("0%"), doc: "Loss in the good state." },
    ],
    of_kinds: &[],
};

pub(crate) const WORKLOAD: Section = Section {
    header: "[workloads.NAME]",
    doc: "Traffic, for runs to refer to.",
    keys: &[
        Key { name: "kind", kind: Kind::Choice(&task::NAMES), need: Need::Required, doc: task::DOC },
        Key { name: "from", kind: Kind::Many(Thing::Host), need: Need::Required, doc: "Host or hosts that connect." },
        Key {
            name: "to",
            kind: Kind::Many(Thing::Host),
            need: Need::Required,
            doc: "Host or hosts they connect to: each of `from` to each of `to`.",
        },
        Key {
            name: "connections",
            kind: Kind::Integer(1..=4096),
            need: Need::Otherwise("one a pair of hosts"),
            doc: "Connections in all, assigned to the pairs in turn.",
        },
        Key {
            name: "direction",
            kind: Kind::Choice(&["send", "receive", "both"]),
            need: Need::Default("send"),
            doc: "Which way the payload goes, seen from `from`. `both`: as many connections again carry payload the \
                other way.",
        },
    ],
    of_kinds: &task::KEYS,
};

pub(crate) const PUBLISHED: Section = Section {
    header: "[runs.published_rates.HOST]",
    doc: "What a published test found for one client, by direction.",
    keys: &[
        Key { name: "download", kind: Kind::Rate, need: Need::Required, doc: "What the client received." },
        Key { name: "upload", kind: Kind::Rate, need: Need::Required, doc: "What it sent." },
    ],
    of_kinds: &[],
};

pub(crate) const RUN: Section = Section {
    header: "[[runs]]",
    doc: "One measurement. Runs go one after another, in the order of the file.",
    keys: &[
        Key { name: "name", kind: Kind::Name, need: Need::Required, doc: "Its name, for `--only` and the results." },
        Key { name: "description", kind: Kind::Text, need: Need::Otherwise("none"), doc: "What it does, in a line." },
        Key {
            name: "published",
            kind: Kind::Text,
            need: Need::Otherwise("none"),
            doc: "What a published test found, in its words; stands beside the result.",
        },
        Key {
            name: "published_of_limit",
            kind: Kind::Fraction,
            need: Need::Otherwise("none"),
            doc: "The published figure as a part of its own limit, 0 to 1.",
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
            doc: "The run before it: the report draws both side by side, by client and direction.",
        },
        Key {
            name: "step",
            kind: Kind::Integer(1..=3),
            need: Need::Otherwise("none"),
            doc: "The step of a tuning that it belongs to, for `lab tune`: 1 the baseline, 2 the network alone, 3 production.",
        },
        Key {
            name: "workloads",
            kind: Kind::Many(Thing::Workload),
            need: Need::Required,
            doc: "Traffic of this run; all of it at once.",
        },
        Key {
            name: "duration",
            kind: Kind::Time(RUN_DURATION),
            need: Need::Otherwise("`duration` of `[defaults]`"),
            doc: "How long it is measured.",
        },
        Key {
            name: "warmup",
            kind: time(0, DAY_MS),
            need: Need::Otherwise("`warmup` of `[defaults]`"),
            doc: "What goes before and does not count.",
        },
        Key {
            name: "hosts",
            kind: Kind::Named(Thing::Host, &HOST),
            need: Need::Otherwise("as above"),
            doc: "Keys of hosts that are different in this run: `[runs.hosts.NAME]`.",
        },
        Key {
            name: "switches",
            kind: Kind::Named(Thing::Switch, &SWITCH),
            need: Need::Otherwise("as above"),
            doc: "Keys of switches that are different in this run: `[runs.switches.NAME]`.",
        },
        Key {
            name: "teams",
            kind: Kind::Teams,
            need: Need::Otherwise("as above"),
            doc: "Options of teams that are different in this run: `[runs.teams.NAME]`.",
        },
        Key { name: "events", kind: Kind::List(&EVENT), need: Need::Otherwise("none"), doc: EVENT.doc },
        Key {
            name: "impairments",
            kind: Kind::Named(Thing::Impairment, &IMPAIRMENT),
            need: Need::Otherwise("as above"),
            doc: "Keys of impairments that are different in this run: `[runs.impairments.NAME]`.",
        },
        Key {
            name: "targets",
            kind: Kind::Named(Thing::Target, &TARGET),
            need: Need::Otherwise("as above"),
            doc: "Keys of targets that are different in this run: `[runs.targets.NAME]`.",
        },
    ],
    of_kinds: &[],
};
