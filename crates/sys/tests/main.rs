//! The operating system's interfaces, live.

mod common;
mod corpus;

/// Measures a ratio or a time: nothing beside it.
mod alone {
    mod shape;
}

/// Mostly waits: many at once.
mod live {
    mod ethtool;
    mod listen;
    mod netlink;
    mod netns;
    mod nft;
    mod packet;
    mod process;
    mod tap;
    mod tcp;
}
