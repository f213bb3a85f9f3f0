//! One-sided striping: frames to hosts, and next hops, that do not stripe, by several members.

mod report;

pub use report::{PlainHost, PlainMember, PlainReport};
