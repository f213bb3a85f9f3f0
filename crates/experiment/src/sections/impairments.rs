//! The keys of what a link does to frames.

use nicteam_elements::keys::{Key, Kind, Need, Section};

const LONGEST_DELAY_MS: u64 = nicteam_impair::LONGEST_DELAY.as_millis() as u64;

pub(crate) const IMPAIRMENT: Section = Section {
    header: "[impairments.NAME]",
    doc: "What a link does to frames, with the names of Linux's netem. Links refer to it by `impair`. An impairment \
        without keys does nothing, but its links are built in the same way, so that runs can be compared.",
    keys: &[
        Key {
            name: "delay",
            kind: Kind::time(0, LONGEST_DELAY_MS),
            need: Need::Default("0s"),
            doc: "Delay of each frame. It begins when the frame has left the sender's queue.",
        },
        Key {
            name: "jitter",
            kind: Kind::time(0, LONGEST_DELAY_MS),
            need: Need::Default("0s"),
            doc: "Deviation from the delay. `uniform`: the greatest deviation, at most the delay. `normal`: the \
                standard deviation.",
        },
        Key {
            name: "jitter_distribution",
            kind: Kind::Choice(&["uniform", "normal"]),
            need: Need::Default("uniform"),
            doc: "Distribution of the deviations. `normal` is cut at six standard deviations and at a delay of zero.",
        },
        Key {
            name: "jitter_order",
            kind: Kind::Choice(&["kept", "free"]),
            need: Need::Default("kept"),
            doc: "Order of frames with different delays. `kept`: a frame with a shorter delay waits for earlier \
                frames. `free`: it overtakes them, as in netem.",
        },
        Key {
            name: "loss",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that is lost. Each loss is independent of the others.",
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
            doc: "Part of the frames that arrives twice. The copy follows the original directly.",
        },
        Key {
            name: "corrupt",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that arrives with one bit changed, at a random place, as by bad memory of a switch. \
                The ends of such a cable send no frames that join packets.",
        },
        Key {
            name: "reorder",
            kind: Kind::Percent,
            need: Need::Default("0%"),
            doc: "Part of the frames that is not delayed and so overtakes earlier frames. It needs a `delay`.",
        },
        Key {
            name: "reorder_gap",
            kind: Kind::Integer(1..=1_000_000),
            need: Need::Default("1"),
            doc: "Distance between frames that are not delayed (netem's `gap`). After such a frame, at least \
                `reorder_gap` - 1 frames are delayed.",
        },
        Key {
            name: "seed",
            kind: Kind::Integer(0..=i64::MAX as u64),
            need: Need::Otherwise("`seed` of `[defaults]`"),
            doc: "Seed of its random numbers. Each direction of each cable draws its own numbers from it.",
        },
    ],
    of_kinds: &[],
};

pub(crate) const GEMODEL: Section = Section {
    header: "[impairments.NAME.gemodel]",
    doc: "The Gilbert-Elliott model, as netem's `loss gemodel p r 1-h 1-k`. It has a good and a bad state with \
        different losses. The current state decides whether a frame is lost. After each frame the state may change.",
    keys: &[
        Key {
            name: "p",
            kind: Kind::Percent,
            need: Need::Required,
            doc: "Probability, for each frame, of the change from the good state to the bad one.",
        },
        Key {
            name: "r",
            kind: Kind::Percent,
            need: Need::Required,
            doc: "Probability of the change back. A burst has 1/r frames on average.",
        },
        Key { name: "1-h", kind: Kind::Percent, need: Need::Default("100%"), doc: "Loss in the bad state." },
        Key { name: "1-k", kind: Kind::Percent, need: Need::Default("0%"), doc: "Loss in the good state." },
    ],
    of_kinds: &[],
};
