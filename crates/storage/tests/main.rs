//! Disks over many paths, against real targets, and their NBD export, against real clients.

mod common;
mod corpus;
mod nbd;

/// Real targets and networks. Mostly waits: many at once.
mod live {
    mod cache;
    mod export;
    mod failures;
    mod nfs;
    mod paths;
    mod restarts;
    mod stale;
}
